/*
 * co/stack.h - stacks of tasks.
 *
 * A stack is a slot of address space in a slab, and below each slab is closed address space.  Only touched pages have memory; a task that waits
 * in a shallow call has one page.  Freed stacks are reused last in, first out, while they are in
 * the cache.  Each stack has a guard below it.  The kinds are tested, best first, and the first
 * that works is used:
 *
 *   madvise   MADV_GUARD_INSTALL: costs no mapping
 *   mprotect  two mappings per stack, up to a quarter of those allowed
 *   canary    a word at the bottom, checked when the stack is freed
 */
#ifndef ED_CO_STACK_H
#define ED_CO_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/def.h"

enum ed_guard { ED_GUARD_MADVISE, ED_GUARD_MPROTECT, ED_GUARD_CANARY };

/* The two classes: 64 KiB and 256 KiB (four times as much under sanitizers). */
enum { ED_STACK_SMALL, ED_STACK_DEFAULT, ED_STACK_CLASSES };

/* Located near the top of its slot. */
struct ed_stack {
        struct ed_stack *next; /* in the free list */
        char *bottom;          /* lowest usable byte, above the guard */
        char *top;             /* end of the usable part; its place varies by slot */
        uint16_t class;
        uint8_t guard; /* enum ed_guard */
        uint8_t turns; /* for debug mode: uses until it is cleared; 0: is clear */
        uint32_t seen; /* for debug mode: the depth used since it was clear */
        unsigned valgrind_number;
#ifdef ED_TSAN
        void *fiber;
#endif
};

struct ed_stack_slab;
struct ed_stacks;

/* Called when a stack is freed; runs on that stack if its own task frees it. */
typedef void ed_stack_put_fn(struct ed_stacks *stacks, struct ed_stack *stack);

struct ed_stacks {
        struct ed_stack *free[ED_STACK_CLASSES];
        struct ed_stack_slab *slabs;
        bool looked_at;          /* check stacks when freed: a canary exists, or 'on_put' is set */
        ed_stack_put_fn *on_put; /* NULL: not watched */
        void (*on_canary)(struct ed_stacks *stacks); /* called once, at the first canary; or NULL */
        ed_stack_put_fn *on_overrun; /* called before the abort for an overflow; or NULL */
        size_t used;                 /* stacks in use */
        enum ed_guard weakest;       /* weakest guard used so far */
};

void ed_stacks_init(struct ed_stacks *stacks);

/* Unmaps all stacks; none may be in use. */
void ed_stacks_fini(struct ed_stacks *stacks);

/* Maps more stacks for ed_stack_get().  Returns NULL if memory runs out. */
struct ed_stack *ed_stack_get_slow(struct ed_stacks *stacks, unsigned class);

/* Returns a stack of the class, or NULL if memory runs out. */
static inline struct ed_stack *ed_stack_get(struct ed_stacks *stacks, unsigned class)
{
        struct ed_stack *stack = stacks->free[class];

        if (ed_unlikely(!stack))
                return ed_stack_get_slow(stacks, class);
        stacks->free[class] = stack->next;
        stacks->used++;
        return stack;
}

/* Returns the bytes that every stack of a class has at least. */
size_t ed_stack_room(unsigned class);

/* Calls 'fn' for each stack that is freed. */
void ed_stacks_watch(struct ed_stacks *stacks, ed_stack_put_fn *fn);

/*
 * Checks a stack that is about to be freed, if 'looked_at' is set.  Aborts if its canary was
 * overwritten: the stack has overflowed.
 */
void ed_stack_look(struct ed_stacks *stacks, struct ed_stack *stack);

/* Frees a stack.  The caller may continue to run on it until the next switch. */
static inline void ed_stack_put(struct ed_stacks *stacks, struct ed_stack *stack)
{
        if (ed_unlikely(stacks->looked_at))
                ed_stack_look(stacks, stack);
        stack->next = stacks->free[stack->class];
        stacks->free[stack->class] = stack;
        stacks->used--;
}

/*
 * Returns the pages of a stack below 'sp' to the kernel.  'sp' is the stack pointer of a context that
 * does not run and continues later.
 */
void ed_stack_release(const struct ed_stack *stack, const void *sp);

/*
 * Returns true if 'address' is in one of these stacks, in a guard or in the closed space below a
 * slab.
 */
bool ed_stacks_contain(const struct ed_stacks *stacks, const void *address);

/*
 * Returns true if 'address' is in the guard of one of these stacks, or in the closed space below a
 * slab.  Safe in signal handlers.
 */
bool ed_stacks_guard_hit(const struct ed_stacks *stacks, const void *address);

const char *ed_guard_name(enum ed_guard guard);

#endif
