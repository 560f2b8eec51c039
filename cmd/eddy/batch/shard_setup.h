/*
 * batch/shard_setup.h - what --shard changes in the other options of `eddy batch`.
 */
#ifndef ED_CMD_BATCH_SHARD_SETUP_H
#define ED_CMD_BATCH_SHARD_SETUP_H

#include "batch/opts.h"
#include "eddy/def.h"

/* Refuse an input that has no shards, also in `eddy check`. Returns 0, or the exit code after a message. */
EDDY_MUST_USE int ed_shard_setup_input(const char *command, struct ed_shard shard,
                                       const char *input, bool csv, const char *id_column);

/*
 * All options are read: put the number of the shard into the names of results, and divide the limits of
 * all shards, which is reported on stderr. Returns 0, or the exit code after a message.
 */
EDDY_MUST_USE int ed_shard_setup(struct ed_batch_opts *opts, bool csv);

/*
 * The command line is refused: put the number of the shard into the name of the summary file, which
 * becomes NULL if the shard is not known, or if it has no place for the number.
 */
void ed_shard_setup_refused(struct ed_batch_opts *opts);

/*
 * Returns the time for which a shard that begins again sends nothing, so that it and the run before it
 * together stay within the limits; 0: none.
 */
int64_t ed_shard_setup_pause(const struct ed_batch_settings *settings, bool begins_again);

#endif
