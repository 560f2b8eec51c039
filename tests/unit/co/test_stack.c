/*
 * test_stack.c - stacks: classes, guards that hold, reuse, limits.
 */
#include "co/stack.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "eddy/alloc.h"
#include "resident.h"
#include "starve.h"
#include "sys/sys.h"
#include "test.h"

#if defined(ED_ASAN) || defined(ED_TSAN) || defined(ED_MSAN)
enum { FACTOR = 4 };
#else
enum { FACTOR = 1 };
#endif

static struct ed_stacks stacks;

static size_t usable(const struct ed_stack *stack)
{
        return (size_t) ((const char *) stack - stack->bottom);
}

TEST(the_classes_have_the_sizes_that_are_promised)
{
        struct ed_stack *small, *large;

        ed_stacks_init(&stacks);
        small = ed_stack_get(&stacks, ED_STACK_SMALL);
        large = ed_stack_get(&stacks, ED_STACK_DEFAULT);
        CHECK(small && large);
        CHECK(usable(small) > (size_t) 40 * 1024 * FACTOR);
        CHECK(usable(small) <= (size_t) 64 * 1024 * FACTOR);
        CHECK(usable(large) > (size_t) 230 * 1024 * FACTOR);
        CHECK(usable(large) <= (size_t) 256 * 1024 * FACTOR);
        CHECK_EQ(stacks.used, 2);
        ed_stack_put(&stacks, small);
        ed_stack_put(&stacks, large);
        ed_stacks_fini(&stacks);
}

TEST(every_usable_byte_can_be_written)
{
        struct ed_stack *all[40];

        ed_stacks_init(&stacks);
        for (int i = 0; i < 40; i++) {
                all[i] = ed_stack_get(&stacks, ED_STACK_SMALL);
                memset(all[i]->bottom + sizeof(uintptr_t), i, usable(all[i]) - sizeof(uintptr_t));
        }
        for (int i = 0; i < 40; i++) {
                CHECK_EQ(all[i]->bottom[sizeof(uintptr_t)], i);
                CHECK_EQ(((char *) all[i])[-1], i);
                ed_stack_put(&stacks, all[i]);
        }
        ed_stacks_fini(&stacks);
}

TEST(freed_stacks_are_used_again_last_in_first_out)
{
        struct ed_stack *a, *b, *other;

        ed_stacks_init(&stacks);
        a = ed_stack_get(&stacks, ED_STACK_DEFAULT);
        b = ed_stack_get(&stacks, ED_STACK_DEFAULT);
        other = ed_stack_get(&stacks, ED_STACK_SMALL);
        ed_stack_put(&stacks, a);
        ed_stack_put(&stacks, other);
        ed_stack_put(&stacks, b);
        CHECK(ed_stack_get(&stacks, ED_STACK_DEFAULT) == b);
        CHECK(ed_stack_get(&stacks, ED_STACK_DEFAULT) == a);
        CHECK(ed_stack_get(&stacks, ED_STACK_SMALL) == other);
        ed_stack_put(&stacks, a);
        ed_stack_put(&stacks, b);
        ed_stack_put(&stacks, other);
        CHECK_EQ(stacks.used, 0);
        ed_stacks_fini(&stacks);
}

TEST(no_two_stacks_overlap_over_many_slabs)
{
        enum { MANY = 300 };
        static struct ed_stack *all[MANY];

        ed_stacks_init(&stacks);
        for (int i = 0; i < MANY; i++) {
                all[i] = ed_stack_get(&stacks, i % 2 ? ED_STACK_SMALL : ED_STACK_DEFAULT);
                CHECK(all[i] != NULL);
                for (int j = 0; j < i; j++)
                        CHECK((char *) all[i] < all[j]->bottom || all[i]->bottom > (char *) all[j]);
        }
        for (int i = 0; i < MANY; i++)
                ed_stack_put(&stacks, all[i]);
        ed_stacks_fini(&stacks);
}

TEST(a_guard_that_is_said_to_hold_does)
{
        struct ed_stack *stack;

        ed_stacks_init(&stacks);
        stack = ed_stack_get(&stacks, ED_STACK_DEFAULT);
        CHECK(ed_guard_name(stacks.weakest) != NULL);
        CHECK_EQ(stack->guard, stacks.weakest);
        if (stack->guard == ED_GUARD_CANARY) {
                CHECK(!ed_stacks_guard_hit(&stacks, stack->bottom - 1));
        } else {
                CHECK_EQ(ed_sys_guard_holds(stack->bottom - 1), 1);
                CHECK(ed_stacks_guard_hit(&stacks, stack->bottom - 1));
                CHECK_EQ(ed_sys_guard_holds(stack->bottom), 0);
        }
        CHECK(!ed_stacks_guard_hit(&stacks, stack->bottom));
        CHECK(!ed_stacks_guard_hit(&stacks, &stack));
        ed_stack_put(&stacks, stack);
        ed_stacks_fini(&stacks);
}

/* A frame that is larger than the guard would come out of the slab. */
TEST(the_space_below_the_lowest_stack_is_closed)
{
        enum { MIB = 1024 * 1024 };
        struct ed_stack *stack;

        ed_stacks_init(&stacks);
        stack = ed_stack_get(&stacks, ED_STACK_DEFAULT);
        for (int i = 1; i < 8; i++) {
                CHECK_EQ(ed_sys_guard_holds(stack->bottom - i * MIB), 1);
                CHECK(ed_stacks_guard_hit(&stacks, stack->bottom - i * MIB));
                CHECK(ed_stacks_contain(&stacks, stack->bottom - i * MIB));
        }
        CHECK(ed_stacks_contain(&stacks, stack->bottom));
        CHECK(!ed_stacks_contain(&stacks, &stack));
        ed_stack_put(&stacks, stack);
        ed_stacks_fini(&stacks);
}

/* Each kind by its own calls: what the ladder stands on. */
TEST(both_kinds_of_guard_are_distinguished_from_plain_memory)
{
        size_t page = ed_sys_page_bytes();
        void *memory;
        char *byte;

        CHECK_EQ(ed_sys_map(4 * page, &memory), 0);
        byte = memory;
        CHECK_EQ(ed_sys_guard_holds(byte), 0);
        if (ed_sys_guard_install(byte, page) == 0 && ed_sys_guard_holds(byte) == 1) {
                CHECK_EQ(ed_sys_guard_holds(byte + page), 0);
                ed_sys_guard_remove(byte, page);
                CHECK_EQ(ed_sys_guard_holds(byte), 0);
        }
        CHECK_EQ(ed_sys_guard_protect(byte, page), 0);
        CHECK_EQ(ed_sys_guard_holds(byte), 1);
        CHECK_EQ(ed_sys_guard_holds(byte + page), 0);
        ed_sys_guard_remove(byte, page);
        CHECK_EQ(ed_sys_guard_holds(byte), 0);
        byte[0] = 1;
        ed_sys_unmap(memory, 4 * page);
}

/* The kernel refuses to advise guards into locked memory: the next rung must hold. */
TEST(with_locked_memory_another_guard_takes_over)
{
        struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
        struct ed_stack *stack;

#if defined(ED_ASAN) || defined(ED_TSAN) || defined(ED_MSAN)
        test_skip("a sanitizer's shadow cannot be locked");
#endif
        (void) setrlimit(RLIMIT_MEMLOCK, &none);
        if (mlockall(MCL_FUTURE) < 0)
                test_skip("memory cannot be locked here");
        ed_stacks_init(&stacks);
        stack = ed_stack_get(&stacks, ED_STACK_SMALL);
        if (!stack)
                test_skip("not that much memory can be locked here");
        if (stack->guard == ED_GUARD_CANARY)
                CHECK(*(uintptr_t *) (void *) stack->bottom != 0);
        else
                CHECK_EQ(ed_sys_guard_holds(stack->bottom - 1), 1);
        ed_stack_put(&stacks, stack);
        ed_stacks_fini(&stacks);
}

/* One that is made while no descriptor can be had. */
static struct ed_stack *get_without_descriptors(unsigned class)
{
        struct rlimit limit, few;
        struct ed_stack *stack;

        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        few = limit;
        few.rlim_cur = 0;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        stack = ed_stack_get(&stacks, class);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
        return stack;
}

/* A server that has no descriptor left starts tasks all the same, and they are as safe. */
TEST(a_guard_that_held_is_believed_in_without_descriptors)
{
        struct ed_stack *first, *second;

        ed_stacks_init(&stacks);
        first = ed_stack_get(&stacks, ED_STACK_DEFAULT);
        second = get_without_descriptors(ED_STACK_SMALL);
        CHECK_EQ(second->guard, first->guard);
        CHECK_EQ(stacks.weakest, first->guard);
        if (second->guard != ED_GUARD_CANARY)
                CHECK_EQ(ed_sys_guard_holds(second->bottom - 1), 1);
        ed_stack_put(&stacks, first);
        ed_stack_put(&stacks, second);
        ed_stacks_fini(&stacks);
}

/* Where the kernel could never be asked, no guard is believed in: the canary it is. */
static struct ed_stack *with_canary(void)
{
        struct ed_stack *stack;

        ed_stacks_init(&stacks);
        stack = get_without_descriptors(ED_STACK_DEFAULT);
        CHECK_EQ(stack->guard, ED_GUARD_CANARY);
        CHECK_STR(ed_guard_name(stacks.weakest), "canary");
        return stack;
}

TEST(a_stack_with_a_canary_goes_and_comes)
{
        struct ed_stack *stack = with_canary();

        memset(stack->bottom + 64, 0, 64);
        ed_stack_put(&stacks, stack);
        ed_stack_put(&stacks, ed_stack_get(&stacks, ED_STACK_DEFAULT));
        ed_stacks_fini(&stacks);
}

TEST_DIES(a_dead_canary_is_an_overflow, SIGABRT)
{
        struct ed_stack *stack = with_canary();

        memset(stack->bottom, 0, 64);
        ed_stack_put(&stacks, stack);
}

/* ---- releasing pages -------------------------------------------------------- */

enum { KIB = 1024, DEEP_BYTES = 32 * KIB };

/* Fills a stack down to its bottom, but for the canary's line. */
static void fill(struct ed_stack *stack)
{
        memset(stack->bottom + 64, 'x', usable(stack) - 64);
}

/* The whole pages below the red zone of 'sp' are released, and nothing else. */
static void check_released(const struct ed_stack *stack, const char *sp)
{
        size_t page = ed_sys_page_bytes();
        const char *low = stack->bottom + (stack->guard == ED_GUARD_CANARY ? page : 0);
        const char *high = (const char *) ((uintptr_t) (sp - 128) / page * page);

        CHECK_EQ(resident_pages(low, high), 0);
        for (const char *byte = high; byte < stack->top; byte++)
                CHECK_EQ(*byte, 'x');
        for (const char *byte = low; byte < high; byte += page)
                CHECK_EQ(*byte, 0);
}

TEST(pages_below_a_parked_context_are_released)
{
        /* In the middle of a page, at its end, and with the red zone across it. */
        static const size_t depths[] = { 1000, 2 * 4096, 2 * 4096 + 127, 2 * 4096 - 64 };
        struct ed_stack *stack;

        ed_stacks_init(&stacks);
        stack = ed_stack_get(&stacks, ED_STACK_DEFAULT);
        for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
                const char *top = (const char *) ((uintptr_t) stack->top / 4096 * 4096);

                fill(stack);
                CHECK(resident_pages(stack->bottom, stack->top) >=
                      DEEP_BYTES / ed_sys_page_bytes());
                ed_stack_release(stack, top - depths[i]);
                check_released(stack, top - depths[i]);
        }
        if (stack->guard != ED_GUARD_CANARY)
                CHECK_EQ(ed_sys_guard_holds(stack->bottom - 1), 1);
        ed_stack_put(&stacks, stack);
        ed_stacks_fini(&stacks);
}

TEST(a_canary_is_not_released)
{
        struct ed_stack *stack = with_canary();

        fill(stack);
        ed_stack_release(stack, stack->top - KIB);
        check_released(stack, stack->top - KIB);
        ed_stack_put(&stacks, stack);
        ed_stacks_fini(&stacks);
}

/* A program may continue a task on memory of its own. */
TEST(nothing_is_released_for_a_stack_pointer_elsewhere)
{
        struct ed_stack *stack;
        size_t before;

        ed_stacks_init(&stacks);
        stack = ed_stack_get(&stacks, ED_STACK_DEFAULT);
        fill(stack);
        before = resident_pages(stack->bottom, stack->top);
        ed_stack_release(stack, &stack);
        ed_stack_release(stack, stack->bottom - 1);
        ed_stack_release(stack, stack->bottom);
        ed_stack_release(stack, stack->top + 1);
        CHECK_EQ(resident_pages(stack->bottom, stack->top), before);
        ed_stack_put(&stacks, stack);
        ed_stacks_fini(&stacks);
}

TEST(without_memory_for_a_slab_a_stack_is_not_made)
{
        allocations_left = 0;
        eddy_alloc_set(starve, NULL);
        ed_stacks_init(&stacks);
        CHECK(ed_stack_get(&stacks, ED_STACK_DEFAULT) == NULL);
        CHECK_EQ(stacks.used, 0);
        eddy_alloc_set(NULL, NULL);
        ed_stack_put(&stacks, ed_stack_get(&stacks, ED_STACK_DEFAULT));
        ed_stacks_fini(&stacks);
}

/* Emulators do not survive such a limit themselves; on 64-bit ARM there may be one. */
#if defined(__x86_64__) && !defined(ED_ASAN) && !defined(ED_TSAN) && !defined(ED_MSAN) &&          \
        !defined(ED_UNDER_VALGRIND)
/* A slab twice as large does not fit any more, but a smaller one does. */
TEST(address_space_is_used_to_the_last_small_slab)
{
        struct rlimit limit = { (rlim_t) 100 << 20, (rlim_t) 100 << 20 };
        int n = 0;

        CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
        ed_stacks_init(&stacks);
        while (ed_stack_get(&stacks, ED_STACK_DEFAULT))
                n++;
        /* 100 MiB are 400 stacks; some is the program's, and some is closed below each slab. */
        CHECK(n >= 240);
        CHECK_EQ(stacks.used, n);
}
#endif
