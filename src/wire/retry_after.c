/*
 * wire/retry_after.c - the value of Retry-After: seconds or a date.
 */
#include "eddy/http_date.h"

#include <stdbool.h>

#include "wire/epoch.h"

/*
 * Read "120" or "1.5" as nanoseconds; INT64_MAX if the value is too large.  A number that is a time of
 * day counts from 'now_s'.
 */
static bool read_delay(const char *text, size_t bytes, int64_t now_s, int64_t *ret_delay_ns)
{
        int64_t whole = 0;
        int64_t ns;
        int64_t part = 0;
        int64_t unit = 100000000;
        size_t at = 0;

        for (; at < bytes && text[at] >= '0' && text[at] <= '9'; at++)
                if (__builtin_mul_overflow(whole, 10, &whole) ||
                    __builtin_add_overflow(whole, text[at] - '0', &whole))
                        whole = INT64_MAX / 10;
        if (at == 0)
                return false;
        if (at < bytes) {
                if (text[at] != '.' || at + 1 == bytes)
                        return false;
                for (at++; at < bytes && text[at] >= '0' && text[at] <= '9'; at++) {
                        part += unit * (text[at] - '0');
                        unit /= 10;
                }
                if (at < bytes)
                        return false;
        }
        if (__builtin_mul_overflow(whole, 1000000000, &ns) || __builtin_add_overflow(ns, part, &ns))
                ns = INT64_MAX;
        *ret_delay_ns = ed_epoch_delay(whole, ns, now_s);
        return true;
}

int eddy_http_retry_after_parse(const char *text, size_t bytes, int64_t now_s,
                                int64_t *ret_delay_ns)
{
        int64_t date_s;
        int64_t delay_ns;
        int err;

        if (read_delay(text, bytes, now_s, ret_delay_ns))
                return 0;
        err = eddy_http_date_parse(text, bytes, now_s, &date_s);
        if (err < 0)
                return err;
        if (date_s <= now_s)
                delay_ns = 0;
        else if (__builtin_sub_overflow(date_s, now_s, &delay_ns) ||
                 __builtin_mul_overflow(delay_ns, 1000000000, &delay_ns))
                delay_ns = INT64_MAX;
        *ret_delay_ns = delay_ns;
        return 0;
}
