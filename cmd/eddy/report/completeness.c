/*
 * report/completeness.c - counts requests by the flags of their ids.
 */
#include "report/completeness.h"

#include <errno.h>

/* A flag of an id: a line of it is an accepted failure. */
enum { ACCEPTED = ED_IDS_DOUBTED };

void ed_completeness_fini(struct ed_completeness *completeness)
{
        ed_ids_free(completeness->ids);
        completeness->ids = NULL;
}

int ed_completeness_request(struct ed_completeness *completeness, const char *id, size_t bytes)
{
        int flags;

        if (!completeness->ids && ed_ids_new(&completeness->ids) < 0)
                return -ENOMEM;
        flags = ed_ids_add(completeness->ids, id, bytes, 0, ED_IDS_READ, NULL);
        if (flags < 0)
                return flags;
        completeness->requests += !(flags & ED_IDS_READ);
        return 0;
}

/* Returns the number of the requests with the best result of lines with these flags. */
static uint64_t *best_of(struct ed_completeness *completeness, int flags)
{
        if (flags & ED_IDS_ANSWERED)
                return &completeness->answered;
        if (flags & ACCEPTED)
                return &completeness->accepted;
        return flags & ED_IDS_FAILED ? &completeness->failed : NULL;
}

int ed_completeness_line(struct ed_completeness *completeness, const char *id, size_t bytes,
                         enum ed_completeness_result result)
{
        static const int of_result[] = { ED_IDS_FAILED, ACCEPTED, ED_IDS_ANSWERED };
        uint64_t *before;
        int flags;

        completeness->lines[result]++;
        if (!completeness->input)
                return 0;
        if (!completeness->ids || !(ed_ids_flags(completeness->ids, id, bytes) & ED_IDS_READ)) {
                completeness->strange++;
                return 0;
        }
        flags = ed_ids_add(completeness->ids, id, bytes, 0, (unsigned) of_result[result], NULL);
        if (flags < 0)
                return flags;
        before = best_of(completeness, flags);
        if (before)
                --*before;
        ++*best_of(completeness, flags | of_result[result]);
        return 0;
}

bool ed_completeness_lacks(const struct ed_completeness *completeness)
{
        return !completeness->input || completeness->requests == 0 ||
               completeness->answered + completeness->accepted < completeness->requests;
}

static void unknown_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        uint64_t ok = completeness->lines[ED_COMPLETENESS_OK];
        uint64_t accepted = completeness->lines[ED_COMPLETENESS_ACCEPTED];

        ed_draft_add_grouped(out, ok);
        ed_draft_add_str(out, ok == 1 ? " answer, " : " answers, ");
        ed_draft_add_grouped(out, completeness->lines[ED_COMPLETENESS_FAILED] + accepted);
        ed_draft_add_str(out, " failed");
        if (accepted > 0) {
                ed_draft_add_str(out, ", ");
                ed_draft_add_grouped(out, accepted);
                ed_draft_add_str(out, " of them accepted");
        }
        ed_draft_add_str(
                out, "; give --by IN, the file of requests, to count those that have no answer");
}

static void complete_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        if (completeness->accepted == 0 && completeness->requests == 1) {
                ed_draft_add_str(out, "complete: the only request has an answer");
                return;
        }
        ed_draft_add_str(out, completeness->accepted == 0 ? "complete: all " : "complete: ");
        ed_draft_add_grouped(out, completeness->answered);
        if (completeness->accepted > 0) {
                ed_draft_add_str(out, " of ");
                ed_draft_add_grouped(out, completeness->requests);
        }
        ed_draft_add_str(out, completeness->requests == 1 ? " request has an answer"
                                                          : " requests have an answer");
        if (completeness->accepted > 0) {
                ed_draft_add_str(out, ", and the failures of ");
                ed_draft_add_grouped(out, completeness->accepted);
                ed_draft_add_str(out, " are accepted");
        }
}

static void lacks_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        uint64_t failed = completeness->failed;
        uint64_t missing =
                completeness->requests - completeness->answered - completeness->accepted - failed;

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
        if (failed > 0)
                ed_draft_add_str(out, " failed");
        ed_draft_add_str(out, ": run the command of eddy batch again");
}

void ed_completeness_print(const struct ed_completeness *completeness, struct ed_draft *out)
{
        if (!completeness->input) {
                unknown_print(completeness, out);
        } else if (completeness->requests == 0) {
                ed_draft_add_str(out, "not complete: the file of requests has no request");
        } else if (ed_completeness_lacks(completeness)) {
                lacks_print(completeness, out);
        } else {
                complete_print(completeness, out);
        }
}
