/*
 * co/ticks.h - the processor's own counter of time.
 *
 * Read without asking the kernel.  How long a tick is, and whether all
 * processors agree, is for others to say: see loop/clock.h.
 */
#ifndef ED_CO_TICKS_H
#define ED_CO_TICKS_H

#include <stdint.h>

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
