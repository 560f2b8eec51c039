/*
 * common/console.h - what people are told, on stderr.
 *
 * Nothing here waits for long: a stderr that nobody reads must not stop a
 * run, nor keep Ctrl-C from ending it.
 */
#ifndef ED_CMD_COMMON_CONSOLE_H
#define ED_CMD_COMMON_CONSOLE_H

#include <stddef.h>

#include "eddy/def.h"
#include "eddy/run.h"

/* What the program returns. */
enum ed_exit {
        ED_EXIT_OK = 0,
        ED_EXIT_FAILED = 1,
        ED_EXIT_USAGE = 2,
        ED_EXIT_OUTPUT = 4,
        ED_EXIT_SIGNAL = 128, /* and its number */
};

/* A line "eddy COMMAND: ..."; 'command' NULL: "eddy: ...". */
void ed_console_say(const char *command, const char *format, ...) EDDY_PRINTF(2, 3);

/*
 * Say what is wrong with the command line, and where help is.  Returns
 * ED_EXIT_USAGE.
 */
int ed_console_usage(const char *command, const char *format, ...) EDDY_PRINTF(2, 3);

/*
 * Write to stderr, waiting at most 'wait_ms' for room.  Returns 0, or -EAGAIN
 * or what writing failed with.
 */
int ed_console_write(const char *text, size_t bytes, int wait_ms);

/* Print a text on stdout; returns what the program is to return. */
int ed_console_print(const char *command, const char *text);

/* Prints the library's reports, but for what a user of a program cannot use. */
eddy_report_fn ed_console_report;

/*
 * Raise the limit of open files as far as allowed, and return it.
 */
unsigned long ed_console_raise_files(void);

#endif
