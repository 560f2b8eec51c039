/*
 * co/depth.c - looking at what a stack holds, and clearing it.
 */
#include "co/depth.h"

#include "base/valgrind.h"
#include "co/co.h"

/* A whole register of the processor, of which four are a cache line. */
typedef uint64_t __attribute__((vector_size(16), may_alias)) vector;

enum { LINE_BYTES = 64, LINE_VECTORS = 4, LOOK_BYTES = 1024 };

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

static inline bool is_zero(vector v)
{
        return !(v[0] | v[1]);
}

/* The lowest line from 'line' on that is not all zero, or 'end'. */
static inline __attribute__((always_inline)) ED_CO_UNCHECKED const char *first_used(
        const char *line, const char *end)
{
        /* It takes all below the stack pointer for gone. */
        ed_valgrind_look_begin();
        for (; line < end; line += LINE_BYTES) {
                const vector *v = (const vector *) (const void *) line;

                if (!is_zero((v[0] | v[1]) | (v[2] | v[3])))
                        break;
        }
        ed_valgrind_look_end();
        return line;
}

ED_CO_UNCHECKED size_t ed_stack_depth(const struct ed_stack *stack)
{
        const char *end = line_of(stack->top), *line = first_used(lowest_line(stack), end);

        if (line == end)
                return 0;
        ed_valgrind_look_begin();
        while (is_zero(*(const vector *) (const void *) line))
                line += sizeof(vector);
        ed_valgrind_look_end();
        return (size_t) (stack->top - line);
}

ED_CO_UNCHECKED bool ed_stack_is_deeper(const struct ed_stack *stack, size_t depth)
{
        const char *end = line_of(stack->top - depth), *line = end - LOOK_BYTES;

        if (line < lowest_line(stack))
                line = lowest_line(stack);
        return line < end && first_used(line, end) < end;
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

        ed_valgrind_look_begin();
        for (; line < end; line += LINE_BYTES) {
                for (int i = 0; i < LINE_VECTORS; i++)
                        ((vector *) (void *) line)[i] = (vector){ 0 };
                /* Not to be made a call, whose frame would lie where it clears. */
                __asm__ volatile("" : : : "memory");
        }
        ed_valgrind_look_end();
}
