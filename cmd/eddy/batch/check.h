/*
 * batch/check.h - the command `eddy check`: examines a file of requests without sending them.
 */
#ifndef ED_CMD_BATCH_CHECK_H
#define ED_CMD_BATCH_CHECK_H

/* Run the command with its arguments. Returns the exit code. */
int ed_check_main(int argc, char **argv);

#endif
