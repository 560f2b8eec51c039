/*
 * vendor/limits.c - reads a header whose name has a window as the header without the window.
 */
#include "vendor/limits.h"

#include <string.h>
#include <strings.h>

#include "eddy/time.h"

enum { NAME_BYTES = 64, UNITS = 3 };

static const struct eddy_ratelimits none = EDDY_RATELIMITS;

/* From the longest to the shortest. */
static const struct {
        const char *name;
        int64_t ns;
} windows[ED_LIMITS_WINDOWS] = {
        { "month", EDDY_MIN(60) * 24 * 30 }, { "day", EDDY_MIN(60) * 24 }, { "hour", EDDY_MIN(60) },
        { "minute", EDDY_MIN(1) },           { "second", EDDY_SEC(1) },
};

static const struct {
        const char *name;
        bool is_tokens;
} units[UNITS] = { { "requests", false }, { "req", false }, { "tokens", true } };

void ed_limits_init(struct ed_limits_seen *seen)
{
        seen->plain = none;
        for (int i = 0; i < ED_LIMITS_WINDOWS; i++)
                seen->requests[i] = seen->tokens[i] = none.requests;
        seen->any = false;
}

/* Returns the number of the window at the end of a name, and the bytes before it, or -1. */
static int window_of(const char *name, size_t *ret_bytes)
{
        size_t all = strlen(name);

        for (int i = 0; i < ED_LIMITS_WINDOWS; i++) {
                size_t bytes = strlen(windows[i].name);

                if (all > bytes + 1 && name[all - bytes - 1] == '-' &&
                    strcasecmp(name + all - bytes, windows[i].name) == 0) {
                        *ret_bytes = all - bytes - 1;
                        return i;
                }
        }
        return -1;
}

/* Returns the number of the unit at the end of the first bytes of a name, or -1. */
static int unit_of(const char *name, size_t *bytes)
{
        for (int i = 0; i < UNITS; i++) {
                size_t unit = strlen(units[i].name);

                if (*bytes > unit + 1 && name[*bytes - unit - 1] == '-' &&
                    strncasecmp(name + *bytes - unit, units[i].name, unit) == 0) {
                        *bytes -= unit + 1;
                        return i;
                }
        }
        return -1;
}

/* Read "x-ratelimit-limit-requests-day" as "x-ratelimit-limit". Returns false for other headers. */
static bool window_read(struct ed_limits_seen *seen, const char *name, const char *value,
                        int64_t now_s)
{
        struct eddy_ratelimits found = none;
        struct eddy_ratelimit *limit;
        char plain[NAME_BYTES];
        size_t bytes;
        int window = window_of(name, &bytes), unit = window < 0 ? -1 : unit_of(name, &bytes);

        if (unit < 0 || bytes >= sizeof(plain))
                return false;
        limit = units[unit].is_tokens ? &seen->tokens[window] : &seen->requests[window];
        memcpy(plain, name, bytes);
        plain[bytes] = '\0';
        found.requests = *limit;
        if (!eddy_ratelimits_read(&found, plain, value, now_s))
                return false;
        *limit = found.requests;
        return true;
}

bool ed_limits_is_name(const char *name)
{
        static const char part[] = "ratelimit";

        for (; *name; name++)
                if ((*name == 'r' || *name == 'R') &&
                    strncasecmp(name, part, sizeof(part) - 1) == 0)
                        return true;
        return false;
}

void ed_limits_read(struct ed_limits_seen *seen, const char *name, const char *value, int64_t now_s)
{
        if (ed_limits_is_name(name))
                seen->any |= eddy_ratelimits_read(&seen->plain, name, value, now_s) ||
                             window_read(seen, name, value, now_s);
}

int64_t ed_limit_wait(const struct eddy_ratelimit *limit)
{
        if (limit->remaining != 0 || limit->reset_ns <= 0)
                return 0;
        return limit->refills && limit->limit > 0 ? limit->reset_ns / limit->limit
                                                  : limit->reset_ns;
}

/* Guess the time until a limit is full: the used part of the limit is that part of the window. */
static void reset_guess(struct eddy_ratelimit *limit, int64_t window_ns)
{
        if (limit->reset_ns >= 0 || limit->remaining < 0 || limit->limit <= 0)
                return;
        limit->refills = true;
        limit->reset_ns = limit->remaining >= limit->limit
                                  ? 0
                                  : (int64_t) ((double) (limit->limit - limit->remaining) /
                                               (double) limit->limit * (double) window_ns);
}

/* Returns true if a limit allows less than another. A limit that is not known allows all. */
static bool is_less(const struct eddy_ratelimit *limit, const struct eddy_ratelimit *other)
{
        int64_t wait_ns = ed_limit_wait(limit), other_ns = ed_limit_wait(other);

        if (limit->remaining < 0 || limit->reset_ns < 0)
                return false;
        if (other->remaining < 0 || other->reset_ns < 0 || wait_ns != other_ns)
                return wait_ns >= other_ns;
        return limit->remaining < other->remaining;
}

static struct eddy_ratelimit least_of(struct eddy_ratelimit least,
                                      const struct eddy_ratelimit *limits)
{
        for (int i = 0; i < ED_LIMITS_WINDOWS; i++) {
                struct eddy_ratelimit limit = limits[i];

                reset_guess(&limit, windows[i].ns);
                if (is_less(&limit, &least))
                        least = limit;
        }
        return least;
}

struct eddy_ratelimits ed_limits_least(const struct ed_limits_seen *seen)
{
        struct eddy_ratelimits least = seen->plain;

        least.requests = least_of(least.requests, seen->requests);
        least.tokens = least_of(least.tokens, seen->tokens);
        return least;
}
