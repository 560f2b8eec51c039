/*
 * test_log_output.c - how the lines of a log get to its output: drops, flushing, closing, errors, and
 * the kit's sweeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "eddy/stream_ops.h"
#include "eddy/test_file.h"
#include "obs_test.h"

enum { BUFFER = EDDY_LOG_LINE_MAX + 1 };

/* Read all until the log's end; every line must be whole. */
static int read_to_end(void *arg)
{
        int64_t n;

        (void) arg;
        while ((n = eddy_stream_read(obs.far, obs.text + obs.bytes, 1000)) > 0) {
                obs.bytes += (size_t) n;
                CHECK(obs.bytes < sizeof(obs.text) - 1000);
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        }
        CHECK_EQ(n, 0);
        obs.text[obs.bytes] = '\0';
        return 0;
}

/* Returns the sum of the counts that the lines of obs.text report as dropped. */
static uint64_t reported(void)
{
        static const char mark[] = "dropped\",\"count\":";
        uint64_t sum = 0;

        for (const char *at = obs.text; (at = strstr(at, mark)); at++)
                sum += strtoull(at + sizeof(mark) - 1, NULL, 10);
        return sum;
}

static int log_too_much(void *arg)
{
        enum { LINES = 20000 };
        struct eddy_log_stats stats;
        uint64_t reports;
        eddy_scope scope;

        (void) arg;
        obs_open((struct eddy_log_opts){ .buffer_bytes = BUFFER }, 4096);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_to_end, NULL);
        for (int i = 0; i < LINES; i++) {
                int64_t before_ns = eddy_now();

                eddy_log_info(obs.log, "a line", eddy_log_int("i", i));
                CHECK_EQ(eddy_now(), before_ns); /* the call did not wait */
                if (i % 10 == 0)
                        CHECK_EQ(eddy_sleep(EDDY_US(eddy_test_chance(200))), 0);
        }
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        eddy_log_stats(obs.log, &stats);
        eddy_log_close(obs.log);
        eddy_stream_close(obs.near);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(obs.far);

        CHECK(stats.dropped > 1000);
        CHECK(stats.lines > 100);
        CHECK_EQ(stats.lines + stats.dropped, LINES);
        CHECK_EQ(obs_count(obs.text, "a line"), stats.lines);
        CHECK_EQ(reported(), stats.dropped);
        reports = (uint64_t) obs_count(obs.text, "were dropped");
        CHECK_EQ(obs_count(obs.text, "\n"), stats.lines + reports);
        CHECK(reports < stats.lines / 10);
        return 0;
}

TEST(a_slow_output_drops_lines_and_each_is_reported)
{
        struct eddy_test_opts opts = { .name = "log_too_much" };

        for (opts.seed = 0; opts.seed < 10; opts.seed++)
                CHECK_EQ(eddy_test_run(log_too_much, NULL, &opts, NULL), 0);
}

/* Fill the log's buffer with lines that get smaller; few bytes are left. */
static void fill_buffer(void)
{
        static char text[BUFFER];

        memset(text, 'x', sizeof(text));
        for (size_t bytes = BUFFER - 300; bytes > 0; bytes /= 2) {
                char message[20];

                snprintf(message, sizeof(message), "%zu", bytes);
                eddy_log_info(obs.log, message, eddy_log_text("x", text, bytes));
        }
}

static int log_again_into_a_full_buffer(void *arg)
{
        eddy_scope scope;

        (void) arg;
        obs_open((struct eddy_log_opts){ .buffer_bytes = BUFFER, .repeats_max = 1 }, 10);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1) - eddy_now() % EDDY_SEC(1)), 0);
        for (int i = 0; i < 5; i++)
                eddy_log_info(obs.log, "again");
        fill_buffer();
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        for (int i = 0; i < 5; i++)
                eddy_log_info(obs.log, "again");
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_to_end, NULL);
        CHECK_EQ(eddy_sleep(EDDY_SEC(10)), 0);
        eddy_log_info(obs.log, "again");
        eddy_log_close(obs.log);
        eddy_stream_close(obs.near);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(obs.far);
        CHECK_EQ(obs_count(obs.text, "left out"), 1);
        CHECK_EQ(obs_count(obs.text, "left out\",\"count\":8,\"of\":\"again\""), 1);
        return 0;
}

TEST(lines_left_out_are_counted_on_while_the_buffer_is_full)
{
        obs_run(log_again_into_a_full_buffer);
}

/* --- an output that fails --- */

/* Takes 'left' bytes, then fails with 'error' until that is 0. */
static struct {
        struct eddy_stream stream;
        size_t left;
        int error;
        bool is_held; /* the last bytes were not passed on */
} broken;

static int64_t broken_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        size_t bytes = slices[0].bytes;

        (void) n;
        CHECK(stream == &broken.stream);
        if (broken.left == 0 && broken.error)
                return broken.error;
        if (broken.error && bytes > broken.left)
                bytes = broken.left;
        memcpy(obs.text + obs.bytes, slices[0].data, bytes);
        obs.bytes += bytes;
        obs.text[obs.bytes] = '\0';
        broken.left -= broken.error ? bytes : 0;
        broken.is_held = true;
        return (int64_t) bytes;
}

static int broken_flush(eddy_stream *stream)
{
        (void) stream;
        broken.is_held = false;
        return 0;
}

static int broken_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        (void) stream;
        (void) side;
        return 0;
}

static int64_t broken_read(eddy_stream *stream, void *buf, size_t bytes)
{
        (void) stream;
        (void) buf;
        (void) bytes;
        return 0;
}

static void broken_close(eddy_stream *stream, unsigned flags)
{
        (void) stream;
        (void) flags;
}

static const struct eddy_stream_ops broken_ops = {
        .kind = "broken",
        .try_read = broken_read,
        .try_writev = broken_writev,
        .flush = broken_flush,
        .wait = broken_wait,
        .close = broken_close,
};

static eddy_log *open_broken(size_t left, int error)
{
        struct eddy_log_opts opts = { .stream = &broken.stream };
        eddy_log *log;

        memset(&broken, 0, sizeof(broken));
        broken.stream.ops = &broken_ops;
        broken.left = left;
        broken.error = error;
        obs.bytes = 0;
        obs.text[0] = '\0';
        CHECK_EQ(eddy_log_open(&opts, &log), 0);
        return log;
}

static int break_output(void *arg)
{
        struct eddy_log_stats stats;

        (void) arg;
        for (size_t left = 0; left < 200; left++) {
                eddy_log *log = open_broken(left, -ENOSPC);
                size_t line_bytes;
                uint64_t whole;

                for (int i = 0; i < 3; i++)
                        eddy_log_info(log, "first");
                CHECK_EQ(eddy_log_flush(log), -ENOSPC);
                CHECK_EQ(obs.bytes, left);
                whole = (uint64_t) obs_count(obs.text, "\n");
                eddy_log_stats(log, &stats);
                CHECK_EQ(stats.lines, 3);
                CHECK_EQ(stats.dropped, 3 - whole);
                /* It fails again, and works again. */
                broken.left = 0;
                eddy_log_info(log, "second");
                CHECK_EQ(eddy_log_flush(log), -ENOSPC);
                broken.error = 0;
                eddy_log_info(log, "third");
                CHECK_EQ(eddy_log_flush(log), 0);
                CHECK(!broken.is_held);
                CHECK(strstr(obs.text, "second") == NULL);
                CHECK_EQ(reported(), 3 - whole + 1);
                eddy_log_stats(log, &stats);
                CHECK_EQ(stats.dropped, 3 - whole + 1);
                /* Each line after the cut one is whole. */
                line_bytes = strlen(strrchr(obs.text, '{'));
                CHECK(obs.text[obs.bytes - line_bytes - 1] == '\n');
                CHECK_EQ(obs_count(obs.text, "\n{") + 1, obs_count(obs.text, "{"));
                CHECK_EQ(obs_count(obs.text, "\n\n"), 0);
                eddy_log_close(log);
        }
        return 0;
}

TEST(a_broken_output_loses_lines_and_recovers)
{
        obs_run(break_output);
}

static int break_under_load(void *arg)
{
        eddy_log *log = open_broken(0, -EPIPE);
        struct eddy_log_stats stats;

        (void) arg;
        for (int i = 0; i < 1000; i++) {
                eddy_log_info(log, "m");
                if (i % 7 == 0)
                        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        }
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_log_stats(log, &stats);
        CHECK_EQ(stats.dropped, 1000);
        broken.error = 0;
        eddy_log_info(log, "n");
        eddy_log_close(log);
        CHECK_EQ(reported(), 1000);
        CHECK_EQ(obs_count(obs.text, "\n"), 2);
        CHECK(!broken.is_held);
        return 0;
}

TEST(a_closed_pipe_drops_each_line_once)
{
        obs_run(break_under_load);
}

/* --- flushing and closing --- */

static int flush_twice(void *arg)
{
        eddy_scope scope;

        (void) arg;
        obs_open((struct eddy_log_opts){ 0 }, 10);
        eddy_log_info(obs.log, "m");
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(1) });
        CHECK_EQ(eddy_log_flush(obs.log), -ECANCELED); /* nobody reads */
        CHECK_EQ(eddy_log_flush(obs.log), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_to_end, NULL);
        CHECK_EQ(eddy_log_flush(obs.log), 0);
        eddy_log_close(obs.log);
        eddy_stream_close(obs.near);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(obs_count(obs.text, "}\n"), 1);
        eddy_stream_close(obs.far);
        return 0;
}

TEST(a_cancelled_flush_loses_nothing)
{
        obs_run(flush_twice);
}

static int close_cancelled(void *arg)
{
        eddy_scope scope;
        int64_t before_ns;

        (void) arg;
        /* With a reader: all is written. */
        obs_open((struct eddy_log_opts){ 0 }, 10);
        eddy_scope_begin(&scope, NULL);
        eddy_log_info(obs.log, "m");
        {
                eddy_scope inner;

                eddy_scope_start(&scope, read_to_end, NULL);
                eddy_scope_begin(&inner, NULL);
                eddy_scope_cancel(&inner);
                eddy_log_close(obs.log);
                CHECK_EQ(eddy_scope_end(&inner), 0);
        }
        eddy_stream_close(obs.near);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(obs_count(obs.text, "}\n"), 1);
        eddy_stream_close(obs.far);
        /* Without one: a second. */
        obs_open((struct eddy_log_opts){ 0 }, 10);
        eddy_log_info(obs.log, "m");
        before_ns = eddy_now();
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        eddy_log_close(obs.log);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_now() - before_ns, EDDY_SEC(1));
        eddy_stream_close(obs.near);
        eddy_stream_close(obs.far);
        return 0;
}

TEST(close_works_in_a_cancelled_task_and_ends_after_a_second)
{
        obs_run(close_cancelled);
}

static int close_late(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_SEC(1000)), -ECANCELED);
        eddy_log_info(obs.log, "late");
        obs_close();
        return 0;
}

static int leave_log(void *arg)
{
        (void) arg;
        obs_open((struct eddy_log_opts){ 0 }, 10);
        eddy_log_info(obs.log, "m");
        return eddy_background(close_late, NULL);
}

TEST(a_log_is_closed_after_the_background_was_cancelled)
{
        /* Tasks are left on purpose, which debug mode would report. */
        struct eddy_run_opts run = { .drain_ns = -1, .flags = EDDY_RUN_NO_DEBUG };
        struct eddy_test_opts opts = { .run = &run };

        CHECK_EQ(eddy_test_run(leave_log, NULL, &opts, NULL), 0);
}

static int reads_late(void *arg)
{
        (void) arg;
        for (int i = 0; i < 20; i++) {
                char bytes[20];
                int64_t n = eddy_stream_read(obs.far, bytes, sizeof(bytes));

                CHECK(n > 0);
                if (memchr(bytes, '\n', (size_t) n))
                        break;
        }
        obs_close();
        return 0;
}

static int log_and_end(void *arg)
{
        (void) arg;
        obs_open((struct eddy_log_opts){ 0 }, 10);
        eddy_log_info(obs.log, "m");
        return eddy_background(reads_late, NULL);
}

TEST(lines_are_written_while_the_background_drains)
{
        obs_run(log_and_end);
}

/* --- the kit's sweeps --- */

static int log_worker(void *arg)
{
        int err = eddy_log_bind(eddy_log_int("worker", 1));

        (void) arg;
        for (int i = 0; i < 3 && err == 0; i++) {
                eddy_log_info(obs.log, "work", eddy_log_int("i", i));
                err = eddy_sleep(EDDY_MS(1));
        }
        return err;
}

static int sweep_reader(void *arg)
{
        char buf[50];
        int64_t n;

        (void) arg;
        while ((n = eddy_stream_read(obs.far, buf, sizeof(buf))) > 0)
                ;
        return (int) n;
}

static int sweep_main(void *arg)
{
        struct eddy_stream_pair_opts pair = { .buffer_bytes = 100 };
        struct eddy_log_opts opts = { .repeats_max = 4 };
        eddy_scope scope;
        int err = eddy_stream_pair(&pair, &obs.near, &obs.far);

        (void) arg;
        if (err < 0)
                return err;
        opts.stream = obs.near;
        err = eddy_log_open(&opts, &obs.log);
        eddy_scope_begin(&scope, NULL);
        if (err == 0) {
                eddy_scope_start(&scope, sweep_reader, NULL);
                eddy_scope_start(&scope, log_worker, NULL);
                eddy_scope_start(&scope, log_worker, NULL);
                err = eddy_sleep(EDDY_MS(2));
                if (err == 0)
                        err = eddy_log_flush(obs.log);
                eddy_log_close(obs.log);
                obs.log = NULL;
        }
        eddy_stream_close(obs.near);
        err = eddy_scope_end_with(&scope, err);
        eddy_stream_close(obs.far);
        return err;
}

TEST(nothing_is_left_whatever_fails)
{
        obs_sweep_all(sweep_main, (const char *const[]){ "log_worker", "log_writer", NULL });
}

/* --- files --- */

static int log_to_file(void *arg)
{
        static const struct eddy_log_opts opts = { .path = "app.log" };
        eddy_log *log;
        size_t bytes;
        char *text;
        int err;

        (void) arg;
        for (int i = 0; i < 2; i++) { /* the second appends */
                err = eddy_log_open(&opts, &log);
                if (err < 0)
                        return err;
                eddy_log_info(log, "m", eddy_log_int("i", i));
                err = eddy_log_flush(log);
                eddy_log_close(log);
                if (err < 0)
                        return err;
        }
        err = eddy_file_read_whole("app.log", 10000, &text, &bytes);
        if (err < 0)
                return err;
        EDDY_TEST_CHECK(obs_count(text, "\n{") == 1 && obs_count(text, "\n") == 2);
        EDDY_TEST_CHECK(strstr(text, "\"i\":1}\n") != NULL);
        eddy_free(text);
        return 0;
}

TEST(a_file_is_appended_to)
{
        obs_run(log_to_file);
        obs_sweep_all(log_to_file, (const char *const[]){ "main", "log_writer", NULL });
}

/* --- the real system --- */

/* Log a line to a descriptor, and read what has arrived at 'other'. */
static int log_to(int fd, int other, char *text, size_t bytes)
{
        struct eddy_log_opts opts = { 0 };
        eddy_log *log;
        int err;

        CHECK_EQ(eddy_stream_from_fd(fd, 0, &opts.stream), 0);
        CHECK_EQ(eddy_log_open(&opts, &log), 0);
        eddy_log_info(log, "m");
        err = eddy_log_flush(log);
        if (other >= 0) {
                ssize_t n = read(other, text, bytes - 1);

                CHECK(n > 0);
                text[n] = '\0';
        }
        eddy_log_close(log);
        eddy_stream_close(opts.stream);
        return err;
}

static int log_to_terminal(void *arg)
{
        int terminal = posix_openpt(O_RDWR | O_NOCTTY), end;
        char text[200];

        (void) arg;
        CHECK(terminal >= 0);
        CHECK_EQ(grantpt(terminal), 0);
        CHECK_EQ(unlockpt(terminal), 0);
        end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
        CHECK(end >= 0);
        CHECK_EQ(unsetenv("NO_COLOR"), 0);
        CHECK_EQ(log_to(end, terminal, text, sizeof(text)), 0);
        CHECK(strstr(text, " \x1b[32minfo \x1b[0m  m") != NULL);
        CHECK_EQ(setenv("NO_COLOR", "1", 1), 0);
        CHECK_EQ(log_to(end, terminal, text, sizeof(text)), 0);
        CHECK(strstr(text, " info   m") != NULL);
        close(end);
        close(terminal);
        return 0;
}

TEST(a_terminal_gets_text_with_colours)
{
        CHECK_EQ(eddy_run(log_to_terminal, NULL, NULL), 0);
}

static int log_to_pipe(void *arg)
{
        char text[200];
        int fds[2];

        (void) arg;
        CHECK_EQ(pipe(fds), 0);
        CHECK_EQ(log_to(fds[1], fds[0], text, sizeof(text)), 0);
        CHECK(strncmp(text, "{\"time\":\"2", 10) == 0);
        close(fds[0]);
        CHECK_EQ(log_to(fds[1], -1, NULL, 0), -EPIPE); /* and no signal */
        close(fds[1]);
        return 0;
}

TEST(a_pipe_gets_json_and_its_end_raises_no_signal)
{
        CHECK_EQ(eddy_run(log_to_pipe, NULL, NULL), 0);
}

/* --- standard error and standard output --- */

static int log_to_stderr(void *arg)
{
        eddy_log *log = NULL;

        (void) arg;
        CHECK_EQ(eddy_log_open(NULL, &log), 0);
        eddy_log_info(log, "to standard error", eddy_log_int("n", 1));
        CHECK_EQ(eddy_log_flush(log), 0);
        eddy_log_close(log);
        return 0;
}

static int log_to_stdout(void *arg)
{
        struct eddy_log_opts opts = { .format = EDDY_LOG_JSON };
        eddy_log *log = NULL;

        (void) arg;
        CHECK_EQ(eddy_stream_from_fd(1, 0, &opts.stream), 0);
        CHECK_EQ(eddy_log_open(&opts, &log), 0);
        eddy_log_info(log, "to standard output", eddy_log_int("n", 2));
        eddy_log_close(log);
        eddy_stream_close(opts.stream);
        return 0;
}

/* Returns what a run writes to the descriptor 'fd'. */
static const char *written_to(int fd, eddy_task_fn *fn)
{
        static char text[1024];
        int ends[2], former = dup(fd);
        ssize_t n;

        CHECK(former >= 0 && pipe(ends) == 0 && dup2(ends[1], fd) == fd);
        obs_run(fn);
        CHECK_EQ(dup2(former, fd), fd);
        (void) close(former);
        (void) close(ends[1]);
        n = read(ends[0], text, sizeof(text) - 1);
        (void) close(ends[0]);
        CHECK(n > 0);
        text[n] = '\0';
        return text;
}

TEST(a_log_on_standard_error_writes_in_a_simulated_run_too)
{
        CHECK(strstr(written_to(2, log_to_stderr), "\"message\":\"to standard error\",\"n\":1}\n"));
}

TEST(a_log_on_standard_output_writes_in_a_simulated_run_too)
{
        CHECK(strstr(written_to(1, log_to_stdout),
                     "\"message\":\"to standard output\",\"n\":2}\n"));
}
