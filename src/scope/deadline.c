/*
 * scope/deadline.c - sets, moves and expires the deadline of a scope, and limits it by shields.
 */
#include "scope/deadline.h"

#include "scope/hooks.h"

static void scope_expire(struct ed_scope *scope)
{
        scope->expired = true;
        /* Anything cancelled before this point was not cancelled because of the deadline. */
        scope->expired_first = scope->error == 0 && !(scope->node.flags & ED_NODE_OWN);
        if (ed_unlikely(scope->node.flags & ED_NODE_NOTED))
                ed_hooks()->scope_expires(scope);
        ed_node_cancel(&scope->node);
}

/* Calls that are already queued run first: they were due earlier, even if the loop is late. */
void ed_scope_on_deadline(struct ed_timer *timer)
{
        struct ed_scope *scope = ed_container_of(timer, struct ed_scope, timer);
        int64_t deadline_ns = scope->deadline_ns;

        ed_call_make_polled(scope->node.owner->loop);
        /* Those calls may have moved the deadline. */
        if (!scope->expired && scope->deadline_ns == deadline_ns)
                scope_expire(scope);
}

/* Returns the deadline of the nearest shield around a node, or INT64_MAX. */
static int64_t shield_deadline(struct ed_node *node)
{
        for (node = node->parent; node; node = node->parent)
                if (node->flags & ED_NODE_SHIELD)
                        return ed_scope_of_node(node)->deadline_ns;
        return INT64_MAX;
}

/* A deadline that has passed expires the scope at once. */
static void deadline_set(struct ed_loop *loop, struct ed_scope *scope, int64_t deadline_ns,
                         int64_t now_ns)
{
        if (scope->node.flags & ED_NODE_SHIELD) {
                int64_t limit = shield_deadline(&scope->node);

                if (deadline_ns == 0)
                        deadline_ns = now_ns + EDDY_SCOPE_SHIELD_NS;
                if (deadline_ns > limit)
                        deadline_ns = limit;
        }
        scope->deadline_ns = deadline_ns;
        if (deadline_ns > now_ns && deadline_ns != INT64_MAX) {
                ed_timer_arm(&loop->timers, &scope->timer, deadline_ns);
                return;
        }
        /* Disarm: an infinite or past deadline must not look like pending work. */
        ed_timer_cancel(&loop->timers, &scope->timer);
        if (deadline_ns != 0 && deadline_ns != INT64_MAX)
                scope_expire(scope);
}

void ed_deadline_disarm_cancelled(struct ed_loop *loop, struct ed_scope *scope)
{
        if (scope->node.flags & ED_NODE_CANCELLED)
                ed_timer_cancel(&loop->timers, &scope->timer);
}

/* Limits the deadlines of the shields inside a shield whose deadline was moved. */
static void shields_inside_limit(struct ed_loop *loop, struct ed_scope *shield, int64_t now_ns)
{
        struct ed_node *node = &shield->node;

        while ((node = ed_node_next(&shield->node, node, false))) {
                struct ed_scope *inside;

                if (!(node->flags & ED_NODE_SHIELD))
                        continue;
                inside = ed_scope_of_node(node);
                if (inside->expired || inside->deadline_ns <= shield->deadline_ns)
                        continue;
                deadline_set(loop, inside, shield->deadline_ns, now_ns);
                ed_deadline_disarm_cancelled(loop, inside);
        }
}

void ed_deadline_set_by_opts(struct ed_loop *loop, struct ed_scope *scope,
                             const struct eddy_scope_opts *opts)
{
        int64_t now_ns = ed_loop_now(loop), deadline_ns = opts->deadline_ns, at;

        if (opts->timeout_ns != 0) {
                at = opts->timeout_ns < 0 ? now_ns : ed_time_after(now_ns, opts->timeout_ns);
                if (deadline_ns == 0 || at < deadline_ns)
                        deadline_ns = at;
        }
        deadline_set(loop, scope, deadline_ns, now_ns);
}

void ed_deadline_move(struct ed_scope *scope, int64_t deadline_ns)
{
        struct ed_loop *loop = scope->node.owner->loop;
        int64_t now_ns = ed_loop_now(loop), before_ns = scope->deadline_ns;

        ed_loop_rouse(loop);
        deadline_set(loop, scope, deadline_ns, now_ns);
        /* Shields inside had deadlines up to the old one. */
        if (scope->flags & EDDY_SCOPE_SHIELD && scope->deadline_ns < before_ns)
                shields_inside_limit(loop, scope, now_ns);
}
