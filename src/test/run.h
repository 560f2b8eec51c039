/*
 * test/run.h - a run of the kit, and what our own tests want of it besides.
 */
#ifndef ED_TEST_RUN_H
#define ED_TEST_RUN_H

#include <stdbool.h>

#include "base/text.h"
#include "eddy/test.h"
#include "sim/sim.h"
#include "test/memory.h"
#include "test/strike.h"

/* What is asked of the world beyond the options.  All zero: nothing. */
struct ed_test_more {
        struct ed_sim_opts sim; /* 'seed' and 'end' are the kit's */
        bool on_epoll;          /* the kernel's world; 'at_point' NULL: without points */
        void (*at_table)(struct ed_sys *sys); /* as soon as there is a table */
        uint64_t sample;                      /* of a sweep, unless the environment says; 0: all */
        uint32_t *task_points; /* how many points each task has, main first; NULL: not counted */
        uint64_t task_points_max;
        bool (*at_point)(void); /* at each point; whether it made something ready */
        bool counts_debug;      /* allocations that only debug mode needs */
};

/* What is told of a run beyond its result. */
struct ed_test_told {
        struct ed_sim_end end;
        uint64_t order;        /* a hash of what was chosen at each point, whenever that was */
        uint64_t deadlocks;    /* reported */
        uint64_t alloc_failed; /* allocations that were refused */
        uint64_t tasks;        /* that were started, main the first */
        uint64_t task_points;  /* of the task that opts.cancel_task names */
        struct ed_test_strikes strikes;
};

struct ed_run;

enum { ED_TEST_FDS_MAX = 1024, ED_TEST_NAME_BYTES = 128, ED_TEST_TASKS_BYTES = 512 };

/* The run of this process that is under way, or that was left by a jump. */
struct ed_test_run {
        struct eddy_test_opts opts;
        struct ed_test_more more;
        char name[ED_TEST_NAME_BYTES];
        eddy_task_fn *main_fn;
        void *arg;
        struct eddy_test_result result;
        struct ed_test_told told;
        struct ed_text problem; /* into the result's */

        struct ed_run *run; /* NULL: there is no loop */
        struct ed_sys *sys; /* NULL: there is no table */
        const struct ed_sys_ops *ops;
        struct ed_sys_ops wrapped;
        uint64_t chance;         /* of a table that has none */
        uint64_t draws;          /* of the program's own chance */
        const void *play_return; /* a call that comes from the run has it among its callers */
        unsigned forks;          /* another number: this is a child's copy of it */
        bool cancel_due;         /* as soon as there is a main task */
        uint64_t tasks_seen;     /* the highest number of a task that was given its first point */
        struct ed_task *target; /* that opts.cancel_task names, while it waits; NULL: it does not */
        bool target_waits;      /* it was given the point for that */
        bool target_woken;      /* and that for its end */
        ed_at_suspend_fn *at_suspend; /* that was there before */
        bool gave_up;                 /* it went beyond its limit */
        bool drained;                 /* the time of the background has passed, or there was none */
        int64_t begin_ns;
        uint64_t descriptors;     /* of the world, that were left */
        int fds[ED_TEST_FDS_MAX]; /* of the process, before it */
        int fds_count;            /* of which so many are noted at most; below 0: not known */
        uint64_t left_tasks;
        char left_text[ED_TEST_TASKS_BYTES]; /* what they wait for */
};

/* NULL: none. */
extern struct ed_test_run *ed_test_now;

/* Whether this thread has made it. */
bool ed_test_is_mine(void);

/* eddy_test_run() without the printing; 'more' and 'ret_told' may be NULL. */
int ed_test_run_with(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                     const struct ed_test_more *more, struct eddy_test_result *ret_result,
                     struct ed_test_told *ret_told);

/* The same of eddy_test_sweep(), which prints. */
int ed_test_sweep_with(int what, eddy_task_fn *main_fn, void *arg,
                       const struct eddy_test_opts *opts, const struct ed_test_more *more,
                       struct eddy_test_sweep *ret_sweep);

/* This thread makes none any more. */
void ed_test_sweep_forget(void);

/* What a run is called: as the options say, or else as its main function. */
void ed_test_name(const struct eddy_test_opts *opts, eddy_task_fn *main_fn, char *buf,
                  size_t bytes);

/* Say which run it was that has not ended, if there is one. */
void ed_test_last_words(void);

/* --- found.c: what is found in a run --- */

/* From here on, and until here, checks count for it, of whatever thread. */
void ed_test_found_begin(struct ed_test_run *run);
void ed_test_found_end(void);

/* Add a line; from the run's own thread. */
void ed_test_found(struct ed_test_run *run, const char *format, ...) EDDY_PRINTF(2, 3);

/* --- world.c: the table of a run, and its points --- */

/* Errors: -ENOMEM, -EINVAL and those of the kernel's table. */
int ed_test_world_new(struct ed_test_run *run);

/* --- target.c: the one task that is cancelled, and the points of tasks --- */

void ed_test_target_begin(struct ed_test_run *run);
void ed_test_target_end(struct ed_test_run *run);

/* At each point of the run.  True: the task was cancelled now. */
bool ed_test_target_point(struct ed_test_run *run, const void *from);

/* --- units.c: units that are not given back --- */

void ed_test_units_begin(void);
void ed_test_units_end(void);
void ed_test_units_find(struct ed_test_run *run);

/* --- left.c: what is left at the end --- */

/* Name the tasks below the root scope: those of the background, and what they wait for. */
uint64_t ed_test_left_name(const struct ed_test_run *run, char *buf, size_t bytes);

/* Before the run; and after it. */
void ed_test_left_note(struct ed_test_run *run);
void ed_test_left_find(struct ed_test_run *run);

#endif
