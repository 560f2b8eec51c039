/*
 * co/probe.h - places that perf, bpftrace and SystemTap can be told of: an
 * instruction that does nothing, and a note in the file that says where it
 * stands and where its arguments are.
 *
 * Arguments are described, not computed: they stay where the compiler has them
 * just then, in a register or in memory.  Without <sys/sdt.h> (Debian's
 * systemtap-sdt-dev) at build time there is nothing at all.
 */
#ifndef ED_CO_PROBE_H
#define ED_CO_PROBE_H

#ifdef ED_USDT
#ifdef __clang__
/* Given the choice, it would store a register to have the argument in memory. */
#define STAP_SDT_ARG_CONSTRAINT nr
#endif
#include <sys/sdt.h>

/* Inline: what it expands to looks long to a compiler that counts lines, and is one instruction. */
#define ED_PROBE(name, n, ...)                                                                     \
        __asm__ volatile inline(STAP_PROBE_ASM(                                                    \
                eddy, name, STAP_PROBE_ASM_TEMPLATE(n))::STAP_PROBE_ASM_OPERANDS(n, __VA_ARGS__))
#else
#define ED_PROBE(name, n, ...) ((void) 0)
#endif

#endif
