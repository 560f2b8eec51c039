/*
 * sys/fault/fault.c - handlers of faults in the guards of stacks.
 */
#include "sys/fault/fault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/alloc.h"
#include "base/valgrind.h"
#include "sys/fault/handler.h"
#include "sys/sys.h"

/*
 * Size of the alternate stack for a thread with a loop, and the minimum for keeping an existing
 * one.
 */
enum { FAULT_STACK_BYTES = 64 * 1024, FAULT_STACK_MIN = 32 * 1024 };

static const int fault_signals[] = { SIGSEGV, SIGBUS };

static struct {
        pthread_mutex_t lock;
        unsigned users;
        struct ed_handler handlers[ed_array_count(fault_signals)];
} fault = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* State of the calling thread, shared by all its loops. */
static __thread ed_fault_fn *fault_fn __attribute__((tls_model("initial-exec")));
static __thread unsigned fault_users __attribute__((tls_model("initial-exec")));
static __thread void *fault_stack __attribute__((tls_model("initial-exec")));
static __thread stack_t fault_stack_former __attribute__((tls_model("initial-exec")));

static void on_fault(int signo, siginfo_t *info, void *context)
{
        const struct ed_handler *handler = &fault.handlers[signo == SIGSEGV ? 0 : 1];
        /*
         * A real fault, not a signal sent by kill(2) and similar calls: it recurs when this handler
         * returns.
         */
        bool is_fault = info->si_code > 0;

        if (is_fault &&
            ((fault_fn && fault_fn(info->si_addr)) || !ed_handler_is_function(&handler->former)))
                (void) signal(signo, SIG_DFL);
        else
                ed_handler_pass_on(signo, info, context, handler);
}

/* Errors: -ENOMEM. */
static int fault_stack_make(void)
{
        stack_t stack = { .ss_size = FAULT_STACK_BYTES }, now = { .ss_flags = SS_DISABLE };
        int err;

        /*
         * Keep an alternate stack of the program if it is large enough. A stack in use cannot be
         * replaced.
         */
        (void) sigaltstack(NULL, &now);
        if (now.ss_flags & SS_ONSTACK ||
            (!(now.ss_flags & SS_DISABLE) && now.ss_size >= FAULT_STACK_MIN))
                return 0;
        err = ed_sys_map(FAULT_STACK_BYTES, &fault_stack);
        if (err < 0)
                return err;
        stack.ss_sp = fault_stack;
        if (sigaltstack(&stack, &fault_stack_former) == 0)
                return 0;
        ed_sys_unmap(fault_stack, FAULT_STACK_BYTES);
        fault_stack = NULL;
        return -ENOMEM;
}

/* Restore the former alternate stack, unless the program has set another since. */
static void fault_stack_free(void)
{
        stack_t now = { .ss_flags = SS_DISABLE };

        if (!fault_stack)
                return;
        (void) sigaltstack(NULL, &now);
        /* Valgrind keeps the address of a stack that is disabled. */
        if (!(now.ss_flags & SS_DISABLE) && now.ss_sp == fault_stack)
                (void) sigaltstack(&fault_stack_former, NULL);
        /* Do not unmap the stack if this call is made by a handler that runs on it. */
        if (!(now.ss_flags & SS_ONSTACK))
                ed_sys_unmap(fault_stack, FAULT_STACK_BYTES);
        fault_stack = NULL;
}

int ed_sys_fault_install(ed_fault_fn *fn)
{
        int err = fault_users == 0 ? fault_stack_make() : 0;

        if (err < 0)
                return err;
        fault_users++;
        fault_fn = fn;
        pthread_mutex_lock(&fault.lock);
        fault.users++;
        for (size_t i = 0; i < ed_array_count(fault_signals); i++)
                (void) ed_handler_install(fault_signals[i], on_fault, SA_NODEFER,
                                          &fault.handlers[i]);
        pthread_mutex_unlock(&fault.lock);
        return 0;
}

static void fault_handlers_remove(void)
{
        for (size_t i = 0; i < ed_array_count(fault_signals); i++)
                ed_handler_remove(fault_signals[i], on_fault, &fault.handlers[i]);
}

void ed_sys_fault_remove(void)
{
        pthread_mutex_lock(&fault.lock);
        if (--fault.users == 0)
                fault_handlers_remove();
        pthread_mutex_unlock(&fault.lock);
        if (--fault_users > 0)
                return;
        fault_fn = NULL;
        fault_stack_free();
}

/* In a child of fork(), the thread that held the lock does not exist. */
void ed_sys_fault_forget(void)
{
        pthread_mutex_init(&fault.lock, NULL);
        if (fault.users > 0)
                fault_handlers_remove();
        fault.users = fault_users = 0;
        fault_fn = NULL;
}
