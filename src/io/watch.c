/*
 * io/watch.c - registering a descriptor, waiting for it, and waking its tasks.
 */
#include "io/watch.h"

#include <errno.h>

#include "scope/debug/debug.h"

/* The waiter stays registered until its task runs, so that a close in between finds it. */
static void wake(struct ed_watch *watch, enum ed_watch_side side)
{
        struct ed_watch_waiter *waiter = watch->waiters[side];

        if (!waiter || waiter->woken || waiter->alarm)
                return;
        waiter->woken = true;
        ed_suspend_wake(waiter->task, 0);
}

/* Remove the callback, and stop counting it as a possible wake-up. */
static void idle_end(struct ed_watch *watch)
{
        if (watch->idle)
                watch->member.loop->waits--;
        watch->idle = NULL;
}

/* Call the callback for the end of the connection, which may not close the watch. */
static void hang_up(struct ed_watch *watch)
{
        void (*hangup)(void *arg) = watch->hangup;

        watch->hung_up = true;
        watch->hangup = NULL;
        if (hangup)
                hangup(watch->hangup_arg);
}

static void on_events(struct ed_target *target, unsigned events)
{
        struct ed_watch *watch = ed_container_of(target, struct ed_watch, target);
        void (*idle)(void *arg) = watch->idle;

        if (events & ED_EVENT_END)
                watch->ended = true;
        if (events & ED_EVENT_URGENT)
                watch->urgent = true;
        if (events & ED_EVENT_HANGUP)
                hang_up(watch);
        if (events & ED_EVENT_WRITE) {
                watch->ready[ED_WATCH_WRITE] = true;
                wake(watch, ED_WATCH_WRITE);
        }
        if (!(events & (ED_EVENT_READ | ED_EVENT_END)))
                return;
        watch->ready[ED_WATCH_READ] = true;
        wake(watch, ED_WATCH_READ);
        if (idle) {
                idle_end(watch);
                idle(watch->idle_arg); /* may have closed the watch */
        }
}

static void loop_ends(struct ed_member *member)
{
        ed_watch_close(ed_container_of(member, struct ed_watch, member), false);
}

void ed_watch_init(struct ed_watch *watch, struct ed_loop *loop, int fd)
{
        *watch = (struct ed_watch){
                .target = { on_events },
                .fd = fd,
                .ready = { true, true },
        };
        ed_member_join(&watch->member, loop, loop_ends);
}

/* Wake the waiters, and unregister the descriptor. */
static void give_up(struct ed_watch *watch)
{
        for (int side = 0; side < ED_WATCH_SIDES; side++) {
                struct ed_watch_waiter *waiter = watch->waiters[side];

                if (!waiter)
                        continue;
                watch->waiters[side] = NULL;
                waiter->watch = NULL;
                if (waiter->alarm) {
                        ed_alarm_ring(waiter->alarm);
                } else if (!waiter->woken) {
                        waiter->woken = true;
                        ed_suspend_wake(waiter->task, -ECANCELED);
                }
        }
        idle_end(watch);
        if (!watch->registered)
                return;
        watch->registered = false;
        watch->member.loop->sys->poll->unwatch(watch->member.loop->sys, watch->fd);
        ed_loop_forget(watch->member.loop, &watch->target);
}

void ed_watch_shut(struct ed_watch *watch, bool abort)
{
        struct ed_sys *sys = watch->member.loop->sys;

        give_up(watch);
        if (watch->fd < 0)
                return;
        if (watch->before_close)
                watch->before_close(watch);
        if (abort && !watch->is_borrowed)
                sys->socket->abort(sys, watch->fd);
        else if (!watch->is_borrowed)
                sys->socket->close(sys, watch->fd);
        watch->fd = -1;
}

void ed_watch_close(struct ed_watch *watch, bool abort)
{
        if (!watch->member.loop)
                return;
        ed_watch_shut(watch, abort);
        ed_member_leave(&watch->member);
}

int ed_watch_register(struct ed_watch *watch)
{
        int err;

        if (watch->registered || watch->always)
                return 0;
        err = watch->member.loop->sys->poll->watch(watch->member.loop->sys, watch->fd,
                                                   &watch->target);
        if (err == -EPERM) {
                watch->always = true;
                watch->ready[ED_WATCH_READ] = watch->ready[ED_WATCH_WRITE] = true;
                return 0;
        }
        watch->registered = err == 0;
        return ed_io_error(err);
}

/* The wait of 'waiter' was cancelled. */
static bool take_back(void *arg)
{
        struct ed_watch_waiter *waiter = arg;
        struct ed_watch *watch = waiter->watch;

        for (int side = 0; side < ED_WATCH_SIDES; side++)
                if (watch->waiters[side] == waiter)
                        watch->waiters[side] = NULL;
        waiter->watch = NULL;
        waiter->woken = true;
        if (waiter->alarm)
                ed_alarm_cancel(waiter->alarm);
        return true;
}

/* TLS and handlers of requests use a stack deeply before they wait. */
static void on_long_wait(struct ed_long_wait *wait)
{
        ed_task_release_stack(ed_container_of(wait, struct ed_watch_waiter, long_wait)->task);
}

/*
 * Park with 'waiter' registered. After a return of 0 the watch exists and has no waiter on this
 * side.
 */
static int park(struct ed_watch *watch, enum ed_watch_side side, struct ed_watch_waiter *waiter,
                const char *waits_for)
{
        struct ed_task *task = waiter->task;
        struct ed_loop *loop = watch->member.loop;
        int err;

        watch->waiters[side] = waiter;
        loop->waits++;
        if (watch->net)
                ed_debug_net(task);
        ed_long_wait_begin(loop, &waiter->long_wait, on_long_wait);
        err = ed_suspend_park(task, waits_for, take_back, waiter);
        ed_long_wait_end(&waiter->long_wait);
        loop->waits--;
        if (!waiter->watch)
                return err < 0 ? err : -ECANCELED;
        watch->waiters[side] = NULL;
        /* Readiness is not a result, so a later cancel takes precedence. */
        return ed_suspend_enter(&task);
}

int ed_watch_wait(struct ed_watch *watch, enum ed_watch_side side, struct ed_task *task,
                  const char *waits_for)
{
        struct ed_watch_waiter waiter = { .watch = watch, .task = task };
        int err = ed_watch_register(watch);

        if (err < 0 || watch->always)
                return err;
        return park(watch, side, &waiter, waits_for);
}

int ed_watch_pause(struct ed_watch *watch, enum ed_watch_side side, struct ed_task *task,
                   int64_t duration_ns, const char *waits_for)
{
        struct ed_alarm alarm;
        struct ed_watch_waiter waiter = { .watch = watch, .task = task, .alarm = &alarm };

        ed_alarm_set(&alarm, task, duration_ns);
        return park(watch, side, &waiter, waits_for);
}

int ed_watch_set_idle(struct ed_watch *watch, void (*fn)(void *arg), void *arg)
{
        struct ed_sys *sys = watch->member.loop->sys;
        int err;

        if (!fn) {
                idle_end(watch);
                return 0;
        }
        if (watch->waiters[ED_WATCH_READ])
                return -EBUSY;
        /* A descriptor that is ready already: registering again makes the loop report it. */
        if (watch->registered && watch->ready[ED_WATCH_READ] &&
            sys->poll->is_readable(sys, watch->fd)) {
                sys->poll->unwatch(sys, watch->fd);
                watch->registered = false;
        }
        err = ed_watch_register(watch);
        if (err < 0) {
                wake(watch, ED_WATCH_WRITE); /* the writer registers again, or gets the error */
                return err;
        }
        if (watch->always)
                return -EINVAL;
        watch->ready[ED_WATCH_READ] = watch->ended;
        if (!watch->idle)
                watch->member.loop->waits++;
        watch->idle = fn;
        watch->idle_arg = arg;
        return 0;
}

int ed_watch_set_hangup(struct ed_watch *watch, void (*fn)(void *arg), void *arg)
{
        int err;

        watch->hangup = NULL;
        if (!fn)
                return 0;
        err = ed_watch_register(watch);
        if (err < 0)
                return err;
        if (watch->hung_up)
                return -EALREADY;
        watch->hangup = fn;
        watch->hangup_arg = arg;
        return 0;
}
