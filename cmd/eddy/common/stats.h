/*
 * common/stats.h - counters of a run, and its summary.
 */
#ifndef ED_CMD_COMMON_STATS_H
#define ED_CMD_COMMON_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/draft.h"
#include "common/histogram.h"
#include "common/outcome.h"

enum {
        ED_STATS_STATUSES = 1000,
        ED_STATS_OK_END = 300, /* the first status that is a failure, without --ok */
};

/* The reason why a run ended before the end of its input. */
enum ed_stop {
        ED_STOP_NONE,
        ED_STOP_SIGNAL,
        ED_STOP_DEADLINE,
        ED_STOP_CLOSED, /* the reader of the results has closed them */
        ED_STOP_OUTPUT, /* results could not be written */
        ED_STOP_INTERNAL,
        ED_STOP_INPUT,      /* the rest of the input could not be read */
        ED_STOP_QUOTA,      /* the API key has no quota left */
        ED_STOP_KEY,        /* the server refuses the API key */
        ED_STOP_KEY_SOURCE, /* the command that prints the API key fails */
        ED_STOP_ERRORS,     /* --max-errors */
        ED_STOP_ALIKE,      /* the first requests all got the same refusal */
        ED_STOP_COST,       /* --max-cost */
        ED_STOP_THROTTLED,  /* --max-throttle-wait */
        ED_STOP_UNREACHED,  /* no server can be reached */
        ED_STOP_LIMIT,      /* --limit */
};

struct ed_stats {
        int64_t start_ns;
        uint64_t read;        /* URLs of the input so far */
        uint64_t in_flight;   /* started and not finished */
        uint64_t ok;          /* written, a success */
        uint64_t failed;      /* written, all others */
        uint64_t retries;     /* attempts after the first */
        uint64_t refused;     /* attempts that a server refused for now: 429, 503 */
        uint64_t not_retried; /* the next attempt would have come too late */
        uint64_t cancelled;   /* in flight when the run was stopped: no line */
        uint64_t not_started; /* read, but not started: no line */
        uint64_t lost;        /* finished, but the line could not be written */
        uint64_t bytes;       /* size of all bodies */
        uint64_t beyond;      /* not read, because of --limit: no line */
        bool unread;          /* the input was not read to its end */
        enum ed_stop stop;
        uint64_t statuses[ED_STATS_STATUSES];
        uint64_t codes[ED_OUTCOME_CODES_MAX];
        uint64_t retried_statuses[ED_STATS_STATUSES]; /* the causes of the retries */
        uint64_t retried_codes[ED_OUTCOME_CODES_MAX];
        struct ed_histogram latency;
};

static inline uint64_t ed_stats_done(const struct ed_stats *stats)
{
        return stats->ok + stats->failed;
}

/*
 * Count a result whose line was written. 'status' and 'error' are 0 if there is none; 'latency_ns'
 * is negative if nothing was sent.
 */
void ed_stats_add(struct ed_stats *stats, int status, int error, uint64_t bytes,
                  int64_t latency_ns);

/* The same, if more than the status and the error decides whether the result is a success. */
void ed_stats_add_judged(struct ed_stats *stats, bool is_ok, int status, int error, uint64_t bytes,
                         int64_t latency_ns);

/* Count a retry, whose cause is the status of an answer, or a negative error. */
void ed_stats_add_retry(struct ed_stats *stats, int cause);

/* Print the summary, as text or as one line of JSON. */
void ed_stats_print(const struct ed_stats *stats, int64_t now_ns, struct ed_draft *text);
void ed_stats_print_json(const struct ed_stats *stats, int64_t now_ns, struct ed_draft *text);

#endif
