/*
 * sys/process.h - what a loop needs of the process: faults in the guards of
 * stacks, a thread that watches it, and that it is told of forks.
 *
 * Dispositions are the process's; what is installed here is put back when
 * the last loop that wanted it has ended.
 */
#ifndef ED_SYS_PROCESS_H
#define ED_SYS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/sys.h"

/*
 * Call 'fn' in the signal handler of a fault, on the faulting thread, on a
 * stack of its own; true: the fault was in a guard and has been told of, and
 * the process dies of it; false: the former handler has it.
 */
typedef bool ed_fault_fn(const void *address);
/* For the calling thread; of several that are installed there, the last is called.  Errors: -ENOMEM. */
int ed_sys_fault_install(ed_fault_fn *fn);
void ed_sys_fault_remove(void);

/*
 * write(2) without the SIGPIPE that comes with EPIPE: held back while it is
 * written, and taken from the thread unless one was pending before.  Sockets
 * have a flag for that; pipes have not.  Returns bytes, or -errno.
 */
int64_t ed_sys_write_quietly(int fd, const void *data, size_t bytes);

/*
 * Write text to the standard error descriptor; for signal handlers too.  The
 * rest is dropped if it is closed, or takes no more for a fifth of a second.
 */
ED_SHARED void ed_sys_write_error(const char *text, size_t bytes);

/*
 * A thread that calls 'fn(arg, ticker)' every 'period_ns' until it is ended.
 * 'fn' may ask for the stack of the thread that made the ticker.
 * Errors: -EAGAIN, -ENOMEM
 */
struct ed_ticker;
typedef void ed_ticker_fn(void *arg, struct ed_ticker *ticker);
int ed_sys_ticker_new(int64_t period_ns, ed_ticker_fn *fn, void *arg,
                      struct ed_ticker **ret_ticker);
void ed_sys_ticker_free(struct ed_ticker *ticker);

enum { ED_FRAMES_MAX = 24 };

/* What is known of the thread that made the ticker. */
enum {
        ED_SAMPLE_TAKEN = 1,  /* its frames; none if its alternate stack has no room to look */
        ED_SAMPLE_BLOCKED,    /* it is blocked, by 'call' if that is not below 0 */
        ED_SAMPLE_RESTLESS,   /* it is blocked again and again, for short times */
        ED_SAMPLE_STARVED,    /* it would run, but does not get a processor */
        ED_SAMPLE_HIDDEN,     /* /proc does not say whether it is blocked */
        ED_SAMPLE_UNANSWERED, /* it runs, and did not answer in time */
};

struct ed_sample {
        int count; /* return addresses, innermost first */
        void *frames[ED_FRAMES_MAX];
        long call;
};

/*
 * Look where the thread that made the ticker is.  If it runs, and only then, it
 * is asked by a signal, and calls 'look(arg)' in its handler.  From the
 * ticker's thread only.  Returns one of ED_SAMPLE_*.
 */
int ed_sys_ticker_sample(struct ed_ticker *ticker, void (*look)(void *arg), void *arg,
                         struct ed_sample *ret_sample);

/*
 * Copy memory that another thread may change or unmap meanwhile.  False if it
 * cannot be read.
 */
bool ed_sys_peek(const void *from, void *to, size_t bytes);

/*
 * Call 'in_child' in each child of fork(), on the thread that forked, from now
 * on.  Once for a process; one function.
 */
void ed_sys_fork_watch(void (*in_child)(void));

/* Who wants to know that a thread ends; the first is called first. */
enum { ED_THREAD_END_KIT, ED_THREAD_END_RUNS, ED_THREAD_ENDS };

/*
 * Call 'fn' on this thread when it ends; not when the process does.  One
 * function for each of them in a process.  Where the system has no room for
 * that, nothing is called.
 * NULL: not any more, since its library may be unloaded before the thread ends.
 */
ED_SHARED void ed_sys_thread_end_watch(int who, void (*fn)(void));

/* Whether that is on the stack that the calling thread began with. */
ED_SHARED bool ed_sys_on_thread_stack(const void *at);

/* How many forks lie between the process that asked for the watch and this one. */
ED_SHARED unsigned ed_sys_forks(void);

/*
 * Whether the process was forked since ed_sys_forks() gave 'forks': what was
 * made then is its parent's, and this a copy.
 */
static inline bool ed_sys_forked_since(unsigned forks)
{
        return forks != ed_sys_forks();
}

/*
 * Whether a call that will return to that address is under way on the stack
 * that this thread runs on; also if there are too many to look at each, or if the
 * C library has no backtrace().
 */
ED_SHARED bool ed_sys_called_from(const void *return_address);

/*
 * The return addresses of the calls that are under way there, innermost first,
 * from 'from' on if that is among them (NULL: from this call's).  Returns how many;
 * 0 if the C library has no backtrace().
 */
ED_SHARED int ed_sys_callers(const void *from, void **ret_frames, int max);

/*
 * Whether 'address' is in the same file of the process as 'other', in no
 * function that it exports for programs: those that begin with ed_ are not.
 */
ED_SHARED bool ed_sys_is_inside(const void *address, const void *other);

/* The same of a file whose name begins so. */
ED_SHARED bool ed_sys_is_inside_named(const void *address, const char *name);

/*
 * What the place at an address is called: "name" or "name+0x12"; where the
 * program does not export the function, "program+0x1234", which addr2line
 * resolves; else "0x55d0...".  Where room is short, the name is cut.
 */
ED_SHARED void ed_sys_symbol(const void *address, char *buf, size_t bytes);

/*
 * What a function is called that the program gave as 'text' in a call (NULL: it
 * did not): its name if the program exports it, else the function that the text
 * begins with, else as above.
 */
void ed_sys_function(const void *fn, const char *text, char *buf, size_t bytes);

#endif
