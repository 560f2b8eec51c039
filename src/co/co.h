/*
 * co/co.h - the context switch: one thread, many stacks.
 *
 * ed_co_switch() saves the callee-saved registers on the stack it leaves and
 * takes up where the other left off.  It ends in an indirect jump, not in a
 * return: the processor predicts returns from its own stack of calls, which
 * is wrong on every switch.  Floating-point control words are not saved:
 * they are shared by all tasks of a thread.
 *
 * The sanitizers and Valgrind are told of every stack and every switch.
 */
#ifndef ED_CO_CO_H
#define ED_CO_CO_H

#include <stddef.h>
#include <stdint.h>

#include "base/def.h"

#ifdef ED_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef ED_TSAN
#include <sanitizer/tsan_interface.h>
#endif

struct ed_co {
        void *sp; /* where it was left; valid while it does not run */
#ifdef ED_ASAN
        void *fake_stack;
        const void *bottom;
        size_t bytes;
#endif
#ifdef ED_TSAN
        void *fiber;
#endif
};

typedef void ed_co_fn(void *arg);

/* In assembly: saves to '*save_sp', goes on at 'sp'. */
void ed_co_switch_asm(void **save_sp, void *sp);
/* In assembly: where a new context starts; calls the function it was given. */
void ed_co_entry_asm(void);

/*
 * Prepare a context that calls fn(arg) on the stack from 'bottom' up to
 * 'top' (16-byte aligned) at the first switch to it.  'fn' must not return.
 */
void ed_co_init(struct ed_co *co, void *bottom, void *top, ed_co_fn *fn, void *arg);

/* Describe the stack that the calling thread is on, to come back to it. */
void ed_co_init_thread(struct ed_co *co);

/* Leave 'from' for 'to'; returns when somebody switches back. */
static inline void ed_co_switch(struct ed_co *from, struct ed_co *to)
{
#ifdef ED_ASAN
        __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->bytes);
#endif
#ifdef ED_TSAN
        __tsan_switch_to_fiber(to->fiber, 0);
#endif
        ed_co_switch_asm(&from->sp, to->sp);
#ifdef ED_ASAN
        __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

/* Leave 'from' for good; its stack may be used again. */
static inline __attribute__((noreturn)) void ed_co_exit(struct ed_co *from, struct ed_co *to)
{
#ifdef ED_ASAN
        __sanitizer_start_switch_fiber(NULL, to->bottom, to->bytes);
#endif
#ifdef ED_TSAN
        __tsan_switch_to_fiber(to->fiber, 0);
#endif
        ed_co_switch_asm(&from->sp, to->sp);
        __builtin_unreachable();
}

#endif
