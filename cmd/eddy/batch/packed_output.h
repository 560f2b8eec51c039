/*
 * batch/packed_output.h - notices an output that was compressed after its run, because a run that
 * resumes without it would send all requests again; and the name of a table for a new output.
 */
#ifndef ED_CMD_BATCH_PACKED_OUTPUT_H
#define ED_CMD_BATCH_PACKED_OUTPUT_H

/*
 * Refuse an output that does not exist if its name with .gz or .zst does, or if it is that of a table,
 * such as answers.csv. Returns 0, or the exit code
 * after a message.
 */
int ed_packed_output_check(const char *command, const char *output);

#endif
