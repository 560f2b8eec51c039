/*
 * sys/fault/handler.c - installing handlers, restoring the former ones, and passing signals on to
 * them.
 */
#include "sys/fault/handler.h"

#include <errno.h>
#include <pthread.h>

#include "base/def.h"

bool ed_handler_now(int signo, ed_handler_fn *fn, struct sigaction *ret_now)
{
        *ret_now = (struct sigaction){ .sa_handler = SIG_DFL };
        (void) sigaction(signo, NULL, ret_now);
        return ret_now->sa_flags & SA_SIGINFO && ret_now->sa_sigaction == fn;
}

int ed_handler_install(int signo, ed_handler_fn *fn, int flags, struct ed_handler *handler)
{
        struct sigaction action = { .sa_sigaction = fn,
                                    .sa_flags = SA_SIGINFO | SA_ONSTACK | flags };
        struct sigaction now;

        if (ed_handler_now(signo, fn, &now))
                return 0;
        return sigaction(signo, &action, &handler->former) < 0 ? -errno : 0;
}

void ed_handler_remove(int signo, ed_handler_fn *fn, struct ed_handler *handler)
{
        struct sigaction now;

        if (ed_handler_now(signo, fn, &now)) {
                (void) sigaction(signo, &handler->former, NULL);
                /* From now on only the program's handler can call ours. */
                if (handler->is_covered)
                        handler->former = handler->first;
        } else if (!handler->is_covered) {
                handler->first = handler->former;
                handler->is_covered = true;
        }
}

static bool is_nothing_by_default(int signo)
{
        return signo == SIGCHLD || signo == SIGCONT || signo == SIGURG || signo == SIGWINCH;
}

/*
 * Do what the kernel would do. Returns if the default action is to ignore or to stop for a while.
 */
static void act_by_default(int signo)
{
        struct sigaction now;
        sigset_t only, mask;

        if (is_nothing_by_default(signo))
                return;
        (void) sigaction(signo, NULL, &now);
        (void) signal(signo, SIG_DFL);
        sigemptyset(&only);
        sigaddset(&only, signo);
        pthread_sigmask(SIG_UNBLOCK, &only, &mask);
        (void) raise(signo);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
        (void) sigaction(signo, &now, NULL);
}

/* Call the former handler as the kernel does. */
static void call(int signo, siginfo_t *info, void *context, const struct sigaction *former)
{
        sigset_t blocked = former->sa_mask, mask;

        if (!(former->sa_flags & SA_NODEFER))
                sigaddset(&blocked, signo);
        if (former->sa_flags & (int) SA_RESETHAND)
                (void) signal(signo, SIG_DFL);
        pthread_sigmask(SIG_BLOCK, &blocked, &mask);
        if (former->sa_flags & SA_SIGINFO)
                former->sa_sigaction(signo, info, context);
        else
                former->sa_handler(signo);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/*
 * The signal this thread passes on, the frame, and the number of times. May be stale, because a
 * handler can leave by a jump.
 */
static __thread struct {
        int signo, times;
        const char *frame;
} passing __attribute__((tls_model("initial-exec")));

/*
 * Returns how often the former handler, which was once installed over ours, has called ours for
 * this signal.
 */
static int times_called_back(int signo, const char *here)
{
        return passing.signo == signo && here < passing.frame ? passing.times : 0;
}

void ed_handler_pass_on(int signo, siginfo_t *info, void *context, const struct ed_handler *handler)
{
        const struct sigaction *former = &handler->former;
        const char *here = __builtin_frame_address(0);
        int times = times_called_back(signo, here);

        if (times == 1 && handler->is_covered)
                former = &handler->first;
        if (former->sa_handler == SIG_IGN)
                return;
        if (!ed_handler_is_function(former) || times > 1) {
                act_by_default(signo);
                return;
        }
        passing.signo = signo;
        passing.times = times + 1;
        passing.frame = here;
        call(signo, info, context, former);
        passing.signo = 0;
}
