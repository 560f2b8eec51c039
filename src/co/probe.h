/*
 * co/probe.h - probes for perf, bpftrace and SystemTap.  A probe is one no-op instruction, and a
 * note in the ELF file with its address and the location of its arguments.
 *
 * Arguments are described, not computed: they stay where the compiler has them, in a register or in
 * memory.  Without <sys/sdt.h> (Debian's systemtap-sdt-dev) at build time, probes expand to
 * nothing.
 */
#ifndef ED_CO_PROBE_H
#define ED_CO_PROBE_H

#ifdef ED_USDT
#ifdef __clang__
/* Otherwise clang would store a register in order to have the argument in memory. */
#define STAP_SDT_ARG_CONSTRAINT nr
#endif
#include <sys/sdt.h>

/* "inline": the compiler estimates size by lines, but this is one instruction. */
#define ED_PROBE(name, n, ...)                                                                     \
        __asm__ volatile inline(STAP_PROBE_ASM(                                                    \
                eddy, name, STAP_PROBE_ASM_TEMPLATE(n))::STAP_PROBE_ASM_OPERANDS(n, __VA_ARGS__))
#else
#define ED_PROBE(name, n, ...) ((void) 0)
#endif

#endif
