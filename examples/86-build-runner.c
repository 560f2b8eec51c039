/*
 * 86-build-runner - runs the commands on standard input, N at a time, without mixing their output.
 *
 * The output of a command is printed as a whole after its end, so lines of two commands are never
 * mixed. Each command has a process group of its own. Ctrl-C (SIGINT) cancels the main task, and
 * with it the scope with all commands: each is terminated with its group, and the exit code is 130.
 * A command that fails does not stop the others; the exit code is then 1.
 *
 *     86-build-runner N <commands
 *
 * Run: printf 'echo a; sleep 1; echo b\nsleep 0.1; echo c; echo d >&2; exit 3\necho e\n' | 86-build-runner 2
 * Exit: 1
 * Time: wall 1 s
 * Output:
 *     $ sleep 0.1; echo c; echo d >&2; exit 3
 *     c
 *     d
 *     failed: exit code 3
 *     $ echo e
 *     e
 *     $ echo a; sleep 1; echo b
 *     a
 *     b
 *
 * Run: (yes 'echo begun; sleep 1000' | head -n 20) | timeout --foreground -s INT --preserve-status 1 86-build-runner 4
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     stopped
 */
#include <eddy/eddy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4096, AT_ONCE_MAX = 1000 };

struct runner {
        eddy_semaphore places;
        int failures;
};

struct command {
        struct runner *runner;
        char *text; /* owned */
};

static void print(const char *text, const struct eddy_process_output *output)
{
        printf("$ %s\n%.*s", text, (int) output->out_bytes, output->out);
        if (output->exit.signo)
                printf("failed: signal %d\n", output->exit.signo);
        else if (output->exit.code != 0)
                printf("failed: exit code %d\n", output->exit.code);
        fflush(stdout);
}

static int run_command(const struct command *command)
{
        struct eddy_process_opts opts = { .command = command->text,
                                          .in = { .kind = EDDY_PROCESS_NULL },
                                          .out = { .kind = EDDY_PROCESS_PIPE },
                                          .err = { .kind = EDDY_PROCESS_STDOUT },
                                          .flags = EDDY_PROCESS_GROUP,
                                          .at_close = EDDY_PROCESS_TERMINATE };
        EDDY_AUTO(eddy_process) eddy_process *process = NULL;
        struct eddy_process_output output;
        int err = eddy_process_start(&opts, &process);

        if (err == 0)
                err = eddy_process_communicate(process, NULL, &output);
        if (err < 0)
                return err;
        print(command->text, &output);
        command->runner->failures += output.exit.code != 0;
        return 0;
}

/* The task of a command. The reader of the commands has acquired its place. */
static int command_main(void *arg)
{
        struct command *command = arg;
        int err = run_command(command);

        if (err < 0 && err != -ECANCELED) {
                printf("$ %s\nfailed: %s\n", command->text, eddy_error_text(err));
                command->runner->failures++;
                err = 0;
        }
        eddy_semaphore_release(&command->runner->places);
        free(command->text);
        return err;
}

static int read_commands(struct runner *runner, eddy_scope *scope, eddy_reader *reader)
{
        struct command command = { .runner = runner };
        size_t bytes;
        char *line;
        int64_t n;
        int err;

        while ((n = eddy_reader_line(reader, &line, &bytes)) > 0) {
                command.text = strndup(line, bytes);
                if (!command.text)
                        return -ENOMEM;
                err = eddy_semaphore_acquire(&runner->places);
                if (err == 0) {
                        err = eddy_scope_start_copy(scope, command_main, &command, sizeof(command));
                        if (err < 0)
                                eddy_semaphore_release(&runner->places);
                }
                if (err < 0) {
                        free(command.text);
                        return err;
                }
        }
        return (int) n;
}

static int app_main(void *arg)
{
        EDDY_AUTO(eddy_stream) eddy_stream *in = NULL;
        struct runner *runner = arg;
        static char buf[LINE_BYTES];
        eddy_reader reader;
        eddy_scope scope;
        int err = eddy_stream_from_fd(0, 0, &in);

        if (err < 0)
                return err;
        eddy_reader_init(&reader, in, buf, sizeof(buf));
        eddy_scope_begin(&scope, NULL);
        return eddy_scope_end_with(&scope, read_commands(runner, &scope, &reader));
}

int main(int argc, char **argv)
{
        long n = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
        struct runner runner = { .failures = 0 };
        int err;

        if (n < 1 || n > AT_ONCE_MAX) {
                fputs("usage: 86-build-runner N <commands\n", stderr);
                return 2;
        }
        runner.places = (eddy_semaphore) EDDY_SEMAPHORE((uint32_t) n, 0);
        err = eddy_run(app_main, &runner, NULL);
        if (err == -ECANCELED) {
                puts("stopped");
                return 130;
        }
        if (err < 0)
                fprintf(stderr, "86-build-runner: %s\n", eddy_error_text(err));
        return err < 0 || runner.failures > 0;
}
