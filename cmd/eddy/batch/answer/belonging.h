/*
 * batch/answer/belonging.h - checks that a file of answers belongs to a file of requests, in the commands
 * that read both. If no answer has the id of a request, the files were named in the wrong order, or differ.
 */
#ifndef ED_CMD_BATCH_ANSWER_BELONGING_H
#define ED_CMD_BATCH_ANSWER_BELONGING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/shard.h"
#include "eddy/def.h"

struct ed_belonging {
        const char *answers, *requests; /* the names of the files; 'requests' NULL: not given */
        struct ed_shard shard;          /* of the requests; all zero: all of them */
        bool lacks_column;              /* 'requests' is CSV, and --id-column was not given */
        uint64_t placed;                /* lines of answers whose id 'requests' has */
        uint64_t strange;               /* lines of answers with other ids */
        uint64_t odd;                   /* lines that are not answers */
};

/* Returns 0, or the exit code after a message. Files without a line belong together. */
EDDY_MUST_USE int ed_belonging_check(const char *command, const struct ed_belonging *belonging);

#endif
