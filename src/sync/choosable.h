/*
 * sync/choosable.h - what a select can wait for on a floor above: a thing that
 * begins with one of these.
 */
#ifndef ED_SYNC_CHOOSABLE_H
#define ED_SYNC_CHOOSABLE_H

struct ed_choosable {
        void *waiters[2]; /* a line; what comes from outside serves it */
        /* The result that a wait for it would have at once, an error too; -EAGAIN: it would wait. */
        int (*take)(struct ed_choosable *choosable);
};

#endif
