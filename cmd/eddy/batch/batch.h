/*
 * batch/batch.h - the commands `eddy batch` and `eddy retry`.
 */
#ifndef ED_CMD_BATCH_BATCH_H
#define ED_CMD_BATCH_BATCH_H

/* Run the command that argv[0] names. Returns the exit code. */
int ed_batch_main(int argc, char **argv);

#endif
