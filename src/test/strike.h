/*
 * test/strike.h - where in the program it was that something was done to it.
 *
 * Noted as addresses when it happens, and told by name only of a run in which
 * something was found.
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
        int count; /* 0: it is not known */
};

/* In a run: allocations, the call and the cancel. */
struct ed_test_strikes {
        struct ed_test_place alloc[2]; /* the first; and the first of those after it */
        struct ed_test_place call;
        struct ed_test_place cancel[ED_TEST_CANCELLED_MAX]; /* main, and its tasks */
        int cancelled;                                      /* so many */
        uint64_t task; /* not main: the number of that task; 0: main */
        char task_name[ED_TASK_CALLED_BYTES];
        bool task_woken; /* its wait was over, and it had not gone on yet */
        enum ed_sim_call call_kind;
        const void *program; /* an address in it */
};

/* Before a run. */
void ed_test_strikes_begin(eddy_task_fn *main_fn);

/* 'from': what a function of the kit returns to, where the program's calls begin. */
void ed_test_strike_alloc(bool again, const void *from);
void ed_test_strike_call(enum ed_sim_call kind, const void *from);
/*
 * Main, or task 'number' if that is not 0, was cancelled just now: note where it
 * and its tasks are.
 */
void ed_test_strike_cancel(struct ed_task *task, uint64_t number, bool woken, const void *from);

/* Those of the run so far. */
void ed_test_strikes_look(struct ed_test_strikes *ret_strikes);

/* A line of what was done as 'opts' say, number 'i' of 0, 1 ...; false: there is none. */
bool ed_test_strike_line(const struct ed_test_strikes *strikes, const struct eddy_test_opts *opts,
                         int i, struct ed_text *text);

#endif
