/*
 * Sweeps: each thing is tried, and what is wrong is found.
 */
#include <eddy/eddy.h>
#include <eddy/test.h>
#include <errno.h>

#include "test.h"

static int one(void *arg)
{
        eddy_lock *lock = arg;
        int err = eddy_lock_acquire(lock);

        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(1));
        eddy_lock_release(lock);
        return err;
}

static int few(void *arg)
{
        eddy_lock lock = { 0 };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 5; i++)
                eddy_scope_start(&scope, one, &lock);
        return eddy_scope_end(&scope);
}

static void sweep(int what, uint64_t *ret_failed)
{
        struct eddy_test_sweep told;

        CHECK_EQ(eddy_test_sweep(what, few, NULL, NULL, &told), 0);
        CHECK_EQ(told.tried, told.count);
        CHECK(told.count > 0 && told.runs > told.count && told.distinct > 0);
        *ret_failed = told.failed;
        fprintf(stderr, "# %d: %llu tried, %llu runs, %llu failed, %llu distinct\n", what,
                (unsigned long long) told.tried, (unsigned long long) told.runs,
                (unsigned long long) told.failed, (unsigned long long) told.distinct);
}

TEST(sound_program_passes_all)
{
        uint64_t failed;

        sweep(EDDY_TEST_SEEDS, &failed);
        CHECK_EQ(failed, 0);
        sweep(EDDY_TEST_CANCEL, &failed);
        CHECK(failed > 5);
        sweep(EDDY_TEST_ALLOC, &failed);
        CHECK(failed > 0);
        sweep(EDDY_TEST_ALLOC_FOREVER, &failed);
        CHECK(failed > 0);
}

/* The lock is not given back by who was cancelled in the sleep. */
static int careless(void *arg)
{
        eddy_lock *lock = arg;
        int err = eddy_lock_acquire(lock);

        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(1));
        if (err < 0)
                return err;
        eddy_lock_release(lock);
        return 0;
}

static int hands_over(void *arg)
{
        eddy_lock lock = { 0 };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, careless, &lock);
        eddy_scope_start(&scope, careless, &lock);
        err = eddy_scope_end(&scope);
        if (eddy_lock_is_locked(&lock))
                eddy_test_fail("the lock is held");
        return err;
}

TEST(what_is_wrong_is_found)
{
        struct eddy_test_sweep told;

        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, hands_over, NULL, NULL, &told),
                 EDDY_E_TEST_FOUND);
}
