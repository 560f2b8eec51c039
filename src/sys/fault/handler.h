/*
 * sys/fault/handler.h - signal handlers that replace the program's, and restore them.
 *
 * Handlers belong to the process, and the program may change them at any time: the former handler
 * is restored only if ours is still installed.
 */
#ifndef ED_SYS_FAULT_HANDLER_H
#define ED_SYS_FAULT_HANDLER_H

#include <signal.h>
#include <stdbool.h>

typedef void ed_handler_fn(int signo, siginfo_t *info, void *context);

/* The handling that our handler replaced. All zero before its first use. */
struct ed_handler {
        struct sigaction former;
        struct sigaction
                first;   /* if 'is_covered': the former handling when ours was first installed */
        bool is_covered; /* the program installed its handler over ours and may call ours */
};

/* Returns true if 'fn' handles the signal now. '*ret_now' is the current handling. */
bool ed_handler_now(int signo, ed_handler_fn *fn, struct sigaction *ret_now);

/*
 * Install 'fn' for the signal, on the alternate stack, with further 'flags' of sigaction(2). Does
 * nothing if 'fn' is installed already. Errors: -EINVAL.
 */
int ed_handler_install(int signo, ed_handler_fn *fn, int flags, struct ed_handler *handler);

/* Restore the former handling, unless the program has installed another since. */
void ed_handler_remove(int signo, ed_handler_fn *fn, struct ed_handler *handler);

/*
 * Called in a handler: do what the former handling would have done. Returns if that neither ends
 * the process nor jumps.
 */
void ed_handler_pass_on(int signo, siginfo_t *info, void *context,
                        const struct ed_handler *handler);

/* Returns true if the handling is a function of the program. */
static inline bool ed_handler_is_function(const struct sigaction *action)
{
        return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

#endif
