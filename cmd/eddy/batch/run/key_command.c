/*
 * batch/run/key_command.c - see key_command.h.
 */
#include "batch/run/key_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/process.h"
#include "eddy/scope.h"
#include "eddy/time.h"

#define LIMIT_NS EDDY_SEC(30)

enum { OUTPUT_BYTES_MAX = 64 << 10 };

/* The output of a process, while it is read. */
struct reading {
        eddy_stream *stream;
        struct ed_key_output *output;
};

/* Add what was read. Returns 1 to continue, 0 at the end. Errors: -EFBIG; the error 'n' */
static int output_add(struct ed_key_output *output, int64_t n)
{
        if (n <= 0)
                return (int) n;
        output->bytes += (size_t) n;
        return output->bytes <= OUTPUT_BYTES_MAX ? 1 : -EFBIG;
}

/* Read to the end of the output, which a child of the command may keep open. */
static int output_read(void *arg)
{
        const struct reading *reading = arg;
        struct ed_key_output *output = reading->output;
        int more;

        do
                more = output_add(output,
                                  eddy_stream_read(reading->stream, output->data + output->bytes,
                                                   OUTPUT_BYTES_MAX + 1 - output->bytes));
        while (more > 0);
        return more;
}

/* Read what the command has written before its end. */
static int output_read_rest(const struct reading *reading)
{
        struct ed_key_output *output = reading->output;
        int more;

        do
                more = output_add(
                        output, eddy_stream_try_read(reading->stream, output->data + output->bytes,
                                                     OUTPUT_BYTES_MAX + 1 - output->bytes));
        while (more > 0);
        return more == -EAGAIN ? 0 : more;
}

/* Start the command, and read all it prints until it ends. The caller closes the process. */
static int command_call(const char *command, struct ed_key_output *output,
                        eddy_process **ret_process, struct eddy_process_exit *ret_exit)
{
        struct eddy_process_opts opts = { .command = command,
                                          .in = { .kind = EDDY_PROCESS_NULL },
                                          .out = { .kind = EDDY_PROCESS_PIPE },
                                          .flags = EDDY_PROCESS_GROUP };
        struct reading reading = { .output = output };
        eddy_scope scope;
        int err = eddy_process_start(&opts, ret_process), end;

        if (err < 0)
                return err;
        reading.stream = eddy_process_stdout(*ret_process);
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start(&scope, output_read, &reading);
        if (err == 0)
                err = eddy_process_wait(*ret_process, ret_exit);
        eddy_scope_cancel(&scope);
        end = eddy_scope_end(&scope);
        if (end < 0 && end != -ECANCELED)
                return end;
        return err == 0 ? output_read_rest(&reading) : err;
}

/* Describe a failure. Returns true if there is one. */
static bool is_failure(int err, const struct eddy_process_exit *exit,
                       char why[ED_KEY_COMMAND_WHY_BYTES])
{
        size_t room = ED_KEY_COMMAND_WHY_BYTES;

        if (err == -ETIMEDOUT)
                snprintf(why, room, "it did not end within 30 s");
        else if (err == -EFBIG)
                snprintf(why, room, "it printed more than %d KiB", OUTPUT_BYTES_MAX >> 10);
        else if (err < 0)
                snprintf(why, room, "it cannot be run: %s", eddy_error_text(err));
        else if (exit->signo)
                snprintf(why, room, "it was ended by signal %d", exit->signo);
        else if (exit->code == 127)
                snprintf(why, room,
                         "it ended with the exit code 127: the shell does not find a "
                         "program that it names");
        else if (exit->code != 0)
                snprintf(why, room, "it ended with the exit code %d", exit->code);
        else
                return false;
        return true;
}

int ed_key_command_run(const char *command, struct ed_key_output *ret_output,
                       char why[ED_KEY_COMMAND_WHY_BYTES])
{
        struct ed_key_output output = { eddy_malloc(OUTPUT_BYTES_MAX + 1), 0 };
        struct eddy_process_exit exit = { 0 };
        eddy_process *process = NULL;
        eddy_scope scope;
        int err, end;

        if (!output.data)
                return -ENOMEM;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = LIMIT_NS });
        err = command_call(command, &output, &process, &exit);
        end = eddy_scope_end(&scope);
        eddy_process_close(process);
        if (err == -ECANCELED && end == -ETIMEDOUT)
                err = -ETIMEDOUT;
        if (err != -ECANCELED && err != -ENOMEM && is_failure(err, &exit, why))
                err = -EINVAL;
        if (err < 0) {
                ed_key_output_free(&output);
                return err;
        }
        *ret_output = output;
        return 0;
}

void ed_key_output_free(struct ed_key_output *output)
{
        if (output->data)
                explicit_bzero(output->data, OUTPUT_BYTES_MAX + 1);
        eddy_free(output->data);
        *output = (struct ed_key_output){ 0 };
}
