/*
 * report/totals.c - sums, tables of limited size, and a list of the first ten entries.
 */
#include "report/totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text_form.h"

static const char others[] = "all others";

static struct ed_cause *cause_of(struct ed_totals *totals, const char *name)
{
        struct ed_cause *cause;

        for (unsigned i = 0; i < totals->causes_count; i++)
                if (strcmp(totals->causes[i].name, name) == 0)
                        return &totals->causes[i];
        if (totals->causes_count > ED_TOTALS_CAUSES_MAX)
                return &totals->causes[ED_TOTALS_CAUSES_MAX];
        if (totals->causes_count == ED_TOTALS_CAUSES_MAX)
                name = others;
        cause = &totals->causes[totals->causes_count++];
        snprintf(cause->name, sizeof(cause->name), "%s", name);
        return cause;
}

static struct ed_host *host_of(struct ed_totals *totals, const char *name)
{
        struct ed_host *host;

        for (unsigned i = 0; i < totals->hosts_count; i++)
                if (strcmp(totals->hosts[i].name, name) == 0)
                        return &totals->hosts[i];
        if (totals->hosts_count > ED_TOTALS_ENDPOINTS_MAX)
                return &totals->hosts[ED_TOTALS_ENDPOINTS_MAX];
        if (totals->hosts_count == ED_TOTALS_ENDPOINTS_MAX)
                name = others;
        host = &totals->hosts[totals->hosts_count++];
        snprintf(host->name, sizeof(host->name), "%s", name);
        return host;
}

/* Returns the part of the attempts of a request that one of its rows has. */
static double share_of(const struct ed_record *record, uint64_t attempts)
{
        return (double) attempts / (double) (record->rows > 0 ? record->rows : 1);
}

static void host_add(struct ed_host *host, const struct ed_record *record)
{
        if (record->is_ok)
                host->ok++;
        else
                host->failed++;
        host->attempts += share_of(record, record->attempts);
        host->input += record->input;
        host->output += record->output;
        if (record->total_ns > 0)
                ed_histogram_add(&host->latency, record->total_ns);
}

/* Make room for a sample at place 'at' of a list. Returns NULL if 'at' is after the last place. */
static struct ed_totals_entry *sample_insert(struct ed_totals_entry *list, unsigned *count,
                                             unsigned at)
{
        if (at == ED_TOTALS_TOP)
                return NULL;
        if (*count < ED_TOTALS_TOP)
                ++*count;
        memmove(&list[at + 1], &list[at], (*count - at - 1) * sizeof(list[0]));
        return &list[at];
}

static void sample_set(struct ed_totals_entry *sample, const struct ed_record *record)
{
        snprintf(sample->id, sizeof(sample->id), "%s", record->id);
        snprintf(sample->cause, sizeof(sample->cause), "%s", record->cause);
        snprintf(sample->message, sizeof(sample->message), "%s", record->message);
        snprintf(sample->endpoint, sizeof(sample->endpoint), "%s", record->endpoint);
        sample->status = record->status;
        sample->attempts = record->attempts;
        sample->rows = record->rows;
        sample->at_ms = record->at_ms > 0 ? record->at_ms : INT64_MAX;
        sample->total_ns = record->total_ns;
}

/* Returns true if another row of the same request is in the list. */
static bool is_listed(const struct ed_totals *totals, const struct ed_record *record)
{
        for (unsigned i = 0; record->rows > 1 && i < totals->slowest_count; i++) {
                const struct ed_totals_entry *sample = &totals->slowest[i];

                if (sample->rows == record->rows && sample->total_ns == record->total_ns &&
                    sample->at_ms == record->at_ms &&
                    strcmp(sample->endpoint, record->endpoint) == 0)
                        return true;
        }
        return false;
}

static void slowest_add(struct ed_totals *totals, const struct ed_record *record)
{
        struct ed_totals_entry *sample;
        unsigned at = totals->slowest_count;

        if (record->total_ns <= 0 || is_listed(totals, record))
                return;
        while (at > 0 && totals->slowest[at - 1].total_ns < record->total_ns)
                at--;
        sample = sample_insert(totals->slowest, &totals->slowest_count, at);
        if (sample)
                sample_set(sample, record);
}

/* Count a failure, and keep it if it is the first of its cause. */
static void group_add(struct ed_totals *totals, const struct ed_record *record)
{
        uint64_t form =
                ed_text_form(record->cause, record->message, ed_rule_cause_bytes(record->message));
        unsigned place = ed_groups_add(&totals->groups, form);

        if (place == ED_GROUPS_MAX)
                return;
        if (totals->groups.items[place].members == 1 ||
            (record->at_ms > 0 && record->at_ms < totals->examples[place].at_ms))
                sample_set(&totals->examples[place], record);
}

/* Add the line to its interval, and extend the time span to the start of its request. */
static void times_add(struct ed_totals *totals, const struct ed_record *record)
{
        struct ed_interval *interval;
        int64_t start_ms = record->at_ms, before_ns = 0;

        if (record->at_ms <= 0 || record->at_ms > ED_TIMELINE_AT_MAX_MS)
                return;
        before_ns += record->queue_ns > 0 ? record->queue_ns : 0;
        before_ns += record->total_ns > 0 ? record->total_ns : 0;
        start_ms -= before_ns / 1000000;
        if (start_ms < 1)
                start_ms = 1;
        if (totals->timed == 0 || start_ms < totals->start_ms) {
                totals->start_ms = start_ms;
                (void) ed_timeline_at(&totals->timeline, start_ms);
        }
        if (record->at_ms > totals->end_ms)
                totals->end_ms = record->at_ms;
        totals->timed++;
        interval = ed_timeline_at(&totals->timeline, record->at_ms);
        if (record->is_ok)
                interval->ok++;
        else
                interval->failed++;
        interval->input += record->input;
        interval->output += record->output;
        if (record->total_ns > 0)
                ed_spread_add(&interval->latency, record->total_ns);
}

void ed_totals_add(struct ed_totals *totals, const struct ed_record *record)
{
        if (record->is_ok)
                totals->ok++;
        else
                totals->failed++;
        totals->named += record->is_named;
        totals->finals += record->is_final;
        totals->attempts += share_of(record, record->attempts);
        totals->retries += share_of(record, record->attempts > 1 ? record->attempts - 1 : 0);
        totals->input += record->input;
        totals->output += record->output;
        if (record->total_ns > 0) {
                ed_histogram_add(&totals->latency, record->total_ns);
                ed_spread_add(&totals->spread, record->total_ns);
        }
        if (record->first_ns >= 0)
                ed_histogram_add(&totals->first, record->first_ns);
        if (!record->is_ok) {
                cause_of(totals, record->cause)->count++;
                group_add(totals, record);
        }
        host_add(host_of(totals, record->endpoint), record);
        slowest_add(totals, record);
        times_add(totals, record);
}

void ed_totals_add_log(struct ed_totals *totals, const struct ed_record_attempt *attempt)
{
        totals->log_attempts += attempt->is_one;
        if (!attempt->is_one || !attempt->is_refused)
                return;
        totals->log_refused++;
        ed_timeline_at(&totals->timeline, attempt->at_ms)->refused++;
}

uint64_t ed_totals_accepted(const struct ed_totals *totals)
{
        return totals->named + (totals->ok > 0 ? totals->finals : 0);
}

static int cause_compare(const void *a, const void *b)
{
        const struct ed_cause *x = a, *y = b;

        if (x->count != y->count)
                return x->count < y->count ? 1 : -1;
        return strcmp(x->name, y->name);
}

static int host_compare(const void *a, const void *b)
{
        const struct ed_host *x = a, *y = b;
        uint64_t x_count = x->ok + x->failed, y_count = y->ok + y->failed;

        if (x_count != y_count)
                return x_count < y_count ? 1 : -1;
        return strcmp(x->name, y->name);
}

void ed_totals_sort(struct ed_totals *totals)
{
        qsort(totals->causes, totals->causes_count, sizeof(totals->causes[0]), cause_compare);
        qsort(totals->hosts, totals->hosts_count, sizeof(totals->hosts[0]), host_compare);
}
