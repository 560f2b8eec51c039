/*
 * sys/poll/clock.h - the clocks of the kernel: functions of the table. sys.h has ed_sys_now() and
 * ed_sys_time_of_day(), which read them without a table.
 */
#ifndef ED_SYS_POLL_CLOCK_H
#define ED_SYS_POLL_CLOCK_H

#include "sys/sys.h"

/* CLOCK_MONOTONIC and CLOCK_REALTIME, in ns. */
int64_t ed_clock_now(struct ed_sys *sys);
int64_t ed_clock_time_of_day(struct ed_sys *sys);

#endif
