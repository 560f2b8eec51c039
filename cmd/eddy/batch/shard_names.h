/*
 * batch/shard_names.h - names of files that have the number of the shard in place of "%i".
 */
#ifndef ED_CMD_BATCH_SHARD_NAMES_H
#define ED_CMD_BATCH_SHARD_NAMES_H

#include <stdbool.h>

#include "common/shard.h"
#include "eddy/def.h"

enum { ED_SHARD_NAMES_MAX = 8 };

struct ed_shard_names {
        char *texts[ED_SHARD_NAMES_MAX]; /* owned */
        unsigned count;
};

/*
 * Put the number of the shard into a name, which is then valid until ed_shard_names_fini(). Each
 * option with a name may do that once. 'is_own': two shards must not have the same name, so it must have
 * the place of the number. Without a shard the name stays, and such a place is refused unless the file
 * exists. NULL stays. Returns 0, or the exit code after a message.
 */
EDDY_MUST_USE int ed_shard_names_set(struct ed_shard_names *names, const char *command,
                                     struct ed_shard shard, const char *option, bool is_own,
                                     const char **name);
bool ed_shard_names_has_place(const char *name);

/* Whether ed_shard_names_set() has made the name. */
bool ed_shard_names_has(const struct ed_shard_names *names, const char *name);
void ed_shard_names_fini(struct ed_shard_names *names);

#endif
