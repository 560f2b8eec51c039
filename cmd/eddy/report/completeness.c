/*
 * report/completeness.c - counts requests by the flags of their ids.
 */
#include "report/completeness.h"

#include <errno.h>

#define ACTIVE "a run is active: "

/* Flags of an id: its line of the input is left out; one of its failures is final. */
enum { EMPTY = ED_IDS_DOUBTED, FINAL = ED_IDS_FAILED };

void ed_completeness_fini(struct ed_completeness *completeness)
{
        ed_ids_free(completeness->ids);
        completeness->ids = NULL;
}

/* Add an id of the input with a flag. Returns its flags before, or an error. */
static int id_add(struct ed_completeness *completeness, const char *id, size_t bytes, unsigned flag)
{
        if (!completeness->ids && ed_ids_new(&completeness->ids) < 0)
                return -ENOMEM;
        return ed_ids_add(completeness->ids, id, bytes, 0, flag, NULL);
}

int ed_completeness_request(struct ed_completeness *completeness, const char *id, size_t bytes)
{
        int flags = id_add(completeness, id, bytes, ED_IDS_READ);

        if (flags < 0)
                return flags;
        completeness->requests += !(flags & ED_IDS_READ);
        completeness->empty -= (flags & EMPTY) && !(flags & ED_IDS_READ);
        return 0;
}

int ed_completeness_empty(struct ed_completeness *completeness, const char *id, size_t bytes)
{
        int flags = id_add(completeness, id, bytes, EMPTY);

        if (flags < 0)
                return flags;
        completeness->empty += !(flags & (EMPTY | ED_IDS_READ));
        return 0;
}

/* Returns the flags of the id of a line, which are 0 if the input does not have it. */
static unsigned flags_of(const struct ed_completeness *completeness, const char *id, size_t bytes)
{
        return completeness->ids ? ed_ids_flags(completeness->ids, id, bytes) : 0;
}

static void failure_count(struct ed_completeness *completeness, enum ed_completeness_result result)
{
        completeness->failed +=
                result == ED_COMPLETENESS_FAILED || result == ED_COMPLETENESS_FOR_GOOD;
        completeness->for_good += result == ED_COMPLETENESS_FOR_GOOD;
        completeness->finals += result == ED_COMPLETENESS_FINAL;
        completeness->named += result == ED_COMPLETENESS_NAMED;
}

/* Count a line, if the input is not known. */
static void unknown_count(struct ed_completeness *completeness, enum ed_completeness_result result)
{
        completeness->placed++;
        completeness->answered += result == ED_COMPLETENESS_OK;
        failure_count(completeness, result);
}

/* Count an answer to an id of the input. */
static void answer_count(struct ed_completeness *completeness, const char *id, size_t bytes,
                         unsigned flags)
{
        completeness->answered += !(flags & ED_IDS_ANSWERED);
        if (!(flags & ED_IDS_READ)) {
                completeness->requests++;
                completeness->empty--;
        }
        ed_ids_flag(completeness->ids, id, bytes, ED_IDS_ANSWERED | ED_IDS_READ);
}

/* Note a failure of an id of the input. */
static void failure_note(struct ed_completeness *completeness, const char *id, size_t bytes,
                         bool is_final)
{
        ed_ids_flag(completeness->ids, id, bytes, is_final ? FINAL : 0);
        ed_ids_set_line(completeness->ids, id, bytes, ++completeness->numbered);
}

bool ed_completeness_line(struct ed_completeness *completeness, const char *id, size_t bytes,
                          enum ed_completeness_result result)
{
        unsigned flags = flags_of(completeness, id, bytes);

        if (!completeness->input) {
                unknown_count(completeness, result);
                return true;
        }
        if (!(flags & (ED_IDS_READ | EMPTY))) {
                completeness->strange++;
                return false;
        }
        completeness->placed++;
        if (result == ED_COMPLETENESS_OK)
                answer_count(completeness, id, bytes, flags);
        else
                failure_note(completeness, id, bytes, result == ED_COMPLETENESS_FINAL);
        return result == ED_COMPLETENESS_OK;
}

bool ed_completeness_failure(struct ed_completeness *completeness, const char *id, size_t bytes,
                             enum ed_completeness_result result)
{
        unsigned flags = flags_of(completeness, id, bytes);
        uint64_t last;

        if (!(flags & (ED_IDS_READ | EMPTY)))
                return false;
        completeness->settled++;
        last = ed_ids_line(completeness->ids, id, bytes);
        if (!(flags & ED_IDS_READ) || flags & ED_IDS_ANSWERED ||
            (last > 0 && last != completeness->settled)) {
                completeness->replaced++;
                return false;
        }
        failure_count(completeness, result == ED_COMPLETENESS_FAILED && flags & FINAL
                                            ? ED_COMPLETENESS_FINAL
                                            : result);
        return true;
}

uint64_t ed_completeness_accepted(const struct ed_completeness *completeness)
{
        return completeness->named + (completeness->answered > 0 ? completeness->finals : 0);
}

uint64_t ed_completeness_failed(const struct ed_completeness *completeness)
{
        return completeness->failed + (completeness->answered > 0 ? 0 : completeness->finals);
}

bool ed_completeness_is_empty(const struct ed_completeness *completeness)
{
        return completeness->input && completeness->requests == 0 &&
               (completeness->shard.count > 0 || completeness->is_table || completeness->empty > 0);
}

bool ed_completeness_lacks(const struct ed_completeness *completeness)
{
        return !completeness->input ||
               (completeness->requests == 0 && !ed_completeness_is_empty(completeness)) ||
               completeness->answered + ed_completeness_accepted(completeness) <
                       completeness->requests;
}

/* Append "7 failed, 2 of them accepted", after 'before'. */
static void failed_print(const struct ed_completeness *completeness, const char *before,
                         struct ed_draft *out)
{
        ed_draft_add_str(out, before);
        ed_draft_add_grouped(out, ed_completeness_failed(completeness) +
                                          ed_completeness_accepted(completeness));
        ed_draft_add_str(out, " failed");
        if (ed_completeness_accepted(completeness) == 0)
                return;
        ed_draft_add_str(out, ", ");
        ed_draft_add_grouped(out, ed_completeness_accepted(completeness));
        ed_draft_add_str(out, " of them accepted");
}

static void unknown_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        ed_draft_add_str(out, completeness->is_active ? ACTIVE : "");
        ed_draft_add_grouped(out, completeness->answered);
        failed_print(completeness, completeness->answered == 1 ? " answer, " : " answers, ", out);
        ed_draft_add_str(out, completeness->is_active ? " so far" : "");
        ed_draft_add_str(
                out, "; give --by IN, the file of requests, to count those that have no answer");
}

/* A run may still answer the requests that have no answer. */
static void active_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        ed_draft_add_str(out, ACTIVE);
        ed_draft_add_grouped(out, completeness->answered);
        ed_draft_add_str(out, " of ");
        ed_draft_add_grouped(out, completeness->requests);
        ed_draft_add_str(out, completeness->requests == 1 ? " request has" : " requests have");
        ed_draft_add_str(out, " an answer so far");
        if (ed_completeness_failed(completeness) + ed_completeness_accepted(completeness) > 0)
                failed_print(completeness, ", ", out);
}

static void answered_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        if (ed_completeness_accepted(completeness) == 0 && completeness->requests == 1) {
                ed_draft_add_str(out, "the only request has an answer");
                return;
        }
        ed_draft_add_str(out, ed_completeness_accepted(completeness) == 0 ? "all " : "");
        ed_draft_add_grouped(out, completeness->answered);
        if (ed_completeness_accepted(completeness) > 0) {
                ed_draft_add_str(out, " of ");
                ed_draft_add_grouped(out, completeness->requests);
        }
        ed_draft_add_str(out, completeness->requests == 1 ? " request has an answer"
                                                          : " requests have an answer");
        if (ed_completeness_accepted(completeness) > 0) {
                ed_draft_add_str(out, ", and the failures of ");
                ed_draft_add_grouped(out, ed_completeness_accepted(completeness));
                ed_draft_add_str(out, " are accepted");
        }
}

static void complete_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        ed_draft_add_str(out, completeness->flaw ? "not exact: " : "complete: ");
        answered_print(completeness, out);
        if (!completeness->flaw)
                return;
        ed_draft_add_str(out, ", but ");
        ed_draft_add_str(out, completeness->flaw);
}

/* Append that requests failed, and what to do. Without any answer, the server may be down. */
static void remedy_print(const struct ed_completeness *completeness, uint64_t missing,
                         struct ed_draft *out)
{
        uint64_t failed = ed_completeness_failed(completeness);
        uint64_t for_good = completeness->answered > 0 ? completeness->for_good : 0;

        if (failed > 0)
                ed_draft_add_str(out, " failed");
        if (for_good > 0 && for_good == failed) {
                ed_draft_add_str(out, " for good");
        } else if (for_good > 0) {
                ed_draft_add_str(out, ", ");
                ed_draft_add_grouped(out, for_good);
                ed_draft_add_str(out, " of them for good");
        }
        ed_draft_add_str(out, missing == 0 && for_good > 0 && for_good == failed
                                      ? ": correct them, or accept them by --accept-failed"
                                      : ": run the command of eddy batch again");
}

static void lacks_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        uint64_t failed = ed_completeness_failed(completeness);
        uint64_t missing = completeness->requests - completeness->answered -
                           ed_completeness_accepted(completeness) - failed;

        ed_draft_add_str(out, "not complete: ");
        ed_draft_add_grouped(out, missing > 0 ? missing : failed);
        ed_draft_add_str(out, " of ");
        ed_draft_add_grouped(out, completeness->requests);
        ed_draft_add_str(out, completeness->requests == 1 ? " request" : " requests");
        if (missing > 0)
                ed_draft_add_str(out, missing == 1 ? " has no answer" : " have no answer");
        if (missing > 0 && failed > 0) {
                ed_draft_add_str(out, ", ");
                ed_draft_add_grouped(out, failed);
        }
        remedy_print(completeness, missing, out);
}

static void empty_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        if (completeness->empty > 0)
                ed_draft_add_str(out, "complete: all requests are empty");
        else if (completeness->shard.count > 0)
                ed_draft_add_str(out, "complete: it has no request");
        else
                ed_draft_add_str(out, "complete: the file of requests has no rows");
}

void ed_completeness_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        if (completeness->shard.count > 0)
                ed_draft_add_printf(out, "shard %u/%u: ", completeness->shard.index,
                                    completeness->shard.count);
        if (!completeness->input) {
                unknown_print(completeness, out);
        } else if (ed_completeness_is_empty(completeness)) {
                empty_print(completeness, out);
        } else if (completeness->requests == 0) {
                ed_draft_add_str(out, "not complete: the file of requests has no request");
        } else if (ed_completeness_lacks(completeness) && completeness->is_active) {
                active_print(completeness, out);
        } else if (ed_completeness_lacks(completeness)) {
                lacks_print(completeness, out);
        } else {
                complete_print(completeness, out);
        }
}
