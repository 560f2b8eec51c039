/*
 * fetch/retry.c - full-jitter back-off, Retry-After.
 */
#include "fetch/retry.h"

#include <errno.h>
#include <string.h>

#include "common/duration.h"
#include "fetch/date.h"

int64_t ed_retry_backoff(int64_t backoff_ns, unsigned failures, struct ed_random *random)
{
        int64_t limit_ns = backoff_ns;
        int64_t max_ns =
                backoff_ns > ED_RETRY_BACKOFF_MAX_NS ? backoff_ns : ED_RETRY_BACKOFF_MAX_NS;

        for (unsigned i = 1; i < failures && limit_ns < max_ns; i++)
                limit_ns *= 2;
        if (limit_ns > max_ns)
                limit_ns = max_ns;
        return (int64_t) ((double) limit_ns * ed_random_fraction(random));
}

/* Digits, and perhaps a point and digits: "1.2.3" is garbage. */
static bool is_number(const char *value)
{
        static const char digits[] = "0123456789";
        size_t n = strspn(value, digits);

        if (n > 0 && value[n] == '.')
                n += 1 + strspn(value + n + 1, digits);
        return n > 0 && value[n] == '\0';
}

int ed_retry_after_parse(const char *value, const char *date, int64_t now_s, int64_t *ret_ns)
{
        int64_t at_s, from_s;

        if (ed_duration_parse_seconds(value, NULL, ret_ns) == 0)
                return 0;
        if (is_number(value)) {
                /* A number, and still refused: out of range. */
                *ret_ns = ED_DURATION_MAX_NS;
                return 0;
        }
        if (ed_date_parse(value, &at_s) < 0)
                return -EINVAL;
        if (!date || ed_date_parse(date, &from_s) < 0)
                from_s = now_s;
        if (at_s <= from_s)
                *ret_ns = 0;
        else if (at_s - from_s > ED_DURATION_MAX_NS / 1000000000)
                *ret_ns = ED_DURATION_MAX_NS;
        else
                *ret_ns = (at_s - from_s) * 1000000000;
        return 0;
}

bool ed_retry_fits(int64_t now_ns, int64_t wait_ns, int64_t deadline_ns)
{
        return deadline_ns == 0 || wait_ns < deadline_ns - now_ns;
}
