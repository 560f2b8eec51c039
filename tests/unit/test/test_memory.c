/*
 * The kit's allocator where a process is forked: a child that was made while
 * another thread was in it, which is not there any more, has memory still.
 */
#include <eddy/eddy.h>
#include <eddy/test.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static struct eddy_test_result result;

static int seven(void *arg)
{
        (void) arg;
        return 7;
}

/* Nothing is found, and main returns that. */
static void run_passes(eddy_task_fn *fn, int wanted)
{
        CHECK_EQ(eddy_test_run(fn, NULL, NULL, &result), wanted);
        CHECK_STR(result.problem, "");
}

static void *lost;

static int loses_memory(void *arg)
{
        (void) arg;
        lost = eddy_malloc(100);
        return 0;
}

/* --- a thread that stays in the allocator --- */

static sem_t came_in, may_leave;

enum { SLOW_BYTES = 78, STATIC_BYTES = 79, CHILD_SECONDS = 60 };

/* One has a block of its own: a sanitizer's malloc() may not be left in the middle by a fork. */
static void *slow_realloc(void *ctx, void *ptr, size_t bytes)
{
        static char block[STATIC_BYTES];

        (void) ctx;
        if (bytes == STATIC_BYTES)
                return block;
        if (ptr == block)
                return NULL;
        if (bytes == SLOW_BYTES) {
                CHECK_EQ(sem_post(&came_in), 0);
                CHECK_EQ(sem_wait(&may_leave), 0);
        }
        if (bytes > 0)
                return realloc(ptr, bytes);
        free(ptr);
        return NULL;
}

static void *allocates_slowly(void *arg)
{
        eddy_free(eddy_malloc(SLOW_BYTES));
        return arg;
}

static pthread_t allocate_slowly(void)
{
        pthread_t thread;

        CHECK(sem_init(&came_in, 0, 0) == 0 && sem_init(&may_leave, 0, 0) == 0);
        CHECK_EQ(pthread_create(&thread, NULL, allocates_slowly, NULL), 0);
        CHECK_EQ(sem_wait(&came_in), 0);
        return thread;
}

static void leave_allocator(pthread_t thread)
{
        CHECK_EQ(sem_post(&may_leave), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* 0, if it does so in a child too, before long. */
static int in_a_child(int (*fn)(void *arg), void *arg)
{
        int status;
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
                (void) alarm(CHILD_SECONDS);
                _exit(fn(arg) == 0 ? 0 : 1);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        return status;
}

/* 'arg': a block from before the fork. */
static int moves_and_frees(void *arg)
{
        void *ptr = eddy_realloc(eddy_malloc(10), 100000);

        eddy_free(arg);
        eddy_free(ptr);
        return ptr ? 0 : -ENOMEM;
}

static int forks_beside_an_allocation(void *arg)
{
        void *ptr = eddy_malloc(10);
        pthread_t thread = allocate_slowly();
        int status = in_a_child(moves_and_frees, ptr);

        (void) arg;
        leave_allocator(thread);
        eddy_free(ptr);
        return status;
}

TEST(a_child_that_was_forked_beside_an_allocation_has_memory)
{
        eddy_alloc_set(slow_realloc, NULL);
        run_passes(forks_beside_an_allocation, 0);
}

static jmp_buf out;
static pthread_t slow_thread;

static void jump_out_beside_an_allocation(void *arg)
{
        slow_thread = allocate_slowly();
        (void) arg;
        longjmp(out, 1);
}

static int finds_what_is_left(void *arg)
{
        (void) arg;
        if (eddy_test_run(loses_memory, NULL, NULL, &result) != EDDY_E_TEST_FOUND ||
            result.left.allocations != 1 || result.left.bytes != 100)
                return -1;
        eddy_free(lost);
        return eddy_test_run(seven, NULL, NULL, NULL) == 7 ? 0 : -1;
}

/* What the parent's run has left is in the middle of something; it is not walked through. */
TEST(a_child_that_was_forked_beside_an_allocation_may_run)
{
        struct eddy_test_opts opts = { .before = jump_out_beside_an_allocation };

        test_needs_backtrace();
        eddy_alloc_set(slow_realloc, NULL);
        if (setjmp(out) == 0)
                (void) eddy_test_run(seven, NULL, &opts, NULL);
        CHECK_EQ(in_a_child(finds_what_is_left, NULL), 0);
        leave_allocator(slow_thread);
        run_passes(seven, 7);
}

static atomic_bool allocates_still;

static void *allocates_on(void *arg)
{
        CHECK_EQ(sem_post(&came_in), 0);
        while (atomic_load(&allocates_still))
                eddy_free(eddy_malloc(STATIC_BYTES));
        return arg;
}

static int forks_beside_many(void *arg)
{
        pthread_t thread;
        int status = 0;

        (void) arg;
        atomic_store(&allocates_still, true);
        CHECK_EQ(sem_init(&came_in, 0, 0), 0);
        CHECK_EQ(pthread_create(&thread, NULL, allocates_on, NULL), 0);
        CHECK_EQ(sem_wait(&came_in), 0);
        for (int i = 0; i < 20 && status == 0; i++)
                status = in_a_child(moves_and_frees, NULL);
        atomic_store(&allocates_still, false);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        return status;
}

TEST(children_that_are_forked_beside_many_allocations_have_memory)
{
        eddy_alloc_set(slow_realloc, NULL);
        run_passes(forks_beside_many, 0);
}
