/*
 * limit/retry_cause.c - which failures pass, and what a server wishes.
 */
#include <errno.h>
#include <string.h>

#include "base/def.h"
#include "eddy/error.h"
#include "eddy/http_date.h"
#include "eddy/ratelimit.h"
#include "eddy/retry.h"
#include "eddy/time.h"

/* Milliseconds with 13 digits or more are a time of day: a delay would be 31 years. */
enum { EPOCH_MS_DIGITS = 13 };

/* Errors of eddy's own that may pass.  All others say that the next attempt fails too. */
static const int own_passing[] = {
        EDDY_E_DNS_FAILED,         EDDY_E_TLS_TRUNCATED,     EDDY_E_NET_TIMED_OUT,
        EDDY_E_HTTP_CLOSED,        EDDY_E_HTTP_TRUNCATED,    EDDY_E_HTTP_TIMEOUT_CONNECT,
        EDDY_E_HTTP_TIMEOUT_POOL,  EDDY_E_HTTP_TIMEOUT_READ, EDDY_E_HTTP_TIMEOUT_TOTAL,
        EDDY_E_HTTP_PROXY_REFUSED, EDDY_E_STREAM_BROKEN,     EDDY_E_STREAM_ENDED,
        EDDY_E_BREAKER_OPEN,
};

/*
 * Errors of the system that are a mistake or a shortage of this program, or that say what a path or a
 * protocol is. All others may pass.
 */
static const int system_final[] = {
        ECANCELED, ENOMEM,       EINVAL,    EBADF,        EFAULT,          ENOSYS,     EDEADLK,
        EDOM,      ENAMETOOLONG, EOVERFLOW, ENOSPC,       EROFS,           EPERM,      EACCES,
        EEXIST,    ENOTDIR,      EISDIR,    ELOOP,        EFBIG,           EDQUOT,     E2BIG,
        EMSGSIZE,  ENOTEMPTY,    ENOTSOCK,  EAFNOSUPPORT, EPROTONOSUPPORT, EOPNOTSUPP, EDESTADDRREQ,
        EILSEQ,
};

/* A server that says this has not done the work. */
static bool is_refusal(int status)
{
        return status == 408 || status == 425 || status == 429 || status == 503;
}

bool eddy_retry_status_is_passing(int status)
{
        if (status == 501 || status == 505)
                return false;
        return is_refusal(status) || (status >= 500 && status <= 599);
}

static bool is_in(const int *list, size_t n, int error)
{
        for (size_t i = 0; i < n; i++)
                if (list[i] == error)
                        return true;
        return false;
}

bool eddy_retry_error_is_passing(int error)
{
        if (error >= 0)
                return false;
        if (error < -4095)
                return is_in(own_passing, ed_array_count(own_passing), error);
        return !is_in(system_final, ed_array_count(system_final), -error);
}

/* Returns the time from which dates count. */
static int64_t read_from(const struct eddy_retry_headers *headers, int64_t now_s)
{
        const char *date = headers->date;
        int64_t from_s;

        return date && eddy_http_date_parse(date, strlen(date), now_s, &from_s) >= 0 ? from_s
                                                                                     : now_s;
}

/* Milliseconds, with decimals, or since 1970. */
static int read_ms(const char *text, int64_t from_s, int64_t *ret_ns)
{
        const char *at = text + strspn(text, "0");
        int64_t thousandfold_ns;
        int err;

        /* Digits only: a date is not a number of milliseconds. */
        if (strspn(text, "0123456789.") != strlen(text))
                return -EINVAL;
        if (strspn(at, "0123456789") >= EPOCH_MS_DIGITS)
                return eddy_http_retry_after_parse(text, strlen(text), from_s, ret_ns);
        err = eddy_ratelimit_duration_parse(text, &thousandfold_ns);
        if (err >= 0)
                *ret_ns = thousandfold_ns / 1000;
        return err;
}

void eddy_retry_hint_read(const struct eddy_retry_headers *headers, int64_t now_s,
                          struct eddy_retry_hint *ret_hint)
{
        struct eddy_retry_hint hint = { .should = 0 };
        const char *ms = headers->retry_after_ms, *after = headers->retry_after;
        int64_t from_s = read_from(headers, now_s);

        if (ms && read_ms(ms, from_s, &hint.wait_ns) >= 0)
                hint.has_wait = true;
        else if (after &&
                 eddy_http_retry_after_parse(after, strlen(after), from_s, &hint.wait_ns) >= 0)
                hint.has_wait = true;
        if (headers->should_retry && strcmp(headers->should_retry, "true") == 0)
                hint.should = 1;
        else if (headers->should_retry && strcmp(headers->should_retry, "false") == 0)
                hint.should = -1;
        *ret_hint = hint;
}
