/*
 * http/http1_trailers.c - see http1_trailers.h.
 */
#include "http/http1_trailers.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "eddy/http_text.h"
#include "http/http1_answer.h"

enum { STATUS_RESET_CONTENT = 205 };

static const char last_size[] = "0\r\n"; /* of the last chunk */

int ed_http1_trailer_at(const eddy_http_exchange *base, size_t i,
                        struct eddy_http_header *ret_trailer)
{
        return ed_http_message_trailer_at(&ed_http1_exchange_of(base)->message, i, ret_trailer);
}

/*
 * Returns true for a field that a client must know before the content, so that it may not come after
 * it (RFC 9110, 6.5.1). Digests of the content are made for that place (RFC 9530).
 */
static bool is_forbidden(const char *name)
{
        static const char *const names[] = { "age",         "date", "expires",         "location",
                                             "retry-after", "vary", "www-authenticate" };

        if (strcasecmp(name, "content-digest") == 0 || strcasecmp(name, "content-md5") == 0)
                return false;
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcasecmp(name, names[i]) == 0)
                        return true;
        return strncasecmp(name, "content-", 8) == 0 || strncasecmp(name, "proxy-", 6) == 0 ||
               ed_http1_trailer_is_forbidden(name, strlen(name));
}

bool ed_http_trailer_is_allowed(const char *name, const char *value)
{
        return name && value && eddy_http_is_token(name, strlen(name)) &&
               eddy_http_is_value(value, strlen(value)) && !is_forbidden(name);
}

/* Forget the headers that were added before the answer, and begin with the last chunk. */
static int trailers_begin(struct ed_http1_exchange *exchange)
{
        if (exchange->trailers_added > 0)
                return 0;
        ed_buf_consume(&exchange->added, ed_buf_bytes(&exchange->added));
        return ed_buf_append(&exchange->added, last_size, sizeof(last_size) - 1);
}

/* Append a trailer, whole or not at all. */
static int trailer_append(struct ed_http1_exchange *exchange, const char *name, const char *value)
{
        size_t name_bytes = strlen(name), value_bytes = strlen(value);
        size_t bytes = name_bytes + 2 + value_bytes + 2;
        size_t held = ed_buf_bytes(&exchange->added) - (sizeof(last_size) - 1);
        char *at;
        int err;

        if (exchange->trailers_added == ED_HTTP1_TRAILERS_MAX ||
            bytes > ED_HTTP1_TRAILERS_BYTES_MAX - 2 - held)
                return EDDY_E_HTTP_TOO_LARGE;
        err = ed_buf_reserve(&exchange->added, bytes, &at);
        if (err < 0)
                return err;
        memcpy(at, name, name_bytes);
        memcpy(at + name_bytes, ": ", 2);
        memcpy(at + name_bytes + 2, value, value_bytes);
        memcpy(at + name_bytes + 2 + value_bytes, "\r\n", 2);
        ed_buf_grow(&exchange->added, bytes);
        exchange->trailers_added++;
        return 0;
}

int ed_http1_add_trailer(eddy_http_exchange *base, const char *name, const char *value)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);
        int err;

        if (exchange->answer != ED_HTTP_ANSWERING)
                return EDDY_E_HTTP_STATE;
        if (!ed_http_trailer_is_allowed(name, value))
                return EDDY_E_HTTP_INVALID_ANSWER;
        if (exchange->head_only || exchange->status == STATUS_RESET_CONTENT)
                return 0; /* a response without a body has no trailers */
        if (exchange->left >= 0)
                return EDDY_E_HTTP_STATE;
        if (!exchange->chunked) /* HTTP/1.0 */
                return 0;
        err = trailers_begin(exchange);
        return err < 0 ? err : trailer_append(exchange, name, value);
}

struct eddy_slice ed_http1_trailers_slice(const struct ed_http1_exchange *exchange)
{
        return (struct eddy_slice){ ed_buf_data(&exchange->added), ed_buf_bytes(&exchange->added) };
}
