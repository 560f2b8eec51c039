/*
 * test_null.c - calls with a NULL handle, as a program makes after a start or a new that failed:
 * each returns -EINVAL or does nothing, in a task and outside tasks, and none suspends.
 */
#include "sim_run.h"

static int fails(void *arg)
{
        (void) arg;
        return -EIO; /* must not run */
}

SIM_TEST(calls_on_a_null_task_return_einval)
{
        int result = 99;

        CHECK_EQ(eddy_task_join(NULL, &result), -EINVAL);
        CHECK_EQ(eddy_task_join(NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_task_result(NULL, &result), -EINVAL);
        CHECK_EQ(eddy_task_is_done(NULL), -EINVAL);
        CHECK_EQ(result, 99);
        CHECK_STR(eddy_task_name(NULL), "");
        eddy_task_cancel(NULL);
        eddy_task_release(NULL);
}

SIM_TEST(waits_for_a_null_task_return_einval)
{
        eddy_task *self = eddy_task_current(), *none[] = { NULL, NULL }, *second[] = { self, NULL };
        eddy_as_completed done;

        for (int until = EDDY_WAIT_ALL; until <= EDDY_WAIT_FIRST_FAILED; until++) {
                CHECK_EQ(eddy_wait(NULL, 1, until), -EINVAL);
                CHECK_EQ(eddy_wait(NULL, 0, until), -EINVAL);
                CHECK_EQ(eddy_wait(none, 2, until), -EINVAL);
        }
        CHECK_EQ(eddy_wait(second + 1, 1, EDDY_WAIT_ALL), -EINVAL);
        CHECK_EQ(eddy_as_completed_begin(&done, NULL, 1), -EINVAL);
        eddy_as_completed_end(&done);
        CHECK_EQ(eddy_as_completed_begin(&done, none, 2), -EINVAL);
        eddy_as_completed_end(&done);
        eddy_as_completed_end(NULL);
}

SIM_TEST(a_choice_of_a_null_object_returns_einval)
{
        void *item = NULL;
        struct eddy_choice choices[] = {
                eddy_choice_task(NULL),
                eddy_choice_future(NULL),
                eddy_choice_event(NULL),
                eddy_choice_signal(NULL),
                eddy_choice_get(NULL, &item),
                eddy_choice_put(NULL, &item),
                eddy_choice_channel_get(NULL, &item),
                eddy_choice_channel_put(NULL, &item),
        };

        for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
                CHECK_EQ(eddy_select(&choices[i], 1), -EINVAL);
                CHECK_EQ(eddy_try_select(&choices[i], 1), -EINVAL);
        }
}

static void use_null_remote(void)
{
        int result = 99;

        CHECK_EQ(eddy_remote_wait(NULL, &result), -EINVAL);
        CHECK_EQ(eddy_remote_wait(NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_remote_is_done(NULL), -EINVAL);
        CHECK_EQ(result, 99);
        eddy_remote_cancel(NULL);
        eddy_remote_release(NULL);
}

SIM_TEST(calls_on_a_null_remote_return_einval)
{
        use_null_remote();
}

TEST(calls_on_a_null_remote_return_einval_on_a_thread_without_a_loop)
{
        use_null_remote();
}

static void use_null_channel(void)
{
        void *item = NULL;

        CHECK_EQ(eddy_channel_put(NULL, &item), -EINVAL);
        CHECK_EQ(eddy_channel_get(NULL, &item), -EINVAL);
        CHECK_EQ(eddy_channel_try_put(NULL, &item), -EINVAL);
        CHECK_EQ(eddy_channel_try_get(NULL, &item), -EINVAL);
        CHECK_EQ(eddy_channel_put_dropping(NULL, &item, NULL), -EINVAL);
        CHECK_EQ(eddy_channel_count(NULL), 0);
        CHECK(eddy_channel_ref(NULL) == NULL);
        eddy_channel_shutdown(NULL);
        eddy_channel_release(NULL);
}

SIM_TEST(calls_on_a_null_channel_return_einval)
{
        use_null_channel();
}

TEST(calls_on_a_null_channel_return_einval_on_a_thread_without_a_loop)
{
        use_null_channel();
}

static void use_null_loop(void)
{
        CHECK_EQ(eddy_loop_run(NULL, fails, NULL), -EINVAL);
        CHECK_EQ(eddy_loop_run_forever(NULL), -EINVAL);
        CHECK_EQ(eddy_loop_step(NULL), -EINVAL);
        CHECK_EQ(eddy_loop_fd(NULL), -EINVAL);
        CHECK_EQ(eddy_loop_close(NULL), 0);
        CHECK_EQ(eddy_loop_try_close(NULL), 0);
        CHECK(eddy_loop_ref(NULL) == NULL);
        eddy_loop_stop(NULL);
        eddy_loop_release(NULL);
}

SIM_TEST(calls_on_a_null_loop_return_einval)
{
        use_null_loop();
}

TEST(calls_on_a_null_loop_return_einval_outside_a_run)
{
        use_null_loop();
}

SIM_TEST(a_null_thread_pool_has_no_threads_and_a_null_handle_is_not_scheduled)
{
        struct eddy_thread_pool_info info = { .threads = 9, .running = 9, .queued = 9 };

        eddy_thread_pool_info(NULL, &info);
        CHECK_EQ(info.threads + info.running + info.queued + info.abandoned, 0);
        CHECK_EQ(eddy_thread_pool_shutdown(NULL), 0);
        eddy_thread_pool_close(NULL);
        CHECK_EQ(eddy_handle_cancel(NULL), 0);
        CHECK_EQ(eddy_handle_is_scheduled(NULL), 0);
        CHECK_EQ(eddy_handle_when(NULL), 0);
}
