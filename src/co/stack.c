/*
 * co/stack.c - slabs of stacks, and the choice of guards.
 */
#include "co/stack.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/valgrind.h"
#include "sys/sys.h"

#ifdef ED_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if defined(ED_ASAN) || defined(ED_TSAN) || defined(ED_MSAN)
enum { SANITIZER_FACTOR = 4 };
#else
enum { SANITIZER_FACTOR = 1 };
#endif

/* A single page suffices for code with stack-clash protection, but libraries may lack it. */
enum { GUARD_BYTES = 16 * 1024, SLAB_STACKS_MIN = 16, SLAB_STACKS_MAX = 1024 };

/*
 * Closed address space below each slab.  Code without stack-clash protection whose frame is larger
 * than the guard jumps over it, into other slots and from the lowest slots out of the slab.  The
 * size is that of a thread's stack by default: a larger frame does not work in a thread either.
 */
enum { CLOSED_BYTES = 8 * 1024 * 1024 };

/* A function without calls may use this many bytes below the stack pointer. */
enum { RED_ZONE_BYTES = 128 };

/*
 * Slots are a power of two apart, so the same byte of all slots maps to one set of the first-level
 * cache.  The top of each slot, with struct ed_stack first, is moved down by a few cache lines, so
 * that the most used memory of tasks is spread over the sets.
 */
enum { COLOURS = 16, COLOUR_BYTES = 64 };

static const uintptr_t canary = (uintptr_t) 0xeddedd1e0ddba11fULL;

_Static_assert(sizeof(struct ed_stack) <= COLOUR_BYTES, "a struct ed_stack needs more room");

struct ed_stack_slab {
        struct ed_stack_slab *next;
        char *memory;
        size_t closed_bytes; /* below the memory */
        size_t slot_bytes;
        size_t stacks;
        size_t used; /* stacks that were ever used: the first ones */
        enum ed_guard guard;
        unsigned class;
};

/* By kind of guard: the kernel has confirmed such a guard. */
static _Atomic bool guard_held[ED_GUARD_CANARY];

/* Mappings used for mprotect guards, by all loops of the process. */
static _Atomic size_t mappings_spent;

static size_t slot_bytes(unsigned class)
{
        return (size_t) (class == ED_STACK_SMALL ? 64 : 256) * 1024 * SANITIZER_FACTOR;
}

size_t ed_stack_room(unsigned class)
{
        return slot_bytes(class) - GUARD_BYTES - COLOURS * COLOUR_BYTES;
}

const char *ed_guard_name(enum ed_guard guard)
{
        static const char *const names[] = { "madvise", "mprotect", "canary" };

        return names[guard];
}

void ed_stacks_init(struct ed_stacks *stacks)
{
        *stacks = (struct ed_stacks){ .weakest = ED_GUARD_MADVISE };
}

static struct ed_stack *slab_stack(const struct ed_stack_slab *slab, size_t i)
{
        char *end = slab->memory + (i + 1) * slab->slot_bytes;

        return (struct ed_stack *) (void *) (end - (i % COLOURS + 1) * COLOUR_BYTES);
}

void ed_stacks_fini(struct ed_stacks *stacks)
{
        struct ed_stack_slab *slab;

        ed_assert(stacks->used == 0, "stacks were unmapped while tasks had them");
        while ((slab = stacks->slabs)) {
                stacks->slabs = slab->next;
#ifdef ED_TSAN
                for (size_t i = 0; i < slab->used; i++)
                        __tsan_destroy_fiber(slab_stack(slab, i)->fiber);
#endif
                /* Without Valgrind this touches no page. */
                for (size_t i = 0; i < slab->used && ed_on_valgrind(); i++)
                        ed_valgrind_stack_remove(slab_stack(slab, i)->valgrind_number);
                if (slab->guard == ED_GUARD_MPROTECT)
                        atomic_fetch_sub(&mappings_spent, 2 * slab->stacks);
                ed_sys_unmap(slab->memory - slab->closed_bytes,
                             slab->closed_bytes + slab->stacks * slab->slot_bytes);
                ed_free(slab);
        }
}

/*
 * Returns true if a slab's guards, which are of this kind, work.  The check needs two descriptors;
 * if the process has none left, the result of earlier checks is used.
 */
static bool guard_holds(const struct ed_stack_slab *slab, enum ed_guard guard)
{
        int holds = ed_sys_guard_holds(slab->memory);

        if (holds < 0)
                return atomic_load_explicit(&guard_held[guard], memory_order_relaxed);
        if (holds)
                atomic_store_explicit(&guard_held[guard], true, memory_order_relaxed);
        return holds;
}

/*
 * Guards every stack of a new slab with the best kind that works.  A guard counts only if the
 * kernel returns EFAULT for it: some systems accept the advice and install nothing.
 */
static enum ed_guard guard_slab(struct ed_stack_slab *slab)
{
        size_t i;

        for (i = 0; i < slab->stacks; i++)
                if (ed_sys_guard_install(slab->memory + i * slab->slot_bytes, GUARD_BYTES) < 0)
                        break;
        if (i == slab->stacks && guard_holds(slab, ED_GUARD_MADVISE))
                return ED_GUARD_MADVISE;

        if (atomic_fetch_add(&mappings_spent, 2 * slab->stacks) + 2 * slab->stacks <=
            ed_sys_mappings_max() / 4) {
                for (i = 0; i < slab->stacks; i++)
                        if (ed_sys_guard_protect(slab->memory + i * slab->slot_bytes, GUARD_BYTES) <
                            0)
                                break;
                if (i == slab->stacks && guard_holds(slab, ED_GUARD_MPROTECT))
                        return ED_GUARD_MPROTECT;
        }
        atomic_fetch_sub(&mappings_spent, 2 * slab->stacks);
        /* Remove partly installed guards: the canaries need these pages. */
        for (i = 0; i < slab->stacks; i++)
                ed_sys_guard_remove(slab->memory + i * slab->slot_bytes, GUARD_BYTES);
        return ED_GUARD_CANARY;
}

/*
 * Maps a slab's memory for 'count' stacks.  If address space is short, a smaller slab may fit when
 * a larger one does not, and then one without closed space.
 */
static int slab_map(struct ed_stack_slab *slab, size_t count)
{
        void *memory;
        int err;

        slab->closed_bytes = CLOSED_BYTES;
        while ((err = ed_sys_map_above(CLOSED_BYTES, count * slab->slot_bytes, &memory)) < 0 &&
               count > SLAB_STACKS_MIN)
                count /= 2;
        if (err < 0) {
                slab->closed_bytes = 0;
                err = ed_sys_map(count * slab->slot_bytes, &memory);
        }
        if (err < 0)
                return err;
        slab->memory = memory;
        slab->stacks = count;
        return 0;
}

static int slab_new(struct ed_stacks *stacks, unsigned class)
{
        struct ed_stack_slab *slab;
        size_t count = SLAB_STACKS_MIN;
        int err;

        for (slab = stacks->slabs; slab; slab = slab->next)
                if (slab->class == class) {
                        count = slab->stacks < SLAB_STACKS_MAX ? slab->stacks * 2 : SLAB_STACKS_MAX;
                        break;
                }
        slab = ed_alloc_zero(sizeof(*slab));
        if (!slab)
                return -ENOMEM;
        slab->slot_bytes = slot_bytes(class);
        slab->class = class;
        err = slab_map(slab, count);
        if (err < 0) {
                ed_free(slab);
                return err;
        }
        slab->guard = guard_slab(slab);
        slab->next = stacks->slabs;
        stacks->slabs = slab;
        if (slab->guard > stacks->weakest) {
                stacks->weakest = slab->guard;
                if (slab->guard == ED_GUARD_CANARY) {
                        stacks->looked_at = true;
                        if (stacks->on_canary)
                                stacks->on_canary(stacks);
                }
        }
        return 0;
}

/* Returns the next unused stack of a slab. */
static struct ed_stack *slab_take(struct ed_stack_slab *slab)
{
        char *slot = slab->memory + slab->used * slab->slot_bytes;
        struct ed_stack *stack = slab_stack(slab, slab->used);

        slab->used++;
        stack->top = (char *) stack;
        stack->next = NULL;
        stack->bottom = slab->guard == ED_GUARD_CANARY ? slot : slot + GUARD_BYTES;
        stack->class = (uint16_t) slab->class;
        stack->guard = (uint8_t) slab->guard;
        stack->turns = 0;
        stack->seen = 0;
        if (slab->guard == ED_GUARD_CANARY)
                *(uintptr_t *) (void *) stack->bottom = canary;
#ifdef ED_TSAN
        stack->fiber = __tsan_create_fiber(0);
#endif
        stack->valgrind_number = ed_valgrind_stack_add(stack->bottom, stack + 1);
        return stack;
}

struct ed_stack *ed_stack_get_slow(struct ed_stacks *stacks, unsigned class)
{
        struct ed_stack_slab *slab;

        for (slab = stacks->slabs; slab; slab = slab->next)
                if (slab->class == class)
                        break;
        /* Only the newest slab of a class has unused stacks. */
        if (!slab || slab->used == slab->stacks) {
                if (slab_new(stacks, class) < 0)
                        return NULL;
                slab = stacks->slabs;
        }
        stacks->used++;
        return slab_take(slab);
}

void ed_stack_release(const struct ed_stack *stack, const void *sp)
{
        size_t page = ed_sys_page_bytes();
        uintptr_t low = (uintptr_t) stack->bottom, high = (uintptr_t) sp;

        /*
         * A program may run a task's code on memory of its own, which must not be a part of the
         * task's stack (docs/design/stacks.md).
         */
        if (high < low || high > (uintptr_t) stack->top)
                return;
        if (stack->guard == ED_GUARD_CANARY)
                low += sizeof(canary);
        low = (low + page - 1) & ~(uintptr_t) (page - 1);
        high = (high - RED_ZONE_BYTES) & ~(uintptr_t) (page - 1);
        if (low < high)
                ed_sys_release((void *) low, high - low);
}

void ed_stacks_watch(struct ed_stacks *stacks, ed_stack_put_fn *fn)
{
        stacks->on_put = fn;
        stacks->looked_at = true;
}

void ed_stack_look(struct ed_stacks *stacks, struct ed_stack *stack)
{
        if (stack->guard == ED_GUARD_CANARY &&
            *(const uintptr_t *) (const void *) stack->bottom != canary) {
                if (stacks->on_overrun)
                        stacks->on_overrun(stacks, stack);
                ed_broken("a task overflowed its stack (the guard here is only a canary)");
        }
        if (stacks->on_put)
                stacks->on_put(stacks, stack);
}

/* Returns the slab whose memory, or closed space below it, contains 'byte', or NULL. */
static const struct ed_stack_slab *slab_at(const struct ed_stacks *stacks, const char *byte)
{
        const struct ed_stack_slab *slab = stacks->slabs;

        while (slab && (byte < slab->memory - slab->closed_bytes ||
                        byte >= slab->memory + slab->stacks * slab->slot_bytes))
                slab = slab->next;
        return slab;
}

bool ed_stacks_contain(const struct ed_stacks *stacks, const void *address)
{
        return slab_at(stacks, address) != NULL;
}

bool ed_stacks_guard_hit(const struct ed_stacks *stacks, const void *address)
{
        const char *byte = address;
        const struct ed_stack_slab *slab = slab_at(stacks, byte);

        if (!slab || byte < slab->memory)
                return slab != NULL;
        return slab->guard != ED_GUARD_CANARY &&
               (size_t) (byte - slab->memory) % slab->slot_bytes < GUARD_BYTES;
}
