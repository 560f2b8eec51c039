/*
 * common/exit.h - the exit codes of the program. The parts of a command return them too.
 */
#ifndef ED_CMD_COMMON_EXIT_H
#define ED_CMD_COMMON_EXIT_H

enum ed_exit {
        ED_EXIT_OK = 0,
        ED_EXIT_FAILED = 1,
        ED_EXIT_USAGE = 2,
        ED_EXIT_INPUT = 3, /* the input cannot be used; nothing was sent */
        ED_EXIT_OUTPUT = 4,
        ED_EXIT_POLICY = 5,     /* a quota, --max-errors or --max-cost ended the run */
        ED_EXIT_BUSY = 6,       /* another process writes to the output; nothing was done */
        ED_EXIT_RESUMABLE = 75, /* a time limit ended the run; EX_TEMPFAIL of sysexits.h */
        ED_EXIT_SIGNAL = 128,   /* plus the signal's number */
};

#endif
