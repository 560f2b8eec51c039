/*
 * obs_test.h - what the tests of logs and metrics share: a simulated run, and a log whose lines are
 * read from the other end of a pair of streams.
 */
#ifndef ED_OBS_TEST_H
#define ED_OBS_TEST_H

#include "eddy/eddy.h"
#include "eddy/test.h"
#include "test.h"

/* Run 'fn' in the simulated world; it must return 0, and leave nothing. */
void obs_run(eddy_task_fn *fn);

/* Each sweep of the kit over 'fn'; single tasks are cancelled only if their name is in 'names'. */
void obs_sweep_all(eddy_task_fn *fn, const char *const *names);

struct obs_log {
        eddy_log *log;
        eddy_stream *near, *far;
        char text[1 << 20]; /* that was read */
        size_t bytes;
};

extern struct obs_log obs;

/* Open 'obs' with a pair of 'pair_bytes' (0: the default); opts->stream is set. */
void obs_open(struct eddy_log_opts opts, size_t pair_bytes);
void obs_close(void);

/* Read what was written so far into obs.text, in place of what was there. Does not wait. */
const char *obs_read(void);

/* Flush the log and read; the lines' times are replaced by T. */
const char *obs_lines(void);

/* Returns how many times 'part' is in 'text'. */
int obs_count(const char *text, const char *part);

#endif
