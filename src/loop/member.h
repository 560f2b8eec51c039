/*
 * loop/member.h - an object that belongs to a loop: a stream, a listener, a pool.
 *
 * A loop knows its members.  When it ends, each member gives back what it has of the loop: a
 * descriptor, an armed timer.  No member keeps a pointer to a loop that is gone, because a later loop
 * may have the same address.  From then on the member can only be closed.
 */
#ifndef ED_LOOP_MEMBER_H
#define ED_LOOP_MEMBER_H

#include "eddy/error.h"
#include "loop/loop.h"

struct ed_member;

/* The loop ends, and still exists during the call.  Must not free the member. */
typedef void ed_member_end_fn(struct ed_member *member);

struct ed_member {
        struct ed_list link;
        struct ed_loop *loop; /* NULL: the loop has ended, or the member has left */
        struct ed_thread_id thread;
        ed_member_end_fn *on_end;
};

/* 'on_end' may be NULL. */
ED_SHARED void ed_member_join(struct ed_member *member, struct ed_loop *loop,
                              ed_member_end_fn *on_end);

/* Can be repeated. */
static inline void ed_member_leave(struct ed_member *member)
{
        if (!member->loop)
                return;
        ed_list_unlink(&member->link);
        member->loop = NULL;
}

/* ed_member_check() if the member's loop does not run on this thread. */
ED_SHARED __attribute__((cold)) int ed_member_check_outside(const struct ed_member *member);

/*
 * Checks that a call may use the member: in its loop, or on the thread of its loop between two runs
 * of that loop.
 *
 * Errors: EDDY_E_RUN_OTHER_LOOP
 */
static inline int ed_member_check(const struct ed_member *member)
{
        struct ed_loop *loop = member->loop;

        return ed_likely(loop && loop == ed_loop_current) ? 0 : ed_member_check_outside(member);
}

/*
 * Returns true if this thread may free the member: its loop has ended, or runs on this thread if it
 * runs.
 */
ED_SHARED bool ed_member_may_close(const struct ed_member *member);

#endif
