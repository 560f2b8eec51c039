/*
 * batch/run/save.h - --save: an answer that is not JSON becomes a file, which its line names.
 */
#ifndef ED_CMD_BATCH_RUN_SAVE_H
#define ED_CMD_BATCH_RUN_SAVE_H

#include "batch/run/attempt.h"
#include "batch/run/unit.h"
#include "common/save_dir.h"
#include "eddy/def.h"

/*
 * If the run saves files, and the body of a success is not JSON, save the body, and set '*ret_file'
 * and the answer's file, which borrows from it. Otherwise '*ret_file' is NULL. If saving fails, the
 * run is stopped. When the line is written, or lost, call ed_batch_saved().
 *
 * Suspends: yes, and is not cancelled.
 * Errors: those of ed_save_dir_begin() and ed_save_dir_keep(), also the first one for later files;
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_batch_save(struct ed_batch_unit *unit, const struct ed_attempt *attempt,
                                struct ed_answer *answer, struct ed_save_dir_file **ret_file);

/* The line is written, or not. Frees the file's struct, which may be NULL. */
void ed_batch_saved(struct ed_save_dir_file *file, bool is_written);

#endif
