/*
 * batch/answer/errors_name.h - the name of the errors file, which follows from that of the output.
 */
#ifndef ED_CMD_BATCH_ANSWER_ERRORS_NAME_H
#define ED_CMD_BATCH_ANSWER_ERRORS_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Write the name: "out.errors.jsonl" for "out.jsonl". Returns false if the room is too small. */
bool ed_errors_name(const char *output, char *room, size_t room_bytes);

/* The same for an output that is compressed: "out.errors.jsonl.gz" for "out.jsonl.gz". */
bool ed_errors_name_of_packed(const char *output, char *room, size_t room_bytes);

/*
 * Write the name of the errors file of an output that is read: "out.errors.jsonl" also for
 * "out.jsonl.gz", unless "out.errors.jsonl.gz" exists. Returns false if neither exists.
 */
bool ed_errors_find(const char *output, char *room, size_t room_bytes);

#endif
