/*
 * report/record.h - reads a line of the output, or of the log of attempts, for the report. No I/O.
 */
#ifndef ED_CMD_REPORT_RECORD_H
#define ED_CMD_REPORT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/rule.h"
#include "batch/answer/shard_mark.h"
#include "batch/request/accept.h"
#include "eddy/def.h"

/* Texts are cut to these sizes, which include the NUL. A text that was cut ends in an ellipsis. */
enum {
        ED_RECORD_ID_BYTES = 128,
        ED_RECORD_CAUSE_BYTES = 64,
        ED_RECORD_ENDPOINT_BYTES = 128,
        ED_RECORD_MESSAGE_BYTES = 240,
        ED_RECORD_TEXT_BYTES = 4096, /* a longer JSON string is not unescaped */
};

/* All texts are copied, and may have any bytes except NUL. */
struct ed_record {
        const struct ed_rule
                *rule; /* of successes; NULL: by the status and the error of the line */
        const struct ed_accept *accept; /* NULL: no failure is accepted */
        bool is_output;                 /* the line is of the output, not of the errors file */
        char id[ED_RECORD_ID_BYTES];
        char shard[ED_SHARD_MARK_BYTES]; /* of which the line is; empty: none, or not known */
        int status;                      /* 0: no answer */
        bool is_ok;
        bool is_named, is_final; /* a failure that is accepted: by its id, or because it is final */
        bool is_for_good;        /* another final failure */
        char cause[ED_RECORD_CAUSE_BYTES];       /* of a failure: "HTTP 503", "request_timeout" */
        char message[ED_RECORD_MESSAGE_BYTES];   /* of a failure; may be empty */
        char endpoint[ED_RECORD_ENDPOINT_BYTES]; /* empty: not known */
        uint64_t attempts;                       /* of its request; 0: not known */
        uint64_t rows;                           /* of its request */
        int64_t at_ms;                           /* 0: not known */
        int64_t queue_ns, first_ns, total_ns;    /* -1: not known */
        uint64_t input, output;                  /* tokens */
        struct eddy_json_value line;             /* borrows the line */
        const char *whole_id;                    /* in 'room' */
        size_t whole_id_bytes;
        char room[ED_ANSWER_ID_ROOM]; /* for ed_record_read() */
        char text[ED_RECORD_TEXT_BYTES];
};

/*
 * Read a line of answers or errors, without its line feed.
 *
 * Errors: -EINVAL  not a line of answers or errors
 */
EDDY_MUST_USE int ed_record_read(struct ed_record *record, const char *line, size_t bytes);

/* A line of --log. */
struct ed_record_attempt {
        int64_t at_ms;
        bool is_one;     /* false: the line is not about an attempt */
        bool is_refused; /* the server refused it, or the quota of the key was used up */
};

/*
 * Read a line of --log.
 *
 * Errors: -EINVAL  not a line of a log
 */
EDDY_MUST_USE int ed_record_read_log(const char *line, size_t bytes,
                                     struct ed_record_attempt *ret_attempt);

#endif
