/*
 * batch/run/held.h - what the output and the errors file held when a run began.
 */
#ifndef ED_CMD_BATCH_RUN_HELD_H
#define ED_CMD_BATCH_RUN_HELD_H

#include <stdbool.h>
#include <stdint.h>

struct ed_batch_held {
        uint64_t answered;        /* ids that had an answer */
        uint64_t repeated;        /* answers of ids that had one in an earlier line */
        uint64_t failed;          /* lines of the errors file whose ids had no answer */
        uint64_t outdated;        /* those whose ids had an answer to another request */
        uint64_t failed_strange;  /* those with ids that the input does not have */
        uint64_t output_failures; /* failures that were in the output */
        uint64_t not_ok;          /* answers of the output that the rule takes for failures */
        uint64_t errors_answers;  /* successes that were in the errors file */
        uint64_t errors_answered; /* ids whose answer is only in the errors file */
        uint64_t doubted;         /* answers whose request decides if they are successes */
        uint64_t strange;         /* failures, in both files, whose ids the input does not have */
        uint64_t rejected;        /* lines that were not answers */
        uint64_t answers_bytes;   /* of the output */
        uint64_t failures_bytes;  /* of the errors file */
        bool lacks_errors;        /* there was no errors file */
        bool had_output;          /* the output existed */
        uint64_t unmarked;        /* answers of the output that do not name a shard */
};

#endif
