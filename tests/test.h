/*
 * test.h - the harness of our tests: TEST(claim) { ... }, CHECK(...).
 *
 * Each case runs in a process of its own, under a time limit, and prints a
 * line of TAP.  `test_scope end_waits` runs the cases whose names contain the
 * word, and `test_scope =NAME` the case of that name; `--list` names them. Before these,
 * `--of queue,lock` selects the cases of test_queue.c and test_lock.c.
 */
#ifndef ED_TEST_H
#define ED_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void test_fn(void);

struct test_case {
        const char *name;
        test_fn *fn;
        int dies_by;      /* the signal that is to end it, or 0 */
        const char *file; /* that was compiled: a header may hold cases */
        struct test_case *next;
};

void test_add(struct test_case *test);
__attribute__((noreturn, format(printf, 3, 4))) void test_fail(const char *file, int line,
                                                               const char *format, ...);
/* Ends the case as skipped, saying why. */
__attribute__((noreturn)) void test_skip(const char *why);
/* Whether all of a long test is asked for (EDDY_TEST_FULL, without EDDY_TEST_QUICK), or a sample. */
bool test_is_full(void);
/* The name of the case that runs. */
const char *test_running(void);
/*
 * A free port for a server of another project, which cannot report the port that the system gives
 * it: below those that the system gives to other programs, so a server that is started again gets
 * it too.
 */
int test_server_port(void);
/*
 * Memory for an array of TEST_ROOM: all 0, with a page after it that nothing may touch.  It is not
 * among the variables: the leak check at the end of each case reads all of these, and maps them.
 */
void *test_room(size_t bytes);
/* Skips the case if its child was skipped. */
void test_skip_as_child(int status);
/* For a case about the calls that are under way. */
void test_needs_backtrace(void);

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
enum {
#ifdef __SANITIZE_THREAD__
        UNDER_TSAN = 1,
#else
        UNDER_TSAN = HAS_FEATURE(thread_sanitizer),
#endif
#ifdef __SANITIZE_ADDRESS__
        UNDER_ASAN = 1,
#else
        UNDER_ASAN = HAS_FEATURE(address_sanitizer),
#endif
};

/* The text of EIO. */
#ifdef __GLIBC__
#define EIO_TEXT "Input/output error"
#else
#define EIO_TEXT "I/O error"
#endif

#ifdef __cplusplus
}
#endif

#define TEST_CASE(claim, signo)                                                                    \
        static void test_##claim(void);                                                            \
        __attribute__((constructor)) static void test_add_##claim(void)                            \
        {                                                                                          \
                static struct test_case test = { #claim, test_##claim, (signo), __BASE_FILE__,     \
                                                 NULL };                                           \
                test_add(&test);                                                                   \
        }                                                                                          \
        static void test_##claim(void)

/* A case, named by what it claims. */
#define TEST(claim) TEST_CASE(claim, 0)

/* A case that is to be ended by a signal. */
#define TEST_DIES(claim, signo) TEST_CASE(claim, signo)

/* A static array of a megabyte or more, of 'n' elements; sizeof() of it is the size of a pointer. */
#define TEST_ROOM(type, name, n)                                                                   \
        static type *name;                                                                         \
        __attribute__((constructor)) static void test_room_of_##name(void)                         \
        {                                                                                          \
                name = test_room((n) * sizeof(type));                                              \
        }                                                                                          \
        extern int test_room_has_a_semicolon

#define CHECK(cond)                                                                                \
        do {                                                                                       \
                if (!(cond))                                                                       \
                        test_fail(__FILE__, __LINE__, "%s", #cond);                                \
        } while (0)

#define CHECK_EQ(a, b)                                                                             \
        do {                                                                                       \
                long long test_a = (long long) (a), test_b = (long long) (b);                      \
                if (test_a != test_b)                                                              \
                        test_fail(__FILE__, __LINE__, "%s is %lld, expected %s (%lld)", #a,        \
                                  test_a, #b, test_b);                                             \
        } while (0)

#define CHECK_STR(a, b)                                                                            \
        do {                                                                                       \
                const char *test_a = (a), *test_b = (b);                                           \
                if (!test_a || strcmp(test_a, test_b) != 0)                                        \
                        test_fail(__FILE__, __LINE__, "%s is \"%s\", expected \"%s\"", #a,         \
                                  test_a ? test_a : "(null)", test_b);                             \
        } while (0)

#endif
