/*
 * mock/schedule.h - behaviour that changes with the time since the server's start: how many
 * requests are served at a time, and waves of refusals.
 */
#ifndef ED_CMD_MOCK_SCHEDULE_H
#define ED_CMD_MOCK_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/def.h"

enum { ED_SCHEDULE_STEPS_MAX = 64, ED_SCHEDULE_COUNT_MAX = 1000000 };

/* All zero: no limit at any time. */
struct ed_schedule {
        struct {
                int64_t from_ns; /* increasing */
                uint32_t count;
        } steps[ED_SCHEDULE_STEPS_MAX];
        uint32_t steps_count;
};

/*
 * Parse 8 (always), or 8@0s,2@10s,8@30s.
 *
 * Errors: -EINVAL, and '*ret_why' is a short explanation
 */
EDDY_MUST_USE int ed_schedule_parse(const char *text, struct ed_schedule *ret_schedule,
                                    const char **ret_why);

/* Returns the limit at 'time_ns', or UINT32_MAX before the first step. */
uint32_t ed_schedule_at(const struct ed_schedule *schedule, int64_t time_ns);

/* All zero: no waves. The first wave begins after one period. */
struct ed_wave {
        int64_t period_ns;
        int64_t length_ns;
        int64_t retry_ns; /* for Retry-After; below 0: the rest of the wave */
};

/* Parse PERIOD:LENGTH[:RETRY_AFTER], as in 30s:5s or 30s:5s:2s. Errors: as ed_schedule_parse() */
EDDY_MUST_USE int ed_wave_parse(const char *text, struct ed_wave *ret_wave, const char **ret_why);

/* Returns true during a wave, and stores the time for Retry-After. */
bool ed_wave_is_on(const struct ed_wave *wave, int64_t time_ns, int64_t *ret_retry_ns);

#endif
