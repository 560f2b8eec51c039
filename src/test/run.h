/*
 * test/run.h - a run of the kit, and extra options for eddy's own tests.
 */
#ifndef ED_TEST_RUN_H
#define ED_TEST_RUN_H

#include <stdbool.h>

#include "base/text.h"
#include "eddy/test.h"
#include "eddy/test_explore.h"
#include "sim/sim.h"
#include "test/memory.h"
#include "test/schedule.h"
#include "test/strike.h"

/* Options beyond the public ones. All zero: none. */
struct ed_test_more {
        struct ed_sim_opts sim; /* the kit sets 'seed' and 'end' */
        bool on_epoll;          /* the kernel's table; without points if 'at_point' is NULL */
        void (*at_table)(struct ed_sys *sys); /* called once the table exists */
        uint64_t sample;                      /* points a sweep tries by default; 0: all */
        uint32_t *task_points; /* number of points of each task, main first; NULL: not counted */
        uint64_t task_points_max;
        bool (*at_point)(void); /* called at each point; returns true if it made a task ready */
        bool counts_debug;      /* count allocations that only debug mode needs */
        uint8_t *sizes; /* number of ready entries at each choice point, ED_TEST_CHOICES_MAX; NULL:
                           not recorded */
        struct ed_test_schedule *schedule; /* gets the deviations; NULL: not recorded */
        void (*at_end)(void);              /* called last in the run */
        char *output;      /* standard output goes here instead; NULL: not redirected */
        size_t output_max; /* the rest is dropped */
};

/* Results beyond the public ones. */
struct ed_test_figures {
        struct ed_sim_end end;
        uint64_t order;        /* a hash of the choices at all points, regardless of time */
        uint64_t deadlocks;    /* number of deadlocks reported */
        uint64_t alloc_failed; /* number of allocations refused */
        uint64_t tasks;        /* number of tasks started, main first */
        uint64_t task_points;  /* points of the task in opts.cancel_task */
        struct ed_test_strikes strikes;
        uint64_t choices;    /* number of choice points */
        uint64_t deviations; /* choices of another entry than the first */
        uint64_t missed;     /* choice point of opts.order that was not reached; 0: none */
        size_t output_bytes; /* in more.output */
};

struct ed_run;

enum { ED_TEST_FDS_MAX = 1024, ED_TEST_NAME_BYTES = 128, ED_TEST_TASKS_BYTES = 512 };

/* The current run of this process, or a run left by a jump. */
struct ed_test_run {
        struct eddy_test_opts opts;
        struct ed_test_more more;
        char name[ED_TEST_NAME_BYTES];
        eddy_task_fn *main_fn;
        void *arg;
        struct eddy_test_result result;
        struct ed_test_figures figures;
        struct ed_text problem; /* writes to the result's 'problem' */

        struct ed_run *run;  /* NULL: no loop */
        struct ed_sys *sys;  /* NULL: no table */
        struct ed_sys table; /* the parts of 'sys' before they were wrapped */
        struct ed_sys_poll wrapped;
        uint64_t chance;                  /* random state for a table without one */
        uint64_t draws, draw_state;       /* random numbers drawn by the program */
        const void *play_return;          /* among the callers of every call of the run */
        unsigned forks;                   /* differs in a child's copy of the run */
        struct ed_test_schedule schedule; /* from opts.order */
        uint32_t deviated;                /* number of its deviations so far */
        uint32_t missed_ready;        /* ready entries at figures.missed; 0: it was not reached */
        bool cancel_due;              /* cancel as soon as there is a main task */
        uint64_t tasks_seen;          /* highest task number that has been given its first point */
        struct ed_task *target;       /* the task in opts.cancel_task while it waits, else NULL */
        bool target_waits;            /* the task has been given its waiting point */
        bool target_woken;            /* the task has been given its woken point */
        ed_at_suspend_fn *at_suspend; /* the former callback */
        bool gave_up;                 /* the run exceeded its limit */
        bool drained;                 /* the drain time has passed, or there was none */
        int64_t begin_ns;
        uint64_t descriptors;     /* descriptors that were left open in the table */
        int fds[ED_TEST_FDS_MAX]; /* the process's descriptors before the run */
        int fds_count;            /* at most ED_TEST_FDS_MAX are in 'fds'; negative: unknown */
        uint64_t left_tasks;
        char left_text[ED_TEST_TASKS_BYTES]; /* names of those tasks and what they wait for */
};

/* NULL: none. */
extern struct ed_test_run *ed_test_now;

/* Returns true if this thread made the current run. */
bool ed_test_is_mine(void);

/* eddy_test_run() without the printing; 'more' and 'ret_figures' may be NULL. */
typedef int ed_test_play_fn(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                            const struct ed_test_more *more, struct eddy_test_result *ret_result,
                            struct ed_test_figures *ret_figures);
ed_test_play_fn ed_test_run_with;

/* As eddy_test_sweep(), with 'more'. */
int ed_test_sweep_with(int what, eddy_task_fn *main_fn, void *arg,
                       const struct eddy_test_opts *opts, const struct ed_test_more *more,
                       struct eddy_test_sweep *ret_sweep);

/* Free the memory of this thread's sweep. */
void ed_test_sweep_forget(void);

/* Write the run's name: from the options, or else that of its main function. */
void ed_test_name(const struct eddy_test_opts *opts, eddy_task_fn *main_fn, char *buf,
                  size_t bytes);

/*
 * Discard a run that this thread left by a jump, with all memory since. Errors: those of starting a
 * run: EDDY_E_RUN_NESTED, -EBUSY.
 */
int ed_test_clear(void);

/* Report the run in progress, if there is one. */
void ed_test_last_words(void);

/* --- found.c: findings of a run --- */

/* Between these two calls, failed checks on any thread count for the run. */
void ed_test_found_begin(struct ed_test_run *run);
void ed_test_found_end(void);

/* Add a finding; call on the run's own thread. */
void ed_test_found(struct ed_test_run *run, const char *format, ...) EDDY_PRINTF(2, 3);

/* --- world.c: the table of a run, and its points --- */

/* Errors: -ENOMEM, -EINVAL and those of the kernel's table. */
int ed_test_world_new(struct ed_test_run *run);

/* --- schedule.c: choosing --- */

/* Returns the entry that opts.order wants of 'n' at the next choice, counted from 0. */
uint32_t ed_test_choose(struct ed_test_run *run, uint32_t n);

/* Record a choice among 'n'. */
void ed_test_chose(struct ed_test_run *run, uint32_t n, uint32_t chosen);

/* Find deviations that were not reached. */
void ed_test_choose_end(struct ed_test_run *run);

/* --- explore.c --- */

enum { ED_TEST_DEVIATIONS = 3, ED_TEST_RUNS = 10000 }; /* the defaults of an exploration */

/*
 * As eddy_test_explore(), with another function for each run, whose errors before a run are returned.
 * With that function '*ret_explored' has the outcomes so far, even after an error.
 */
int ed_test_explore_with(ed_test_play_fn *play, eddy_task_fn *main_fn, void *arg,
                         const struct eddy_test_opts *opts,
                         const struct eddy_test_explore_opts *explore_opts,
                         struct eddy_test_explored *ret_explored);

/* Free the memory of this thread's exploration. */
void ed_test_explore_forget(void);

/* --- target.c: the task to be cancelled, and the points of tasks --- */

void ed_test_target_begin(struct ed_test_run *run);
void ed_test_target_end(struct ed_test_run *run);

/* Called at each point of the run. Returns true if the task was cancelled now. */
bool ed_test_target_point(struct ed_test_run *run, const void *from);

/* --- units.c: units that were not given back --- */

void ed_test_units_begin(void);
void ed_test_units_end(void);
void ed_test_units_find(struct ed_test_run *run);

/* --- left.c: resources left at the end --- */

/* Write the names of the background tasks and what they wait for. Returns their number. */
uint64_t ed_test_left_name(const struct ed_test_run *run, char *buf, size_t bytes);

/* Call before and after the run. */
void ed_test_left_note(struct ed_test_run *run);
void ed_test_left_find(struct ed_test_run *run);

#endif
