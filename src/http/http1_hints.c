/*
 * http/http1_hints.c - see http1_hints.h.
 *
 * The hints have a buffer of their own: 'out' is the answer's, which another task of the handler may
 * begin meanwhile.
 */
#include "http/http1_hints.h"

#include <string.h>

#include "eddy/error.h"
#include "http/answer_head.h"
#include "http/http1_answer.h"
#include "http/http1_out.h"
#include "scope/suspend.h"

enum {
        STATUS_EARLY_HINTS = 103,
        HEAD_BYTES = 64, /* room for the first and the empty line */
};

static int fill(struct ed_buf *buf, const struct eddy_http_header *headers, size_t n)
{
        struct ed_http1_writer writer;

        ed_http1_write_response(&writer, buf, STATUS_EARLY_HINTS, NULL, 0);
        for (size_t i = 0; i < n; i++)
                ed_http1_write_field(&writer, headers[i].name, strlen(headers[i].name),
                                     headers[i].value, strlen(headers[i].value));
        return ed_http1_write_end(&writer);
}

static int send_hints(struct ed_http1_exchange *exchange, const struct eddy_http_header *headers,
                      size_t n)
{
        struct eddy_slice slice;
        struct ed_buf buf;
        int err;

        ed_buf_init(&buf, ED_HTTP_HINTS_BYTES_MAX + HEAD_BYTES);
        err = fill(&buf, headers, n);
        if (err >= 0) {
                slice = (struct eddy_slice){ ed_buf_data(&buf), ed_buf_bytes(&buf) };
                err = ed_http1_out_send(exchange, &slice, 1);
        }
        ed_buf_fini(&buf);
        return err;
}

int ed_http1_early_hints(eddy_http_exchange *base, const struct eddy_http_header *headers,
                         size_t headers_count)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        if (exchange->answer != ED_HTTP_UNANSWERED)
                return EDDY_E_HTTP_STATE;
        err = ed_http_check_hints(headers, headers_count, exchange->refused);
        if (err == 0 && headers_count > 0 && exchange->message.head.minor > 0)
                err = send_hints(exchange, headers, headers_count);
        if (err == 0)
                ed_suspend_passed(task);
        return err;
}
