/*
 * collect/findings.c - see findings.h.
 */
#include "collect/findings.h"

#include "collect/ranges.h"
#include "report/causes.h"
#include "report/completeness.h"

/* Append a number and one of two words. */
static void count_add(struct ed_draft *out, uint64_t count, const char *singular,
                      const char *plural)
{
        ed_draft_add_grouped(out, count);
        ed_draft_add_str(out, count == 1 ? singular : plural);
}

static void such_as(struct ed_draft *out, const struct ed_sample *sample)
{
        if (sample->count == 0)
                return;
        ed_draft_add_str(out, sample->count == 1 ? ": " : ", such as ");
        ed_sample_print(sample, out);
}

/* Append a number and one of two words, after a comma unless it is the first; nothing for 0. */
static void flaw_add(struct ed_draft *out, uint64_t count, const char *singular, const char *plural)
{
        if (count == 0)
                return;
        ed_draft_add_str(out, out->bytes > 0 ? ", " : "");
        count_add(out, count, singular, plural);
}

/* Append what the outputs have besides an answer to each request. */
static void flaws_add(const struct ed_collected *collected, struct ed_draft *out)
{
        flaw_add(out, collected->doubled.count, " id has several answers",
                 " ids have several answers");
        flaw_add(out, collected->foreign.count, " line has another id", " lines have other ids");
        flaw_add(out, collected->repeated_count, " request has the id of an earlier one",
                 " requests have ids of earlier ones");
        if (out->bytes > 0)
                ed_draft_add(out, "", 1);
}

/* The sentence of eddy report about the same files. */
static void whole_print(const struct ed_findings *findings, struct ed_draft *out)
{
        const struct ed_collected *collected = findings->collected;
        struct ed_draft flaws = { 0 };
        struct ed_completeness completeness = { .input = findings->opts->by,
                                                .is_active = findings->active.count > 0,
                                                .is_table = findings->opts->is_csv,
                                                .empty = collected->end > 0,
                                                .requests = collected->requests_count,
                                                .answered = collected->answered_count,
                                                .named = collected->accepted_count,
                                                .failed = collected->failed_count,
                                                .for_good = collected->for_good_count };

        flaws_add(collected, &flaws);
        if (flaws.bytes > 0 && ed_draft_is_whole(&flaws))
                completeness.flaw = flaws.data;
        ed_completeness_print(&completeness, out);
        ed_draft_fini(&flaws);
        ed_draft_add_str(out, "\n");
}

static void missing_print(const struct ed_findings *findings, struct ed_draft *out)
{
        const struct ed_collected *collected = findings->collected;

        if (collected->missing_count == 0)
                return;
        ed_draft_add_str(out, "no answer: ");
        ed_draft_add_str(out, findings->opts->is_csv ? "row" : "line");
        ed_draft_add_str(out, collected->missing_count == 1 ? " " : "s ");
        ed_ranges_add(out, &collected->missing, collected->end);
        ed_draft_add_str(out, " of ");
        ed_draft_add_str(out, findings->opts->by);
        such_as(out, &collected->missing_ids);
        ed_draft_add_str(out, "\n");
}

static void failed_print(const struct ed_findings *findings, struct ed_draft *out)
{
        const struct ed_collected *collected = findings->collected;
        const char *errors = findings->opts->errors;

        if (collected->failed_count + collected->accepted_count == 0)
                return;
        if (collected->failed_count > 0) {
                ed_draft_add_str(out, "failed: ");
                count_add(out, collected->failed_count, " request", " requests");
                such_as(out, &collected->failed);
                ed_draft_add_str(out, "\n");
                ed_causes_add(out, findings->causes);
        }
        ed_draft_add_str(out, "the failures are ");
        if (errors)
                ed_draft_add_printf(out, "in %s\n", errors);
        else
                ed_draft_add_str(out, "left out; --errors FILE keeps them\n");
}

static void doubled_print(const struct ed_findings *findings, struct ed_draft *out)
{
        const struct ed_collected *collected = findings->collected;

        if (collected->doubled.count == 0)
                return;
        count_add(out, collected->doubled.count, " id has several answers",
                  " ids have several answers");
        such_as(out, &collected->doubled);
        if (findings->equal > 0) {
                ed_draft_add_str(out, "; ");
                count_add(out, findings->equal, " answer is equal to the one before it",
                          " answers are equal to the one before them");
        }
        ed_draft_add_str(out, "; the last one counts, in the order of the files\n");
}

static void strange_print(const struct ed_findings *findings, struct ed_draft *out)
{
        const struct ed_collected *collected = findings->collected;

        if (collected->foreign.count > 0) {
                count_add(out, collected->foreign.count, " line has", " lines have");
                ed_draft_add_printf(out, " an id that %s does not have", findings->opts->by);
                such_as(out, &collected->foreign);
                ed_draft_add_str(out, "; left out\n");
        }
        if (collected->repeated_count > 0) {
                count_add(out, collected->repeated_count, findings->opts->is_csv ? " row" : " line",
                          findings->opts->is_csv ? " rows" : " lines");
                ed_draft_add_printf(out, " of %s %s the id of an earlier one: ", findings->opts->by,
                                    collected->repeated_count == 1 ? "has" : "have");
                ed_ranges_add(out, &collected->repeated, collected->end);
                ed_draft_add_str(out, "; ids must differ, and an id has one answer\n");
        }
}

/* Append a line about files, unless the sample is empty. */
static void files_print(struct ed_draft *out, const char *head, const struct ed_sample *files)
{
        if (files->count == 0)
                return;
        ed_draft_add_str(out, head);
        ed_sample_print(files, out);
        ed_draft_add_str(out, "\n");
}

static void odd_print(const struct ed_findings *findings, struct ed_draft *out)
{
        if (findings->odd_lines == 0)
                return;
        count_add(out, findings->odd_lines, " line is not an answer, and is left out",
                  " lines are not answers, and are left out");
        such_as(out, &findings->odd);
        ed_draft_add_str(out, "\n");
}

void ed_findings_print(const struct ed_findings *findings, struct ed_draft *out)
{
        whole_print(findings, out);
        missing_print(findings, out);
        failed_print(findings, out);
        doubled_print(findings, out);
        strange_print(findings, out);
        odd_print(findings, out);
        files_print(out,
                    "files that end with a part of a line, which is left out: ", &findings->torn);
        files_print(out, "files that do not exist: ", &findings->parts->absent);
        files_print(out, "files that are named twice, and read once: ", &findings->parts->again);
        files_print(out, "files to which a run still writes; collect again after its end: ",
                    &findings->active);
        ed_shards_print(findings->shards, findings->parts, out);
}
