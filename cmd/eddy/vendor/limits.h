/*
 * vendor/limits.h - the limits that the headers of an answer report: those of eddy/ratelimit.h, and
 * those with the window in the name of the header, such as x-ratelimit-remaining-tokens-minute and
 * x-ratelimit-limit-requests-day. No I/O.
 */
#ifndef ED_CMD_VENDOR_LIMITS_H
#define ED_CMD_VENDOR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/ratelimit.h"

enum { ED_LIMITS_WINDOWS = 5 };

struct ed_limits_seen {
        struct eddy_ratelimits plain; /* of headers without a window */
        struct eddy_ratelimit requests[ED_LIMITS_WINDOWS];
        struct eddy_ratelimit tokens[ED_LIMITS_WINDOWS];
        bool any;
};

void ed_limits_init(struct ed_limits_seen *seen);

/* Returns whether a header may report a limit; few do. */
bool ed_limits_is_name(const char *name);

/* Add a header. 'now_s' is as for eddy_ratelimits_read(). */
void ed_limits_read(struct ed_limits_seen *seen, const char *name, const char *value,
                    int64_t now_s);

/* Returns the time until a limit allows anything, 0 if it does now. */
int64_t ed_limit_wait(const struct eddy_ratelimit *limit);

/*
 * Returns, for requests and for tokens, the limit that allows the least: the one that is used up
 * for the longest time, or else the one with the fewest left. If a header with a window gives no
 * time, the limit is assumed to fill up evenly.
 */
struct eddy_ratelimits ed_limits_least(const struct ed_limits_seen *seen);

#endif
