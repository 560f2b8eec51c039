/*
 * test/schedule.h - the choices of a run that differ from first in, first out: "3/2.7/3".
 *
 * A choice point is a choice among more than one ready entry. Points and entries are counted from
 * 1; entry 1 is the default.
 */
#ifndef ED_TEST_SCHEDULE_H
#define ED_TEST_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        ED_TEST_DEVIATIONS_MAX = 32, /* in a schedule */
        ED_TEST_CHOICES_MAX = 4096,  /* no deviation at a later choice point */
        ED_TEST_ORDER_BYTES = ED_TEST_DEVIATIONS_MAX * (int) sizeof("4096/8"),
};

struct ed_test_deviation {
        uint16_t point; /* 1 .. ED_TEST_CHOICES_MAX */
        uint8_t entry;  /* 2 .. ED_LOOP_CHOICES_MAX */
};

/* In the order of their points. All zero: no deviations. */
struct ed_test_schedule {
        uint32_t count;
        struct ed_test_deviation at[ED_TEST_DEVIATIONS_MAX];
};

/* Returns the choice point of the last deviation, or 0. */
uint32_t ed_test_schedule_last(const struct ed_test_schedule *schedule);

/* Append a deviation after the last. Returns false if there are too many, or the point is too late. */
bool ed_test_schedule_add(struct ed_test_schedule *schedule, uint32_t point, uint32_t entry);

/* Read "3/2.7/3" or "0". Errors: -EINVAL. */
int ed_test_schedule_read(const char *text, struct ed_test_schedule *ret_schedule);

/* Write a schedule in at most ED_TEST_ORDER_BYTES bytes. */
void ed_test_schedule_write(const struct ed_test_schedule *schedule, char *buf, size_t bytes);

#endif
