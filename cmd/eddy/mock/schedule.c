/*
 * mock/schedule.c - see schedule.h.
 */
#include "mock/schedule.h"

#include <errno.h>
#include <stddef.h>

#include "mock/number.h"

/* Read a count up to ED_SCHEDULE_COUNT_MAX. Returns the text after it, or NULL. */
static const char *count_read(const char *text, uint32_t *ret_count)
{
        uint32_t count = 0;
        const char *at = text;

        for (; *at >= '0' && *at <= '9'; at++) {
                count = count * 10 + (uint32_t) (*at - '0');
                if (count > ED_SCHEDULE_COUNT_MAX)
                        return NULL;
        }
        *ret_count = count;
        return at > text ? at : NULL;
}

int ed_schedule_parse(const char *text, struct ed_schedule *ret_schedule, const char **ret_why)
{
        struct ed_schedule schedule = { .steps_count = 0 };

        for (;;) {
                uint32_t n = schedule.steps_count, count;
                int64_t from_ns = 0;

                if (n == ED_SCHEDULE_STEPS_MAX) {
                        *ret_why = "has more than 64 steps";
                        return -EINVAL;
                }
                text = count_read(text, &count);
                if (!text) {
                        *ret_why = "has a step without a number from 0 to 1000000; write it as "
                                   "8@0s,2@10s";
                        return -EINVAL;
                }
                if (*text == '@') {
                        text = ed_number_read_duration(text + 1, ",", &from_ns, ret_why);
                        if (!text)
                                return -EINVAL;
                }
                if (n > 0 && from_ns <= schedule.steps[n - 1].from_ns) {
                        *ret_why = "has a step that is not later than the one before it";
                        return -EINVAL;
                }
                schedule.steps[n].from_ns = from_ns;
                schedule.steps[n].count = count;
                schedule.steps_count++;
                if (*text == '\0')
                        break;
                if (*text++ != ',') {
                        *ret_why = "is not a schedule such as 8@0s,2@10s";
                        return -EINVAL;
                }
        }
        *ret_schedule = schedule;
        return 0;
}

uint32_t ed_schedule_at(const struct ed_schedule *schedule, int64_t time_ns)
{
        uint32_t count = UINT32_MAX;

        for (uint32_t i = 0; i < schedule->steps_count && schedule->steps[i].from_ns <= time_ns;
             i++)
                count = schedule->steps[i].count;
        return count;
}

int ed_wave_parse(const char *text, struct ed_wave *ret_wave, const char **ret_why)
{
        struct ed_wave wave = { .retry_ns = -1 };

        text = ed_number_read_duration(text, ":", &wave.period_ns, ret_why);
        if (!text)
                return -EINVAL;
        if (*text != ':') {
                *ret_why = "is not PERIOD:LENGTH or PERIOD:LENGTH:RETRY_AFTER, as in 30s:5s:2s";
                return -EINVAL;
        }
        text = ed_number_read_duration(text + 1, ":", &wave.length_ns, ret_why);
        if (!text)
                return -EINVAL;
        if (*text == ':' && !ed_number_read_duration(text + 1, "", &wave.retry_ns, ret_why))
                return -EINVAL;
        if (wave.length_ns <= 0 || wave.length_ns >= wave.period_ns) {
                *ret_why = "has a length that is not above 0 and below the period";
                return -EINVAL;
        }
        *ret_wave = wave;
        return 0;
}

bool ed_wave_is_on(const struct ed_wave *wave, int64_t time_ns, int64_t *ret_retry_ns)
{
        int64_t since_ns;

        if (wave->period_ns <= 0 || time_ns < wave->period_ns)
                return false;
        since_ns = time_ns % wave->period_ns;
        if (since_ns >= wave->length_ns)
                return false;
        *ret_retry_ns = wave->retry_ns >= 0 ? wave->retry_ns : wave->length_ns - since_ns;
        return true;
}
