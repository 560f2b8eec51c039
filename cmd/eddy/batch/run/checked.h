/*
 * batch/run/checked.h - what the check of an input has counted, before anything is sent.
 */
#ifndef ED_CMD_BATCH_RUN_CHECKED_H
#define ED_CMD_BATCH_RUN_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

struct ed_batch_checked {
        uint64_t requests;
        uint64_t known;          /* ids that had an answer; of a pipe, counted as it is read */
        uint64_t changed;        /* ids whose request has changed; counted in the same way */
        uint64_t accepted;       /* requests with an accepted failure; counted in the same way */
        uint64_t empty;          /* lines that --skip-empty leaves out; counted in the same way */
        uint64_t lack_id;        /* rows with an empty field for the id; counted in the same way */
        uint64_t accepted_final; /* of 'accepted': only because the failure is final */
        uint64_t accepted_final_wanted; /* of these, those that the run may send */
        uint64_t total;                 /* requests to send */
        bool total_is_known;
        uint64_t bytes; /* of the file */
        bool is_blank;  /* the file of a shard without a request has none either */
};

#endif
