/*
 * test_trace.c - timelines: the file has what tasks did, nested and in order; it is the same for
 * the same seed; its ring is bounded; and what cannot be written is reported.
 */
#include <eddy/eddy.h>
#include <eddy/test.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static char folder[64], path[96];

static void path_make(void)
{
        snprintf(folder, sizeof(folder), "/tmp/eddy-trace-XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/run.json", folder);
}

static void path_remove(void)
{
        (void) unlink(path);
        CHECK_EQ(rmdir(folder), 0);
}

/* Takes the picoseconds, which only keep the order of events, out of the times of a file. */
static void round_times(char *text)
{
        char *to = text;

        for (const char *at = text; *at;) {
                int digits = 0;

                if (strncmp(at, "\"ts\":", 5) == 0) {
                        CHECK_EQ(sscanf(at, "\"ts\":%*d.%*6d%n", &digits), 0);
                        memmove(to, at, (size_t) digits - 3);
                        to += digits - 3;
                        at += digits;
                } else {
                        *to++ = *at++;
                }
        }
        *to = '\0';
}

/* Returns the file's text, for free(). */
static char *text_of(const char *file)
{
        FILE *stream = fopen(file, "r");
        struct stat found = { 0 };
        char *text;

        CHECK(stream && fstat(fileno(stream), &found) == 0);
        text = malloc((size_t) found.st_size + 1);
        CHECK(text != NULL);
        CHECK_EQ(fread(text, 1, (size_t) found.st_size, stream), found.st_size);
        text[found.st_size] = '\0';
        fclose(stream);
        round_times(text);
        return text;
}

/* Checks that each row's begins and ends are nested, that flows have both ends, and that time does
   not go back.  Returns the number of tasks that ended. */
static int check_rules(const char *text)
{
        enum { ROWS = 1 << 17 };
        static char stacks[ROWS][16];
        static unsigned char depths[ROWS];
        long starts = 0, finishes = 0;
        double last = 0;
        int ended = 0;

        memset(depths, 0, sizeof(depths));
        for (const char *line = text; (line = strstr(line, "{\"ph\":\"")); line++) {
                char ph = line[7], cat[16] = "";
                const char *found = strstr(line, "\"cat\":\""), *end = strchr(line, '\n');
                unsigned long long row;
                double at;

                CHECK_EQ(sscanf(line + 9, ",\"pid\":1,\"tid\":%llu,\"ts\":%lf", &row, &at), 2);
                if (found && found < end)
                        CHECK_EQ(sscanf(found, "\"cat\":\"%15[a-z]", cat), 1);
                CHECK(row < ROWS && at >= last);
                last = at;
                if (ph == 'B') {
                        CHECK(depths[row] < 16);
                        stacks[row][depths[row]++] = cat[0];
                } else if (ph == 'E') {
                        CHECK(depths[row] > 0 && stacks[row][--depths[row]] == cat[0]);
                        ended += strcmp(cat, "task") == 0;
                }
                starts += ph == 's';
                finishes += ph == 'f';
        }
        for (int i = 0; i < ROWS; i++)
                CHECK_EQ(depths[i], 0);
        CHECK_EQ(starts, finishes);
        return ended;
}

static int run_traced(eddy_task_fn *fn, void *arg, uint64_t seed)
{
        struct eddy_run_opts run = { .trace_file = path };

        return eddy_test_run(fn, arg, &(struct eddy_test_opts){ .seed = seed, .run = &run }, NULL);
}

/* --- what is recorded --- */

static int sleeps(void *arg)
{
        return eddy_sleep(*(int64_t *) arg);
}

static int main_named(void *arg)
{
        static int64_t second = EDDY_SEC(1);
        struct eddy_task_opts name = { .name = "a \"sleeper\"" };
        eddy_task *task;
        eddy_scope scope;
        int result, err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_task(&scope, sleeps, &second, &name, &task);
        if (err == 0)
                err = eddy_task_join(task, &result);
        if (err == 0)
                eddy_task_release(task);
        return eddy_scope_end_with(&scope, err);
}

TEST(a_task_has_its_name_its_scope_its_waits_and_its_waker)
{
        char *text;

        path_make();
        CHECK_EQ(run_traced(main_named, NULL, 0), 0);
        text = text_of(path);
        CHECK_EQ(check_rules(text), 2);
        CHECK(strstr(text, "\"clock\":\"simulated\"") && strstr(text, "\"dropped\":0"));
        CHECK(strstr(text,
                     "\"name\":\"a \\\"sleeper\\\"\",\"cat\":\"task\",\"args\":{\"scope\":1"));
        CHECK(strstr(text, "\"name\":\"time to pass\",\"cat\":\"wait\""));
        CHECK(strstr(text, "\"name\":\"a task to end\",\"cat\":\"wait\""));
        CHECK(strstr(text, "\"tid\":2,\"ts\":1000000.000,\"name\":\"a task to end\","
                           "\"cat\":\"wait\",\"args\":{\"result\":0,\"by\":3}"));
        free(text);
        path_remove();
}

static int main_deadline(void *arg)
{
        static int64_t minute = EDDY_SEC(60);
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(5) });
        eddy_scope_start(&scope, sleeps, &minute);
        eddy_scope_start(&scope, sleeps, &minute);
        return eddy_scope_end(&scope) == -ETIMEDOUT ? 0 : -EIO;
}

TEST(a_deadline_and_its_cancel_point_to_the_tasks_that_they_stop)
{
        char *text, *at;

        path_make();
        CHECK_EQ(run_traced(main_deadline, NULL, 0), 0);
        text = text_of(path);
        (void) check_rules(text);
        at = strstr(text, "\"ts\":5000.000,\"name\":\"deadline\",\"cat\":\"deadline\"");
        CHECK(at != NULL && strstr(at, "\"args\":{\"scope\":1}"));
        at = strstr(at,
                    "\"name\":\"cancel\",\"cat\":\"cancel\",\"s\":\"t\",\"args\":{\"scope\":1}");
        CHECK(at != NULL);
        CHECK(strstr(at, "{\"ph\":\"f\",\"pid\":1,\"tid\":3,"));
        CHECK(strstr(at, "{\"ph\":\"f\",\"pid\":1,\"tid\":4,"));
        CHECK(strstr(at, "\"cat\":\"task\",\"args\":{\"result\":-125,\"error\":\"ECANCELED\"}"));
        CHECK(strstr(at, "\"cat\":\"scope\",\"args\":{\"result\":-110,\"error\":\"ETIMEDOUT\"}"));
        free(text);
        path_remove();
}

static int cancels_itself(void *arg)
{
        (void) arg;
        eddy_task_cancel(eddy_task_current());
        return eddy_sleep(1);
}

static int main_cancels(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, cancels_itself, NULL);
        return eddy_scope_end(&scope);
}

TEST(a_cancel_of_a_task_names_the_task_and_its_canceller)
{
        char *text;

        path_make();
        CHECK_EQ(run_traced(main_cancels, NULL, 0), 0);
        text = text_of(path);
        (void) check_rules(text);
        CHECK(strstr(text, "{\"ph\":\"i\",\"pid\":1,\"tid\":3,\"ts\":0.000,\"name\":\"cancel\","
                           "\"cat\":\"cancel\",\"s\":\"t\",\"args\":{\"task\":3}}"));
        free(text);
        path_remove();
}

/* --- the same again, and limits --- */

enum { PLAYERS = 6 };

static eddy_lock lock;
static int turns;

static int plays(void *arg)
{
        int err = 0;

        (void) arg;
        for (int i = 0; i < 3 && err == 0; i++) {
                err = eddy_lock_acquire(&lock);
                if (err < 0)
                        break;
                turns++;
                err = eddy_sleep(EDDY_US(1) * (int64_t) eddy_test_chance(5));
                eddy_lock_release(&lock);
        }
        return err;
}

static int main_plays(void *arg)
{
        eddy_scope scope;

        (void) arg;
        memset(&lock, 0, sizeof(lock));
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < PLAYERS; i++)
                eddy_scope_start(&scope, plays, NULL);
        return eddy_scope_end(&scope);
}

TEST(the_same_seed_gives_the_same_file_byte_for_byte)
{
        uint64_t seeds = test_is_full() ? 1000 : 100;
        int differ = 0;
        char *before = NULL;

        path_make();
        for (uint64_t seed = 1; seed <= seeds; seed++) {
                char *first, *second;

                CHECK_EQ(run_traced(main_plays, NULL, seed), 0);
                first = text_of(path);
                CHECK_EQ(run_traced(main_plays, NULL, seed), 0);
                second = text_of(path);
                CHECK_STR(first, second);
                CHECK_EQ(check_rules(first), PLAYERS + 1);
                differ += before && strcmp(before, first) != 0;
                free(before);
                before = first;
                free(second);
        }
        free(before);
        CHECK(differ > 50);
        path_remove();
}

static int nothing(void *arg)
{
        (void) arg;
        return 0;
}

static int main_many(void *arg)
{
        long count = *(long *) arg;

        for (long i = 0; i < count; i += 100) {
                eddy_scope scope;
                int err;

                eddy_scope_begin(&scope, NULL);
                for (int j = 0; j < 100; j++)
                        eddy_scope_start(&scope, nothing, NULL);
                err = eddy_scope_end(&scope);
                if (err < 0)
                        return err;
        }
        return 0;
}

TEST(a_full_ring_keeps_the_newest_records_and_counts_the_others)
{
        long count = test_is_full() ? 1000000 : 20000;
        unsigned long long events, dropped;
        char *text;

        path_make();
        CHECK_EQ(setenv("EDDY_TRACE_EVENTS", "4096", 1), 0);
        CHECK_EQ(run_traced(main_many, &count, 0), 0);
        CHECK_EQ(unsetenv("EDDY_TRACE_EVENTS"), 0);
        text = text_of(path);
        CHECK_EQ(sscanf(strstr(text, "\"events\""), "\"events\":%llu,\"dropped\":%llu", &events,
                        &dropped),
                 2);
        CHECK_EQ(events, 4096);
        CHECK(dropped > (unsigned long long) count * 4 - 4096);
        CHECK(strlen(text) < 4096 * 200);
        /* main began before the first record, and is there. */
        CHECK(strstr(text,
                     "\"name\":\"main\",\"cat\":\"task\",\"args\":{\"scope\":0,\"dropped\":true}"));
        free(text);
        path_remove();
}

/* --- real runs --- */

static int report_kind;

static void on_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind != EDDY_REPORT_TRACE)
                return; /* of debug mode */
        report_kind = report->kind;
        CHECK(strstr(report->text, "/none/run.json") != NULL);
        /* This report comes after the run, so the call is outside of any loop. */
        CHECK(eddy_now() > 0);
}

TEST(a_file_that_cannot_be_written_is_reported_and_the_run_goes_on)
{
        struct eddy_run_opts opts = { .trace_file = "/none/run.json", .report = on_report };
        int64_t moment = 1;

        CHECK_EQ(eddy_run(sleeps, &moment, &opts), 0);
        CHECK_EQ(report_kind, EDDY_REPORT_TRACE);
}

TEST(each_run_of_a_process_has_a_file_of_its_own)
{
        char second[112], *text;
        int64_t moment = EDDY_MS(1);

        path_make();
        snprintf(second, sizeof(second), "%s.2", path);
        CHECK_EQ(eddy_trace_file(""), -EINVAL);
        CHECK_EQ(eddy_trace_file(path), 0);
        CHECK_EQ(eddy_run(sleeps, &moment, NULL), 0);
        CHECK_EQ(eddy_run(sleeps, &moment, NULL), 0);
        CHECK_EQ(eddy_trace_file(NULL), 0);
        CHECK_EQ(eddy_run(sleeps, &moment, NULL), 0);
        text = text_of(path);
        CHECK_EQ(check_rules(text), 1);
        CHECK(strstr(text, "\"clock\":\"monotonic\"") != NULL);
        free(text);
        text = text_of(second);
        CHECK_EQ(check_rules(text), 1);
        free(text);
        CHECK_EQ(unlink(second), 0);
        path_remove();
}

TEST(a_percent_p_in_the_path_is_the_number_of_the_process)
{
        int64_t moment = EDDY_MS(1), other = EDDY_MS(2);
        char pattern[112], own[128], *text;
        int status;
        pid_t child;

        path_make();
        snprintf(pattern, sizeof(pattern), "%s-%%p.%%p", path);
        CHECK_EQ(eddy_trace_file(pattern), 0);
        CHECK_EQ(eddy_run(sleeps, &moment, NULL), 0);
        child = fork();
        if (child == 0)
                _exit(eddy_run(sleeps, &other, NULL) == 0 ? 0 : 1);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK_EQ(eddy_trace_file(NULL), 0);
        for (int i = 0; i < 2; i++) {
                int process = i == 0 ? (int) getpid() : (int) child;

                snprintf(own, sizeof(own), "%s-%d.%d", path, process, process);
                text = text_of(own);
                CHECK_EQ(check_rules(text), 1);
                free(text);
                CHECK_EQ(unlink(own), 0);
        }
        CHECK_EQ(eddy_run(sleeps, &moment, &(struct eddy_run_opts){ .trace_file = pattern }), 0);
        snprintf(own, sizeof(own), "%s-%d.%d", path, (int) getpid(), (int) getpid());
        CHECK_EQ(unlink(own), 0);
        path_remove();
}

/* The file of a child that was forked after the first run has its process number in its name. */
TEST(a_forked_process_does_not_replace_the_file_of_its_parent)
{
        int64_t moment = EDDY_MS(1), other = EDDY_MS(2);
        char own[112], *before, *after;
        int status;
        pid_t child;

        path_make();
        CHECK_EQ(eddy_trace_file(path), 0);
        CHECK_EQ(eddy_run(sleeps, &moment, NULL), 0);
        before = text_of(path);
        child = fork();
        if (child == 0) {
                free(before);
                _exit(eddy_run(sleeps, &other, NULL) == 0 ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        after = text_of(path);
        CHECK_STR(after, before);
        free(after);
        free(before);
        snprintf(own, sizeof(own), "%s.%d", path, (int) child);
        after = text_of(own);
        CHECK_EQ(check_rules(after), 1);
        free(after);
        CHECK_EQ(unlink(own), 0);
        path_remove();
}

/* --- the end of the process --- */

static eddy_lock locks[2];

static int takes_both(void *arg)
{
        int first = *(int *) arg, err = eddy_lock_acquire(&locks[first]);

        if (err == 0)
                err = eddy_sleep(0);
        if (err == 0)
                err = eddy_lock_acquire(&locks[!first]);
        return err;
}

static int main_of_deadlock(void *arg)
{
        static int numbers[] = { 0, 1 };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, takes_both, &numbers[0]);
        eddy_scope_start(&scope, takes_both, &numbers[1]);
        return eddy_scope_end(&scope);
}

TEST(a_deadlock_names_the_holder_of_each_lock_and_the_tasks_that_it_stops)
{
        char *text;

        path_make();
        CHECK_EQ(run_traced(main_of_deadlock, NULL, 0), EDDY_E_TEST_FOUND);
        text = text_of(path);
        CHECK_EQ(check_rules(text), 3);
        CHECK(strstr(text, "\"tid\":0,\"ts\":0.000,\"name\":\"deadlock\",\"cat\":\"deadlock\""));
        CHECK(strstr(text, "\"tid\":3,\"ts\":0.000,\"name\":\"deadlock\",\"cat\":\"deadlock\","
                           "\"s\":\"t\",\"args\":{\"holder\":4}"));
        CHECK(strstr(text, "\"tid\":4,\"ts\":0.000,\"name\":\"deadlock\",\"cat\":\"deadlock\","
                           "\"s\":\"t\",\"args\":{\"holder\":3}"));
        CHECK(!strstr(text, "\"name\":\"cancel\",\"cat\":\"cancel\",\"s\":\"t\""));
        CHECK(strstr(text, "{\"ph\":\"s\",\"pid\":1,\"tid\":0,\"ts\":0.000,\"name\":\"cancel\""));
        free(text);
        path_remove();
}

static int aborts(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_MS(1));
        abort();
}

static int exits(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_MS(1));
        exit(7);
}

/*
 * LeakSanitizer asks this at the end of a process.  In a child it would hang if another thread held
 * the allocator's lock at the fork, such as the watchdog.
 */
static bool is_grandchild;

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
        return is_grandchild;
}

/* A child of the program that ends in its own way is not the end of the run. */
static int forks(void *arg)
{
        pid_t child = fork();
        int status;

        (void) arg;
        if (child == 0) {
                is_grandchild = true;
                exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK_EQ(access(path, F_OK), -1);
        return eddy_sleep(EDDY_MS(1));
}

/* Runs in a child with a file; returns how it ended. */
static int status_of(eddy_task_fn *fn)
{
        pid_t child = fork();
        int status;

        if (child == 0) {
                CHECK_EQ(eddy_trace_file(path), 0);
                (void) eddy_run(fn, NULL, NULL);
                CHECK_EQ(eddy_trace_file(NULL), 0);
                exit(0);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        return status;
}

TEST(a_process_that_ends_in_a_run_writes_the_file_all_the_same)
{
        static const struct {
                eddy_task_fn *fn;
                int signal, status;
        } ends[] = { { aborts, SIGABRT, 0 }, { exits, 0, 7 }, { forks, 0, 0 } };

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                int status;
                char *text;

                /* It reports malloc() in a signal handler, which is in a copy of the process. */
                if (UNDER_TSAN && ends[i].signal)
                        continue;
                path_make();
                status = status_of(ends[i].fn);
                CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, ends[i].signal);
                CHECK_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 0, ends[i].status);
                text = text_of(path);
                CHECK_EQ(check_rules(text), 1);
                CHECK_EQ(strstr(text, "\"open\":true") != NULL, ends[i].fn != forks);
                free(text);
                path_remove();
        }
}

static void aborts_itself(int signo)
{
        (void) signo;
        _exit(9);
}

static int aborts_with_a_handler(void *arg)
{
        CHECK(signal(SIGABRT, aborts_itself) != SIG_ERR);
        return aborts(arg);
}

TEST(a_program_keeps_its_own_handler_of_abort)
{
        int status;

        path_make();
        status = status_of(aborts_with_a_handler);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
        CHECK_EQ(access(path, F_OK), -1);
        path_remove();
}

TEST(no_handler_is_left_after_a_traced_run)
{
        int64_t moment = EDDY_MS(1);

        path_make();
        CHECK_EQ(eddy_trace_file(path), 0);
        CHECK_EQ(eddy_run(sleeps, &moment, NULL), 0);
        CHECK(signal(SIGABRT, SIG_DFL) == SIG_DFL);
        path_remove();
}

/* The process was ended by abort(), and its file has one task. */
static void check_aborted(int status)
{
        char *text;

        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        text = text_of(path);
        CHECK_EQ(check_rules(text), 1);
        free(text);
        path_remove();
}

/* A reporter of crashes that calls the handler before it. */
static struct sigaction former;

static void chains(int signo)
{
        former.sa_handler(signo);
}

static int aborts_under_a_reporter(void *arg)
{
        struct sigaction action = { .sa_handler = chains };

        CHECK_EQ(sigaction(SIGABRT, &action, &former), 0);
        CHECK(former.sa_handler != SIG_DFL);
        return aborts(arg);
}

TEST(a_handler_that_calls_the_former_one_ends_the_process)
{
        int status;

        if (UNDER_TSAN)
                test_skip("ThreadSanitizer puts its own function in the place of a handler");
        path_make();
        status = status_of(aborts_under_a_reporter);
        check_aborted(status);
}

/* A worker that was forked while its parent was in a traced run has a run of its own. */
static int forks_a_worker(void *arg)
{
        pid_t child = fork();
        int status;

        (void) arg;
        if (child == 0) {
                (void) eddy_run(aborts, NULL, NULL);
                _exit(1);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        snprintf(path + strlen(path), sizeof(path) - strlen(path), ".%d", (int) child);
        return access(path, F_OK);
}

TEST(a_forked_worker_writes_its_own_file)
{
        int64_t moment = EDDY_MS(1);
        char first[sizeof(path)];

        if (UNDER_TSAN || getenv("EDDY_TEST_QEMU"))
                test_skip("ThreadSanitizer and qemu end a child of fork() that starts threads");
        path_make();
        snprintf(first, sizeof(first), "%s", path);
        CHECK_EQ(eddy_trace_file(path), 0);
        CHECK_EQ(eddy_run(forks_a_worker, &moment, NULL), 0);
        CHECK_EQ(unlink(first), 0);
        path_remove();
}

/* More records than the ring has. */
static int goes_on(void *arg)
{
        for (int i = 0; i < 5000; i++)
                (void) eddy_sleep(0);
        return arg ? sleeps(arg) : 0;
}

static int main_of_many_records(void *arg)
{
        static int64_t long_ns = EDDY_SEC(1000);
        struct eddy_task_opts name = { .name = "waits" };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        (void) eddy_scope_start_task(&scope, sleeps, &long_ns, &name, NULL);
        (void) goes_on(NULL);
        if (arg)
                abort();
        while (eddy_sleep(EDDY_US(1)) == 0)
                continue;
        return eddy_scope_end(&scope);
}

/* Both tasks are there, although the records of their starts were overwritten. */
static void check_living(void)
{
        char *text = text_of(path);

        CHECK_EQ(check_rules(text), 2);
        CHECK(strstr(text, "\"name\":\"main\",\"cat\":\"task\"") &&
              strstr(text, "\"name\":\"waits\",\"cat\":\"task\"") &&
              strstr(text, "\"name\":\"time to pass\",\"cat\":\"wait\""));
        CHECK(!strstr(text, "\"dropped\":0}"));
        free(text);
        CHECK_EQ(unlink(path), 0);
}

TEST(tasks_that_live_at_the_end_of_the_process_are_in_the_file_of_a_full_ring)
{
        struct eddy_run_opts run = { .trace_file = path };
        struct eddy_test_opts opts = { .run = &run, .limit_ns = EDDY_MS(10) };
        int status;
        pid_t child;

        path_make();
        CHECK_EQ(setenv("EDDY_TRACE_EVENTS", "1024", 1), 0);
        child = fork();
        if (child == 0) {
                CHECK(freopen("/dev/null", "w", stderr) != NULL);
                exit(eddy_test_run(main_of_many_records, &opts, &opts, NULL));
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        check_living();
        CHECK_EQ(eddy_test_run(main_of_many_records, NULL, &opts, NULL), EDDY_E_TEST_FOUND);
        check_living();
        path_remove();
}

/* The allocator of the program ends the process while the kit's table is locked. */
static void *ends(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 12345)
                abort();
        if (bytes > 0)
                return realloc(ptr, bytes);
        free(ptr);
        return NULL;
}

static int allocates(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_MS(1));
        return eddy_malloc(12345) ? 0 : -ENOMEM;
}

TEST(an_allocator_that_ends_the_process_ends_it_in_the_kit_too)
{
        struct eddy_run_opts run = { .trace_file = path };
        int status;
        pid_t child;

        path_make();
        child = fork();
        if (child == 0) {
                CHECK(freopen("/dev/null", "w", stderr) != NULL);
                eddy_alloc_set(ends, NULL);
                exit(eddy_test_run(allocates, NULL, &(struct eddy_test_opts){ .run = &run }, NULL));
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        check_aborted(status);
}

static int aborts_in_the_kit(void *arg)
{
        struct eddy_run_opts run = { .trace_file = path };

        (void) arg;
        return eddy_test_run(aborts, NULL, &(struct eddy_test_opts){ .run = &run }, NULL);
}

/* Never ends. */
static int sleeps_on(void *arg)
{
        (void) arg;
        while (eddy_sleep(EDDY_SEC(1)) == 0)
                continue;
        return 0;
}

TEST(a_run_of_the_kit_that_ends_the_process_or_is_given_up_writes_its_file)
{
        struct eddy_run_opts run = { .trace_file = path };
        struct eddy_test_opts opts = { .run = &run, .limit_ns = EDDY_SEC(5) };
        int status;
        pid_t child;
        char *text;

        path_make();
        child = fork();
        if (child == 0) {
                CHECK(freopen("/dev/null", "w", stderr) != NULL);
                exit(aborts_in_the_kit(NULL));
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        text = text_of(path);
        CHECK(check_rules(text) == 1 && strstr(text, "\"open\":true"));
        free(text);
        CHECK_EQ(unlink(path), 0);
        CHECK_EQ(eddy_test_run(sleeps_on, NULL, &opts, NULL), EDDY_E_TEST_FOUND);
        text = text_of(path);
        CHECK(check_rules(text) == 1 && strstr(text, "\"ts\":5000000.000"));
        free(text);
        path_remove();
}

static int main_of_loops(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_MS(1));
}

TEST(each_of_several_loops_has_a_file_of_its_own)
{
        struct eddy_run_opts opts = { .trace_file = path };
        char file[112], pid[32], *text;

        path_make();
        CHECK_EQ(eddy_run_many_with(3, main_of_loops, NULL, &opts), 0);
        for (int i = 1; i <= 3; i++) {
                if (i == 1)
                        snprintf(file, sizeof(file), "%s", path);
                else
                        snprintf(file, sizeof(file), "%s.%d", path, i);
                text = text_of(file);
                snprintf(pid, sizeof(pid), "\"pid\":%d,\"tid\":2,", i);
                CHECK(strstr(text, pid) && strcmp(text + strlen(text) - 4, "\n]}\n") == 0);
                free(text);
                CHECK_EQ(unlink(file), 0);
        }
        CHECK_EQ(rmdir(folder), 0);
}

/* --- odd texts --- */

static int main_with_odd_texts(void *arg)
{
        struct eddy_task_opts name = { .name = "\xd7\xa9\xd7\x9c\xff" };
        static int64_t moment = EDDY_MS(1);
        eddy_scope scope;
        eddy_task *task;
        int err;

        (void) arg;
/* clang-format off */
#line 1 "/a/very/long/path/of/the/source/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/a \"file\".c"
        eddy_scope_begin(&scope, NULL);
        /* clang-format on */
        err = eddy_scope_start_task(&scope, sleeps, &moment, &name, &task);
        if (err == 0)
                eddy_task_release(task);
        return eddy_scope_end_with(&scope, err);
}

TEST(names_in_utf8_are_kept_and_long_places_are_cut_at_their_begin)
{
        char *text;

        path_make();
        CHECK_EQ(run_traced(main_with_odd_texts, NULL, 0), 0);
        text = text_of(path);
        CHECK_EQ(check_rules(text), 2);
        CHECK(strstr(text, "\"\xd7\xa9\xd7\x9c?\"") != NULL);
        CHECK(strstr(text, "/0123456789/a \\\"file\\\".c:1\"}") != NULL);
        free(text);
        path_remove();
}
