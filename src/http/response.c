/*
 * http/response.c - access to a response: status, headers, body.
 */
#include <errno.h>

#include "eddy/error.h"
#include "http/client.h"
#include "scope/suspend.h"

int eddy_http_response_status(const eddy_http_response *response)
{
        return response->message.head.status;
}

/* The first access to names and values adds their NULs; the message's meaning does not change. */
static struct ed_http_message *message_of(const eddy_http_response *response)
{
        return &((eddy_http_response *) (uintptr_t) response)->message;
}

const char *eddy_http_response_header(const eddy_http_response *response, const char *name)
{
        return ed_http_message_header(message_of(response), name);
}

int eddy_http_response_header_at(const eddy_http_response *response, size_t i,
                                 struct eddy_http_header *ret_header)
{
        return ed_http_message_header_at(message_of(response), i, ret_header);
}

/* Begin a call that reads the body. The rest of the request is sent meanwhile. */
static int reading_begin(eddy_http_response *response, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err >= 0)
                err = response->err;
        return err < 0 ? err : ed_http_upload_start(&response->upload);
}

/*
 * End a call that reads the body. Returns 'n', or the error that ended the upload and thereby the
 * call. 'ended' means that the body's end was reached. After a cancel reading can continue, but the
 * connection is not used again.
 */
static int64_t reading_end(eddy_http_response *response, struct ed_task *task, int64_t n,
                           bool ended)
{
        if (ended)
                ed_http_upload_finish(&response->upload);
        else
                ed_http_upload_pause(&response->upload);
        if (n == -ECANCELED && response->upload.error < 0)
                n = response->upload.error;
        if (n < 0) {
                response->tainted = true;
                if (n == -ECANCELED || n == EDDY_E_HTTP_STATE)
                        return n;
                response->err = (int) n;
                response->message.stream = NULL;
                ed_http_upload_drop(&response->upload);
                if (response->conn)
                        ed_http_pool_release(response->conn, false);
                response->conn = NULL;
                return n;
        }
        if (response->message.body.done)
                ed_http_response_settle(response);
        ed_suspend_passed(task);
        return n;
}

int64_t eddy_http_response_read(eddy_http_response *response, void *buf, size_t bytes)
{
        struct ed_task *task;
        int64_t n;
        int err;

        err = reading_begin(response, &task);
        if (err < 0)
                return err;
        if (bytes == 0) {
                ed_http_upload_pause(&response->upload);
                return -EINVAL;
        }
        n = ed_http_message_read(&response->message, buf, bytes);
        return reading_end(response, task, n, n == 0);
}

int eddy_http_response_body(eddy_http_response *response, const void **ret_data, size_t *ret_bytes)
{
        struct ed_task *task;
        int err;

        err = reading_begin(response, &task);
        if (err < 0)
                return err;
        err = ed_http_message_gather(&response->message);
        err = (int) reading_end(response, task, err, err == 0);
        if (err < 0)
                return err;
        *ret_data = response->message.whole;
        *ret_bytes = response->message.whole_bytes;
        return 0;
}

int eddy_http_response_discard(eddy_http_response *response)
{
        struct ed_task *task;
        int err;

        err = reading_begin(response, &task);
        if (err < 0)
                return err;
        if (!response->message.gathered)
                err = ed_http_message_discard(&response->message, UINT64_MAX);
        return (int) reading_end(response, task, err, err == 0);
}
