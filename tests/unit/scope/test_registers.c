/*
 * test_registers.c - what a task computes with when it suspends is there when it
 * goes on, whatever registers the others have used meanwhile.
 *
 * Under `make lto` the compiler sees the library's code and that of the tasks
 * here as one, and some of them use registers that the library was not compiled
 * for.
 */
#include "eddy/eddy.h"

#include "test.h"

enum { TASKS = 4, ROUNDS = 500 };

/* Several tasks that differ by a number. */
static int run_side_by_side(eddy_task_fn *fn)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++)
                eddy_scope_start_copy(&scope, fn, &i, sizeof(i));
        return eddy_scope_end(&scope);
}

static void let_others_run(void)
{
        CHECK_EQ(eddy_sleep(0), 0);
}

/* --- long double, which is in other registers than all else --- */

enum { NUMBERS = 5 };

static inline __attribute__((always_inline)) void compute(int task, bool suspends,
                                                          long double ret_numbers[NUMBERS])
{
        volatile long double one = 1;
        long double a = one + task, b = one / 3, c = one / 7, d = a * b, e = c - a;

        for (int i = 0; i < ROUNDS; i++) {
                a += 0.5L;
                b = b * 1.0001L + a;
                c -= a / 3;
                d = d / 1.0001L + c;
                e += (b - c) / a;
                if (suspends)
                        let_others_run();
        }
        ret_numbers[0] = a;
        ret_numbers[1] = b;
        ret_numbers[2] = c;
        ret_numbers[3] = d;
        ret_numbers[4] = e;
}

static int compute_and_suspend(void *arg)
{
        int task = *(int *) arg;
        long double alone[NUMBERS], among_others[NUMBERS];

        compute(task, false, alone);
        compute(task, true, among_others);
        for (int i = 0; i < NUMBERS; i++)
                CHECK(alone[i] == among_others[i]);
        return 0;
}

static int main_long_doubles(void *arg)
{
        (void) arg;
        return run_side_by_side(compute_and_suspend);
}

TEST(long_doubles_of_a_task_survive_its_sleep)
{
        CHECK_EQ(eddy_run(main_long_doubles, NULL, NULL), 0);
}

TEST(long_doubles_of_the_caller_survive_a_run)
{
        volatile long double one = 1;
        long double a = one, b = one;

        for (int i = 0; i < 10; i++) {
                a += 1;
                b -= a;
                CHECK_EQ(eddy_run(main_long_doubles, NULL, NULL), 0);
        }
        CHECK(a == 11);
        CHECK(b == -64);
}

/* --- vectors --- */

typedef double vector __attribute__((vector_size(64)));

/* More than the sixteen registers that each processor has for them. */
/* clang-format off */
#define EACH_VECTOR(X)                                                                             \
        X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)                                                    \
        X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)                                              \
        X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
/* clang-format on */

#define MAKE(n) vector v##n = { n, task, n + task, n - task, 1, 2, 3, 4 };

#define ADD(n) v##n += one;

#define CHECK_VECTOR(n)                                                                            \
        CHECK(v##n[0] == ROUNDS + (n) && v##n[1] == ROUNDS + task &&                               \
              v##n[2] == ROUNDS + (n) + task && v##n[3] == ROUNDS + (n) -task &&                   \
              v##n[4] == ROUNDS + 1 && v##n[7] == ROUNDS + 4);

#define HOLD_VECTORS(arg)                                                                          \
        double task = *(int *) (arg);                                                              \
        volatile double one = 1;                                                                   \
        EACH_VECTOR(MAKE)                                                                          \
                                                                                                   \
        for (int i = 0; i < ROUNDS; i++) {                                                         \
                EACH_VECTOR(ADD)                                                                   \
                CHECK_EQ(eddy_sleep(0), 0);                                                        \
        }                                                                                          \
        EACH_VECTOR(CHECK_VECTOR)

static int hold_vectors(void *arg)
{
        HOLD_VECTORS(arg)
        return 0;
}

static int main_vectors(void *arg)
{
        (void) arg;
        return run_side_by_side(hold_vectors);
}

TEST(vectors_of_a_task_survive_its_sleep)
{
        CHECK_EQ(eddy_run(main_vectors, NULL, NULL), 0);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static int hold_wide_vectors(void *arg)
{
        HOLD_VECTORS(arg)
        return 0;
}

static int main_wide_vectors(void *arg)
{
        (void) arg;
        return run_side_by_side(hold_wide_vectors);
}

TEST(vectors_in_registers_that_the_library_was_not_built_for_survive)
{
        if (!__builtin_cpu_supports("avx512f"))
                test_skip("this processor has no AVX-512");
        CHECK_EQ(eddy_run(main_wide_vectors, NULL, NULL), 0);
}
#endif
