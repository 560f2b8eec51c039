/*
 * test_give_back.c - calls that release an object: NULL is always accepted, and EDDY_AUTO works for
 * every type that has such a call.
 */
#include <signal.h>

#include "eddy/eddy.h"
#include "test.h"

static int gives_back_nothing(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_lock_release(NULL), 0);
        CHECK_EQ(eddy_semaphore_release(NULL), 0);
        CHECK_EQ(eddy_thread_pool_shutdown(NULL), 0);
        CHECK_EQ(eddy_generator_close(NULL), 0);
        CHECK_EQ(eddy_loop_close(NULL), 0);
        eddy_thread_pool_close(NULL);
        eddy_loop_release(NULL);
        eddy_channel_release(NULL);
        eddy_remote_release(NULL);
        eddy_task_release(NULL);
        eddy_signal_close(NULL);
        eddy_stream_close(NULL);
        eddy_stream_close_now(NULL);
        eddy_stream_abort(NULL);
        eddy_listener_close(NULL);
        eddy_log_close(NULL);
        eddy_metrics_close(NULL);
        eddy_http_client_close(NULL);
        eddy_http_response_close(NULL);
        eddy_http_sse_close(NULL);
        eddy_http_multipart_reader_close(NULL);
        eddy_tls_config_close(NULL);
        eddy_limiter_close(NULL);
        eddy_pool_close(NULL);
        eddy_queue_fini(NULL);
        eddy_future_fini(NULL);
        eddy_as_completed_end(NULL);
        eddy_file_close(NULL);
        eddy_folder_close(NULL);
        eddy_notify_close(NULL);
        eddy_udp_close(NULL);
        eddy_process_close(NULL);
        eddy_process_pool_close(NULL);
        eddy_process_buffer_free(NULL);
        eddy_free(NULL);
        return 0;
}

TEST(null_is_always_fine)
{
        CHECK_EQ(eddy_run(gives_back_nothing, NULL, NULL), 0);
}

static int at_once(void *arg)
{
        (void) arg;
        return 0;
}

/* LeakSanitizer reports memory that one of them does not release. */
static int items_open;

static int open_item(void *arg, void **ret_item)
{
        *ret_item = arg;
        items_open++;
        return 0;
}

static void close_item(void *arg, void *item)
{
        (void) arg;
        (void) item;
        items_open--;
}

static const struct eddy_pool_ops item_ops = { .open = open_item, .close = close_item };

static int uses_auto(void *arg)
{
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *tls = NULL;
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        EDDY_AUTO(eddy_http_sse) eddy_http_sse *events = NULL;
        EDDY_AUTO(eddy_http_multipart_reader) eddy_http_multipart_reader *form = NULL;
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        EDDY_AUTO(eddy_log) eddy_log *log = NULL;
        EDDY_AUTO(eddy_metrics) eddy_metrics *metrics = NULL;
        EDDY_AUTO(eddy_signal) eddy_signal *signal = NULL;
        EDDY_AUTO(eddy_thread_pool) eddy_thread_pool *pool = NULL;
        EDDY_AUTO(eddy_channel) eddy_channel *channel = NULL;
        EDDY_AUTO(eddy_remote) eddy_remote *remote = NULL;
        EDDY_AUTO(eddy_task) eddy_task *task = NULL;
        EDDY_AUTO(eddy_limiter) eddy_limiter *limiter = NULL;
        EDDY_AUTO(eddy_pool) eddy_pool *items = NULL;
        EDDY_AUTO(eddy_pool_loan)
        eddy_pool_loan loan = { 0 }; /* given back before the pool is closed */
        EDDY_AUTO(eddy_queue) eddy_queue queue = { 0 };
        EDDY_AUTO(eddy_future) eddy_future future = { 0 };
        EDDY_AUTO(eddy_as_completed) eddy_as_completed done = { 0 };
        EDDY_AUTO(eddy_file) eddy_file *file = NULL;
        EDDY_AUTO(eddy_folder) eddy_folder *folder = NULL;
        EDDY_AUTO(eddy_notify) eddy_notify *notify = NULL;
        EDDY_AUTO(eddy_udp) eddy_udp *udp = NULL;
        EDDY_AUTO(eddy_process) eddy_process *process = NULL;
        EDDY_AUTO(eddy_process_pool) eddy_process_pool *process_pool = NULL;
        EDDY_AUTO(eddy_process_buffer) eddy_process_buffer *process_buffer = NULL;
        EDDY_AUTO(eddy_lock) eddy_lock *held = NULL;
        EDDY_AUTO(eddy_semaphore) eddy_semaphore *unit = NULL;
        static eddy_lock lock;
        static eddy_semaphore semaphore = EDDY_SEMAPHORE(1, 0);
        eddy_scope scope;

        (void) response;
        (void) events;
        (void) form;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_log_open(&(struct eddy_log_opts){ .path = "/dev/null" }, &log), 0);
        CHECK_EQ(eddy_metrics_new(NULL, &metrics), 0);
        CHECK_EQ(eddy_scope_start_task(&scope, at_once, NULL, NULL, &task), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_tls_config_new(&(struct eddy_tls_opts){ .flags = EDDY_TLS_INSECURE }, NULL,
                                     &tls),
                 0);
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        CHECK_EQ(eddy_stream_from_fd(0, 0, &stream), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(eddy_signal_open((int[]){ SIGUSR1 }, 1, &signal), 0);
        CHECK_EQ(eddy_thread_pool_new(NULL, &pool), 0);
        CHECK_EQ(eddy_channel_new(0, 1, &channel), 0);
        CHECK_EQ(eddy_limiter_new(NULL, &limiter), 0);
        CHECK_EQ(eddy_pool_new(&(struct eddy_pool_opts){ .ops = &item_ops }, &items), 0);
        CHECK_EQ(eddy_pool_acquire(items, &loan), 0);
        CHECK_EQ(items_open, 1);
        CHECK_EQ(eddy_loop_start_threadsafe(NULL, at_once, NULL, &remote), 0);
        CHECK_EQ(eddy_queue_put(&queue, &(void *){ arg }), 0);
        CHECK_EQ(eddy_future_set(&future, 1, NULL), 0);
        CHECK_EQ(eddy_as_completed_begin(&done, &task, 1), 0);
        CHECK_EQ(eddy_file_temporary(NULL, &file), 0);
        CHECK_EQ(eddy_folder_open("/", &folder), 0);
        CHECK_EQ(eddy_notify_open(NULL, &notify), 0);
        CHECK_EQ(eddy_udp_bind("127.0.0.1", 0, NULL, &udp), 0);
        CHECK_EQ(eddy_process_start(&(struct eddy_process_opts){ .command = "exit 0" }, &process),
                 0);
        CHECK_EQ(eddy_process_pool_open(NULL, &process_pool), EDDY_E_PROCESS_POOL_NOT_PREPARED);
        CHECK_EQ(eddy_process_buffer_new(1, &process_buffer), 0);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        held = &lock;
        CHECK_EQ(eddy_semaphore_acquire(&semaphore), 0);
        unit = &semaphore;
        return 0;
}

static int uses_auto_twice(void *arg)
{
        CHECK_EQ(uses_auto(arg), 0);
        CHECK_EQ(items_open, 0);
        return uses_auto(arg); /* which finds the lock and the unit free */
}

TEST(auto_gives_back_every_type)
{
        EDDY_AUTO(eddy_loop_ref) eddy_loop *held = NULL; /* released after the loop is closed */
        EDDY_AUTO(eddy_loop) eddy_loop *loop = NULL;

        CHECK_EQ(eddy_run(uses_auto_twice, NULL, NULL), 0);
        CHECK_EQ(eddy_loop_new(NULL, &loop), 0);
        held = eddy_loop_ref(loop);
}

static int counts_up(eddy_generator *gen, void *arg)
{
        int *ended = arg, err = 0;

        for (int i = 0; err == 0; i++)
                err = eddy_generator_yield(gen, &i);
        ++*ended;
        return err;
}

/* Returns the sum of the first three values. */
static int sum_of_three(eddy_scope *scope, int *ended)
{
        EDDY_AUTO(eddy_generator) eddy_generator gen = { 0 };
        int value = 0, sum = 0;

        eddy_generator_begin(&gen, scope, counts_up, ended, sizeof(int));
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_generator_next(&gen, &value), 1);
                sum += value;
        }
        return sum;
}

static void leaves_before_the_begin(bool early, eddy_scope *scope, int *ended)
{
        EDDY_AUTO(eddy_generator) eddy_generator gen = { 0 };

        if (early)
                return;
        eddy_generator_begin(&gen, scope, counts_up, ended, sizeof(int));
}

static int uses_generators(void *arg)
{
        EDDY_AUTO(eddy_generator) eddy_generator outlives = { 0 };
        int ended = 0, value, err = -1;

        (void) arg;
        EDDY_SCOPE (scope, &err) {
                CHECK_EQ(sum_of_three(&scope, &ended), 3);
                CHECK_EQ(ended, 1); /* the generator has ended before its variable */
                leaves_before_the_begin(true, &scope, &ended);
                leaves_before_the_begin(false, &scope, &ended);
                CHECK_EQ(ended, 1); /* a generator that never ran has nothing to end */
                eddy_generator_begin(&outlives, &scope, counts_up, &ended, sizeof(int));
                CHECK_EQ(eddy_generator_next(&outlives, &value), 1);
        }
        CHECK_EQ(err, 0);
        CHECK_EQ(ended, 2);
        return 0;
}

TEST(auto_closes_a_generator_before_during_and_after_its_scope)
{
        CHECK_EQ(eddy_run(uses_generators, NULL, NULL), 0);
}
