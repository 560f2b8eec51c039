/*
 * co/depth.c - looking at what a stack holds, and clearing it.
 */
#include "co/depth.h"

#include "co/co.h"

#ifdef ED_VALGRIND
#include <valgrind/memcheck.h>
#endif

/* A whole register of the processor, of which four are a cache line. */
typedef uint64_t __attribute__((vector_size(16), may_alias)) vector;

enum { LINE_BYTES = 64, LINE_VECTORS = 4 };

/* What a function without calls may keep below the stack pointer. */
enum { RED_ZONE_BYTES = 128 };

static char *line_of(const void *address)
{
        return (char *) ((uintptr_t) address & ~(uintptr_t) (LINE_BYTES - 1));
}

/* The lowest whole line, above the canary where that is the guard. */
static char *lowest_line(const struct ed_stack *stack)
{
        return line_of(stack->bottom + 2 * LINE_BYTES - 1);
}

ED_CO_UNCHECKED size_t ed_stack_depth(const struct ed_stack *stack)
{
        const char *line = lowest_line(stack), *end = line_of(stack->top);
        size_t above = 0;

#ifdef ED_VALGRIND
        VALGRIND_DISABLE_ERROR_REPORTING;
#endif
        for (; line < end; line += LINE_BYTES) {
                const vector *v = (const vector *) (const void *) line;
                vector any = (v[0] | v[1]) | (v[2] | v[3]);

                if (any[0] | any[1]) {
                        while (!(v[above][0] | v[above][1]))
                                above++;
                        break;
                }
        }
#ifdef ED_VALGRIND
        VALGRIND_ENABLE_ERROR_REPORTING;
#endif
        return (size_t) (stack->top - line) - above * sizeof(vector);
}

static inline __attribute__((always_inline)) char *stack_pointer(void)
{
        char *sp;

#if defined(__x86_64__)
        __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
#else
        __asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
        return sp;
}

ED_CO_UNCHECKED __attribute__((noinline)) void ed_stack_clear(struct ed_stack *stack, size_t depth)
{
        const char *end = line_of(stack_pointer() - RED_ZONE_BYTES);
        char *line = line_of(stack->top - depth);

#ifdef ED_VALGRIND
        VALGRIND_DISABLE_ERROR_REPORTING;
#endif
        for (; line < end; line += LINE_BYTES) {
                for (int i = 0; i < LINE_VECTORS; i++)
                        ((vector *) (void *) line)[i] = (vector){ 0 };
                /* Not to be made a call, whose frame would lie where it clears. */
                __asm__ volatile("" : : : "memory");
        }
#ifdef ED_VALGRIND
        VALGRIND_ENABLE_ERROR_REPORTING;
#endif
}
