/*
 * wire/ratelimit.c - headers that report rate limits.
 */
#include "eddy/ratelimit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/def.h"
#include "eddy/http_date.h"
#include "eddy/rfc3339.h"
#include "wire/epoch.h"
#include "wire/ratelimit_field.h"

#define SECOND_NS INT64_C(1000000000)

/* --- durations --- */

/* Reads "1" or "1.25" as nanoseconds of a unit of 'unit_ns'.  At most INT64_MAX. */
static bool read_amount(const char **at, int64_t unit_ns, int64_t *ret_ns)
{
        size_t digits = strspn(*at, "0123456789");
        int64_t whole = 0, part_ns = 0, scale_ns = unit_ns;

        if (digits == 0)
                return false;
        for (; digits > 0; digits--, (*at)++)
                if (__builtin_mul_overflow(whole, 10, &whole) ||
                    __builtin_add_overflow(whole, **at - '0', &whole))
                        whole = INT64_MAX / 10;
        if (**at == '.') {
                digits = strspn(++*at, "0123456789");
                if (digits == 0)
                        return false;
                for (; digits > 0; digits--, (*at)++) {
                        scale_ns /= 10;
                        part_ns += scale_ns * (**at - '0');
                }
        }
        if (__builtin_mul_overflow(whole, unit_ns, &whole) ||
            __builtin_add_overflow(whole, part_ns, &whole))
                whole = INT64_MAX;
        *ret_ns = whole;
        return true;
}

/* Returns the unit after the amount at 'at', and its length; 0 if there is none. */
static int64_t unit_after(const char *at, size_t *ret_bytes)
{
        static const struct {
                const char *name;
                int64_t ns;
        } units[] = { { "ms", 1000000 },         { "us", 1000 },          { "ns", 1 },
                      { "h", 3600 * SECOND_NS }, { "m", 60 * SECOND_NS }, { "s", SECOND_NS } };

        at += strspn(at, "0123456789.");
        for (size_t i = 0; i < ed_array_count(units); i++) {
                *ret_bytes = strlen(units[i].name);
                if (strncmp(at, units[i].name, *ret_bytes) == 0)
                        return units[i].ns;
        }
        return 0;
}

int eddy_ratelimit_duration_parse(const char *text, int64_t *ret_ns)
{
        int64_t sum_ns = 0, ns, unit_ns;
        const char *at = text;
        size_t bytes;

        unit_ns = unit_after(at, &bytes);
        if (unit_ns == 0) {
                if (!read_amount(&at, SECOND_NS, &sum_ns) || *at != '\0')
                        return -EINVAL;
                *ret_ns = sum_ns;
                return 0;
        }
        do {
                unit_ns = unit_after(at, &bytes);
                if (unit_ns == 0 || !read_amount(&at, unit_ns, &ns))
                        return -EINVAL;
                at += bytes;
                if (__builtin_add_overflow(sum_ns, ns, &sum_ns))
                        sum_ns = INT64_MAX;
        } while (*at != '\0');
        *ret_ns = sum_ns;
        return 0;
}

/* --- headers --- */

static bool read_count(const char *value, int64_t *ret_count)
{
        struct ed_ratelimit_entry entry;

        if (!ed_ratelimit_entry_read(&value, &entry) || *value != '\0' || entry.number < 0 ||
            entry.key[0])
                return false;
        *ret_count = entry.number;
        return true;
}

static bool read_limit(struct eddy_ratelimit *seen, const char *value, int64_t now_s)
{
        struct ed_ratelimit_entry entry, first = { .number = -1 };
        int64_t window_s = -1;

        (void) now_s;
        do {
                if (!ed_ratelimit_entry_read(&value, &entry) || entry.number < 0 || entry.key[0])
                        return false;
                if (first.number < 0)
                        first = entry;
                if (window_s < 0 && entry.number == first.number)
                        window_s = entry.window;
        } while (*value != '\0');
        seen->limit = first.number;
        if (window_s > 0 && window_s <= INT64_MAX / SECOND_NS)
                seen->window_ns = window_s * SECOND_NS;
        return true;
}

static bool read_remaining(struct eddy_ratelimit *seen, const char *value, int64_t now_s)
{
        (void) now_s;
        return read_count(value, &seen->remaining);
}

static bool read_reset_time(struct eddy_ratelimit *seen, const char *value, int64_t now_s)
{
        int64_t at_ns;

        if (eddy_rfc3339_parse(value, strlen(value), &at_ns) < 0)
                return false;
        seen->reset_ns = ed_epoch_from_now(at_ns, now_s);
        seen->refills = true;
        return true;
}

/*
 * Seconds from now, or since 1970; some servers send milliseconds since 1970.  Returns the whole part
 * of the number; -1: it is not a number.
 */
static int64_t read_number(const char *value, int64_t now_s, int64_t *ret_ns)
{
        const char *at = value;
        int64_t ns, number;

        if (strspn(value, "0123456789.") != strlen(value) ||
            eddy_ratelimit_duration_parse(value, &ns) < 0 || !read_amount(&at, 1, &number))
                return -1;
        *ret_ns = ed_epoch_delay(number, ns, now_s);
        return number;
}

static bool read_reset_seconds(struct eddy_ratelimit *seen, const char *value, int64_t now_s)
{
        return read_number(value, now_s, &seen->reset_ns) >= 0;
}

/* A time of day is when a window ends; a duration is the time until the limit has filled up. */
static bool read_reset_duration(struct eddy_ratelimit *seen, const char *value, int64_t now_s)
{
        int64_t number = read_number(value, now_s, &seen->reset_ns);

        if (number < 0 && eddy_ratelimit_duration_parse(value, &seen->reset_ns) < 0)
                return false;
        seen->refills = number <= ED_EPOCH_MIN_S;
        return true;
}

static int64_t seconds_as_ns(int64_t seconds)
{
        return seconds < 0 || seconds > INT64_MAX / SECOND_NS ? -1 : seconds * SECOND_NS;
}

/* Draft 07: limit=100, remaining=50, reset=30.  Others: "default";r=50;t=30. */
static bool read_ratelimit(struct eddy_ratelimit *seen, const char *value, int64_t now_s)
{
        struct eddy_ratelimit found = *seen;
        struct ed_ratelimit_entry entry;
        int64_t fewest = -1;

        (void) now_s;
        do {
                if (!ed_ratelimit_entry_read(&value, &entry))
                        return false;
                if (strcmp(entry.key, "limit") == 0)
                        found.limit = entry.number;
                else if (strcmp(entry.key, "remaining") == 0)
                        found.remaining = entry.number;
                else if (strcmp(entry.key, "reset") == 0)
                        found.reset_ns = seconds_as_ns(entry.number);
                if (entry.remaining < 0 || (fewest >= 0 && entry.remaining >= fewest))
                        continue;
                fewest = found.remaining = entry.remaining;
                found.reset_ns = seconds_as_ns(entry.reset);
        } while (*value != '\0');
        *seen = found;
        return true;
}

static bool read_policy(struct eddy_ratelimit *seen, const char *value, int64_t now_s)
{
        struct ed_ratelimit_entry entry, first = { .quota = -1 };

        (void) now_s;
        do {
                if (!ed_ratelimit_entry_read(&value, &entry))
                        return false;
                if (first.quota < 0 && !entry.other_unit)
                        first = entry;
        } while (*value != '\0');
        if (first.quota < 0)
                return false;
        seen->limit = first.quota;
        seen->window_ns = first.window > 0 ? seconds_as_ns(first.window) : -1;
        return true;
}

enum { REQUESTS, TOKENS };

static const struct {
        const char *name;
        int unit;
        bool (*read)(struct eddy_ratelimit *seen, const char *value, int64_t now_s);
} headers[] = {
        { "x-ratelimit-limit-requests", REQUESTS, read_limit },
        { "x-ratelimit-remaining-requests", REQUESTS, read_remaining },
        { "x-ratelimit-reset-requests", REQUESTS, read_reset_duration },
        { "x-ratelimit-limit-tokens", TOKENS, read_limit },
        { "x-ratelimit-remaining-tokens", TOKENS, read_remaining },
        { "x-ratelimit-reset-tokens", TOKENS, read_reset_duration },
        { "anthropic-ratelimit-requests-limit", REQUESTS, read_limit },
        { "anthropic-ratelimit-requests-remaining", REQUESTS, read_remaining },
        { "anthropic-ratelimit-requests-reset", REQUESTS, read_reset_time },
        { "anthropic-ratelimit-tokens-limit", TOKENS, read_limit },
        { "anthropic-ratelimit-tokens-remaining", TOKENS, read_remaining },
        { "anthropic-ratelimit-tokens-reset", TOKENS, read_reset_time },
        { "x-ratelimit-limit", REQUESTS, read_limit },
        { "x-ratelimit-remaining", REQUESTS, read_remaining },
        { "x-ratelimit-reset", REQUESTS, read_reset_seconds },
        { "ratelimit-limit", REQUESTS, read_limit },
        { "ratelimit-remaining", REQUESTS, read_remaining },
        { "ratelimit-reset", REQUESTS, read_reset_seconds },
        { "ratelimit", REQUESTS, read_ratelimit },
        { "ratelimit-policy", REQUESTS, read_policy },
};

bool eddy_ratelimits_read(struct eddy_ratelimits *seen, const char *name, const char *value,
                          int64_t now_s)
{
        if (!strcasestr(name, "ratelimit")) /* as most headers */
                return false;
        for (size_t i = 0; i < ed_array_count(headers); i++)
                if (strcasecmp(headers[i].name, name) == 0)
                        return headers[i].read(headers[i].unit == REQUESTS ? &seen->requests
                                                                           : &seen->tokens,
                                               value, now_s);
        return false;
}
