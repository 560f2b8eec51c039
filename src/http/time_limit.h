/*
 * http/time_limit.h - the time limits of a client's requests.
 */
#ifndef ED_HTTP_TIME_LIMIT_H
#define ED_HTTP_TIME_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* A part of a call. */
typedef int64_t ed_http_part_fn(void *arg);

/* Returns the limit that applies to a request; 0: without a limit. */
static inline int64_t ed_http_timeout(int64_t requests_ns, int64_t clients_ns)
{
        if (requests_ns == 0)
                return clients_ns;
        return requests_ns > 0 ? requests_ns : 0;
}

/* Call fn(arg) in a scope. Returns the result, or 'error' if the deadline stopped the call. */
int64_t ed_http_call_until(ed_http_part_fn *fn, void *arg, int64_t deadline_ns, int error);

/*
 * Returns true if the deadline of ed_http_call_until() has stopped 'fn'; false if its caller was
 * cancelled first. Called by 'fn' itself, in no scope of its own.
 */
bool ed_http_is_out_of_time(void);

/* Returns ed_http_call_until(), or without a deadline (0) fn(arg). */
static inline int64_t ed_http_call(ed_http_part_fn *fn, void *arg, int64_t deadline_ns, int error)
{
        return deadline_ns ? ed_http_call_until(fn, arg, deadline_ns, error) : fn(arg);
}

#endif
