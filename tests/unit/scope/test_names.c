/*
 * test_names.c - what tasks, callbacks and jobs are called that were given no
 * name: by the function that the call of the program names.
 */
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sim_run.h"

/* --- what a dump says --- */

static char reported[16 * 1024];

static void tell(const char *line, void *arg)
{
        size_t bytes = strlen(reported);

        (void) arg;
        snprintf(reported + bytes, sizeof(reported) - bytes, "%s\n", line);
}

static const char *dump(void)
{
        reported[0] = '\0';
        CHECK_EQ(eddy_dump(tell, NULL), 0);
        return reported;
}

/* A dump whose lines end with these, whatever stands before them. */
static void check_line(const char *end)
{
        const char *at = strstr(dump(), end);

        if (!at)
                test_fail(__FILE__, __LINE__, "the dump is\n%s, without \"%s\"", reported, end);
        CHECK(at == reported || at[-1] == ' ' || at[-1] == '\n');
}

/* By its place in this program, as "test_scope_names+0x1234". */
static void check_place(const char *end)
{
        const char *at = strstr(dump(), end);

        CHECK(at != NULL);
        while (at > reported && at[-1] != ' ' && at[-1] != '\n')
                at--;
        CHECK(strncmp(at, "test_scope_names+0x", 19) == 0);
}

static int serve_client(void *arg)
{
        (void) arg;
        eddy_task_ready();
        return eddy_sleep(EDDY_SEC(1));
}

/* --- each call that starts a task --- */

SIM_TEST_NO_DEBUG(a_task_is_called_by_the_function_that_its_start_names)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_client, NULL), 0);
        CHECK_STR(dump(), "main runs\n"
                          "  scope of main\n"
                          "    serve_client is ready\n");
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int right = 42, wrong = 41;

static int answer(void *number)
{
        return *(int *) number == 42 ? eddy_sleep(MS) : -EINVAL;
}

SIM_TEST(so_it_is_with_a_copy_a_handle_and_one_that_gets_ready)
{
        eddy_task *task = NULL;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_copy(&scope, answer, &(int){ 42 }, sizeof(int)), 0);
        check_line("answer is ready\n");
        CHECK_EQ(eddy_scope_end(&scope), 0);

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, serve_client, NULL, &(struct eddy_task_opts){ 0 },
                                       NULL),
                 0);
        check_line("serve_client is ready\n");
        CHECK_EQ(eddy_scope_end(&scope), 0);

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, serve_client, NULL, NULL, &task), 0);
        check_line("serve_client is ready\n");
        CHECK_STR(eddy_task_name(task), "serve_client");
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STR(eddy_task_name(task), "serve_client");
        eddy_task_release(task);

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_ready(&scope, serve_client, NULL), 0);
        check_line("serve_client waits for time to pass");
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(so_it_is_in_the_background_and_with_remote_tasks)
{
        EDDY_AUTO(eddy_remote) eddy_remote *remote = NULL;

        CHECK_EQ(eddy_background(serve_client, NULL), 0);
        CHECK_EQ(eddy_loop_start_threadsafe(NULL, answer, &right, &remote), 0);
        CHECK_EQ(eddy_sleep(EDDY_US(10)), 0);
        check_line("serve_client waits for time to pass");
        check_line("answer waits for time to pass");
        CHECK_EQ(eddy_remote_wait(remote, NULL), 0);
}

static int look(void *arg)
{
        *(bool *) arg = strstr(dump(), "serve_client waits") && strstr(dump(), "    look runs");
        return 0;
}

SIM_TEST(gathered_calls_have_the_names_that_they_were_made_with)
{
        bool seen = false;
        struct eddy_call calls[] = { EDDY_CALL(serve_client, NULL), EDDY_CALL(look, &seen) };

        CHECK_STR(calls[1].name, "look, &seen");
        CHECK_EQ(eddy_gather(calls, 2, 0), 0);
        CHECK(seen);
}

static int numbers(eddy_generator *gen, void *arg)
{
        int err = eddy_sleep(MS);

        (void) arg;
        return err < 0 ? err : eddy_generator_yield(gen, &err);
}

static int reads(void *gen)
{
        int number;

        return eddy_generator_next(gen, &number) == 1 ? 0 : -EIO;
}

SIM_TEST(a_generator_is_called_by_its_function)
{
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, numbers, NULL, sizeof(int));
        CHECK_EQ(eddy_scope_start(&scope, reads, &gen), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        check_line("numbers waits for time to pass");
        check_line("reads waits for the next value of a generator");
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- which name it is --- */

SIM_TEST(a_name_in_the_options_wins)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, serve_client, NULL,
                                       &(struct eddy_task_opts){ .name = "client 7" }, NULL),
                 0);
        check_line("client 7 is ready\n");
        CHECK(!strstr(reported, "serve_client"));
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(a_failure_is_listed_under_the_name)
{
        struct eddy_scope_errors errors;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        CHECK_EQ(eddy_scope_start(&scope, answer, &wrong), 0);
        CHECK_EQ(eddy_scope_end(&scope), -EINVAL);
        CHECK_STR(errors.list[0].task, "answer");
}

/* This program exports it. */
int exported_for_all(void *arg);
int exported_for_all(void *arg)
{
        return serve_client(arg);
}

static const struct {
        eddy_task_fn *run;
} service = { serve_client };

SIM_TEST(a_variable_gives_way_to_a_function_that_is_exported_and_names_the_task_otherwise)
{
        eddy_task_fn *handler = exported_for_all;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, handler, NULL), 0);
        check_line("exported_for_all is ready\n");
        CHECK(!strstr(reported, "handler"));
        handler = serve_client;
        CHECK_EQ(eddy_scope_start(&scope, handler, NULL), 0);
        check_line("handler is ready\n");
        CHECK_EQ(eddy_scope_start(&scope, service.run, NULL), 0);
        check_line("service.run is ready\n");
        CHECK_EQ(eddy_scope_start(&scope, &serve_client, NULL), 0);
        check_line("serve_client is ready\n");
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(another_expression_names_nothing)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, (eddy_task_fn *) serve_client, NULL), 0);
        check_place(" is ready\n");
        CHECK_EQ(eddy_scope_end(&scope), 0);

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, reported[0] ? serve_client : answer, NULL), 0);
        check_place(" is ready\n");
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(the_functions_themselves_can_be_called_and_pointed_to)
{
        int (*start)(eddy_scope *, eddy_task_fn *, void *) = eddy_scope_start;
        eddy_task *task = NULL;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(start(&scope, serve_client, NULL), 0);
        check_place(" is ready\n");
        CHECK_EQ((eddy_scope_start) (&scope, exported_for_all, NULL), 0);
        check_line("exported_for_all is ready\n");
        CHECK_EQ((eddy_scope_start_copy) (&scope, answer, &(int){ 42 }, sizeof(int)), 0);
        CHECK_EQ((eddy_scope_start_task) (&scope, exported_for_all, NULL, NULL, &task), 0);
        CHECK_STR(eddy_task_name(task), "exported_for_all");
        CHECK_EQ((eddy_scope_start_ready) (&scope, serve_client, NULL), 0);
        CHECK_EQ((eddy_background) (serve_client, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

#define SERVE(scope, fn) eddy_scope_start(scope, fn, NULL)

SIM_TEST(a_macro_of_the_programs_passes_the_name_on)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(SERVE(&scope, serve_client), 0);
        check_line("serve_client is ready\n");
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* As one in a library that is not there any more. */
SIM_TEST(a_text_that_is_gone_is_not_read)
{
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        eddy_task *task = NULL;
        eddy_scope scope;

        CHECK(page != MAP_FAILED);
        snprintf(page, 4096, "serve_client");
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task_named(&scope, serve_client, NULL, NULL, &task, page), 0);
        CHECK_EQ(munmap(page, 4096), 0);
        check_place(" is ready\n");
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(strncmp(eddy_task_name(task), "test_scope_names+0x", 19) == 0);
        eddy_task_release(task);
}

SIM_TEST(a_name_that_is_too_long_is_cut)
{
        eddy_task *task = NULL;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task_named(
                         &scope, serve_client, NULL, NULL, &task,
                         "a_function_that_has_much_to_say_for_itself_and_says_all_of_it_at_once"),
                 0);
        check_line("a_function_that_has_much_to_say_for_itself_and_says_all_of_it_a is ready\n");
        CHECK_STR(eddy_task_name(task), "a_function_that_has_much_to_say");
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

/* --- callbacks and jobs --- */

static struct reports reports;

static int breaks(void *arg)
{
        (void) arg;
        return -EIO;
}

static int breaks_at_a_descriptor(void *handle)
{
        CHECK_EQ(eddy_handle_cancel(handle), 1);
        return -EIO;
}

static int schedules(void *arg)
{
        eddy_future future = { 0 };
        eddy_future_callback callback = { 0 };
        eddy_handle handle = { 0 };
        int fds[2];

        switch (*(int *) arg) {
        case 0:
                CHECK_EQ(eddy_loop_call_soon(NULL, &handle, breaks, NULL), 0);
                break;
        case 1:
                CHECK_EQ(eddy_loop_call_later(NULL, &handle, MS, breaks, NULL), 0);
                break;
        case 2:
                CHECK_EQ(eddy_loop_call_at(NULL, &handle, eddy_now() + MS, breaks, NULL), 0);
                break;
        case 3:
                CHECK_EQ(eddy_loop_call_threadsafe(NULL, &handle, breaks, NULL), 0);
                break;
        case 4:
                CHECK_EQ(eddy_future_add_callback(&future, &callback, breaks, NULL), 0);
                CHECK_EQ(eddy_future_set(&future, 0, NULL), 0);
                break;
        default:
                CHECK_EQ(pipe(fds), 0);
                CHECK_EQ(write(fds[1], "x", 1), 1);
                CHECK_EQ(eddy_loop_watch(NULL, &handle, fds[0], EDDY_LOOP_READ,
                                         breaks_at_a_descriptor, &handle),
                         0);
        }
        CHECK_EQ(eddy_sleep(2 * MS), 0);
        return 0;
}

TEST(a_callback_that_fails_is_reported_by_its_function)
{
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        for (int way = 0; way < 5; way++) {
                reports = (struct reports){ 0 };
                CHECK_EQ(sim_run_with(schedules, &way, 0, opts), 0);
                CHECK_EQ(reports.count[EDDY_REPORT_CALLBACK], 1);
                CHECK_STR(reports.text, "the callback breaks failed");
        }
        reports = (struct reports){ 0 };
        CHECK_EQ(eddy_run(schedules, &(int){ 5 }, &opts), 0);
        CHECK_STR(reports.text, "the callback breaks_at_a_descriptor failed");
}

static int stubborn_job(void *arg)
{
        struct timespec pause = { .tv_nsec = 1000000 };

        while (!atomic_load((atomic_bool *) arg))
                nanosleep(&pause, NULL);
        return 0;
}

static int closes_its_pool(void *arg)
{
        struct eddy_thread_pool_opts at_once = { .close_ns = -1 };
        eddy_thread_pool *pool;
        int n;

        CHECK_EQ(eddy_thread_pool_new(&at_once, &pool), 0);
        EDDY_SCOPE (scope, &n, .timeout_ns = 5 * MS) {
                n = eddy_thread_pool_call(
                        pool, stubborn_job, arg,
                        &(struct eddy_thread_opts){ .flags = EDDY_THREAD_ABANDON });
        }
        eddy_thread_pool_close(pool);
        return n == -ETIMEDOUT ? 0 : n;
}

TEST(a_job_that_is_left_over_is_reported_by_its_function)
{
        struct eddy_run_opts opts = { .report = reports_add,
                                      .report_arg = &reports,
                                      .drain_ns = -1 };
        struct timespec pause = { .tv_nsec = 50000000 };
        atomic_bool over = false;

        CHECK_EQ(eddy_run(closes_its_pool, &over, &opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_THREAD], 1);
        CHECK_STR(reports.text, "the job stubborn_job did not stop when its thread pool closed, "
                                "and was abandoned; let it check eddy_thread_is_stopping()");
        atomic_store(&over, true);
        nanosleep(&pause, NULL);
}

/* --- debug mode --- */

static int asks_for_records(void *arg)
{
        static struct eddy_stack_record records[EDDY_STACK_RECORDS_MAX];
        eddy_scope scope;
        int n, found = 0;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_client, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        n = eddy_stack_records(records, EDDY_STACK_RECORDS_MAX);
        for (int i = 0; i < n; i++)
                found += strcmp(records[i].name, "serve_client") == 0;
        CHECK_EQ(found, 1);
        return 0;
}

TEST(stacks_are_recorded_under_the_name)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_DEBUG,
                                      .report = reports_add,
                                      .report_arg = &reports };

        CHECK_EQ(sim_run_with(asks_for_records, NULL, 0, opts), 0);
}
