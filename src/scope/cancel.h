/*
 * scope/cancel.h - the cancellation tree.
 *
 * Every scope and every task is a node.  A scope's parent is the innermost node of its owner when
 * the scope began; a task's parent is its scope.  Cancelling a node marks the node and all its
 * descendants except shields, and wakes the tasks that wait there.  A mark is never removed, so one
 * bit of a task's innermost node says if the task is cancelled.
 */
#ifndef ED_SCOPE_CANCEL_H
#define ED_SCOPE_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"
#include "base/list.h"

struct ed_task;

enum {
        ED_NODE_CANCELLED = 1 << 0, /* itself cancelled, or marked from above */
        ED_NODE_OWN = 1 << 1,       /* itself cancelled: the cause is here */
        ED_NODE_SHIELD = 1 << 2,    /* marks from above do not pass */
        ED_NODE_DELIVERED = 1 << 3, /* a call inside returned -ECANCELED because of this node */
        ED_NODE_OUTSIDE = 1 << 4,   /* ... because of a node above */
        ED_NODE_ENDED = 1 << 5,     /* a scope that has ended: starts are refused */
        ED_NODE_DEBUG = 1 << 6,     /* its run is in debug mode */
        ED_NODE_TRACED = 1 << 7,    /* its run is traced */
        ED_NODE_NOTED = ED_NODE_DEBUG | ED_NODE_TRACED,
};

struct ed_node {
        uint16_t flags;      /* ED_NODE_* */
        uint16_t ignored;    /* cancels delivered here and ignored, or UINT16_MAX */
        uint32_t attributed; /* loop->cancels at the last ed_node_attribute(); 0: never */
        struct ed_node *parent;
        struct ed_list children;
        struct ed_list link;   /* in the parent's children */
        struct ed_task *owner; /* a scope's owner; for a task, the task itself */
};

/*
 * Adds a node under 'parent' (NULL: no parent).  The node inherits the parent's mark unless it is a
 * shield.
 */
static inline void ed_node_init(struct ed_node *node, struct ed_node *parent, struct ed_task *owner,
                                uint16_t flags)
{
        uint16_t inherited =
                flags & ED_NODE_SHIELD ? ED_NODE_NOTED : ED_NODE_NOTED | ED_NODE_CANCELLED;

        node->parent = parent;
        node->owner = owner;
        node->flags = flags;
        node->ignored = 0;
        node->attributed = 0;
        ed_list_init(&node->children);
        if (parent) {
                node->flags |= parent->flags & inherited;
                ed_list_push_back(&parent->children, &node->link);
        } else {
                ed_list_init(&node->link);
        }
}

/*
 * Returns the node after 'node' in a walk of the tree under 'top', or NULL; 'past' skips the
 * children.
 */
ED_SHARED struct ed_node *ed_node_next(struct ed_node *top, struct ed_node *node, bool past);

/*
 * A call in 'inner' returns -ECANCELED: attributes this to the outermost cause that no shield
 * separates from 'inner'.  All nodes inside the cause record a cancel from outside.  Each node is
 * visited once until another cancel happens, so leaving n nested scopes takes n steps.
 */
void ed_node_attribute(struct ed_node *inner);

/* Cancels a node and its descendants. */
void ed_node_cancel(struct ed_node *node);

#endif
