/*
 * test/outcome.c - grouping runs by their outcomes, and printing them.
 */
#include "test/outcome.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "eddy/error.h"
#include "sys/output.h"
#include "test/replay.h"

/* Parts of a line. */
enum { TEXT_SHOWN_BYTES = 160, LINE_BYTES = 1600 };

/* --- grouping --- */

static bool is_outcome(const struct eddy_test_outcome *outcome, const struct ed_test_played *played)
{
        return outcome->result == played->result->result &&
               outcome->text_bytes == played->text_bytes &&
               memcmp(outcome->text, played->text, played->text_bytes) == 0 &&
               strcmp(outcome->problem, played->result->problem) == 0;
}

/* Returns NULL if the outcome is new. */
static struct eddy_test_outcome *find(struct eddy_test_explored *all,
                                      const struct ed_test_played *played)
{
        for (size_t i = 0; i < all->outcomes_count; i++)
                if (is_outcome(&all->outcomes[i], played))
                        return &all->outcomes[i];
        return NULL;
}

/* Text and problem are in one block. Returns NULL if there is no memory. */
static struct eddy_test_outcome *append(struct eddy_test_explored *all,
                                        const struct ed_test_played *played)
{
        struct eddy_test_outcome *outcome = &all->outcomes[all->outcomes_count];
        const char *problem = played->result->problem;
        size_t bytes = strlen(problem) + 1;
        char *block = ed_alloc(played->text_bytes + 1 + bytes);

        if (!block)
                return NULL;
        memcpy(block, played->text, played->text_bytes);
        block[played->text_bytes] = '\0';
        memcpy(block + played->text_bytes + 1, problem, bytes);
        *outcome = (struct eddy_test_outcome){
                .text = block,
                .text_bytes = played->text_bytes,
                .problem = block + played->text_bytes + 1,
                .result = played->result->result,
        };
        all->outcomes_count++;
        return outcome;
}

/* Returns true if the run has a shorter schedule than the outcome's. */
static bool is_shorter(const struct eddy_test_outcome *outcome, const struct ed_test_played *played)
{
        const struct ed_test_figures *figures = played->figures;
        const char *colon = strrchr(outcome->replay, ':');
        bool was_seed = !colon || !strstr(colon, "order=");

        if (outcome->runs == 0)
                return true;
        if (was_seed != !played->opts->order)
                return was_seed;
        if (figures->deviations != outcome->deviations)
                return figures->deviations < outcome->deviations;
        return figures->choices < outcome->choices;
}

int ed_test_outcome_add(struct eddy_test_explored *all, const char *name,
                        const struct ed_test_played *played)
{
        struct eddy_test_outcome *outcome = find(all, played);
        char spec[ED_TEST_SPEC_BYTES];

        if (!outcome && all->outcomes_count == EDDY_TEST_OUTCOMES_MAX) {
                all->other_runs++;
                return 0;
        }
        if (!outcome)
                outcome = append(all, played);
        if (!outcome)
                return -ENOMEM;
        if (is_shorter(outcome, played)) {
                ed_test_spec_write(played->opts, spec, sizeof(spec));
                snprintf(outcome->replay, sizeof(outcome->replay), "%s:%s", name, spec);
                outcome->deviations = (uint32_t) played->figures->deviations;
                outcome->choices = (uint32_t) played->figures->choices;
        }
        outcome->runs++;
        return 0;
}

void eddy_test_explored_fini(struct eddy_test_explored *explored)
{
        if (!explored)
                return;
        for (size_t i = 0; i < explored->outcomes_count; i++)
                eddy_free((char *) explored->outcomes[i].text);
        eddy_free(explored->outcomes);
        explored->outcomes = NULL;
        explored->outcomes_count = 0;
}

/* --- printing --- */

/* In quotes, without the newline at the end. */
static void text_add(struct ed_text *line, const struct eddy_test_outcome *outcome)
{
        size_t bytes = outcome->text_bytes;

        if (bytes > 0 && outcome->text[bytes - 1] == '\n')
                bytes--;
        ed_text_add(line, "\"");
        for (size_t i = 0; i < bytes && i < TEXT_SHOWN_BYTES; i++) {
                unsigned char c = (unsigned char) outcome->text[i];

                if (c == '\n')
                        ed_text_add(line, "\\n");
                else if (c == '"' || c == '\\')
                        ed_text_add(line, "\\%c", c);
                else if (c < ' ' || c == 0x7f)
                        ed_text_add(line, "\\x%02x", c);
                else
                        ed_text_add(line, "%c", c);
        }
        ed_text_add(line, "\"%s", bytes > TEXT_SHOWN_BYTES ? "..." : "");
}

/* "text", returned 7, and the first finding */
static void outcome_add(struct ed_text *line, const struct eddy_test_outcome *outcome)
{
        size_t bytes = strcspn(outcome->problem, "\n");

        /* The list of tasks after it is left out. */
        bytes -= bytes > 0 && outcome->problem[bytes - 1] == ':';
        if (outcome->text_bytes > 0)
                text_add(line, outcome);
        if (outcome->result != 0 || (outcome->text_bytes == 0 && bytes == 0)) {
                ed_text_add(line, "%sreturned ", outcome->text_bytes > 0 ? ", " : "");
                if (outcome->result < 0)
                        ed_text_add(line, "%s", eddy_error_name(outcome->result));
                else
                        ed_text_add(line, "%d", outcome->result);
        }
        if (bytes > 0)
                ed_text_add(line, "%s%.*s%s",
                            outcome->text_bytes > 0 || outcome->result != 0 ? ", " : "",
                            (int) (bytes < 2 * TEXT_SHOWN_BYTES ? bytes : 2 * TEXT_SHOWN_BYTES),
                            outcome->problem, bytes > 2 * TEXT_SHOWN_BYTES ? "..." : "");
}

static void print(const char *line)
{
        ed_sys_write_error(line, strlen(line));
}

/* Why not all schedules were run. */
static void limit_add(struct ed_text *line, const struct eddy_test_explored *all)
{
        if (all->complete)
                ed_text_add(line, ": all schedules");
        else
                ed_text_add(line,
                            ": all schedules with at most %u deviation%s, not those with more",
                            (unsigned) all->deviations, all->deviations == 1 ? "" : "s");
        if (all->other_runs > 0)
                ed_text_add(line, "; %llu runs had outcomes beyond the first %d",
                            (unsigned long long) all->other_runs, EDDY_TEST_OUTCOMES_MAX);
}

void ed_test_outcomes_print(const struct eddy_test_explored *all, const char *name)
{
        char buf[LINE_BYTES];
        struct ed_text line;

        for (size_t i = 0; i < all->outcomes_count; i++) {
                const struct eddy_test_outcome *outcome = &all->outcomes[i];

                line = (struct ed_text){ buf, sizeof(buf) };
                ed_text_add(&line,
                            "eddy_test: %s: outcome %zu of %zu, in %llu of %llu runs: ", name,
                            i + 1, all->outcomes_count, (unsigned long long) outcome->runs,
                            (unsigned long long) all->runs);
                outcome_add(&line, outcome);
                print(buf);
                line = (struct ed_text){ buf, sizeof(buf) };
                ed_text_add(&line, ": again with EDDY_TEST_REPLAY='%s'\n", outcome->replay);
                print(buf);
        }
        line = (struct ed_text){ buf, sizeof(buf) };
        ed_text_add(&line, "eddy_test: %s: %zu outcome%s in %llu run%s", name, all->outcomes_count,
                    all->outcomes_count == 1 ? "" : "s", (unsigned long long) all->runs,
                    all->runs == 1 ? "" : "s");
        limit_add(&line, all);
        ed_text_add(&line, "\n");
        print(buf);
}

void ed_test_outcome_print_replay(const struct eddy_test_explored *all)
{
        char buf[LINE_BYTES];
        struct ed_text line = { buf, sizeof(buf) };

        ed_text_add(&line, "eddy_test: %s: ", all->outcomes[0].replay);
        outcome_add(&line, &all->outcomes[0]);
        ed_text_add(&line, "\n");
        print(buf);
}
