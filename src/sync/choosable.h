/*
 * sync/choosable.h - an object of an upper floor that a select can wait for.  The object begins
 * with a struct ed_choosable.
 */
#ifndef ED_SYNC_CHOOSABLE_H
#define ED_SYNC_CHOOSABLE_H

struct ed_choosable {
        void *waiters[2]; /* a line of waiters; a source outside of the loop serves it */
        /*
         * Returns the immediate result of a wait, which may be an error; -EAGAIN if it would wait.
         */
        int (*take)(struct ed_choosable *choosable);
};

#endif
