/*
 * sys/handler.h - handlers of signals that take the place of the program's,
 * and give it back.
 *
 * A handling is the process's, and the program may change it at any time: it
 * is put back only where ours is still installed.
 */
#ifndef ED_SYS_HANDLER_H
#define ED_SYS_HANDLER_H

#include <signal.h>
#include <stdbool.h>

typedef void ed_handler_fn(int signo, siginfo_t *info, void *context);

/* In whose place a handler of ours is.  Zero before its first use. */
struct ed_handler {
        struct sigaction former;
        struct sigaction
                first;   /* if 'is_covered': the former handling when ours was installed first */
        bool is_covered; /* the program has installed its own over ours, which that may call */
};

/* Whether 'fn' handles the signal now; '*ret_now' is how it is handled. */
bool ed_handler_now(int signo, ed_handler_fn *fn, struct sigaction *ret_now);

/*
 * Have 'fn' handle the signal, on the alternate stack, with further 'flags' of
 * sigaction(2).  If it does so already, nothing changes.  Errors: -EINVAL.
 */
int ed_handler_install(int signo, ed_handler_fn *fn, int flags, struct ed_handler *handler);

/* Put the former handling back, unless the program has installed another one since. */
void ed_handler_remove(int signo, ed_handler_fn *fn, struct ed_handler *handler);

/*
 * In a handler: do what the former handling would have done.  Returns if that
 * neither ends the process nor jumps.
 */
void ed_handler_pass_on(int signo, siginfo_t *info, void *context,
                        const struct ed_handler *handler);

/* Whether the handling is a function of the program's. */
static inline bool ed_handler_is_function(const struct sigaction *action)
{
        return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

#endif
