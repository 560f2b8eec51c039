/*
 * io/fd_wait.c - waiting for a descriptor that another library owns: watched for one wait or for many.
 */
#include <errno.h>

#include "io/fd_watch.h"
#include "scope/suspend.h"

enum { FD_EVENTS = EDDY_FD_READABLE | EDDY_FD_WRITABLE };

_Static_assert((int) EDDY_FD_READABLE == (int) ED_EVENT_READ &&
                       (int) EDDY_FD_WRITABLE == (int) ED_EVENT_WRITE,
               "the table has the same flags");

/* On the stack of the waiting task. */
struct wait {
        struct ed_list link; /* of the watch, while the task is parked and not woken */
        struct ed_task *task;
        unsigned events;
};

static void on_events(struct ed_target *target, unsigned events)
{
        struct ed_fd_watch *watch = ed_container_of(target, struct ed_fd_watch, target);

        ed_list_each_safe (link, &watch->waits) {
                struct wait *wait = ed_container_of(link, struct wait, link);

                if (!(wait->events & events))
                        continue;
                ed_list_remove(link);
                ed_suspend_wake(wait->task, (int) (wait->events & events));
        }
        watch->unseen |= events;
}

static bool take_back(void *arg)
{
        ed_list_remove(&((struct wait *) arg)->link);
        return true;
}

/* Returns events. The watch may be gone after a cancel. */
static int park(struct ed_fd_watch *watch, struct ed_task *task, unsigned events)
{
        struct wait wait = { .task = task, .events = events };
        struct ed_loop *loop = task->loop;
        int ready, err;

        ed_list_push_back(&watch->waits, &wait.link);
        loop->waits++;
        ready = ed_suspend_park(task, "a descriptor of another library", take_back, &wait);
        loop->waits--;
        if (ready < 0)
                return ready;
        /* Readiness is not a result, so a later cancel takes precedence. */
        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        watch->unseen &= ~(unsigned) ready;
        return ready;
}

static void loop_ends(struct ed_loop_local *local)
{
        struct ed_fd_watch *watch = ed_container_of(local, struct ed_fd_watch, local);

        watch->loop->sys->poll->unwatch_foreign(watch->loop->sys, watch->watched, &watch->target);
        watch->loop = NULL;
}

/* No single wait is among the loop's locals: its task ends before the loop, and there may be many. */
static int begin(struct ed_fd_watch *watch, struct ed_loop *loop, int fd, unsigned events,
                 bool is_single)
{
        watch->target.on_events = on_events;
        watch->watched = loop->sys->poll->watch_foreign(loop->sys, fd, events, &watch->target);
        if (watch->watched < 0)
                return watch->watched;
        watch->loop = loop;
        watch->events = events;
        watch->unseen = 0;
        watch->local = (struct ed_loop_local){ .key = watch, .free = loop_ends };
        ed_list_init(&watch->waits);
        ed_list_init(&watch->local.link);
        if (!is_single)
                ed_loop_local_add(loop, &watch->local);
        return 0;
}

/* Watch for 'events', and for those that other tasks wait for. */
static int set_events(struct ed_fd_watch *watch, unsigned events)
{
        struct ed_sys *sys = watch->loop->sys;
        int err;

        if (!ed_list_is_empty(&watch->waits))
                events |= watch->events;
        if (events == watch->events)
                return 0;
        err = sys->poll->rewatch_foreign(sys, watch->watched, events, &watch->target);
        if (err == 0)
                watch->events = events;
        return err;
}

void ed_fd_watch_end(struct ed_fd_watch *watch)
{
        struct ed_loop *loop = watch->loop;

        if (!loop)
                return;
        ed_list_remove(&watch->local.link);
        loop_ends(&watch->local);
        ed_loop_forget(loop, &watch->target);
}

static int wait_watched(struct ed_fd_watch *watch, int fd, unsigned events, bool is_single)
{
        struct ed_task *task;
        struct ed_sys *sys;
        int ready, err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        if (events == 0 || events & ~(unsigned) FD_EVENTS)
                return -EINVAL;
        sys = task->loop->sys;
        watch->unseen &= ~events;
        ready = sys->poll->ready(sys, fd, events);
        if (ready != 0) {
                if (ready > 0)
                        ed_suspend_passed(task);
                return ready;
        }
        if (watch->loop == task->loop)
                err = set_events(watch, events);
        else
                err = begin(watch, task->loop, fd, events, is_single);
        return err < 0 ? err : park(watch, task, events);
}

int ed_fd_watch_wait(struct ed_fd_watch *watch, int fd, unsigned events)
{
        return wait_watched(watch, fd, events, false);
}

int ed_fd_watch_wait_next(struct ed_fd_watch *watch, int fd, unsigned events)
{
        /* The end may have come with bytes that were read; no event follows it. */
        unsigned seen_soon = events | ED_EVENT_END | ED_EVENT_HANGUP;
        struct ed_task *task;
        int err;

        if (!watch->loop || watch->loop != ed_loop_current || watch->unseen & seen_soon ||
            events != watch->events)
                return wait_watched(watch, fd, events, false);
        err = ed_suspend_enter(&task);
        return err < 0 ? err : park(watch, task, events);
}

int eddy_fd_wait(int fd, unsigned events)
{
        struct ed_fd_watch watch = { .loop = NULL };
        struct ed_task *task = ed_task_running();
        int ready = wait_watched(&watch, fd, events, true);

        /* An event may be old. */
        while (watch.loop && ready > 0) {
                ready = task->loop->sys->poll->ready(task->loop->sys, fd, events);
                if (ready != 0)
                        break;
                ready = wait_watched(&watch, fd, events, true);
        }
        ed_fd_watch_end(&watch);
        return ready;
}
