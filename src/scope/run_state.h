/*
 * scope/run_state.h - the data of a run, and the way from a loop to its run.
 *
 * This header is below the rest of src/scope: it includes none of its headers.  The functions
 * that make, run and end a run are in scope/run.h.
 */
#ifndef ED_SCOPE_RUN_STATE_H
#define ED_SCOPE_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"
#include "base/list.h"
#include "eddy/loop.h"
#include "eddy/run.h"
#include "eddy/scope.h"
#include "loop/loop.h"
#include "sys/sys.h"

struct ed_debug;
struct ed_many;
struct ed_stack_records;
struct ed_task;
struct ed_ticker;

/* Released handles, kept for the next tasks of the run. */
enum { ED_FACES_MAX = 64 };

struct ed_faces {
        struct eddy_task *first;
        uint32_t count;
};

struct ed_run {
        struct ed_loop loop;
        struct ed_list link; /* in the process's list of runs */
        uintptr_t number;    /* serial number in the process, from 1 */
        unsigned forks;      /* ed_sys_forks() when the run was made */
        struct eddy_run_opts opts;
        eddy_loop *face;     /* NULL: not requested yet */
        eddy_scope root;     /* holds background tasks; opened by the supervisor */
        eddy_scope services; /* in the root scope; cancelled when the main task has ended */
        eddy_scope *ending;  /* the scope that a signal cancels while the run closes */
        struct ed_task *supervisor;
        bool idle;      /* the supervisor waits for an order */
        bool main_due;  /* order: run a main task */
        bool closing;   /* order: then drain the background and end */
        bool main_held; /* ed_run_main() waits for the end of the main task */
        bool stop;      /* ed_loop_run() must return */
        bool ended;     /* the supervisor has ended */
        bool deadlocked;
        bool signals;         /* SIGINT and SIGTERM are handled here */
        struct ed_many *many; /* its loops, if this is one of eddy_run_many(); or NULL */
        uint32_t many_index;
        uint32_t many_count;
        struct ed_exceptions outside; /* while tasks may run: the caller's exceptions */
        int quit_slot;                /* SIGQUIT's slot; negative: not handled */
        struct ed_target quit;
        eddy_task_fn *main_fn; /* NULL: no main task is due or running */
        const char *main_text; /* its text in the program's call, or NULL */
        void *main_arg;
        eddy_task *main_task;   /* NULL: no main task is running */
        int result;             /* of the last main task */
        struct ed_list handles; /* scheduled by the loop's own thread, see embed/callback.c */
        void (*drop_handles)(struct ed_run *run); /* drops all of them; NULL: there were none */
        struct ed_faces faces;
        struct ed_debug *debug; /* NULL: not in debug mode */
        struct ed_ticker *watchdog;
        struct ed_stack_records *stack_records; /* NULL: not in debug mode */
        uint64_t watched_switches, watched_polls;
        int64_t watched_ns;
};

static inline struct ed_run *ed_run_of(struct ed_loop *loop)
{
        return ed_container_of(loop, struct ed_run, loop);
}

#endif
