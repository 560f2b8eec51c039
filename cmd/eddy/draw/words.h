/*
 * draw/words.h - the words of pictures: times, results, sentences about events. No I/O.
 */
#ifndef ED_CMD_DRAW_WORDS_H
#define ED_CMD_DRAW_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/draft.h"
#include "draw/model.h"

/* Append nanoseconds with their unit: "1.25 ms", "310 ns"; the micro sign is "u" if 'is_ascii'. */
void ed_draw_time_add(struct ed_draft *out, double duration_ns, bool is_ascii);

/*
 * Append a tick of an axis whose ticks have the distance 'step': all decimals of its step, in the
 * unit that suits 'max'.
 */
void ed_draw_tick_add(struct ed_draft *out, const struct ed_draw_scale *scale, double tick,
                      double step, bool is_ascii);

/* Returns a round distance of ticks, of which at most 'ticks' fit on the axis. */
double ed_draw_step(const struct ed_draw_scale *scale, unsigned ticks);

/* Returns the first tick on the axis. */
double ed_draw_first_tick(const struct ed_draw_scale *scale, double step);

/* Append "task 2 worker", with the loop's number if there are several; or "the loop". */
void ed_draw_node_add(struct ed_draft *out, const struct ed_draw_run *run, uint32_t node);

/* The same for a task's number in a loop; 0 is the loop. */
void ed_draw_task_add(struct ed_draft *out, const struct ed_draw_run *run, int64_t loop,
                      int64_t task);

/* Append " with -2 (ENOENT)"; nothing for 0 and for a result that is absent. */
void ed_draw_result_add(struct ed_draft *out, const struct ed_draw_run *run, int64_t result,
                        uint32_t error);

/* Append a sentence about an event: "task 2 worker waits for a lock". */
void ed_draw_event_add(struct ed_draft *out, const struct ed_draw_run *run, uint32_t event);

/* Append an event's time, or its number on an axis of order. */
void ed_draw_when_add(struct ed_draft *out, const struct ed_draw_run *run,
                      const struct ed_draw_scale *scale, uint32_t event, bool is_ascii);

/* Append "1 task", "3,000 tasks". */
void ed_draw_count_add(struct ed_draft *out, uint64_t count, const char *noun);

#endif
