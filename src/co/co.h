/*
 * co/co.h - the context switch: one thread, many stacks.
 *
 * The switch is a few instructions, inlined at each use: it stores the stack pointer, the frame
 * pointer and the address to continue at, loads those of the other context, and jumps.  All other
 * registers are declared as clobbered, so the compiler saves only those that are live.
 *
 * The switch is not a call and does not end with a return instruction.  The processor predicts
 * returns with its own stack of calls.  A switch that pops a return address without its call, or
 * returns to one, shifts that stack by one entry, and all later returns are mispredicted.
 * Floating-point control words are not saved: all tasks of a thread share them
 * (docs/design/switch.md).  The direction flag is clear on both sides, as at each call.
 *
 * The sanitizers and Valgrind are notified of every stack and every switch.
 */
#ifndef ED_CO_CO_H
#define ED_CO_CO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/def.h"

#ifdef ED_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef ED_MSAN
#include <sanitizer/msan_interface.h>
#endif
#ifdef ED_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/*
 * For functions that read memory which a sanitizer considers invalid.  gcc does not know all these
 * names.
 */
#if defined(__clang__)
#define ED_CO_UNCHECKED __attribute__((no_sanitize("address", "thread", "memory")))
#else
#define ED_CO_UNCHECKED __attribute__((no_sanitize("address", "thread")))
#endif

/* The state of a context that does not run.  The assembly depends on the order of the fields. */
struct ed_co {
        void *sp;
        void *frame;
        void *resume;
#ifdef ED_ASAN
        void *fake_stack;
#endif
#if defined(ED_ASAN) || defined(ED_MSAN)
        const void *bottom;
        size_t bytes;
#endif
#ifdef ED_TSAN
        void *fiber;
#endif
};

typedef void ed_co_fn(void *arg);

static inline __attribute__((always_inline)) char *ed_co_stack_pointer(void)
{
        char *sp;

#if defined(__x86_64__)
        __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
#else
        __asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
        return sp;
}

/* In assembly: the start of a new context.  Calls the function of ed_co_init_plain(). */
void ed_co_entry_asm(void);

/*
 * Caller-saved registers that the compiler knows only with some options.  The x87 and MMX registers
 * are caller-saved on each processor: a long double can be in one if the switch is inlined into its
 * caller, for example with link-time optimisation.
 */
#if defined(__x86_64__)
#define ED_CO_X87_REGISTERS                                                                        \
        "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "mm0", "mm1", "mm2",  \
                "mm3", "mm4", "mm5", "mm6", "mm7", "fpsr",
#endif
#if defined(__AVX512F__)
#define ED_CO_MORE_REGISTERS                                                                       \
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",  \
                "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3",      \
                "k4", "k5", "k6", "k7",
#elif defined(__ARM_FEATURE_SVE) && defined(__clang__)
/* clang's "v0" is only the low half of "z0", and clang has no name for "ffr". */
#define ED_CO_MORE_REGISTERS                                                                       \
        "z0", "z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9", "z10", "z11", "z12", "z13",    \
                "z14", "z15", "z16", "z17", "z18", "z19", "z20", "z21", "z22", "z23", "z24",       \
                "z25", "z26", "z27", "z28", "z29", "z30", "z31", "p0", "p1", "p2", "p3", "p4",     \
                "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15",
#elif defined(__ARM_FEATURE_SVE)
#define ED_CO_MORE_REGISTERS                                                                       \
        "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13",    \
                "p14", "p15", "ffr",
#else
#define ED_CO_MORE_REGISTERS
#endif

static inline __attribute__((always_inline)) void ed_co_jump(struct ed_co *from, struct ed_co *to)
{
#if defined(__x86_64__)
        __asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
                         "movq %%rsp, 0(%%rdi)\n\t"
                         "movq %%rbp, 8(%%rdi)\n\t"
                         "movq %%rax, 16(%%rdi)\n\t"
                         "movq 0(%%rsi), %%rsp\n\t"
                         "movq 8(%%rsi), %%rbp\n\t"
                         "notrack jmp *16(%%rsi)\n"
                         "1:"
                         : "+D"(from), "+S"(to)
                         :
                         : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13",
                           "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                           "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                           "xmm15", ED_CO_X87_REGISTERS ED_CO_MORE_REGISTERS "memory", "cc");
#elif defined(__aarch64__)
        register struct ed_co *x0 __asm__("x0") = from;
        register struct ed_co *x1 __asm__("x1") = to;

        /* x16: branch protection allows a jump through x16 to each kind of landing pad. */
        __asm__ volatile("adr x9, 1f\n\t"
                         "mov x10, sp\n\t"
                         "stp x10, x29, [x0]\n\t"
                         "str x9, [x0, #16]\n\t"
                         "ldp x10, x29, [x1]\n\t"
                         "ldr x16, [x1, #16]\n\t"
                         "mov sp, x10\n\t"
                         "br x16\n"
                         "1: hint #36"
                         : "+r"(x0), "+r"(x1)
                         :
                         : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
                           "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22",
                           "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3",
                           "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
                           "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
                           "v25", "v26", "v27", "v28", "v29", "v30", "v31",
                           ED_CO_MORE_REGISTERS "memory", "cc");
#else
#error "eddy has a context switch for x86-64 and AArch64 only; a port adds one to src/co"
#endif
}

/* Prepares a context: stores what ed_co_entry_asm() takes from the stack. */
static inline void ed_co_init_plain(struct ed_co *co, void *top, ed_co_fn *fn, void *arg)
{
        uintptr_t *frame = (uintptr_t *) top - 2;

        frame[0] = (uintptr_t) arg;
        frame[1] = (uintptr_t) fn;
        co->sp = frame;
        co->frame = NULL;
        co->resume = (void *) ed_co_entry_asm;
}

#if defined(ED_ASAN) || defined(ED_MSAN)
/* ed_co_init_plain(), and notifies the sanitizers at the first switch to the context. */
void ed_co_init_checked(struct ed_co *co, void *bottom, void *top, ed_co_fn *fn, void *arg);
#endif

/*
 * Prepares a context that calls fn(arg) on the stack from 'bottom' to 'top' (16-byte aligned) at
 * the first switch to it.  'fn' must not return.
 */
static inline void ed_co_init(struct ed_co *co, void *bottom, void *top, ed_co_fn *fn, void *arg)
{
#if defined(ED_ASAN) || defined(ED_MSAN)
        ed_co_init_checked(co, bottom, top, fn, arg);
#else
        (void) bottom;
        ed_co_init_plain(co, top, fn, arg);
#endif
}

/* Records the calling thread's stack, so that a switch can return to it. */
void ed_co_init_thread(struct ed_co *co);

/*
 * Notifies the sanitizers that a jump left frames of this thread.  'away': the jump left another
 * context, without a switch back to 'co'.
 */
void ed_co_come_back(struct ed_co *co, bool away);

/*
 * Returns in 'ret_frames' where a context that does not run was left, and its callers, innermost
 * first.  The walk follows frame pointers up to 'top' and ends at code that does not keep them.
 * Returns the number of frames; 0 if the context has not started.
 */
ED_SHARED int ed_co_frames(const struct ed_co *co, const void *top, void **ret_frames, int max);

/* Leaves 'from' for 'to'.  Returns after a switch back to 'from'. */
static inline __attribute__((always_inline)) void ed_co_switch(struct ed_co *from, struct ed_co *to)
{
#ifdef ED_ASAN
        __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->bytes);
#endif
#ifdef ED_MSAN
        __msan_start_switch_fiber(to->bottom, to->bytes);
#endif
#ifdef ED_TSAN
        __tsan_switch_to_fiber(to->fiber, 0);
#endif
        ed_co_jump(from, to);
#ifdef ED_ASAN
        __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
#ifdef ED_MSAN
        __msan_finish_switch_fiber(NULL, NULL);
#endif
}

/* Called with a wait's negative result; its return value becomes the result. */
typedef int ed_co_failed_fn(int result);

/* The two sides of a hand-over.  Each has its own jumps, which are then easy to predict. */
enum ed_co_side { ED_CO_ASKS, ED_CO_ANSWERS };

/* The offset from a context to the int that ed_co_leave() returns. */
enum { ED_CO_RESULT = sizeof(struct ed_co) + sizeof(void *) };

#if defined(__x86_64__) && !defined(ED_ASAN) && !defined(ED_TSAN) && !defined(ED_MSAN)
#define ED_CO_LEAVE_ASM 1
/* In assembly: ed_co_leave(), for each side. */
int ed_co_leave_ask_asm(struct ed_co *from, struct ed_co *to, ed_co_failed_fn *failed);
int ed_co_leave_answer_asm(struct ed_co *from, struct ed_co *to, ed_co_failed_fn *failed);
#endif

/*
 * Leaves 'from' for 'to'; after a switch back, returns the result at ED_CO_RESULT bytes from
 * 'from'.  It must be the last action of a function.
 *
 * Use it for two contexts that hand over only to each other.  Each return after such a switch is
 * mispredicted, since the processor's most recent call was the other side's.  On processors that
 * allow it, this function therefore returns to its caller by a jump, which is predicted from its
 * earlier targets.
 */
static inline __attribute__((always_inline)) int ed_co_leave(struct ed_co *from, struct ed_co *to,
                                                             enum ed_co_side side,
                                                             ed_co_failed_fn *failed)
{
#ifdef ED_CO_LEAVE_ASM
        if (side == ED_CO_ASKS)
                return ed_co_leave_ask_asm(from, to, failed);
        return ed_co_leave_answer_asm(from, to, failed);
#else
        const int *result = (const void *) ((const char *) from + ED_CO_RESULT);

        (void) side;
        ed_co_switch(from, to);
        return ed_unlikely(*result < 0) ? failed(*result) : *result;
#endif
}

#ifdef ED_TSAN
/* Records for ThreadSanitizer that a function returns; no header of it declares this. */
void __tsan_func_exit(void);
#endif

/*
 * Leaves 'from' for good; its stack may be reused.  The context's first function
 * never returns, so its end is recorded for ThreadSanitizer: without that, its own
 * stack overflows after 65,536 tasks on one stack.
 */
static inline __attribute__((noreturn, always_inline)) void ed_co_exit(struct ed_co *from,
                                                                       struct ed_co *to)
{
#ifdef ED_ASAN
        __sanitizer_start_switch_fiber(NULL, to->bottom, to->bytes);
#endif
#ifdef ED_MSAN
        __msan_start_switch_fiber(to->bottom, to->bytes);
#endif
#ifdef ED_TSAN
        __tsan_func_exit();
        __tsan_switch_to_fiber(to->fiber, 0);
#endif
        ed_co_jump(from, to);
        __builtin_unreachable();
}

#endif
