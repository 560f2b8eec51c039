/*
 * collect/findings.h - the text about what was collected: whether all requests have an answer, which do
 * not, what the files have besides, and what to run. No I/O.
 */
#ifndef ED_CMD_COLLECT_FINDINGS_H
#define ED_CMD_COLLECT_FINDINGS_H

#include <stdint.h>

#include "collect/collected.h"
#include "collect/opts.h"
#include "collect/parts.h"
#include "collect/sample.h"
#include "collect/shards.h"
#include "common/draft.h"
#include "report/totals.h"

struct ed_findings {
        const struct ed_collect_opts *opts;
        const struct ed_collected *collected;
        const struct ed_parts *parts;
        const struct ed_shards *shards;
        const struct ed_totals *causes; /* of failures that are not accepted */
        struct ed_sample odd;           /* lines that are not answers: the first of each file */
        uint64_t odd_lines;             /* all of them */
        struct ed_sample torn;          /* files that end with a part of a line */
        struct ed_sample active;        /* files to which a run writes */
        uint64_t equal;                 /* answers that are equal to another of their id */
};

/* Append the text; its first line has no "eddy collect: ". */
void ed_findings_print(const struct ed_findings *findings, struct ed_draft *out);

#endif
