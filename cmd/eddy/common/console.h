/*
 * common/console.h - messages on stderr.
 *
 * No function here waits for long: even if no process reads stderr, the run must continue, and
 * Ctrl-C must end it.
 */
#ifndef ED_CMD_COMMON_CONSOLE_H
#define ED_CMD_COMMON_CONSOLE_H

#include <stddef.h>

#include "common/exit.h"
#include "common/say.h"
#include "eddy/def.h"
#include "eddy/run.h"

/* Print a line "eddy COMMAND: ..."; 'command' NULL: "eddy: ...". */
void ed_console_say(const char *command, const char *format, ...) EDDY_PRINTF(2, 3);

/* Name this command in all messages, because it is another form of the one that they name. */
void ed_console_sign(const char *command);

/* Report an error in the command line, and where to find help. Returns ED_EXIT_USAGE. */
int ed_console_usage(const char *command, const char *format, ...) EDDY_PRINTF(2, 3);

/* Shows what is said on stderr: 'arg' is the name of the command. */
ed_say_fn ed_console_hear;

/* Returns what says something as 'command' (borrowed) on stderr. */
struct ed_say ed_console_voice(const char *command);

/*
 * Write to stderr, waiting at most 'wait_ms' for room. If the last text began with a carriage
 * return, it is removed from the terminal first. Returns 0, -EAGAIN, or the error of the write.
 */
int ed_console_write(const char *text, size_t bytes, int wait_ms);

/* Replace control characters by question marks, except those in 'kept': text from users or servers
 * must not move the cursor. */
void ed_console_mask(char *text, size_t bytes, const char *kept);

/* Print a text on stdout. Returns the exit code. */
int ed_console_print(const char *command, const char *text);

/* Prints the library's reports, except those that are not useful to users of a program. */
eddy_report_fn ed_console_report;

/*
 * Raise the limit on open files as far as allowed. Returns it, or 0 after a message if the command
 * cannot work with so few.
 */
unsigned long ed_console_raise_files(const char *command);

#endif
