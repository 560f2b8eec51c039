/*
 * test_co.c - the context switch: what a context held when it left is what it
 * finds when it comes back, and a new one starts as the ABI asks.
 */
#include "co/co.h"

#include <stdint.h>

#include "co/stack.h"
#include "test.h"

enum { CONTEXTS = 4, SWITCHES = 2000 };

static struct ed_stacks stacks;
/* As a fiber has it: the result of ed_co_leave() lies behind the context. */
static struct {
        struct ed_co co;
        void *between;
        int result;
} at_home;

#define home (at_home.co)
static struct ed_co contexts[CONTEXTS];
static struct ed_stack *their_stacks[CONTEXTS];
static int at; /* the context that runs */

static void make(int i, ed_co_fn *fn, void *arg)
{
        struct ed_stack *stack = ed_stack_get(&stacks, ED_STACK_DEFAULT);

        CHECK(stack != NULL);
        their_stacks[i] = stack;
        ed_co_init(&contexts[i], stack->bottom, (void *) ((uintptr_t) stack & ~(uintptr_t) 63), fn,
                   arg);
#ifdef ED_TSAN
        contexts[i].fiber = stack->fiber;
#endif
}

static void begin(void)
{
        ed_stacks_init(&stacks);
        ed_co_init_thread(&home);
}

static void finish(int n)
{
        for (int i = 0; i < n; i++)
                ed_stack_put(&stacks, their_stacks[i]);
        ed_stacks_fini(&stacks);
}

/* Leave the running context for the next one in the ring. */
static __attribute__((noinline)) void leave(void)
{
        int from = at;

        at = (at + 1) % CONTEXTS;
        ed_co_switch(&contexts[from], &contexts[at]);
}

/* A value that the compiler must keep, and knows nothing of. */
static __attribute__((noinline)) uint64_t seed_of(uint64_t context, uint64_t i)
{
        return (context * 1000003 + i) * 0x9e3779b97f4a7c15ULL;
}

/*
 * More live values across a switch than there are registers to keep them in:
 * whole numbers, doubles and pointers; the sums must come out as if nobody
 * else had run in between.
 */
static void many_values(void *arg)
{
        uint64_t self = (uint64_t) (uintptr_t) arg;

        for (uint64_t n = 0; n < SWITCHES; n++) {
                uint64_t a = seed_of(self, n), b = a * 3, c = b ^ 0x55, d = c + a, e = d * 7;
                uint64_t f = e ^ b, g = f + c, h = g * 5, i = h ^ d, j = i + e;
                double p = (double) (a >> 12), q = p * 1.5, r = q + 0.25, s = r / 3.0, t = s * s;
                double u = t + p, v = 1.0 / u, w = v - q, x = w * 0.125, y = x + r;
                const char *word = n % 2 ? "odd" : "even";

                leave();
                CHECK(b == a * 3 && c == (b ^ 0x55) && d == c + a && e == d * 7);
                CHECK(f == (e ^ b) && g == f + c && h == g * 5 && i == (h ^ d) && j == i + e);
                CHECK(a == seed_of(self, n));
                CHECK(p == (double) (a >> 12) && q == p * 1.5 && r == q + 0.25 && s == r / 3.0);
                CHECK(t == s * s && u == t + p && v == 1.0 / u && w == v - q);
                CHECK(x == w * 0.125 && y == x + r);
                CHECK_STR(word, n % 2 ? "odd" : "even");
        }
        if (self == CONTEXTS - 1)
                ed_co_exit(&contexts[self], &home);
        leave();
        test_fail(__FILE__, __LINE__, "a context ran that had ended");
}

TEST(a_context_comes_back_to_all_its_values)
{
        begin();
        for (int i = 0; i < CONTEXTS; i++)
                make(i, many_values, (void *) (uintptr_t) i);
        at = 0;
        ed_co_switch(&home, &contexts[0]);
        finish(CONTEXTS);
}

/* A long double may be in a register of its own kind, if the switch is inlined where it is live. */
static void overwrites_long_doubles(void *arg)
{
        volatile long double one = 1;

        (void) arg;
        for (;;) {
                long double x = one;

                for (int i = 0; i < 8; i++)
                        x = x * 1.5L + one / (x + i);
                one = x > 100 ? 1 : x;
                ed_co_switch(&contexts[0], &home);
        }
}

TEST(long_doubles_survive_a_switch_where_they_are_live)
{
        volatile long double one = 1;
        long double a = one, b = one, c = one, d = one;

        begin();
        make(0, overwrites_long_doubles, NULL);
        for (int i = 0; i < SWITCHES; i++) {
                a += 0.5L;
                b -= a;
                c = c * 2 - one;
                d += b;
                ed_co_switch(&home, &contexts[0]);
        }
        CHECK(a == 1 + SWITCHES * 0.5L);
        CHECK(b == 1 - SWITCHES * (1 + (SWITCHES + 1) * 0.25L));
        CHECK(c == 1);
        CHECK(d < b);
        finish(1);
}

#if defined(__x86_64__) || defined(__aarch64__)
/* The same from below: set the registers that a call must preserve, switch, look at them. */
static __attribute__((noinline)) void ping(void)
{
        ed_co_switch(&home, &contexts[0]);
}

static int failures;

static int count_failure(int result)
{
        failures++;
        return result - 1;
}

/* The switch as the last thing that a function does. */
static __attribute__((noinline)) int leave_home(void)
{
        return ed_co_leave(&home, &contexts[0], ED_CO_ASKS, count_failure);
}

/* The same as the other side of a pair. */
static __attribute__((noinline)) int leave_home_to_answer(void)
{
        return ed_co_leave(&home, &contexts[0], ED_CO_ANSWERS, count_failure);
}

static __attribute__((noinline)) int leave_home_from_below(void)
{
        volatile char deep[256] = { 1 };

        return leave_home() + deep[1];
}

static void check_left(int (*leave_by)(void))
{
        CHECK_EQ(leave_by(), at_home.result < 0 ? at_home.result - 1 : at_home.result);
}

static void ping_leave(void)
{
        check_left(leave_home);
}

static void ping_leave_to_answer(void)
{
        check_left(leave_home_to_answer);
}

/* Calls fn() with known values in all of them but the frame pointer; returns a sum of differences. */
static uint64_t callee_saved_differences(uint64_t base, void (*fn)(void))
{
        uint64_t diff = 0;
#if defined(__x86_64__)
        /* Below the red zone first. */
        __asm__ volatile(
                "leaq -128(%%rsp), %%rsp\n\t"
                "pushq %%rbx; pushq %%r12; pushq %%r13; pushq %%r14; pushq %%r15\n\t"
                "pushq %%rbp; movq %%rsp, %%rbp; andq $-16, %%rsp\n\t"
                "subq $16, %%rsp; movq %1, (%%rsp)\n\t"
                "leaq 1(%1), %%rbx; leaq 2(%1), %%r12; leaq 3(%1), %%r13\n\t"
                "leaq 4(%1), %%r14; leaq 5(%1), %%r15\n\t"
                "call *%2\n\t"
                "movq (%%rsp), %%rcx\n\t"
                "subq %%rcx, %%rbx; subq $1, %%rbx; subq %%rcx, %%r12; subq $2, %%r12\n\t"
                "subq %%rcx, %%r13; subq $3, %%r13; subq %%rcx, %%r14; subq $4, %%r14\n\t"
                "subq %%rcx, %%r15; subq $5, %%r15\n\t"
                "orq %%r12, %%rbx; orq %%r13, %%rbx; orq %%r14, %%rbx; orq %%r15, %%rbx\n\t"
                "movq %%rbx, %%rax\n\t"
                "movq %%rbp, %%rsp; popq %%rbp\n\t"
                "popq %%r15; popq %%r14; popq %%r13; popq %%r12; popq %%rbx\n\t"
                "leaq 128(%%rsp), %%rsp"
                : "=&a"(diff), "+D"(base), "+S"(fn)
                :
                : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
#else
        register uint64_t x0 __asm__("x0") = base;
        register void (*x1)(void) __asm__("x1") = fn;

        __asm__ volatile("str x0, [sp, #-16]!\n\t"
                         "add x19, x0, #1; add x20, x0, #2; add x21, x0, #3; add x22, x0, #4\n\t"
                         "add x23, x0, #5; add x24, x0, #6; add x25, x0, #7; add x26, x0, #8\n\t"
                         "add x27, x0, #9; add x28, x0, #10\n\t"
                         "fmov d8, x19; fmov d9, x20; fmov d14, x27; fmov d15, x28\n\t"
                         "blr x1\n\t"
                         "ldr x1, [sp], #16\n\t"
                         "sub x0, x19, x1; eor x0, x0, #1\n\t"
                         "sub x2, x20, x1; sub x2, x2, #2; orr x0, x0, x2\n\t"
                         "sub x2, x21, x1; sub x2, x2, #3; orr x0, x0, x2\n\t"
                         "sub x2, x22, x1; sub x2, x2, #4; orr x0, x0, x2\n\t"
                         "sub x2, x23, x1; sub x2, x2, #5; orr x0, x0, x2\n\t"
                         "sub x2, x24, x1; sub x2, x2, #6; orr x0, x0, x2\n\t"
                         "sub x2, x25, x1; sub x2, x2, #7; orr x0, x0, x2\n\t"
                         "sub x2, x26, x1; sub x2, x2, #8; orr x0, x0, x2\n\t"
                         "sub x2, x27, x1; sub x2, x2, #9; orr x0, x0, x2\n\t"
                         "sub x2, x28, x1; sub x2, x2, #10; orr x0, x0, x2\n\t"
                         "fmov x2, d8; eor x2, x2, x19; orr x0, x0, x2\n\t"
                         "fmov x2, d9; eor x2, x2, x20; orr x0, x0, x2\n\t"
                         "fmov x2, d14; eor x2, x2, x27; orr x0, x0, x2\n\t"
                         "fmov x2, d15; eor x2, x2, x28; orr x0, x0, x2"
                         : "+r"(x0), "+r"(x1)
                         :
                         : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
                           "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22",
                           "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3",
                           "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
                           "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
                           "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
        diff = x0;
#endif
        return diff;
}

/* Uses every register it may, and gives back. */
static void overwrites(void *arg)
{
        (void) arg;
        for (;;) {
#if defined(__x86_64__)
                __asm__ volatile("movq $-1, %%rbx; movq %%rbx, %%r12; movq %%rbx, %%r13\n\t"
                                 "movq %%rbx, %%r14; movq %%rbx, %%r15" ::
                                         : "rbx", "r12", "r13", "r14", "r15");
#else
                __asm__ volatile("mov x19, #-1; mov x20, x19; mov x21, x19; mov x22, x19\n\t"
                                 "mov x23, x19; mov x24, x19; mov x25, x19; mov x26, x19\n\t"
                                 "mov x27, x19; mov x28, x19; fmov d8, x19; fmov d9, x19\n\t"
                                 "fmov d14, x19; fmov d15, x19; mov x18, x19" ::
                                         : "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25",
                                           "x26", "x27", "x28", "v8", "v9", "v14", "v15");
#endif
                ed_co_switch(&contexts[0], &home);
        }
}

TEST(registers_that_a_call_preserves_survive_a_switch)
{
        begin();
        make(0, overwrites, NULL);
        for (uint64_t i = 0; i < 100; i++)
                CHECK_EQ(callee_saved_differences(i * 0x123456789ULL, ping), 0);
        finish(1);
}

/* From two depths and by both sides, so that no place is the one where it was left before. */
TEST(registers_that_a_call_preserves_survive_a_switch_that_is_its_last_thing)
{
        begin();
        make(0, overwrites, NULL);
        for (int i = 0; i < 100; i++) {
                uint64_t base = (uint64_t) i * 0x123456789ULL;

                at_home.result = i % 2 ? -i : i;
                CHECK_EQ(callee_saved_differences(base, ping_leave), 0);
                CHECK_EQ(callee_saved_differences(base, ping_leave_to_answer), 0);
                check_left(leave_home_from_below);
                if (i % 3 == 0)
                        ping();
        }
        CHECK_EQ(failures, 150);
        finish(1);
}

/* Of a context that has left as the last thing of a call. */
static void look_back(void *arg)
{
        void *frames[8];
        int n = ed_co_frames(&home, *(void **) arg, frames, 8);

        CHECK(n >= 2);
        CHECK(frames[1] != NULL);
        ed_co_exit(&contexts[0], &home);
}

TEST(a_walk_of_the_stack_of_a_task_that_left_finds_its_caller)
{
        void *top = (char *) __builtin_frame_address(0) + 256;

        begin();
        make(0, look_back, &top);
        at_home.result = 7;
        CHECK_EQ(leave_home(), 7);
        finish(1);
}
#endif

/* --- walking a stack --- */

enum { WALKED_MAX = 16 };

static const void *callers[3];   /* of leaves(), of calls() and of calls_twice() */
static volatile int calls_ended; /* written behind each call, so that none is a jump */

static __attribute__((noinline)) void leaves(void)
{
        callers[0] = __builtin_extract_return_addr(__builtin_return_address(0));
        ed_co_switch(&contexts[0], &home);
}

/* What is stored here may be signed, where the processor can. */
#if defined(__aarch64__) && !defined(__clang__)
__attribute__((target("branch-protection=pac-ret+leaf")))
#endif
static __attribute__((noinline)) void
calls(void)
{
        callers[1] = __builtin_extract_return_addr(__builtin_return_address(0));
        leaves();
        calls_ended++;
}

static __attribute__((noinline)) void calls_twice(void)
{
        callers[2] = __builtin_extract_return_addr(__builtin_return_address(0));
        calls();
        calls_ended++;
}

static void is_walked(void *arg)
{
        (void) arg;
        calls_twice();
        calls_ended++;
        ed_co_exit(&contexts[0], &home);
}

static int walk(int i, void **frames, int max)
{
        return ed_co_frames(&contexts[i], their_stacks[i], frames, max);
}

TEST(the_frames_of_a_context_are_its_calls_innermost_first)
{
        void *frames[WALKED_MAX];
        int n;

        begin();
        make(0, is_walked, NULL);
        CHECK_EQ(walk(0, frames, WALKED_MAX), 0);
        ed_co_switch(&home, &contexts[0]);
        n = walk(0, frames, WALKED_MAX);
        /* Where it was left, three calls, the entry; sanitizers have one more. */
        CHECK(n >= 5 && n <= 6);
        CHECK(frames[0] == contexts[0].resume);
        for (int i = 0; i < 3; i++)
                CHECK(frames[i + 1] == callers[i]);
        CHECK((char *) frames[n - 1] > (char *) ed_co_entry_asm);
        CHECK((char *) frames[n - 1] < (char *) ed_co_entry_asm + 64);
        CHECK_EQ(walk(0, frames, 2), 2);
        CHECK_EQ(walk(0, frames, 0), 0);
        ed_co_switch(&home, &contexts[0]);
        CHECK_EQ(calls_ended, 3);
        finish(1);
}

TEST(a_walk_ends_where_no_frame_can_be)
{
        uintptr_t fake[8] = { 0 };
        struct ed_co co = { .sp = &fake[2], .resume = fake };
        void *frames[WALKED_MAX];

        fake[2] = (uintptr_t) &fake[4];
        fake[4] = (uintptr_t) &fake[2]; /* back, which is no caller's */
        co.frame = &fake[2];
        CHECK_EQ(ed_co_frames(&co, &fake[8], frames, WALKED_MAX), 3);
        CHECK_EQ(ed_co_frames(&co, &fake[5], frames, WALKED_MAX), 2);
        co.frame = &fake[0]; /* below the stack pointer */
        CHECK_EQ(ed_co_frames(&co, &fake[8], frames, WALKED_MAX), 1);
        co.frame = (char *) &fake[2] + 1;
        CHECK_EQ(ed_co_frames(&co, &fake[8], frames, WALKED_MAX), 1);
}

/* --- a new context --- */

static uintptr_t entry_frame;
static void *entry_arg;

static void look_at_entry(void *arg)
{
        _Alignas(16) volatile char local[16] = { 0 };

        entry_arg = arg;
        entry_frame = (uintptr_t) __builtin_frame_address(0);
        CHECK_EQ((uintptr_t) local % 16, 0);
        ed_co_exit(&contexts[0], &home);
}

TEST(a_new_context_gets_its_argument_and_an_aligned_stack)
{
        int argument;

        begin();
        make(0, look_at_entry, &argument);
        ed_co_switch(&home, &contexts[0]);
        CHECK(entry_arg == &argument);
        CHECK_EQ(entry_frame % 16, 0);
        CHECK(entry_frame > (uintptr_t) their_stacks[0]->bottom);
        CHECK(entry_frame < (uintptr_t) their_stacks[0]);
        finish(1);
}

static int rounds;

static void exit_at_once(void *arg)
{
        (void) arg;
        rounds++;
        ed_co_exit(&contexts[0], &home);
}

TEST(the_stack_of_an_ended_context_serves_the_next)
{
        begin();
        for (int i = 0; i < 1000; i++) {
                make(0, exit_at_once, NULL);
                ed_co_switch(&home, &contexts[0]);
                ed_stack_put(&stacks, their_stacks[0]);
        }
        CHECK_EQ(rounds, 1000);
        ed_stacks_fini(&stacks);
}

/* Variadic calls and floating point need the alignment that the ABI promises. */
static void print_double(void *arg)
{
        char text[64];

        (void) arg;
        snprintf(text, sizeof(text), "%.3f %s %Lg", 2.5, "x", 1.25L);
        CHECK_STR(text, "2.500 x 1.25");
        ed_co_exit(&contexts[0], &home);
}

TEST(variadic_calls_with_doubles_work_on_a_new_stack)
{
        begin();
        make(0, print_double, NULL);
        ed_co_switch(&home, &contexts[0]);
        finish(1);
}
