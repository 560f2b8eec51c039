/*
 * sys/handler.c - installing handlers, putting the former ones back, and
 * passing signals on to them.
 */
#include "sys/handler.h"

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
                /* From now on it is called by the program's handler at most. */
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

/* What the kernel would do with it; returns if that is nothing, or to stop for a while. */
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

/* As the kernel calls it. */
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

/* What this thread passes on, from where, and how often.  A handler may leave by a jump: it may be old. */
static __thread struct {
        int signo, times;
        const char *frame;
} passing __attribute__((tls_model("initial-exec")));

/* How often the former handler, which was installed over ours once, has called ours in this signal. */
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
