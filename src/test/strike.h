/*
 * test/strike.h - places in the program where a fault was injected.
 *
 * Recorded as addresses, and converted to names only if the run has findings.
 */
#ifndef ED_TEST_STRIKE_H
#define ED_TEST_STRIKE_H

#include "base/text.h"
#include "eddy/test.h"
#include "scope/task.h"
#include "sim/sim.h"

enum { ED_TEST_FRAMES_MAX = 18, ED_TEST_CANCELLED_MAX = 4 };

/* Return addresses, innermost first. */
struct ed_test_place {
        void *frames[ED_TEST_FRAMES_MAX];
        int count; /* 0: unknown */
};

/* Places in a run: allocations, the call and the cancel. */
struct ed_test_strikes {
        struct ed_test_place alloc[2]; /* the first failure, and the first one after it */
        struct ed_test_place call;
        struct ed_test_place cancel[ED_TEST_CANCELLED_MAX]; /* the cancelled task, then its tasks */
        int cancelled;                                      /* number of places in 'cancel' */
        uint64_t task; /* number of the cancelled task; 0: main */
        char task_name[ED_TASK_CALLED_BYTES];
        bool task_woken; /* the task was woken but had not run yet */
        enum ed_sim_call call_kind;
        const void *program; /* an address in the program */
};

/* Call before a run. */
void ed_test_strikes_begin(eddy_task_fn *main_fn);

/* 'from': the return address of a function of the kit, where the program's calls begin. */
void ed_test_strike_alloc(bool again, const void *from);
void ed_test_strike_call(enum ed_sim_call kind, const void *from);
/*
 * Main, or task 'number' unless that is 0, has just been cancelled: record its place and those of
 * its tasks.
 */
void ed_test_strike_cancel(struct ed_task *task, uint64_t number, bool woken, const void *from);

/* Returns the places recorded in the run so far. */
void ed_test_strikes_look(struct ed_test_strikes *ret_strikes);

/*
 * Write line 'i' (0, 1 ...) about the injected faults in 'opts'. Returns false if there is no such
 * line.
 */
bool ed_test_strike_line(const struct ed_test_strikes *strikes, const struct eddy_test_opts *opts,
                         int i, struct ed_text *text);

#endif
