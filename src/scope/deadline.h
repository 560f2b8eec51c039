/*
 * scope/deadline.h - the deadline of a scope.
 */
#ifndef ED_SCOPE_DEADLINE_H
#define ED_SCOPE_DEADLINE_H

#include "scope/scope.h"

/* Sets the deadline that the options ask for.  Not inline, to keep begin's frame small. */
void ed_deadline_set_by_opts(struct ed_loop *loop, struct ed_scope *scope,
                             const struct eddy_scope_opts *opts);

/* Sets another deadline for a scope that is open and was not cancelled. */
void ed_deadline_move(struct ed_scope *scope, int64_t deadline_ns);

/* A cancelled scope has no use for its timer. */
void ed_deadline_disarm_cancelled(struct ed_loop *loop, struct ed_scope *scope);

/* A cancelled scope's timer is disarmed, so ask the clock. */
static inline bool ed_deadline_has_passed(const struct ed_scope *scope)
{
        return scope->deadline_ns != 0 &&
               scope->deadline_ns <= ed_loop_now(scope->node.owner->loop);
}

#endif
