/*
 * http/http1_hints.c - see http1_hints.h.
 *
 * The hints have a buffer of their own: 'out' is the answer's, which another task of the handler may
 * begin meanwhile.
 */
#include "http/http1_hints.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "http/added.h"
#include "http/http1_answer.h"
#include "http/http1_out.h"
#include "scope/suspend.h"

enum { HINTS_BYTES_MAX = 16 << 10, STATUS_EARLY_HINTS = 103 };

static int check(struct ed_http1_exchange *exchange, const struct eddy_http_header *headers,
                 size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!ed_http_header_is_allowed(&headers[i]) ||
                    strcasecmp(headers[i].name, "connection") == 0)
                        return ed_http_refuse_header(exchange->refused, &headers[i]);
        return 0;
}

static int fill(struct ed_http1_exchange *exchange, struct ed_buf *buf,
                const struct eddy_http_header *headers, size_t n)
{
        struct ed_http1_writer writer;
        int err;

        ed_http1_write_response(&writer, buf, STATUS_EARLY_HINTS, NULL, 0);
        for (size_t i = 0; i < n; i++)
                ed_http1_write_field(&writer, headers[i].name, strlen(headers[i].name),
                                     headers[i].value, strlen(headers[i].value));
        err = ed_http1_write_end(&writer);
        if (err == -EMSGSIZE)
                return ed_http_refuse(exchange->refused, "its early hints are larger than %d bytes",
                                      HINTS_BYTES_MAX);
        return err;
}

static int send_hints(struct ed_http1_exchange *exchange, const struct eddy_http_header *headers,
                      size_t n)
{
        struct eddy_slice slice;
        struct ed_buf buf;
        int err;

        ed_buf_init(&buf, HINTS_BYTES_MAX);
        err = fill(exchange, &buf, headers, n);
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
        err = check(exchange, headers, headers_count);
        if (err == 0 && headers_count > 0 && exchange->message.head.minor > 0)
                err = send_hints(exchange, headers, headers_count);
        if (err == 0)
                ed_suspend_passed(task);
        return err;
}
