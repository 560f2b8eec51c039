/*
 * report/totals.h - the data for the page, collected line by line in bounded memory. No I/O.
 */
#ifndef ED_CMD_REPORT_TOTALS_H
#define ED_CMD_REPORT_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/groups.h"
#include "common/histogram.h"
#include "report/record.h"
#include "report/spread.h"
#include "report/timeline.h"

enum {
        ED_TOTALS_CAUSES_MAX = 64,    /* further causes are counted together */
        ED_TOTALS_ENDPOINTS_MAX = 32, /* further endpoints are counted together */
        ED_TOTALS_TOP = 10,
};

struct ed_cause {
        char name[ED_RECORD_CAUSE_BYTES];
        uint64_t count;
};

struct ed_host {
        char name[ED_RECORD_ENDPOINT_BYTES]; /* empty: not known */
        uint64_t ok, failed, input, output;
        double attempts;
        struct ed_histogram latency;
};

/* A request: one of the slowest, or an example of a cause of failures. */
struct ed_totals_entry {
        char id[ED_RECORD_ID_BYTES];
        char cause[ED_RECORD_CAUSE_BYTES];
        char message[ED_RECORD_MESSAGE_BYTES];
        char endpoint[ED_RECORD_ENDPOINT_BYTES];
        int status;
        uint64_t attempts, rows;
        int64_t at_ms, total_ns;
};

/* All zero: no lines yet. The size is about 3 MB. */
struct ed_totals {
        uint64_t ok, failed;
        uint64_t named,
                finals;   /* failures that are accepted: by their ids; because they are final */
        uint64_t damaged; /* lines that are not answers */
        uint64_t torn;    /* files with an incomplete last line */
        uint64_t timed;   /* lines with a time */
        /* Each of the rows of a request has a share of its attempts, if their number is known. */
        double attempts, retries;
        uint64_t input, output;
        int64_t start_ms, end_ms; /* 0: not known; from the first request read to the last answer */
        bool has_log;
        uint64_t log_attempts, log_refused, log_damaged;
        struct ed_histogram latency; /* of last attempts */
        struct ed_histogram first;   /* time to the first byte */
        struct ed_spread spread;     /* as 'latency' */
        unsigned causes_count, hosts_count, slowest_count;
        struct ed_cause causes[ED_TOTALS_CAUSES_MAX + 1];
        struct ed_host hosts[ED_TOTALS_ENDPOINTS_MAX + 1];
        struct ed_totals_entry slowest[ED_TOTALS_TOP];
        /* Failures by cause and form of the message (common/text_form.h), each with the first by time. */
        struct ed_groups groups;
        struct ed_totals_entry examples[ED_GROUPS_MAX]; /* by place in 'groups' */
        struct ed_timeline timeline;
};

void ed_totals_add(struct ed_totals *totals, const struct ed_record *record);

void ed_totals_add_log(struct ed_totals *totals, const struct ed_record_attempt *attempt);

/* Returns the failures that are accepted. */
uint64_t ed_totals_accepted(const struct ed_totals *totals);

/* Sort causes and endpoints by their counts. Call this after the last line. */
void ed_totals_sort(struct ed_totals *totals);

#endif
