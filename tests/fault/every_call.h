/*
 * every_call.h - every public call that suspends, in a small world of its own,
 * cancelled at each of its suspension points under many random schedules.
 *
 * A world is a main task whose tasks do the call, or make it block, succeed
 * and be served, at times and in an order that follow from a seed.  Those that
 * do it do so by victim_call(); one of them, the target, is cancelled at its
 * Nth scheduling point: before the call, while it waits, and between the end
 * of its wait and its turn.  In the end the world checks that nothing was lost
 * or doubled: units, items, locks, results.
 */
#ifndef ED_EVERY_CALL_H
#define ED_EVERY_CALL_H

#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

/* The world of a call, of which there may be several; tests/tidy reads these lines. */
#define EVERY_POINT_ON(name, call, how)                                                            \
        TEST(cancel_at_every_point_of_##name)                                                      \
        {                                                                                          \
                static const void *const of = (const void *) &call;                                \
                                                                                                   \
                CHECK(of != NULL);                                                                 \
                every_point(#name, world_##name, &how);                                            \
        }
#define EVERY_POINT(name, call)      EVERY_POINT_ON(name, call, on_sim)
#define EVERY_POINT_LATE(name, call) EVERY_POINT_ON(name, call, on_late_net)
#define EVERY_POINT_TLS(name, call)  EVERY_POINT_ON(name, call, on_tls)
#define EVERY_POINT_WEB(name, call)  EVERY_POINT_ON(name, call, on_web)

/* Another call that the victims of this world are cancelled in. */
#define ALSO(name, call)                                                                           \
        __attribute__((unused)) static const void *const name##_also_##call = (const void *) &call;

/* How a world is run. */
struct every_setup {
        bool late;             /* bytes and connections arrive late, by the seed */
        uint64_t chop;         /* and one in so many seeds in pieces */
        uint32_t buffer_bytes; /* between two sockets, for most seeds */
        bool on_epoll;         /* on the real clock: fewer schedules */
        bool few;              /* a world that takes long: fewer schedules, which may repeat */
};

extern const struct every_setup on_sim, on_late_net, on_web, on_tls, on_epoll;

void every_point(const char *name, eddy_task_fn *world, const struct every_setup *how);

/* The world's own chance, from the seed. */
uint64_t world_chance(uint64_t n);

/* None, or until one of the next ticks, which all share: several things happen at once. */
int64_t world_delay_ns(void);
void world_pause(void);

/* 'victims' tasks will do the call; one of them is the target. */
void world_begin(int victims);

/*
 * fn(arg), which is the call: may be cancelled.  Returns what it returns;
 * -ECANCELED only if it was cancelled.  A cancel in time stays with the task
 * (eddy_task_cancel()), or only with this call.
 */
int victim_call(eddy_task_fn *fn, void *arg);

/* In 'fn': this time it may return without a call that suspends. */
void victim_may_not_suspend(void);

/* From now on the world itself may return -ECANCELED to victims. */
void world_cancels_too(void);

/* Whether the target was cancelled by now. */
bool world_is_cancelled(void);

/* How many calls of victims returned -ECANCELED so far in this run. */
int victims_cancelled(void);

/* Start 'n' tasks that must all end well; 'arg' is the same for all. */
void world_start(eddy_scope *scope, eddy_task_fn *fn, void *arg, int n);

/* The same in a scope of its own, until they have ended. */
void world_run(eddy_task_fn *fn, void *arg, int n);

/* Check that each connection is in the pool or closed, and close the client. */
void world_close_client(eddy_http_client *client);

#endif
