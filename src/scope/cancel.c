/*
 * scope/cancel.c - the tree that a cancel walks: cancelling a part of the tree, and finding the
 * cause of a cancel.
 */
#include "scope/cancel.h"

#include "scope/hooks.h"
#include "scope/scope.h"

/* Ends the wait of a task that is parked in a node that was just marked. */
static void node_wake_owner(struct ed_node *node)
{
        struct ed_task *task = node->owner;
        struct ed_fiber *fiber = &task->fiber;

        if (task->inner != node || fiber->ready.state != ED_FIBER_PARKED || !fiber->abort)
                return;
        if (fiber->abort(fiber->abort_arg))
                ed_fiber_wake(task->loop, fiber, -ECANCELED);
}

/*
 * A scope that was just marked has nothing left for its deadline to cancel.  Disarm the timer,
 * since it must not look like pending work.
 */
static void node_disarm(struct ed_node *node)
{
        if (!ed_node_is_task(node))
                ed_timer_cancel(&node->owner->loop->timers, &ed_scope_of_node(node)->timer);
}

struct ed_node *ed_node_next(struct ed_node *top, struct ed_node *node, bool past)
{
        if (!past && !ed_list_is_empty(&node->children))
                return ed_container_of(node->children.next, struct ed_node, link);
        while (node != top) {
                struct ed_list *next = node->link.next;

                if (next != &node->parent->children)
                        return ed_container_of(next, struct ed_node, link);
                node = node->parent;
        }
        return NULL;
}

void ed_node_cancel(struct ed_node *top)
{
        struct ed_node *node = top;

        top->flags |= ED_NODE_OWN;
        if (top->flags & ED_NODE_CANCELLED)
                return;
        top->owner->loop->cancels++;
        if (ed_unlikely(top->flags & ED_NODE_TRACED))
                ed_hooks()->node_cancelled(top);
        /* All nodes are marked before a task runs: a wake only queues the task. */
        while (node) {
                bool past = node != top && (node->flags & (ED_NODE_SHIELD | ED_NODE_CANCELLED));

                if (!past) {
                        node->flags |= ED_NODE_CANCELLED;
                        if (ed_unlikely(node->flags & ED_NODE_NOTED))
                                ed_hooks()->node_marked(node);
                        node_disarm(node);
                        node_wake_owner(node);
                }
                node = ed_node_next(top, node, past);
        }
}

/* All nodes from a cancelled node up to its outermost cause are cancelled. */
void ed_node_attribute(struct ed_node *inner)
{
        uint32_t cancels = inner->owner->loop->cancels;
        struct ed_node *node = inner;

        while (node->attributed != cancels) {
                struct ed_node *parent = node->parent;

                node->attributed = cancels;
                if (!parent || node->flags & ED_NODE_SHIELD ||
                    !(parent->flags & ED_NODE_CANCELLED)) {
                        ed_assert(node->flags & ED_NODE_OWN,
                                  "a cancelled task has no node that was cancelled");
                        node->flags |= ED_NODE_DELIVERED;
                        return;
                }
                node->flags |= ED_NODE_OUTSIDE;
                node = parent;
        }
}
