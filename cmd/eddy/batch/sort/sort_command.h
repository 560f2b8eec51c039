/*
 * batch/sort/sort_command.h - the command `eddy sort`: puts answers into the order of their
 * requests.
 */
#ifndef ED_CMD_BATCH_SORT_SORT_COMMAND_H
#define ED_CMD_BATCH_SORT_SORT_COMMAND_H

/* Run the command with its arguments. Returns the exit code. */
int ed_sort_main(int argc, char **argv);

#endif
