/*
 * batch/summary.h - the summary at the end of a run.
 */
#ifndef ED_CMD_BATCH_SUMMARY_H
#define ED_CMD_BATCH_SUMMARY_H

#include "batch/command.h"
#include "common/draft.h"

/* Returns true if the input was read to its end, and has no request, nor a line that is left out. */
bool ed_summary_is_empty(const struct ed_batch_unit *unit);

/* Returns the failures of this run that are accepted (batch/request/accept.h). */
uint64_t ed_summary_accepted(const struct ed_batch_unit *unit);

/* Print the summary on stderr: as text, or as an OpenAI Batch object. */
void ed_summary_print(const struct ed_batch_command *command);

/* Append the summary as an OpenAI Batch object, on one line. */
void ed_summary_add_json(const struct ed_batch_command *command, struct ed_draft *text);

#endif
