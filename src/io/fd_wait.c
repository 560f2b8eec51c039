/*
 * io/fd_wait.c - waiting for a descriptor that another library owns: watched for one wait only.
 */
#include <errno.h>

#include "eddy/fd.h"
#include "scope/suspend.h"

enum { FD_EVENTS = EDDY_FD_READABLE | EDDY_FD_WRITABLE };

_Static_assert((int) EDDY_FD_READABLE == (int) ED_EVENT_READ &&
                       (int) EDDY_FD_WRITABLE == (int) ED_EVENT_WRITE,
               "the table has the same flags");

/* On the stack of the waiting task. */
struct wait {
        struct ed_target target;
        struct ed_task *task;
        bool parked; /* and not woken yet */
};

static void on_events(struct ed_target *target, unsigned events)
{
        struct wait *wait = ed_container_of(target, struct wait, target);

        (void) events;
        if (!wait->parked)
                return;
        wait->parked = false;
        ed_suspend_wake(wait->task, 0);
}

static bool take_back(void *arg)
{
        ((struct wait *) arg)->parked = false;
        return true;
}

static int park(struct wait *wait)
{
        struct ed_loop *loop = wait->task->loop;
        int err;

        wait->parked = true;
        loop->waits++;
        err = ed_suspend_park(wait->task, "a descriptor of another library", take_back, wait);
        loop->waits--;
        /* Readiness is not a result, so a later cancel takes precedence. */
        return err < 0 ? err : ed_suspend_enter(&wait->task);
}

/* Events are only a hint to look again: they may be for the other direction. */
static int wait_watched(struct wait *wait, int fd, unsigned events)
{
        struct ed_sys *sys = wait->task->loop->sys;
        int ready = 0;

        while (ready == 0) {
                ready = park(wait);
                if (ready == 0)
                        ready = sys->ops->ready(sys, fd, events);
        }
        return ready;
}

int eddy_fd_wait(int fd, unsigned events)
{
        struct wait wait = { .target = { on_events } };
        struct ed_loop *loop;
        int ready, watched, err = ed_suspend_enter(&wait.task);

        if (err < 0)
                return err;
        if (events == 0 || events & ~(unsigned) FD_EVENTS)
                return -EINVAL;
        loop = wait.task->loop;
        ready = loop->sys->ops->ready(loop->sys, fd, events);
        if (ready != 0) {
                if (ready > 0)
                        ed_suspend_passed(wait.task);
                return ready;
        }
        watched = loop->sys->ops->watch_foreign(loop->sys, fd, &wait.target);
        if (watched < 0)
                return watched;
        ready = wait_watched(&wait, fd, events);
        loop->sys->ops->unwatch_foreign(loop->sys, watched, &wait.target);
        ed_loop_forget(loop, &wait.target);
        return ready;
}
