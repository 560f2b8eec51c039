/*
 * test_process_talk.c - a child's input and output: communicate, pipes, and pseudo-terminals.
 */
#include <signal.h>
#include <unistd.h>

#include "cancel_at.h"
#include "process_test.h"

enum { MUCH = 4 << 20, HUGE_OUTPUT = 100 * 1000 * 1000, LIMIT = 1 << 20 };

TEST_ROOM(char, much, MUCH);

static void fill_much(void)
{
        for (size_t i = 0; i < MUCH; i++)
                much[i] = (char) ('a' + (i * 7919) % 26);
}

static struct eddy_process_communicate_opts input_of(const char *text)
{
        return (struct eddy_process_communicate_opts){ .input = text, .input_bytes = strlen(text) };
}

/* --- communicate --- */

/* A123: the input is written, both outputs are read, and the end is awaited. */
PROCESS_TEST(communicate_writes_and_reads_all)
{
        eddy_process *process = start_filter("cat; echo err >&2; exit 9");
        struct eddy_process_communicate_opts opts = input_of("one\ntwo\n");
        struct eddy_process_output output;

        CHECK_EQ(eddy_process_output(process, &output), 0);
        CHECK_STR(output.out, "");
        CHECK(output.exit.code == -1 && output.exit.signo == 0);
        CHECK_EQ(eddy_process_communicate(process, &opts, &output), 0);
        CHECK_STR(output.out, "one\ntwo\n");
        CHECK_STR(output.err, "err\n");
        CHECK_EQ(output.out_bytes, 8);
        CHECK_EQ(output.err_bytes, 4);
        CHECK_EQ(output.exit.code, 9);
        /* A further call returns the same. */
        CHECK_EQ(eddy_process_communicate(process, &opts, &output), 0);
        CHECK_STR(output.out, "one\ntwo\n");
        eddy_process_close(process);
}

PROCESS_TEST(communicate_without_pipes_is_a_wait)
{
        struct eddy_process_opts opts = { .command = "exit 3",
                                          .in = { .kind = EDDY_PROCESS_NULL } };
        struct eddy_process_communicate_opts input = input_of("x");
        struct eddy_process_output output;
        eddy_process *process = start_with(&opts);

        CHECK_EQ(eddy_process_communicate(process, &input, &output), -EINVAL);
        CHECK_EQ(eddy_process_communicate(process, NULL, &output), 0);
        CHECK(output.exit.code == 3 && output.out_bytes == 0 && output.err_bytes == 0);
        CHECK_EQ(eddy_process_communicate(process, NULL, NULL), 0);
        eddy_process_close(process);
}

/* A123: more than all pipes hold goes in and comes out at both sides, without a deadlock. */
PROCESS_TEST(large_outputs_never_deadlock)
{
        eddy_process *process = start_filter("tee /dev/stderr");
        struct eddy_process_communicate_opts opts = { .input = much, .input_bytes = MUCH };
        struct eddy_process_output output;

        fill_much();
        CHECK_EQ(eddy_process_communicate(process, &opts, &output), 0);
        CHECK(output.out_bytes == MUCH && memcmp(output.out, much, MUCH) == 0);
        CHECK(output.err_bytes == MUCH && memcmp(output.err, much, MUCH) == 0);
        eddy_process_close(process);
}

/* A123: a child that does not read its input is not an error. */
PROCESS_TEST(a_closed_standard_input_is_ignored)
{
        static const char *const commands[] = { "exit 0", "exec <&-; sleep 0.05; exit 0" };
        struct eddy_process_communicate_opts opts = { .input = much, .input_bytes = MUCH };

        for (int i = 0; i < 2; i++) {
                eddy_process *process = start_filter(commands[i]);
                struct eddy_process_output output;

                CHECK_EQ(eddy_process_communicate(process, &opts, &output), 0);
                CHECK_EQ(output.exit.code, 0);
                eddy_process_close(process);
        }
}

PROCESS_TEST(an_output_above_its_limit_is_an_error_and_is_kept)
{
        eddy_process *process = start_shell("head -c 100000000 /dev/zero; printf end >&2");
        struct eddy_process_communicate_opts opts = { .out_bytes_max = LIMIT, .err_bytes_max = 3 };
        struct eddy_process_output output;

        CHECK_EQ(eddy_process_communicate(process, &opts, &output), EDDY_E_PROCESS_TOO_LARGE);
        CHECK_EQ(eddy_process_communicate(process, &opts, &output), EDDY_E_PROCESS_TOO_LARGE);
        CHECK_EQ(eddy_process_output(process, &output), 0);
        CHECK_EQ(output.out_bytes, LIMIT + 1);
        CHECK_EQ(eddy_process_try_wait(process, NULL), -EAGAIN);
        /* With a sufficient limit the rest follows; a limit may be reached exactly. */
        opts.out_bytes_max = HUGE_OUTPUT;
        CHECK_EQ(eddy_process_communicate(process, &opts, &output), 0);
        CHECK_EQ(output.out_bytes, HUGE_OUTPUT);
        CHECK_STR(output.err, "end");
        eddy_process_close(process);
        process = start_shell("exec cat /dev/zero");
        CHECK_EQ(eddy_process_communicate(process, &opts, &output), EDDY_E_PROCESS_TOO_LARGE);
        eddy_process_close(process);
}

static struct eddy_process_communicate_opts talk_opts;

static int talks(void *arg)
{
        struct eddy_process_output output;
        int err = eddy_process_communicate(arg, &talk_opts, &output);

        CHECK(err < 0 || output.exit.code == 0);
        return err;
}

/* A121: a cancelled communicate keeps what was read, and the next one continues. */
PROCESS_TEST(a_cancelled_communicate_keeps_the_bytes_read)
{
        eddy_process *process = start_filter("printf abc; read x; printf \"$x\"");
        struct eddy_process_output output;

        talk_opts = (struct eddy_process_communicate_opts){ .input = NULL };
        /* The input stays open in this case: only the output is read. */
        await_byte(process);
        eddy_process_close(process);
        process = start_shell(
                "trap 'printf def; exit' USR1; printf abc; while :; do sleep 0.01; done");
        while (eddy_process_output(process, &output) == 0 && output.out_bytes == 0)
                CHECK_EQ(eddy_call_timeout(talks, process, EDDY_MS(1)), -ETIMEDOUT);
        CHECK_STR(output.out, "abc");
        CHECK_EQ(eddy_process_try_wait(process, NULL), -EAGAIN);
        CHECK_EQ(eddy_process_signal(process, SIGUSR1), 0);
        check_prints(process, "abcdef");
}

/* A121: cancelled at each suspension, nothing is lost or written twice. */
PROCESS_TEST(communicate_may_be_cancelled_at_each_suspension)
{
        enum { BYTES = 300000 };
        bool reached = true;

        fill_much();
        for (int n = 0; reached && n < 40; n++) {
                eddy_process *process = start_filter("cat");
                struct eddy_process_output output;
                int err;

                talk_opts = (struct eddy_process_communicate_opts){ .input = much,
                                                                    .input_bytes = BYTES };
                err = cancel_at(n, talks, process, &reached);
                CHECK(err == 0 || err == -ECANCELED);
                CHECK_EQ(eddy_process_communicate(process, &talk_opts, &output), 0);
                CHECK(output.out_bytes == BYTES && memcmp(output.out, much, BYTES) == 0);
                eddy_process_close(process);
        }
}

PROCESS_TEST(one_task_communicates_at_a_time)
{
        eddy_process *process = start_shell("exec sleep 1000");
        struct eddy_process_output output;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        talk_opts = (struct eddy_process_communicate_opts){ .input = NULL };
        eddy_scope_start(&scope, talks, process);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_process_communicate(process, NULL, &output), -EBUSY);
        CHECK_EQ(eddy_process_output(process, &output), -EBUSY);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_process_close(process);
}

/* A grandchild keeps the pipe open: the wait ends, a communicate needs its deadline. */
PROCESS_TEST(a_grandchild_may_hold_the_pipe)
{
        struct eddy_process_opts opts = { .command = "printf x; sleep 1000 & exit 0",
                                          .out = { .kind = EDDY_PROCESS_PIPE },
                                          .flags = EDDY_PROCESS_GROUP };
        eddy_process *process = start_with(&opts);
        struct eddy_process_output output;

        CHECK_EQ(eddy_process_wait(process, NULL), 0);
        talk_opts = (struct eddy_process_communicate_opts){ .input = NULL };
        CHECK_EQ(eddy_call_timeout(talks, process, EDDY_MS(20)), -ETIMEDOUT);
        CHECK_EQ(eddy_process_output(process, &output), 0);
        CHECK_STR(output.out, "x");
        CHECK_EQ(output.exit.code, 0);
        CHECK_EQ(eddy_process_signal_group(process, SIGKILL), 0);
        check_prints(process, "x");
}

/* --- pipes --- */

PROCESS_TEST(a_slow_reader_slows_the_child_down)
{
        eddy_process *process = start_shell("head -c 300000 /dev/zero");
        char buf[4096];
        int64_t n, all = 0;

        while ((n = eddy_stream_read(eddy_process_stdout(process), buf, sizeof(buf))) > 0) {
                all += n;
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        }
        CHECK_EQ(n, 0);
        CHECK_EQ(all, 300000);
        CHECK_EQ(eddy_process_wait(process, NULL), 0);
        eddy_process_close(process);
}

/* A123: what a child has written can be read after its end. */
PROCESS_TEST(output_can_be_read_after_the_end)
{
        eddy_process *process = start_shell("echo late");

        CHECK_EQ(eddy_process_wait(process, NULL), 0);
        CHECK(eddy_stream_is_readable(eddy_process_stdout(process)));
        check_prints(process, "late\n");
}

static void on_hangup(void *arg)
{
        ++*(int *) arg;
}

PROCESS_TEST(pipes_are_streams)
{
        eddy_process *process = start_filter("read x; echo \"got $x\"; cat >/dev/null");
        eddy_stream *in = eddy_process_stdin(process), *out = eddy_process_stdout(process);
        struct eddy_slice slices[] = { { "he", 2 }, { "llo\n", 4 } };
        struct eddy_endpoint end;
        int hangups = 0;
        char buf[16];

        CHECK_STR(eddy_stream_kind(out), "pipe");
        CHECK(eddy_stream_fd(in) > 2 && eddy_stream_fd(out) > 2);
        CHECK_EQ(eddy_stream_local(out, &end), -ENOTSUP);
        CHECK_EQ(eddy_stream_try_read(out, buf, 1), -EAGAIN);
        CHECK_EQ(eddy_stream_watch_idle(out, on_hangup, &hangups), 0);
        CHECK_EQ(eddy_stream_try_read(out, buf, 1), -EBUSY);
        CHECK_EQ(eddy_stream_writev(in, slices, 2), 0);
        while (hangups == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        io_read_all(out, buf, 10);
        CHECK(memcmp(buf, "got hello\n", 10) == 0);
        CHECK_EQ(eddy_stream_watch_hangup(out, on_hangup, &hangups), 0);
        CHECK_EQ(eddy_stream_shutdown(in), 0);
        CHECK_EQ(eddy_stream_shutdown(in), 0);
        CHECK_EQ(eddy_stream_fd(in), -1);
        CHECK_EQ(eddy_stream_write(in, "x", 1), -EPIPE);
        CHECK_EQ(eddy_stream_wait(in, EDDY_STREAM_WRITING), -EBADF);
        CHECK_EQ(eddy_stream_watch_idle(in, on_hangup, &hangups), -EBADF);
        CHECK_EQ(eddy_stream_watch_hangup(in, on_hangup, &hangups), -EALREADY);
        CHECK(eddy_stream_is_readable(in));
        CHECK_EQ(eddy_stream_read(in, buf, 1), -EBADF);
        CHECK_EQ(eddy_stream_read(out, buf, 1), 0);
        while (hangups == 1) /* the end may be read before the loop has polled */
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_process_wait(process, NULL), 0);
        eddy_process_close(process);
}

/* A broken pipe raises no signal in this process. */
PROCESS_TEST(a_write_to_an_ended_child_is_epipe)
{
        eddy_process *process = start_filter("exit 0");

        CHECK_EQ(eddy_process_wait(process, NULL), 0);
        CHECK_EQ(eddy_stream_write(eddy_process_stdin(process), "x", 1), -EPIPE);
        eddy_process_close(process);
}

/* --- pseudo-terminals --- */

static eddy_process *start_terminal(const char *command)
{
        struct eddy_process_opts opts = {
                .command = command, .flags = EDDY_PROCESS_TERMINAL, .rows = 10, .columns = 30
        };

        return start_with(&opts);
}

static void read_until(eddy_stream *stream, const char *word)
{
        char buf[1024];
        size_t n = 0;
        int64_t got;

        do {
                got = eddy_stream_read(stream, buf + n, sizeof(buf) - 1 - n);
                CHECK(got > 0);
                n += (size_t) got;
                buf[n] = '\0';
        } while (!strstr(buf, word));
}

PROCESS_TEST(a_child_may_have_a_terminal)
{
        eddy_process *process =
                start_terminal("echo; read x; test -t 0 && test -t 1 && test -t 2 && stty size && "
                               "echo word >/dev/tty");
        eddy_stream *terminal = eddy_process_stdin(process);
        int pid = eddy_process_pid(process);

        read_until(terminal, "\r\n"); /* under qemu a start returns before the session is made */
        CHECK_EQ(getsid(pid), pid);
        CHECK(terminal == eddy_process_stdout(process));
        CHECK(!eddy_process_stderr(process));
        CHECK_EQ(eddy_stream_shutdown(terminal), -ENOTSUP);
        CHECK_EQ(eddy_stream_write(terminal, "\n", 1), 0);
        check_prints(process, "\r\n10 30\r\nword\r\n");
}

/* The terminal's Ctrl-C and Ctrl-D work, and closing it hangs up. */
PROCESS_TEST(a_terminal_has_control_characters)
{
        eddy_process *process = start_terminal("trap 'echo caught' INT; echo ready; "
                                               "while :; do read x || break; done; echo end");
        eddy_stream *terminal = eddy_process_stdout(process);
        struct eddy_process_exit end;
        int err;

        read_until(terminal, "ready\r\n");
        CHECK_EQ(eddy_stream_write(terminal, "\003", 1), 0);
        read_until(terminal, "caught\r\n");
        /* If the signal did not interrupt a read of the shell, the end of the input does. */
        err = eddy_stream_write(terminal, "\004", 1);
        CHECK(err == 0 || err == -EIO);
        CHECK_EQ(eddy_process_wait(process, &end), 0);
        CHECK(end.code == 0);
        eddy_process_close(process);

        process = start_terminal("exec cat");
        struct eddy_process_communicate_opts opts = input_of("line\n\004");
        struct eddy_process_output output;

        CHECK_EQ(eddy_process_communicate(process, &opts, &output), 0);
        CHECK_STR(output.out, "line\r\nline\r\n");
        eddy_process_close(process);

        process = start_terminal("echo ready; exec sleep 1000");
        read_until(eddy_process_stdout(process), "ready\r\n");
        eddy_process_close(process);
}
