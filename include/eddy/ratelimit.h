/*
 * eddy/ratelimit.h - what a server reports about its limits: the headers of the
 * x-ratelimit family and of the IETF's drafts.
 *
 *     struct eddy_ratelimits seen = EDDY_RATELIMITS;
 *
 *     for (size_t i = 0; eddy_http_response_header_at(response, i, &header) == 0; i++)
 *             eddy_ratelimits_read(&seen, header.name, header.value, now_s);
 *     eddy_limiter_learn(limiter, EDDY_LIMITER_REQUESTS, &seen.requests);
 *
 * These functions read no clock: the caller passes the time of day.
 */
#ifndef EDDY_RATELIMIT_H
#define EDDY_RATELIMIT_H

#include <stdbool.h>

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* A limit as a server reports it.  -1 in a field: not reported. */
struct eddy_ratelimit {
        int64_t limit;     /* in each window */
        int64_t remaining; /* of that, now */
        int64_t reset_ns;  /* time until the limit is whole again */
        int64_t window_ns; /* length of the window */
        bool refills;      /* the limit fills up evenly until then, instead of all at once then */
};

struct eddy_ratelimits {
        struct eddy_ratelimit requests;
        struct eddy_ratelimit tokens;
};

/* Nothing reported. */
#define EDDY_RATELIMITS                                                                            \
        {                                                                                          \
                { -1, -1, -1, -1, false },                                                         \
                {                                                                                  \
                        -1, -1, -1, -1, false                                                      \
                }                                                                                  \
        }

/*
 * Read one header of a response and add what it says to 'seen'.  Other headers, and
 * values that do not follow their format, change nothing.  'now_s' is the time of
 * day in seconds since 1970; pass the time of the response's Date header to be
 * independent of the server's clock.  Returns whether the header was used.
 *
 *   x-ratelimit-{limit,remaining,reset}-{requests,tokens}
 *       resets such as "6m0s", "1.5s", "12ms" or "30" (seconds); refills evenly, unless
 *       the reset is a time of day as below
 *   anthropic-ratelimit-{requests,tokens}-{limit,remaining,reset}
 *       resets as RFC 3339 times; refills evenly
 *   x-ratelimit-{limit,remaining,reset}
 *       resets as seconds from now, or since 1970 if above 10^9, or milliseconds since
 *       1970 if above 10^11
 *   ratelimit-{limit,remaining,reset}
 *       draft-ietf-httpapi-ratelimit-headers, up to 06: seconds from now
 *   ratelimit: limit=100, remaining=50, reset=30
 *       draft 07
 *   ratelimit: "default";r=50;t=30          ratelimit-policy: "default";q=100;w=60
 *       draft 08 and later.  The entry with the fewest remaining requests counts,
 *       and the first policy in requests.
 *
 * Names are compared without regard to case.
 *
 * Suspends: no.
 * Threads:  any.
 */
EDDY_API bool eddy_ratelimits_read(struct eddy_ratelimits *seen, const char *name,
                                   const char *value, int64_t now_s);

/*
 * Read a duration such as "1h30m", "6m0s", "1.5s", "12ms", "250us", "10ns", or plain
 * seconds, "30" or "0.5".  At most INT64_MAX.  On failure '*ret_ns' is unchanged.
 *
 * Suspends: no.
 * Threads:  any.
 * Errors: -EINVAL
 */
EDDY_API EDDY_MUST_USE int eddy_ratelimit_duration_parse(const char *text, int64_t *ret_ns);

EDDY_END_DECLS

#endif
