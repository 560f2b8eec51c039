/*
 * co/stack.h - stacks of tasks.
 *
 * A stack is a slot of address space in a slab.  Only the pages that were
 * touched have memory; a task that waits in a shallow call has one.  Freed
 * stacks are used again last in, first out, while they are warm.  Below each
 * stack lies a guard; which kind holds here is found out, not assumed:
 *
 *   madvise   MADV_GUARD_INSTALL: costs no mapping
 *   mprotect  two mappings a stack, up to a quarter of those allowed
 *   canary    a word at the bottom, looked at when the stack is given back
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

/* Lies near the very top of its slot. */
struct ed_stack {
        struct ed_stack *next; /* in the free list */
        char *bottom;          /* lowest usable byte, above the guard */
        char *top;             /* behind the highest; not the same place in every slot */
        uint16_t class;
        uint8_t guard; /* enum ed_guard */
        uint8_t turns; /* of who watches: until it is cleared again; 0: it is clear */
        uint32_t seen; /* of who watches: how deep it has been used since it was clear */
        unsigned valgrind_number;
#ifdef ED_TSAN
        void *fiber;
#endif
};

struct ed_stack_slab;
struct ed_stacks;

/* Is told of a stack that is given back; on that stack, if its task does it. */
typedef void ed_stack_put_fn(struct ed_stacks *stacks, struct ed_stack *stack);

struct ed_stacks {
        struct ed_stack *free[ED_STACK_CLASSES];
        struct ed_stack_slab *slabs;
        bool looked_at;          /* what is given back: some have a canary, or there is 'on_put' */
        ed_stack_put_fn *on_put; /* NULL: nobody wants to know */
        void (*on_canary)(struct ed_stacks *stacks); /* told once, of the first canary; or NULL */
        ed_stack_put_fn *on_overrun; /* a canary is gone, and the process ends; or NULL */
        size_t used;                 /* stacks in use */
        enum ed_guard weakest;       /* guard given out so far */
};

void ed_stacks_init(struct ed_stacks *stacks);

/* Unmap all; none may be in use. */
void ed_stacks_fini(struct ed_stacks *stacks);

/* For ed_stack_get(), when no stack is free: map more.  Errors: -ENOMEM. */
struct ed_stack *ed_stack_get_slow(struct ed_stacks *stacks, unsigned class);

/* A stack of that class, or NULL when there is no memory. */
static inline struct ed_stack *ed_stack_get(struct ed_stacks *stacks, unsigned class)
{
        struct ed_stack *stack = stacks->free[class];

        if (ed_unlikely(!stack))
                return ed_stack_get_slow(stacks, class);
        stacks->free[class] = stack->next;
        stacks->used++;
        return stack;
}

/* What every stack of a class has room for. */
size_t ed_stack_room(unsigned class);

/* Have all that are given back told to 'fn'. */
void ed_stacks_watch(struct ed_stacks *stacks, ed_stack_put_fn *fn);

/*
 * Before one is given back, if they are looked at.  Aborts when its canary is
 * gone: it overflowed unseen.
 */
void ed_stack_look(struct ed_stacks *stacks, struct ed_stack *stack);

/* Give a stack back.  It may still be run on until the next switch. */
static inline void ed_stack_put(struct ed_stacks *stacks, struct ed_stack *stack)
{
        if (ed_unlikely(stacks->looked_at))
                ed_stack_look(stacks, stack);
        stack->next = stacks->free[stack->class];
        stacks->free[stack->class] = stack;
        stacks->used--;
}

/* Whether 'address' lies in the guard of a stack of these.  For signal handlers too. */
bool ed_stacks_guard_hit(const struct ed_stacks *stacks, const void *address);

const char *ed_guard_name(enum ed_guard guard);

#endif
