/*
 * loop/member.c - who may use an object of a loop.
 */
#include "loop/member.h"

void ed_member_join(struct ed_member *member, struct ed_loop *loop, ed_member_end_fn *on_end)
{
        member->loop = loop;
        member->thread = loop->thread;
        member->on_end = on_end;
        ed_list_push_back(&loop->members, &member->link);
}

int ed_member_check_outside(const struct ed_member *member)
{
        return !ed_loop_current && member->loop && ed_thread_is_self(member->thread)
                       ? 0
                       : EDDY_E_RUN_OTHER_LOOP;
}

bool ed_member_may_close(const struct ed_member *member)
{
        return !member->loop || ed_thread_is_self(member->thread);
}
