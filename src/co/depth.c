/*
 * co/depth.c - measuring and clearing stacks.
 */
#include "co/depth.h"

#include "base/valgrind.h"
#include "co/co.h"

/* A vector register.  Four of them are a cache line. */
typedef uint64_t __attribute__((vector_size(16), may_alias)) vector;

enum { LINE_BYTES = 64, LINE_VECTORS = 4, LOOK_BYTES = 1024 };

/* A function without calls may use this many bytes below the stack pointer. */
enum { RED_ZONE_BYTES = 128 };

static char *line_of(const void *address)
{
        return (char *) ((uintptr_t) address & ~(uintptr_t) (LINE_BYTES - 1));
}

/* Returns the lowest whole line, above the canary if there is one. */
static char *lowest_line(const struct ed_stack *stack)
{
        return line_of(stack->bottom + 2 * LINE_BYTES - 1);
}

static inline bool is_zero(vector v)
{
        return !(v[0] | v[1]);
}

/* Returns the lowest line from 'line' on that is not all zero, or 'end'. */
static inline __attribute__((always_inline)) ED_CO_UNCHECKED const char *first_used(
        const char *line, const char *end)
{
        /* Valgrind considers all memory below the stack pointer invalid. */
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

ED_CO_UNCHECKED __attribute__((noinline)) void ed_stack_clear(struct ed_stack *stack, size_t depth)
{
        const char *end = line_of(ed_co_stack_pointer() - RED_ZONE_BYTES);
        char *line = line_of(stack->top - depth);

        ed_valgrind_look_begin();
        for (; line < end; line += LINE_BYTES) {
                for (int i = 0; i < LINE_VECTORS; i++)
                        ((vector *) (void *) line)[i] = (vector){ 0 };
                /*
                 * Keeps the compiler from making this a call, whose frame would be in the cleared
                 * area.
                 */
                __asm__ volatile("" : : : "memory");
        }
        ed_valgrind_look_end();
}
