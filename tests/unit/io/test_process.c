/*
 * test_process.c - starting child processes, waiting for their end, signals, and their close.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eddy/test.h"
#include "process_test.h"

enum { WAITERS = 300, RACES = 100 };

static void check_exit(eddy_process *process, int code, int signo)
{
        struct eddy_process_exit end = { .code = 99 };

        CHECK_EQ(eddy_process_wait(process, &end), 0);
        CHECK_EQ(end.code, code);
        CHECK_EQ(end.signo, signo);
}

static int wait_for(void *arg)
{
        return eddy_process_wait(arg, NULL);
}

/* --- the end --- */

/* A119: an exit code, or the signal that ended the process. */
PROCESS_TEST(the_end_is_a_code_or_a_signal)
{
        static const struct {
                const char *command;
                int code, signo;
        } ends[] = { { "exit 0", 0, 0 },
                     { "exit 7", 7, 0 },
                     { "exit 255", 255, 0 },
                     { "kill -9 $$", -1, SIGKILL },
                     { "kill -TERM $$", -1, SIGTERM } };

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                eddy_process *process = start_shell(ends[i].command);

                check_exit(process, ends[i].code, ends[i].signo);
                check_exit(process, ends[i].code, ends[i].signo);
                CHECK_EQ(eddy_process_try_wait(process, NULL), 0);
                eddy_process_close(process);
        }
}

struct waiter {
        eddy_process *process;
        struct eddy_process_exit end;
};

static int waits(void *arg)
{
        struct waiter *waiter = arg;

        return eddy_process_wait(waiter->process, &waiter->end);
}

/* A119, A120: all waiters get the same result, by the pidfd. */
PROCESS_TEST(all_waiters_get_the_same_result)
{
        static struct waiter waiters[WAITERS];
        eddy_process *process = start_filter("read x; exit 5");
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < WAITERS; i++) {
                waiters[i] = (struct waiter){ .process = process };
                eddy_scope_start(&scope, waits, &waiters[i]);
        }
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_process_try_wait(process, NULL), -EAGAIN);
        CHECK_EQ(eddy_stream_write(eddy_process_stdin(process), "x\n", 2), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(waiters[i].end.code, 5);
        eddy_process_close(process);
}

/* A121: a cancelled wait leaves the process alone. */
PROCESS_TEST(a_cancelled_wait_does_not_end_the_process)
{
        eddy_process *process = start_filter("read x; exit 3");

        CHECK_EQ(eddy_call_timeout(wait_for, process, EDDY_MS(5)), -ETIMEDOUT);
        CHECK_EQ(eddy_process_signal(process, 0), 0);
        CHECK_EQ(eddy_stream_shutdown(eddy_process_stdin(process)), 0);
        check_exit(process, 3, 0);
        eddy_process_close(process);
}

/* A122: a task that is cancelled while it reads a pipe does not disturb the wait. */
static int reads(void *arg)
{
        char byte;

        return (int) eddy_stream_read(eddy_process_stdout(arg), &byte, 1);
}

static int writes_much(void *arg)
{
        static char much[1 << 20];

        return eddy_stream_write(eddy_process_stdin(arg), much, sizeof(much));
}

PROCESS_TEST(cancelled_pipes_do_not_disturb_the_wait)
{
        eddy_process *process = start_filter("exec sleep 1000");

        CHECK_EQ(eddy_call_timeout(reads, process, EDDY_MS(5)), -ETIMEDOUT);
        CHECK_EQ(eddy_call_timeout(writes_much, process, EDDY_MS(5)), -ETIMEDOUT);
        CHECK_EQ(eddy_process_signal(process, SIGUSR1), 0);
        check_exit(process, -1, SIGUSR1);
        eddy_process_close(process);
}

/* A child that no task waits for does not become a zombie. */
PROCESS_TEST(a_child_is_collected_without_a_waiter)
{
        eddy_process *process = start_shell("exit 0");
        siginfo_t info;

        do
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
        CHECK_EQ(errno, ECHILD);
        check_exit(process, 0, 0);
        eddy_process_close(process);
}

/* --- signals --- */

/* A119: after the end a signal is an error, and reaches no other process. */
PROCESS_TEST(a_signal_reaches_the_process_until_its_end)
{
        eddy_process *process = start_shell("exec sleep 1000");

        CHECK_EQ(eddy_process_signal(process, 1000), -EINVAL);
        CHECK_EQ(eddy_process_signal_group(process, SIGTERM), -ENOTSUP);
        CHECK_EQ(eddy_process_signal(process, SIGUSR1), 0);
        check_exit(process, -1, SIGUSR1);
        CHECK_EQ(eddy_process_signal(process, SIGTERM), -ESRCH);
        CHECK_EQ(eddy_process_signal(process, 0), -ESRCH);
        eddy_process_close(process);
}

/* A119: a signal that meets the end is either ignored or an error. */
PROCESS_TEST(a_signal_may_meet_the_end)
{
        for (int i = 0; i < RACES; i++) {
                eddy_process *process = start_shell("exit 0");
                int err;

                while ((err = eddy_process_signal(process, SIGCONT)) == 0)
                        CHECK_EQ(eddy_sleep(EDDY_US(50)), 0);
                CHECK_EQ(err, -ESRCH);
                check_exit(process, 0, 0);
                eddy_process_close(process);
        }
}

/* --- closing --- */

/* A121: closing kills a running process, and leaves an ended one alone. */
PROCESS_TEST(closing_kills_a_running_process)
{
        eddy_process *process = start_shell("exec sleep 1000");
        int pid = eddy_process_pid(process);

        eddy_process_close(process);
        CHECK(kill(pid, 0) < 0 && errno == ESRCH);
        {
                EDDY_AUTO(eddy_process) eddy_process *other = start_shell("exec sleep 1000");

                pid = eddy_process_pid(other);
        }
        CHECK(kill(pid, 0) < 0 && errno == ESRCH);
}

/* Both ends of a pipe of the test; the second is for children. */
struct channel {
        int fds[2];
};

static void channel_open(struct channel *channel)
{
        CHECK_EQ(pipe2(channel->fds, O_CLOEXEC), 0);
}

/* What children have written to the channel, until they have all ended. */
static void channel_check(struct channel *channel, const char *text)
{
        struct pollfd pfd = { .fd = channel->fds[0], .events = POLLIN };
        char buf[256];
        size_t n = 0;
        ssize_t got;

        close(channel->fds[1]);
        do {
                CHECK(poll(&pfd, 1, 20000) == 1);
                got = read(channel->fds[0], buf + n, sizeof(buf) - n - 1);
                CHECK(got >= 0);
                n += (size_t) got;
        } while (got > 0);
        buf[n] = '\0';
        CHECK_STR(buf, text);
        close(channel->fds[0]);
}

static eddy_process *start_on(const struct channel *channel, const char *command, uint32_t flags,
                              enum eddy_process_end at_close, int64_t grace_ns)
{
        struct eddy_process_opts opts = { .command = command,
                                          .in = { .kind = EDDY_PROCESS_NULL },
                                          .out = { .kind = EDDY_PROCESS_PIPE },
                                          .err = { .kind = EDDY_PROCESS_FD, .fd = channel->fds[1] },
                                          .flags = flags,
                                          .at_close = at_close,
                                          .grace_ns = grace_ns };

        return start_with(&opts);
}

PROCESS_TEST(a_terminated_process_may_clean_up)
{
        struct channel channel;
        eddy_process *process;

        channel_open(&channel);
        process = start_on(&channel,
                           "trap 'echo bye >&2; exit' TERM; echo; while :; do sleep 0.01; done", 0,
                           EDDY_PROCESS_TERMINATE, EDDY_SEC(100));
        await_byte(process);
        eddy_process_close(process);
        channel_check(&channel, "bye\n");
}

static const char stubborn[] = "trap '' TERM; echo; while :; do sleep 0.01; done";

static int wait_and_close(void *arg)
{
        EDDY_AUTO(eddy_process) eddy_process *process = arg;

        return eddy_process_wait(process, NULL);
}

/* Also in a task whose scope was cancelled, and in a bounded time. */
PROCESS_TEST(a_stubborn_process_is_killed_after_the_grace)
{
        struct channel channel;
        eddy_process *process;
        int64_t begun_ns;

        channel_open(&channel);
        process = start_on(&channel, stubborn, EDDY_PROCESS_GROUP, EDDY_PROCESS_TERMINATE,
                           EDDY_MS(30));
        await_byte(process);
        begun_ns = eddy_now();
        CHECK_EQ(eddy_call_timeout(wait_and_close, process, EDDY_MS(20)), -ETIMEDOUT);
        CHECK(eddy_now() - begun_ns >= EDDY_MS(30));
        CHECK(eddy_now() - begun_ns < EDDY_SEC(20));
        channel_check(&channel, "");
}

/* The leader ends first; a descendant that ignores SIGHUP and SIGTERM is killed all the same. */
PROCESS_TEST(closing_ends_the_whole_group)
{
        static const uint32_t flags[] = { EDDY_PROCESS_GROUP, EDDY_PROCESS_SESSION };
        struct channel channel;
        eddy_process *process;

        for (int i = 0; i < 4; i++) {
                channel_open(&channel);
                process = start_on(&channel, "trap '' TERM HUP; sleep 1000 & echo; exit 6",
                                   flags[i % 2], i < 2 ? EDDY_PROCESS_KILL : EDDY_PROCESS_TERMINATE,
                                   0);
                await_byte(process);
                CHECK_EQ(getpgid(eddy_process_pid(process)), eddy_process_pid(process));
                check_exit(process, 6, 0);
                CHECK_EQ(eddy_process_signal(process, SIGTERM), -ESRCH);
                CHECK_EQ(eddy_process_signal_group(process, SIGTERM), 0);
                eddy_process_close(process);
                channel_check(&channel, "");
        }
}

PROCESS_TEST(a_process_that_is_left_runs_on_and_is_collected)
{
        struct channel channel;
        eddy_process *process;
        int pid;

        channel_open(&channel);
        process = start_on(&channel,
                           "trap 'echo on >&2; exit' USR1; echo; while :; do sleep 0.01; done",
                           EDDY_PROCESS_GROUP, EDDY_PROCESS_LEAVE, 0);
        pid = eddy_process_pid(process);
        await_byte(process);
        eddy_process_close(process);
        CHECK_EQ(waitpid(-1, NULL, WNOHANG), 0);
        CHECK_EQ(kill(pid, SIGUSR1), 0);
        channel_check(&channel, "on\n");
        while (waitid(P_ALL, 0, &(siginfo_t){ 0 }, WEXITED | WNOHANG | WNOWAIT) == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
}

static int closes_soon(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        eddy_process_close(arg);
        return 0;
}

/* The close kills it, so the waiter gets that result; one that is left runs on. */
PROCESS_TEST(a_close_ends_the_waits_of_other_tasks)
{
        eddy_process *process = start_shell("exec sleep 1000");
        struct eddy_process_opts opts = { .command = "exec sleep 1000",
                                          .at_close = EDDY_PROCESS_LEAVE };
        eddy_scope scope;
        int pid;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, closes_soon, process);
        check_exit(process, -1, SIGKILL);
        CHECK_EQ(eddy_scope_end(&scope), 0);

        process = start_with(&opts);
        pid = eddy_process_pid(process);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, closes_soon, process);
        CHECK_EQ(eddy_process_wait(process, NULL), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(kill(pid, SIGKILL), 0);
        while (waitid(P_ALL, 0, &(siginfo_t){ 0 }, WEXITED | WNOHANG | WNOWAIT) == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
}

static eddy_process *outlives;

static int starts_only(void *arg)
{
        (void) arg;
        outlives = start_shell("exec sleep 1000");
        return 0;
}

TEST(a_process_may_be_closed_after_its_run)
{
        int fds = io_open_fds();

        CHECK_EQ(eddy_run(starts_only, NULL, NULL), 0);
        CHECK_EQ(eddy_process_wait(outlives, NULL), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_process_signal(outlives, SIGTERM), EDDY_E_RUN_OTHER_LOOP);
        eddy_process_close(outlives);
        check_no_children();
        CHECK_EQ(io_open_fds(), fds);
}

PROCESS_TEST(a_child_of_fork_leaves_the_process_alone)
{
        eddy_process *process = start_filter("read x; exit 2");
        int status, pid = fork();

        CHECK(pid >= 0);
        if (pid == 0) {
                CHECK_EQ(eddy_process_signal(process, SIGKILL), EDDY_E_LOOP_FORKED);
                CHECK_EQ(eddy_process_try_wait(process, NULL), EDDY_E_LOOP_FORKED);
                eddy_process_close(process);
                _exit(0);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
        CHECK_EQ(eddy_stream_shutdown(eddy_process_stdin(process)), 0);
        check_exit(process, 2, 0);
        eddy_process_close(process);
}

/* --- errors of the start --- */

static int start_error(const struct eddy_process_opts *opts)
{
        eddy_process *process = (eddy_process *) 1;
        int err = eddy_process_start(opts, &process);

        CHECK(process == (eddy_process *) 1);
        check_no_children();
        return err;
}

static int program_error(const char *program, const char *folder)
{
        const char *arguments[] = { program, NULL };
        struct eddy_process_opts opts = { .arguments = arguments,
                                          .folder = folder,
                                          .in = { .kind = EDDY_PROCESS_PIPE },
                                          .out = { .kind = EDDY_PROCESS_PIPE },
                                          .err = { .kind = EDDY_PROCESS_PIPE } };

        return start_error(&opts);
}

/* Valgrind and qemu lose an error of execve(2): the child then exits with code 127. */
static void check_not_executable(const char *file)
{
        const char *arguments[] = { file, NULL };
        struct eddy_process_opts opts = { .arguments = arguments };
        eddy_process *process = NULL;
        int err = eddy_process_start(&opts, &process);

        CHECK(err == -ENOEXEC || err == 0);
        if (err == 0)
                check_exit(process, 127, 0);
        eddy_process_close(process);
}

/* A124: a program that cannot be started is an error that leaves nothing. */
PROCESS_TEST(a_program_that_cannot_be_run_is_an_error_of_the_start)
{
        char file[] = "/tmp/eddy-process-XXXXXX";
        int fd = mkostemp(file, O_CLOEXEC);

        CHECK(fd >= 0);
        CHECK_EQ(write(fd, "\1\2\3\4", 4), 4);
        close(fd);
        CHECK_EQ(program_error("no-such-program", NULL), -ENOENT);
        CHECK_EQ(program_error("/no/such/program", NULL), -ENOENT);
        CHECK_EQ(program_error("/etc/passwd/program", NULL), -ENOTDIR);
        CHECK_EQ(program_error("", NULL), -ENOENT);
        CHECK_EQ(program_error("/tmp", NULL), -EACCES);
        CHECK_EQ(program_error(file, NULL), -EACCES);
        CHECK_EQ(chmod(file, 0700), 0);
        check_not_executable(file);
        CHECK_EQ(unlink(file), 0);
        CHECK_EQ(program_error("true", "/no/such/folder"), EDDY_E_PROCESS_FOLDER);
        CHECK_EQ(program_error("true", "/etc/passwd"), EDDY_E_PROCESS_FOLDER);
}

PROCESS_TEST(options_that_do_not_fit_are_refused)
{
        static const char *const none[] = { NULL }, *const yes[] = { "true", NULL };
        static const char *const no_value[] = { "A", NULL }, *const no_name[] = { "=x", NULL };
        static const struct eddy_process_opts wrong[] = {
                { .arguments = NULL },
                { .arguments = none },
                { .arguments = yes, .command = "true" },
                { .program = "/bin/sh", .command = "true" },
                { .arguments = yes, .flags = 1 << 20 },
                { .arguments = yes, .out = { .kind = EDDY_PROCESS_STDOUT } },
                { .arguments = yes, .in = { .kind = EDDY_PROCESS_STDOUT } },
                { .arguments = yes, .in = { .kind = (enum eddy_process_io_kind) 9 } },
                { .arguments = yes,
                  .in = { .kind = EDDY_PROCESS_PIPE },
                  .flags = EDDY_PROCESS_TERMINAL },
                { .arguments = yes, .grace_ns = -1 },
                { .arguments = yes, .at_close = (enum eddy_process_end) 3 },
                { .arguments = yes, .environment = no_value },
                { .arguments = yes, .environment_add = no_name },
        };

        CHECK_EQ(start_error(NULL), -EINVAL);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_EQ(start_error(&wrong[i]), -EINVAL);
        CHECK_EQ(start_error(&(struct eddy_process_opts){
                         .arguments = yes, .out = { .kind = EDDY_PROCESS_FD, .fd = 1000 } }),
                 -EBADF);
        CHECK_EQ(start_error(&(struct eddy_process_opts){
                         .arguments = yes, .out = { .kind = EDDY_PROCESS_FD, .fd = -1 } }),
                 -EBADF);
}

static int refused(void *arg)
{
        (void) arg;
        CHECK_EQ(start_error(&(struct eddy_process_opts){ .command = "true" }),
                 EDDY_E_PROCESS_SIMULATED);
        return 0;
}

TEST(a_simulated_run_starts_no_process)
{
        CHECK_EQ(eddy_test_run(refused, NULL, NULL, NULL), 0);
}

/* --- what the child gets --- */

PROCESS_TEST(the_environment_is_inherited_replaced_and_changed)
{
        static const char *const arguments[] = { "/bin/sh", "-c",
                                                 "echo \"${A-no} ${B-no} ${C-no}\"", NULL };
        static const char *const replaced[] = { "A=1", "B=2", NULL };
        static const char *const added[] = { "B=3", "A", "C=", "C=4", NULL };
        struct eddy_process_opts opts = { .arguments = arguments,
                                          .out = { .kind = EDDY_PROCESS_PIPE } };

        CHECK_EQ(setenv("A", "old", 1) | setenv("C", "old", 1), 0);
        check_prints(start_with(&opts), "old no old\n");
        opts.environment = replaced;
        check_prints(start_with(&opts), "1 2 no\n");
        opts.environment_add = added;
        check_prints(start_with(&opts), "no 3 4\n");
        opts.environment = NULL;
        check_prints(start_with(&opts), "no 3 4\n");
}

/* Make a program that prints its name and a word. */
static void make_program(const char *folder, const char *word)
{
        char path[128];
        FILE *file;

        CHECK(mkdir(folder, 0700) == 0);
        snprintf(path, sizeof(path), "%s/eddy-program", folder);
        file = fopen(path, "we");
        CHECK(file);
        fprintf(file, "#!/bin/sh\necho %s $1; pwd\n", word);
        CHECK_EQ(fclose(file), 0);
        CHECK_EQ(chmod(path, 0700), 0);
}

static void remove_program(const char *folder)
{
        char path[128];

        snprintf(path, sizeof(path), "%s/eddy-program", folder);
        CHECK_EQ(unlink(path) | rmdir(folder), 0);
}

PROCESS_TEST(the_program_is_found_in_the_folder_and_in_the_path_of_the_child)
{
        static const char *const arguments[] = { "eddy-program", "x", NULL };
        char base[] = "/tmp/eddy-process-XXXXXX", one[64], path[128], expected[128];
        const char *added[] = { path, NULL };
        struct eddy_process_opts opts = { .arguments = arguments,
                                          .environment_add = added,
                                          .out = { .kind = EDDY_PROCESS_PIPE } };

        CHECK(mkdtemp(base));
        snprintf(one, sizeof(one), "%s/one", base);
        make_program(one, "one");
        /* A folder that is not there, an absolute one, and a relative one. */
        snprintf(path, sizeof(path), "PATH=/no/such:%s:/bin", one);
        opts.folder = "/tmp";
        check_prints(start_with(&opts), "one x\n/tmp\n");
        snprintf(path, sizeof(path), "PATH=/no/such:one:/bin");
        opts.folder = base;
        snprintf(expected, sizeof(expected), "one x\n%s\n", base);
        check_prints(start_with(&opts), expected);
        /* The working folder itself, and a path. */
        snprintf(path, sizeof(path), "PATH=/bin:");
        opts.folder = one;
        snprintf(expected, sizeof(expected), "one x\n%s\n", one);
        check_prints(start_with(&opts), expected);
        opts.program = "./eddy-program";
        check_prints(start_with(&opts), expected);
        added[0] = "PATH";
        opts.program = "sh";
        opts.arguments = (const char *const[]){ "name", "-c", "echo $0", NULL };
        check_prints(start_with(&opts), "name\n");
        remove_program(one);
        CHECK_EQ(rmdir(base), 0);
}

/* A123: a child has its three streams and no other descriptor, not even those of other children. */
PROCESS_TEST(a_child_has_no_other_descriptors)
{
        eddy_process *other = start_filter("cat");
        int left = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */

        CHECK(left >= 0);
        /* The shell's builtin opens no descriptor that it lists. */
        check_prints(
                start_shell("for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
                            "test -e /proc/$$/fd/$i && echo $i; done; true"),
                "0\n1\n2\n");
        close(left);
        eddy_process_close(other);
}

PROCESS_TEST(a_child_has_default_signals_and_an_empty_mask)
{
        sigset_t blocked;

        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR1);
        CHECK_EQ(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
        CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR && signal(SIGUSR2, SIG_IGN) != SIG_ERR);
        /* The C library and qemu may ignore signals above 31. */
        check_prints(start_shell("grep -E 'Sig(Blk|Ign)' /proc/self/status | "
                                 "sed -E 's/\\t.{8}[08]/\\t000000000/'"),
                     "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
        CHECK_EQ(sigprocmask(SIG_UNBLOCK, &blocked, NULL), 0);
}

PROCESS_TEST(streams_go_where_they_are_sent)
{
        struct channel channel;
        eddy_process *process;
        struct eddy_process_opts opts = { .command = "echo out; echo err >&2; cat",
                                          .in = { .kind = EDDY_PROCESS_NULL },
                                          .out = { .kind = EDDY_PROCESS_PIPE },
                                          .err = { .kind = EDDY_PROCESS_STDOUT } };

        process = start_with(&opts);
        CHECK(!eddy_process_stdin(process) && !eddy_process_stderr(process));
        check_prints(process, "out\nerr\n");
        channel_open(&channel);
        opts.out = (struct eddy_process_io){ EDDY_PROCESS_FD, channel.fds[1] };
        check_prints(start_with(&opts), "");
        opts.err = (struct eddy_process_io){ EDDY_PROCESS_NULL, 0 };
        check_prints(start_with(&opts), "");
        channel_check(&channel, "out\nerr\nout\n");
}

/* Numbers of given descriptors that are those of other streams, and standard input closed. */
PROCESS_TEST(given_descriptors_may_be_swapped)
{
        struct channel channel;
        int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10), in = dup(STDIN_FILENO);
        struct eddy_process_opts opts = { .command = "echo one >&1; echo two >&2",
                                          .in = { .kind = EDDY_PROCESS_NULL },
                                          .out = { EDDY_PROCESS_FD, STDERR_FILENO },
                                          .err = { EDDY_PROCESS_FD, STDOUT_FILENO } };
        int err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
        struct channel second;
        eddy_process *process;

        channel_open(&channel);
        channel_open(&second);
        fflush(stdout);
        CHECK(dup2(channel.fds[1], STDOUT_FILENO) >= 0 && dup2(second.fds[1], STDERR_FILENO) >= 0);
        close(STDIN_FILENO);
        process = start_with(&opts);
        CHECK(dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0);
        check_exit(process, 0, 0);
        eddy_process_close(process);
        process = start_filter("cat");
        CHECK_EQ(eddy_stream_shutdown(eddy_process_stdin(process)), 0);
        check_exit(process, 0, 0);
        eddy_process_close(process);
        if (in >= 0)
                CHECK(dup2(in, STDIN_FILENO) >= 0);
        close(in);
        close(out);
        close(err);
        channel_check(&channel, "two\n");
        channel_check(&second, "one\n");
}

PROCESS_TEST(a_child_has_its_own_group_or_session)
{
        static const uint32_t flags[] = { 0, EDDY_PROCESS_GROUP, EDDY_PROCESS_SESSION };

        for (int i = 0; i < 3; i++) {
                struct eddy_process_opts opts = { .command = "echo; read x",
                                                  .in = { .kind = EDDY_PROCESS_PIPE },
                                                  .out = { .kind = EDDY_PROCESS_PIPE },
                                                  .flags = flags[i] };
                eddy_process *process = start_with(&opts);
                int pid = eddy_process_pid(process);

                await_byte(process); /* under qemu a start returns before the group is made */
                CHECK_EQ(getpgid(pid) == pid, i > 0);
                CHECK_EQ(getsid(pid) == pid, i == 2);
                eddy_process_close(process);
        }
}

/* --- other code that handles SIGCHLD --- */

/* A120: a process that other code has collected is reported. */
PROCESS_TEST(an_ignored_sigchld_is_reported)
{
        struct eddy_process_exit end = { .code = 99 };
        eddy_process *process;

        CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
        process = start_filter("read x");
        CHECK_EQ(eddy_process_try_wait(process, NULL), -EAGAIN);
        CHECK_EQ(eddy_stream_shutdown(eddy_process_stdin(process)), 0);
        CHECK_EQ(eddy_process_wait(process, &end), EDDY_E_PROCESS_COLLECTED);
        CHECK_EQ(eddy_process_wait(process, &end), EDDY_E_PROCESS_COLLECTED);
        CHECK_EQ(end.code, 99);
        CHECK_EQ(eddy_process_signal(process, SIGKILL), -ESRCH);
        eddy_process_close(process);
        /* It may end before it is looked at. */
        for (int i = 0; i < 20; i++) {
                struct eddy_process_opts opts = { .command = "exit 1",
                                                  .flags = EDDY_PROCESS_GROUP };

                process = start_with(&opts);
                CHECK_EQ(eddy_process_wait(process, NULL), EDDY_E_PROCESS_COLLECTED);
                CHECK_EQ(eddy_process_signal_group(process, SIGKILL), -ESRCH);
                eddy_process_close(process);
        }
}

static volatile sig_atomic_t children;

static void collect_any(int signo)
{
        int saved = errno;

        (void) signo;
        while (waitpid(-1, NULL, WNOHANG) > 0)
                children++;
        errno = saved;
}

static void count_only(int signo)
{
        (void) signo;
        children++;
}

PROCESS_TEST(a_handler_of_the_program_may_collect_or_count)
{
        eddy_process *process;
        int err;

        CHECK(signal(SIGCHLD, count_only) != SIG_ERR);
        process = start_shell("exit 4");
        check_exit(process, 4, 0);
        eddy_process_close(process);
        CHECK(children > 0);

        CHECK(signal(SIGCHLD, collect_any) != SIG_ERR);
        process = start_shell("exit 4");
        err = eddy_process_wait(process, NULL);
        CHECK(err == EDDY_E_PROCESS_COLLECTED || err == 0);
        eddy_process_close(process);
}

/* --- a program without standard streams --- */

/* New descriptors get the numbers of those that are closed. */
PROCESS_TEST(a_child_starts_in_its_folder_although_standard_input_is_closed)
{
        struct eddy_process_opts opts = { .command = "pwd; cat",
                                          .folder = "/usr",
                                          .in = { .kind = EDDY_PROCESS_NULL },
                                          .out = { .kind = EDDY_PROCESS_PIPE } };
        int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
        eddy_process *process = NULL;
        int err;

        CHECK(saved >= 0);
        CHECK_EQ(close(STDIN_FILENO), 0);
        err = eddy_process_start(&opts, &process);
        CHECK_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
        CHECK_EQ(dup2(saved, STDIN_FILENO), STDIN_FILENO);
        close(saved);
        CHECK_STR(err ? eddy_error_name(err) : "0", "0");
        check_prints(process, "/usr\n");
}

PROCESS_TEST(arguments_that_are_too_long_are_an_error_of_the_start)
{
        enum { BYTES = 200 * 1024, COUNT = 100 };
        char *text = malloc(BYTES);
        const char *arguments[COUNT + 2] = { "true" };
        struct eddy_process_opts opts = { .arguments = arguments,
                                          .out = { .kind = EDDY_PROCESS_PIPE } };
        eddy_process *process = NULL;

        if (getenv("EDDY_TEST_VALGRIND") || getenv("EDDY_TEST_QEMU"))
                test_skip("the tool starts programs in its own way");
        CHECK(text);
        memset(text, 'a', BYTES);
        text[BYTES - 1] = '\0';
        for (int i = 1; i <= COUNT; i++)
                arguments[i] = text;
        CHECK_EQ(eddy_process_start(&opts, &process), -E2BIG);
        CHECK(process == NULL);
        free(text);
}
