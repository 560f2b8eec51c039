/*
 * test/schedule.c - schedules as strings, and choosing by a schedule.
 */
#include "test/schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "loop/loop.h"
#include "test/run.h"

uint32_t ed_test_schedule_last(const struct ed_test_schedule *schedule)
{
        return schedule->count > 0 ? schedule->at[schedule->count - 1].point : 0;
}

bool ed_test_schedule_add(struct ed_test_schedule *schedule, uint32_t point, uint32_t entry)
{
        if (schedule->count == ED_TEST_DEVIATIONS_MAX || point > ED_TEST_CHOICES_MAX)
                return false;
        schedule->at[schedule->count++] =
                (struct ed_test_deviation){ (uint16_t) point, (uint8_t) entry };
        return true;
}

/* --- as a string --- */

/* Read a number in a range. Returns the text after it, or NULL. */
static const char *number_read(const char *at, unsigned long min, unsigned long max,
                               unsigned long *ret_number)
{
        char *end;

        if (*at < '1' || *at > '9')
                return NULL;
        *ret_number = strtoul(at, &end, 10);
        return *ret_number >= min && *ret_number <= max ? end : NULL;
}

int ed_test_schedule_read(const char *text, struct ed_test_schedule *ret_schedule)
{
        struct ed_test_schedule schedule = { 0 };
        unsigned long point, entry;
        const char *at = text;

        if (at[0] == '0' && at[1] == '\0') {
                *ret_schedule = schedule;
                return 0;
        }
        do {
                at = number_read(at, ed_test_schedule_last(&schedule) + 1, ED_TEST_CHOICES_MAX,
                                 &point);
                if (!at || *at != '/')
                        return -EINVAL;
                at = number_read(at + 1, 2, ED_LOOP_CHOICES_MAX, &entry);
                if (!at || !ed_test_schedule_add(&schedule, (uint32_t) point, (uint32_t) entry))
                        return -EINVAL;
        } while (*at++ == '.');
        if (at[-1] != '\0')
                return -EINVAL;
        *ret_schedule = schedule;
        return 0;
}

void ed_test_schedule_write(const struct ed_test_schedule *schedule, char *buf, size_t bytes)
{
        struct ed_text text = { buf, bytes };

        ed_text_add(&text, "%s", schedule->count > 0 ? "" : "0");
        for (uint32_t i = 0; i < schedule->count; i++)
                ed_text_add(&text, "%s%u/%u", i > 0 ? "." : "", (unsigned) schedule->at[i].point,
                            (unsigned) schedule->at[i].entry);
}

/* --- in a run --- */

uint32_t ed_test_choose(struct ed_test_run *run, uint32_t n)
{
        const struct ed_test_schedule *schedule = &run->schedule;
        const struct ed_test_deviation *next = &schedule->at[run->deviated];

        if (n < 2 || run->deviated == schedule->count || next->point != run->figures.choices + 1)
                return 0;
        run->deviated++;
        if (next->entry <= n)
                return next->entry - 1U;
        if (run->figures.missed == 0) {
                run->figures.missed = next->point;
                run->missed_ready = n;
        }
        return 0;
}

void ed_test_chose(struct ed_test_run *run, uint32_t n, uint32_t chosen)
{
        uint64_t i = run->figures.choices;

        if (n < 2)
                return;
        if (run->more.sizes && i < ED_TEST_CHOICES_MAX)
                run->more.sizes[i] = (uint8_t) n;
        if (chosen > 0 && run->more.schedule)
                (void) ed_test_schedule_add(run->more.schedule, (uint32_t) i + 1, chosen + 1);
        run->figures.choices++;
        run->figures.deviations += chosen > 0;
}

void ed_test_choose_end(struct ed_test_run *run)
{
        const struct eddy_test_opts *opts = &run->opts;
        const struct ed_test_schedule *schedule = &run->schedule;
        uint64_t *missed = &run->figures.missed;

        if (!opts->order)
                return;
        if (*missed == 0 && run->deviated < schedule->count)
                *missed = schedule->at[run->deviated].point;
        /* After a fault the run may be shorter. */
        if (*missed == 0 || opts->cancel_at > 0 || opts->alloc_at > 0 || opts->call_at > 0)
                return;
        if (run->missed_ready > 0)
                ed_test_found(run,
                              "choice point %llu has only %u ready tasks: the program, or the "
                              "build of eddy, has changed",
                              (unsigned long long) *missed, (unsigned) run->missed_ready);
        else
                ed_test_found(run,
                              "choice point %llu was never reached; there were %llu: the program, "
                              "or the build of eddy, has changed",
                              (unsigned long long) *missed,
                              (unsigned long long) run->figures.choices);
}
