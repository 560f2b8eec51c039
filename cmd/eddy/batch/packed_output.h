/*
 * batch/packed_output.h - notices an output that was compressed after its run, because a run that
 * resumes without it would send all requests again.
 */
#ifndef ED_CMD_BATCH_PACKED_OUTPUT_H
#define ED_CMD_BATCH_PACKED_OUTPUT_H

/*
 * Refuse an output that does not exist if its name with .gz or .zst does. Returns 0, or the exit code
 * after a message.
 */
int ed_packed_output_check(const char *command, const char *output);

#endif
