/*
 * batch/request/walk.h - reads the files of a run in a command that sends nothing: the file of requests, and
 * files of answers.
 */
#ifndef ED_CMD_BATCH_REQUEST_WALK_H
#define ED_CMD_BATCH_REQUEST_WALK_H

#include <stdbool.h>

#include "batch/request/source.h"
#include "eddy/def.h"

/* Zero but for the command and the rules. */
struct ed_walk {
        const char *command; /* for messages */
        struct ed_request_rules rules;
        struct ed_shard shard;      /* of the file of requests; all zero: the whole file */
        struct ed_columns *columns; /* of CSV; owned */
        enum ed_unpack_kind kind;   /* of the file that was read last */
        int exit_code;              /* of ed_walk_end() */
};

/* Read a file to its end. Returns 0 or the exit code, after a message. */
EDDY_MUST_USE int ed_walk_requests(struct ed_walk *walk, const char *path, bool is_csv,
                                   ed_source_fn *take, void *arg);
EDDY_MUST_USE int ed_walk_answers(struct ed_walk *walk, const char *path, ed_source_fn *take,
                                  void *arg);

/* Returns the result with which 'take' ends the walk, after a message. */
int ed_walk_end(struct ed_walk *walk, int exit_code);

void ed_walk_fini(struct ed_walk *walk);

#endif
