/*
 * co/ticks.h - the processor's own counter of time.
 *
 * Read without asking the kernel.  How long a tick is, and whether all
 * processors agree, is for others to say: see loop/clock.h.
 */
#ifndef ED_CO_TICKS_H
#define ED_CO_TICKS_H

#include <stdint.h>

/* What a kernel whose clock is made of it calls it; under an emulator it is called otherwise. */
#if defined(__x86_64__)
#define ED_TICKS_SOURCE "tsc"
#elif defined(__aarch64__)
#define ED_TICKS_SOURCE "arch_sys_counter"
#endif

static inline uint64_t ed_ticks(void)
{
#if defined(__x86_64__)
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
        uint64_t ticks;

        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
#else
#error "src/co is what a port to another processor adds to"
#endif
}

#endif
