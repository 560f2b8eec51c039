/*
 * test_misuse.c - mistakes that the library notices: what is reported of them,
 * word for word, and whether the call is refused or the process aborted.
 */
#include <ctype.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scope/handler.h"
#include "sim_run.h"

/* --- what is reported --- */

/* Of a run in a process of its own: what it has reported, and how it ended. */
static struct seen {
        int kind; /* of those that are looked at */
        int count, error;
        char said[4096]; /* as on stderr, places of this file as chat.c:31 */
        int lines[8], lines_count;
        int result;
        bool aborted;
} * seen;

static void said_add(const char *text)
{
        static const char file[] = __FILE__ ":";
        size_t used = strlen(seen->said);

        while (*text && used + 16 < sizeof(seen->said)) {
                if (strncmp(text, file, sizeof(file) - 1) == 0) {
                        char *end;

                        CHECK(seen->lines_count < 8);
                        seen->lines[seen->lines_count++] =
                                (int) strtol(text + sizeof(file) - 1, &end, 10);
                        text = end;
                        used += (size_t) snprintf(seen->said + used, sizeof(seen->said) - used,
                                                  "chat.c:31");
                } else {
                        seen->said[used++] = *text++;
                        seen->said[used] = '\0';
                }
        }
}

static void see(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind != seen->kind)
                return;
        seen->count++;
        seen->error = report->error;
        said_add("eddy: ");
        if (report->task) {
                said_add("task ");
                said_add(report->task);
                said_add(": ");
        }
        said_add(report->text);
        said_add("\n");
}

static int run_here(eddy_task_fn *fn, void *arg, uint32_t flags)
{
        struct eddy_run_opts opts = { .flags = flags, .report = see };
        struct ed_sim_opts sim = { 0 };
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&sim, &sys), 0);
        return ed_run_on(sys, fn, arg, &opts, NULL);
}

static void seen_begin(void)
{
        if (!seen)
                seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                            -1, 0);
        CHECK(seen != MAP_FAILED);
        memset(seen, 0, sizeof(*seen));
        seen->kind = EDDY_REPORT_MISUSE;
}

static void run_apart(eddy_task_fn *fn, void *arg, uint32_t flags)
{
        int status;
        pid_t pid;

        seen_begin();
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                seen->result = run_here(fn, arg, flags);
                _exit(0);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        seen->aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
        CHECK(seen->aborted || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

/* The process is aborted after one report, which says this. */
static void check_ends(eddy_task_fn *fn, uint32_t flags, const char *said)
{
        run_apart(fn, NULL, flags);
        CHECK_STR(seen->said, said);
        CHECK_EQ(seen->count, 1);
        CHECK_EQ(seen->error, 0);
        CHECK(seen->aborted);
}

static void check_ends_always(eddy_task_fn *fn, const char *said)
{
        check_ends(fn, EDDY_RUN_NO_DEBUG, said);
}

/* The call is refused after one report, which says this, and all goes on. */
static void check_refused(eddy_task_fn *fn, const char *said)
{
        run_apart(fn, NULL, EDDY_RUN_NO_DEBUG);
        CHECK_STR(seen->said, said);
        CHECK_EQ(seen->count, 1);
        CHECK_EQ(seen->error, -EINVAL);
        CHECK(!seen->aborted);
        CHECK_EQ(seen->result, 0);
}

static int sleeps(void *arg)
{
        (void) arg;
        return eddy_sleep(MS);
}

/* --- an end that is forgotten --- */

/* Where the scope of the mistake begins: HERE(1, eddy_scope_begin(...)). */
static int *here;

#define HERE(i, begin) (here[i] = __LINE__, begin)

#define IS_OPEN                                                                                    \
        "while the scope that began at chat.c:31 is open: call eddy_scope_end() on every way out " \
        "of its block, or use EDDY_SCOPE\n"

static int leaves_a_scope_open(void *arg)
{
        eddy_scope scope;

        (void) arg;
        HERE(0, eddy_scope_begin(&scope, NULL));
        return eddy_scope_start(&scope, sleeps, NULL);
}

static int serves(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, leaves_a_scope_open, NULL);
        return eddy_scope_end(&scope);
}

static void check_places(int n)
{
        CHECK_EQ(seen->lines_count, n);
        for (int i = 0; i < n; i++)
                CHECK_EQ(seen->lines[i], here[i]);
}

TEST(a_forgotten_end_is_reported_with_its_task_its_function_and_where_the_scope_began)
{
        check_ends_always(
                serves, "eddy: task leaves_a_scope_open: leaves_a_scope_open() returned while the "
                        "scope that began at chat.c:31 is open: call eddy_scope_end() on every way "
                        "out of its block, or use EDDY_SCOPE\n");
        check_places(1);
}

static int starts_a_named_one(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start_task(&scope, leaves_a_scope_open, NULL,
                              &(struct eddy_task_opts){ .name = "client 7" }, NULL);
        return eddy_scope_end(&scope);
}

TEST(the_function_of_a_task_with_a_name_is_named_too)
{
        check_ends_always(starts_a_named_one,
                          "eddy: task client 7: leaves_a_scope_open() returned " IS_OPEN);
}

/* Not even what lies there is looked at: 'byte' is all that is left of it. */
static __attribute__((noinline)) int write_over(int byte)
{
        volatile unsigned char room[8192];

        for (size_t i = 0; i < sizeof(room); i++)
                room[i] = (unsigned char) byte;
        return room[100] == byte ? 0 : -EIO;
}

static __attribute__((noinline)) int forgets(void)
{
        eddy_scope scope;

        HERE(0, eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .tasks_max = 1 }));
        return 0;
}

static int forgets_and_writes_over(void *arg)
{
        int err = forgets();

        (void) arg;
        return err < 0 ? err : write_over(0x5a);
}

static int starts_one_that_writes_over(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, forgets_and_writes_over, NULL);
        return eddy_scope_end(&scope);
}

TEST(the_memory_of_a_scope_that_was_left_need_not_be_there)
{
        check_ends_always(
                starts_one_that_writes_over,
                "eddy: task forgets_and_writes_over: forgets_and_writes_over() returned " IS_OPEN);
        check_places(1);
}

/* --- one that is forgotten inside --- */

static int ends_around(void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        err = forgets();
        return eddy_scope_end_with(&scope, err);
}

TEST(the_end_of_an_outer_scope_finds_one_that_a_function_left_open)
{
        check_ends_always(ends_around,
                          "eddy: task main: a function returned while the scope that began at "
                          "chat.c:31 is open: call eddy_scope_end() on every way out of its block, "
                          "or use EDDY_SCOPE\n");
        check_places(1);
}

static int call_forgets(void *arg)
{
        (void) arg;
        return forgets();
}

static int calls_in_time(void *arg)
{
        return eddy_call_timeout(call_forgets, arg, EDDY_SEC(1));
}

TEST(so_does_the_end_of_a_call_under_a_deadline)
{
        check_ends_always(calls_in_time, "eddy: task main: a function returned " IS_OPEN);
        check_places(1);
}

static int handles(void *arg)
{
        struct ed_handler_call call;
        int err;

        (void) arg;
        ed_handler_begin(&call);
        err = forgets();
        ed_handler_end(&call);
        return err;
}

TEST(so_does_the_end_of_a_handler)
{
        check_ends_always(handles, "eddy: task main: a function returned " IS_OPEN);
        check_places(1);
}

static int begins_after(void *arg)
{
        eddy_scope scope;
        int err = forgets();

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        return eddy_scope_end_with(&scope, err);
}

TEST(in_debug_mode_the_next_begin_finds_it)
{
        check_ends(begins_after, EDDY_RUN_DEBUG, "eddy: task main: a function returned " IS_OPEN);
        check_places(1);
}

static int begins_after_writing_over(void *arg)
{
        eddy_scope scope;
        int err = forgets();

        (void) arg;
        if (err == 0)
                err = write_over(0x5a);
        eddy_scope_begin(&scope, NULL);
        return eddy_scope_end_with(&scope, err);
}

TEST(the_next_begin_finds_one_whose_memory_is_gone)
{
        check_ends_always(begins_after_writing_over,
                          "eddy: task main: a function returned " IS_OPEN);
}

/* All bits are set, those of a cancel too. */
static int suspends_after(void *arg)
{
        int err = forgets();

        (void) arg;
        if (err == 0)
                err = write_over(0xff);
        return err < 0 ? err : eddy_sleep(MS);
}

TEST(a_call_that_takes_a_cancel_left_for_later_finds_it)
{
        check_ends_always(suspends_after, "eddy: task main: a function returned " IS_OPEN);
}

static int forgetful_numbers(eddy_generator *gen, void *arg)
{
        (void) gen;
        (void) arg;
        return forgets() == 0 ? -EIO : 0;
}

static int reads_numbers(void *arg)
{
        eddy_generator gen;
        eddy_scope scope;
        int number;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, forgetful_numbers, NULL, sizeof(number));
        CHECK_EQ(eddy_generator_next(&gen, &number), 0);
        return eddy_scope_end(&scope);
}

TEST(a_generator_that_leaves_a_scope_open_is_found_before_it_waits)
{
        check_ends_always(reads_numbers,
                          "eddy: task forgetful_numbers: forgetful_numbers() returned " IS_OPEN);
}

/* --- in the wrong order --- */

static int ends_in_wrong_order(void *arg)
{
        eddy_scope outer, inner;

        (void) arg;
        HERE(0, eddy_scope_begin(&outer, NULL));
        HERE(1, eddy_scope_begin(&inner, NULL));
        CHECK_EQ(eddy_scope_start(&outer, sleeps, NULL), 0);
        return eddy_scope_end(&outer);
}

TEST(ending_the_outer_of_two_scopes_is_reported_with_both)
{
        check_ends_always(ends_in_wrong_order,
                          "eddy: task main: ended the scope that began at chat.c:31 while the "
                          "scope inside it that began at chat.c:31 is open: end that first\n");
        check_places(2);
}

static int ends_an_outer_block(void *arg)
{
        int err = 0, inner_err = 0;

        (void) arg;
        here[0] = __LINE__ + 1;
        EDDY_SCOPE (outer, &err) {
                here[1] = __LINE__ + 1;
                EDDY_SCOPE (inner, &inner_err) {
                        (void) eddy_scope_end(&outer);
                }
        }
        return err;
}

TEST(a_block_has_its_place)
{
        check_ends_always(ends_an_outer_block,
                          "eddy: task main: ended the scope that began at chat.c:31 while the "
                          "scope inside it that began at chat.c:31 is open: end that first\n");
        check_places(2);
}

/* --- begun twice --- */

static int begins_twice(void *arg)
{
        eddy_scope scope;

        (void) arg;
        HERE(0, eddy_scope_begin(&scope, NULL));
        HERE(1, eddy_scope_begin(&scope, NULL));
        return eddy_scope_end(&scope);
}

TEST(beginning_a_scope_that_is_open_is_reported_with_both_places)
{
        check_ends_always(begins_twice,
                          "eddy: task main: began the scope that began at chat.c:31 again at "
                          "chat.c:31 while it is open: call eddy_scope_end() on every way out of "
                          "its block, or use EDDY_SCOPE\n");
        check_places(2);
}

static int begins_as_a_function(void *arg)
{
        eddy_scope scope;

        (void) arg;
        (eddy_scope_begin)(&scope, NULL);
        return 0;
}

static int starts_that(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, begins_as_a_function, arg);
        return eddy_scope_end(&scope);
}

TEST(without_the_macro_the_place_is_not_known)
{
        check_ends_always(starts_that,
                          "eddy: task begins_as_a_function: begins_as_a_function() returned while "
                          "the scope is open: call eddy_scope_end() on every way out of its block, "
                          "or use EDDY_SCOPE\n");
}

/* --- ended twice, or never begun: refused --- */

static int ends_twice(void *arg)
{
        eddy_scope outer, scope;

        (void) arg;
        eddy_scope_begin(&outer, NULL);
        HERE(0, eddy_scope_begin(&scope, NULL));
        CHECK_EQ(eddy_scope_start(&scope, sleeps, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_scope_start(&outer, sleeps, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), -EINVAL);
        return eddy_scope_end(&outer);
}

TEST(ending_a_scope_twice_is_refused)
{
        check_refused(ends_twice, "eddy: task main: ended the scope that began at chat.c:31 a "
                                  "second time\n");
        check_places(1);
}

static int ends_twice_with(void *arg)
{
        struct eddy_scope_errors errors;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -EINVAL);
        CHECK_EQ(errors.count, 0);
        return 0;
}

TEST(a_second_end_records_no_failure)
{
        check_refused(ends_twice_with, "eddy: task main: ended the scope that began at chat.c:31 "
                                       "a second time\n");
}

static int never_begins(void *arg)
{
        unsigned char byte = *(unsigned char *) arg;
        struct eddy_task_opts named = { .name = "named" };
        eddy_task *task = NULL;
        eddy_generator gen;
        eddy_scope scope;
        int number;

        memset(&scope, byte, sizeof(scope));
        CHECK_EQ(eddy_scope_start(&scope, sleeps, NULL), -EINVAL);
        CHECK_EQ((eddy_scope_start) (&scope, sleeps, NULL), -EINVAL);
        CHECK_EQ(eddy_scope_start_copy(&scope, sleeps, &byte, 1), -EINVAL);
        CHECK_EQ(eddy_scope_start_copy(&scope, sleeps, &byte, EDDY_TASK_COPY_MAX + 1), -EINVAL);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps, NULL, &named, &task), -EINVAL);
        CHECK(task == NULL);
        CHECK_EQ(eddy_scope_start_ready(&scope, sleeps, NULL), -EINVAL);
        CHECK_EQ(eddy_scope_end(&scope), -EINVAL);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -EINVAL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_set_deadline(&scope, eddy_now()), -EINVAL);
        CHECK_EQ(eddy_scope_deadline(&scope), 0);
        CHECK_EQ(eddy_scope_is_cancelled(&scope), 0);
        CHECK_EQ(eddy_scope_expired(&scope), 0);
        eddy_generator_begin(&gen, &scope, forgetful_numbers, NULL, sizeof(number));
        CHECK_EQ(eddy_generator_next(&gen, &number), -ECANCELED);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        return eddy_sleep(MS);
}

TEST(a_scope_that_was_never_begun_is_refused_by_every_call)
{
        static const unsigned char bytes[] = { 0, 0x5a, 0xff };

        for (size_t i = 0; i < sizeof(bytes); i++) {
                run_apart(never_begins, (void *) &bytes[i], EDDY_RUN_NO_DEBUG);
                CHECK_EQ(seen->aborted, false);
                CHECK_EQ(seen->result, 0);
                CHECK_EQ(seen->count, 11);
                CHECK_EQ(seen->error, -EINVAL);
        }
}

static int starts_in_none(void *arg)
{
        eddy_scope scope = { { 0 } };

        (void) arg;
        CHECK_EQ(eddy_scope_start(&scope, sleeps, NULL), -EINVAL);
        return 0;
}

TEST(a_start_in_a_scope_that_was_never_begun_is_reported)
{
        check_refused(starts_in_none, "eddy: task main: called eddy_scope_start() for a scope that "
                                      "was never begun\n");
}

static int ends_its_parents(void *scope)
{
        CHECK_EQ(eddy_scope_end(scope), -EINVAL);
        return 0;
}

static int has_a_child(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, ends_its_parents, &scope), 0);
        return eddy_scope_end(&scope);
}

TEST(another_task_cannot_end_a_scope)
{
        check_refused(has_a_child, "eddy: task ends_its_parents: ended the scope that began at "
                                   "chat.c:31, which belongs to task main\n");
}

/* --- outside of a task --- */

static int begins_in_a_callback(void *arg)
{
        eddy_scope scope;

        (void) arg;
        HERE(0, eddy_scope_begin(&scope, NULL));
        CHECK_EQ(eddy_scope_end(&scope), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), EDDY_E_RUN_NOT_RUNNING);
        return 0;
}

static int schedules(void *arg)
{
        eddy_handle handle = { 0 };

        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, begins_in_a_callback, arg), 0);
        return eddy_sleep(MS);
}

TEST(a_scope_that_is_begun_in_a_callback_is_reported_and_none)
{
        check_refused(schedules,
                      "eddy: a scope was begun at chat.c:31 outside a task: callbacks of "
                      "the loop cannot have scopes\n");
        check_places(1);
}

/* A74: a scope is begun in a task. */
TEST(outside_of_a_run_nothing_is_begun_and_each_call_says_so)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        CHECK_EQ(eddy_scope_start(&scope, sleeps, NULL), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_scope_start_copy(&scope, sleeps, "", 1), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps, NULL, NULL, NULL), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_scope_start_ready(&scope, sleeps, NULL), EDDY_E_RUN_NOT_RUNNING);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_set_deadline(&scope, 0), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_scope_deadline(&scope), 0);
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK(!eddy_scope_expired(&scope));
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_scope_end(&scope), EDDY_E_RUN_NOT_RUNNING);
}

/* --- given back while a task waits --- */

static eddy_queue queue;
static eddy_future future;
static eddy_as_completed completed;

static int gets(void *arg)
{
        void *item;

        (void) arg;
        return eddy_queue_get(&queue, &item);
}

static int puts_two(void *arg)
{
        void *item = arg;
        int err = eddy_queue_put(&queue, &item);

        return err < 0 ? err : eddy_queue_put(&queue, &item);
}

static int joins(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_queue_try_put(&queue, &arg), 0);
        return eddy_queue_join(&queue);
}

static int selects(void *arg)
{
        void *item;
        struct eddy_choice choices[] = { eddy_choice_get(&queue, &item) };

        (void) arg;
        return eddy_select(choices, 1);
}

static int awaits(void *arg)
{
        (void) arg;
        return eddy_future_wait(&future, NULL);
}

static int awaits_any(void *arg)
{
        eddy_task *task;

        (void) arg;
        return eddy_as_completed_next(&completed, &task);
}

static int run_waiter(eddy_task_fn *waiter, void (*fini)(void))
{
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_queue_init(&queue, 0, 1), 0);
        CHECK_EQ(eddy_scope_start_task(&scope, waiter, NULL,
                                       &(struct eddy_task_opts){ .name = "reader" }, &task),
                 0);
        CHECK_EQ(eddy_as_completed_begin(&completed, &task, 1), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        fini();
        return eddy_scope_end(&scope);
}

static void end_queue(void)
{
        eddy_queue_fini(&queue);
}

static void end_future(void)
{
        eddy_future_fini(&future);
}

static void end_completed(void)
{
        eddy_as_completed_end(&completed);
}

static int with_getter(void *arg)
{
        (void) arg;
        return run_waiter(gets, end_queue);
}

static int with_putter(void *arg)
{
        (void) arg;
        return run_waiter(puts_two, end_queue);
}

static int with_joiner(void *arg)
{
        (void) arg;
        return run_waiter(joins, end_queue);
}

static int with_selector(void *arg)
{
        (void) arg;
        return run_waiter(selects, end_queue);
}

static int with_future(void *arg)
{
        (void) arg;
        return run_waiter(awaits, end_future);
}

static int with_completed(void *arg)
{
        (void) arg;
        return run_waiter(awaits_any, end_completed);
}

TEST(a_queue_that_is_freed_with_a_waiter_is_reported_with_that)
{
        check_ends_always(with_getter,
                          "eddy: task main: called eddy_queue_fini() while task reader "
                          "waits for an item in a queue\n");
        check_ends_always(with_putter,
                          "eddy: task main: called eddy_queue_fini() while task reader "
                          "waits for room in a queue\n");
        check_ends_always(with_joiner,
                          "eddy: task main: called eddy_queue_fini() while task reader "
                          "waits for a queue's items to be done\n");
        check_ends_always(with_selector,
                          "eddy: task main: called eddy_queue_fini() while task reader waits for "
                          "the first of several events\n");
}

TEST(so_is_a_future_and_a_wait_for_several_tasks)
{
        check_ends_always(with_future, "eddy: task main: called eddy_future_fini() while task "
                                       "reader waits for a future\n");
        check_ends_always(with_completed, "eddy: task main: called eddy_as_completed_end() while "
                                          "task reader waits for the next of several tasks to "
                                          "end\n");
}

static eddy_thread_pool *pool;

static int job(void *arg)
{
        (void) arg;
        return 0;
}

static int calls_job(void *arg)
{
        return eddy_thread_pool_call(pool, job, arg, NULL);
}

static int shuts_down(void *arg)
{
        (void) arg;
        return eddy_thread_pool_shutdown(pool);
}

static int closes_while_another_shuts_down(void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_thread_pool_new(NULL, &pool), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, calls_job, NULL), 0);
        CHECK_EQ(eddy_scope_start(&scope, shuts_down, NULL), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_thread_pool_close(pool);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_thread_pool_close(pool);
        return 0;
}

TEST(closing_a_pool_that_another_task_shuts_down_is_refused)
{
        check_refused(closes_while_another_shuts_down,
                      "eddy: task main: called eddy_thread_pool_close() while another task shuts "
                      "the pool down\n");
}

/* --- a stack without a guard --- */

static int overflows(void *arg)
{
        const struct ed_stack *stack = ed_task_running()->stack;

        (void) arg;
        CHECK_EQ(stack->guard, ED_GUARD_CANARY);
        memset(stack->bottom, 0, 64);
        return 0;
}

static int starts_one_that_overflows(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, overflows, NULL);
        return eddy_scope_end(&scope);
}

/* Without descriptors the kernel cannot be asked whether a guard holds. */
static int run_without_guards(void)
{
        struct rlimit none = { 0, 0 };

        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
        return run_here(starts_one_that_overflows, NULL, EDDY_RUN_NO_DEBUG);
}

TEST(an_overflow_that_only_a_canary_noticed_is_reported_with_its_task)
{
        int status;
        pid_t pid;

        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("Valgrind refuses a limit of no descriptors");
        seen_begin();
        seen->kind = EDDY_REPORT_OVERFLOW;
        pid = fork();
        if (pid == 0)
                _exit(run_without_guards());
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        CHECK_STR(seen->said, "eddy: task overflows: overflowed its stack, which was detected "
                              "only when the task ended, because stacks have no guard pages here: "
                              "allocate large buffers on the heap, and limit recursion\n");
}

/* --- in a run of the kit, and on stderr --- */

static int ends_twice_quietly(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        (void) eddy_scope_end(&scope);
        return 0;
}

TEST(a_run_of_the_kit_finds_it)
{
        struct eddy_test_result result;

        CHECK_EQ(ed_test_run_with(ends_twice_quietly, NULL, NULL, NULL, &result, NULL),
                 EDDY_E_TEST_FOUND);
        CHECK(strstr(result.problem, "main ended the scope that began at ") == result.problem);
        CHECK(strstr(result.problem, " a second time") != NULL);
}

/* With the program's own main: it has no name of its own in the report. */
TEST(the_function_of_the_main_task_is_known)
{
        int status;
        pid_t pid;

        seen_begin();
        pid = fork();
        if (pid == 0) {
                struct eddy_run_opts opts = { .report = see };

                (void) eddy_run(leaves_a_scope_open, NULL, &opts);
                _exit(0);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(WIFSIGNALED(status));
        CHECK_STR(seen->said, "eddy: task main: leaves_a_scope_open() returned " IS_OPEN);
}

__attribute__((constructor)) static void share(void)
{
        here = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        CHECK(here != MAP_FAILED);
}
