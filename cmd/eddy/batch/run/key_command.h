/*
 * batch/run/key_command.h - runs the command that prints an API key.
 */
#ifndef ED_CMD_BATCH_RUN_KEY_COMMAND_H
#define ED_CMD_BATCH_RUN_KEY_COMMAND_H

#include <stddef.h>

#include "eddy/def.h"

enum { ED_KEY_COMMAND_WHY_BYTES = 160 };

/* The output of a command, which must be wiped. */
struct ed_key_output {
        char *data;
        size_t bytes;
};

/*
 * Run the command by sh -c, without input, for at most 30 seconds, and read its standard output until
 * the shell ends; it shares standard error with this process. A cancel ends it. All processes of its
 * group are ended when this returns.
 *
 * Suspends: yes.
 * Errors: -ECANCELED; -ENOMEM; -EINVAL  the command failed: 'why' is the reason, such as "it ended
 *         with the exit code 1"
 * Owns: returns (owned) the output, for ed_key_output_free().
 */
EDDY_MUST_USE int ed_key_command_run(const char *command, struct ed_key_output *ret_output,
                                     char why[ED_KEY_COMMAND_WHY_BYTES]);

/* Wipe and free an output. */
void ed_key_output_free(struct ed_key_output *output);

#endif
