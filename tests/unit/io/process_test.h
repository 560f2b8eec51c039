/*
 * process_test.h - what the tests of child processes share.
 */
#ifndef ED_PROCESS_TEST_H
#define ED_PROCESS_TEST_H

#include <errno.h>
#include <sys/wait.h>

#include "io_test.h"

/* A case whose body is the main task of a run that leaves no descriptor and no child. */
#define PROCESS_TEST(claim)                                                                        \
        static void body_##claim(void);                                                            \
        static int main_##claim(void *arg)                                                         \
        {                                                                                          \
                (void) arg;                                                                        \
                body_##claim();                                                                    \
                return 0;                                                                          \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                io_run(main_##claim);                                                              \
                check_no_children();                                                               \
        }                                                                                          \
        static void body_##claim(void)

/* Neither a running child nor a zombie. */
static inline void check_no_children(void)
{
        int pid = waitpid(-1, NULL, WNOHANG);

        if (pid != -1 || errno != ECHILD)
                test_fail(__FILE__, __LINE__, "a child is left: %d", pid);
}

static inline eddy_process *start_with(const struct eddy_process_opts *opts)
{
        eddy_process *process = NULL;
        int err = eddy_process_start(opts, &process);

        CHECK_STR(err ? eddy_error_name(err) : "0", "0");
        CHECK(process && eddy_process_pid(process) > 0);
        return process;
}

/* A command of the shell, with pipes from its two outputs. */
static inline eddy_process *start_shell(const char *command)
{
        struct eddy_process_opts opts = { .command = command,
                                          .in = { .kind = EDDY_PROCESS_NULL },
                                          .out = { .kind = EDDY_PROCESS_PIPE },
                                          .err = { .kind = EDDY_PROCESS_PIPE } };

        return start_with(&opts);
}

/* The same, with a pipe to its input too. */
static inline eddy_process *start_filter(const char *command)
{
        struct eddy_process_opts opts = { .command = command,
                                          .in = { .kind = EDDY_PROCESS_PIPE },
                                          .out = { .kind = EDDY_PROCESS_PIPE },
                                          .err = { .kind = EDDY_PROCESS_PIPE } };

        return start_with(&opts);
}

/* What the process prints until it ends, with code 0; then it is closed. */
static inline void check_prints(eddy_process *process, const char *text)
{
        struct eddy_process_output output;
        int err = eddy_process_communicate(process, NULL, &output);

        CHECK_STR(err ? eddy_error_name(err) : "0", "0");
        CHECK_STR(output.out, text);
        CHECK_EQ(output.exit.code, 0);
        eddy_process_close(process);
}

/* Wait until the child has written a byte, which is read. */
static inline void await_byte(eddy_process *process)
{
        char byte;

        CHECK_EQ(eddy_stream_read(eddy_process_stdout(process), &byte, 1), 1);
}

#endif
