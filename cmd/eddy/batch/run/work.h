/*
 * batch/run/work.h - works at a run, unit by unit. To get answers to requests, begin here.
 *
 * Fill in 'settings' and 'keys' of a struct ed_batch_run, and 'body' if there is a template. For
 * each unit, in this order: ed_unit_init(), ed_reader_open(), ed_checkpoint_open(), ed_reader_check(),
 * ed_checkpoint_begin(). Then ed_run_init(), and inside eddy_run(), with 'client' set,
 * ed_run_begin() once and ed_unit_work() for each unit. At the end ed_checkpoint_close() and
 * ed_unit_fini() for each unit, and ed_run_fini().
 */
#ifndef ED_CMD_BATCH_RUN_WORK_H
#define ED_CMD_BATCH_RUN_WORK_H

#include "batch/run/checkpoint.h"
#include "batch/run/reader.h"
#include "batch/run/unit.h"
#include "eddy/def.h"

/* Prepare what all units share, for at most 'slots' requests in flight. */
void ed_run_init(struct ed_batch_run *run, uint32_t slots);

/*
 * Make the endpoints, and let tasks in 'scope' open the slots, over the time of the settings, and watch
 * the file of base URLs. Call inside eddy_run(). Errors: -ENOMEM; those of eddy_http_url_origin()
 */
EDDY_MUST_USE int ed_run_begin(struct ed_batch_run *run, eddy_scope *scope);
void ed_run_fini(struct ed_batch_run *run);

/*
 * Prepare a unit, all zero until then: no file is open. 'run' and 'paths' are borrowed until
 * ed_unit_fini().
 */
void ed_unit_init(struct ed_batch_unit *unit, struct ed_batch_run *run,
                  const struct ed_batch_paths *paths);
void ed_unit_fini(struct ed_batch_unit *unit);

/*
 * Send the requests of a unit and write their lines, until all have one or the unit is ended. Call
 * inside eddy_run().
 *
 * Suspends: yes. Errors: those of ed_output_begin(); -ENOMEM
 */
EDDY_MUST_USE int ed_unit_work(struct ed_batch_unit *unit);

#endif
