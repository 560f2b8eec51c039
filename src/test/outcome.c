/*
 * test/outcome.c - grouping runs by their outcomes, and printing them.
 */
#include "test/outcome.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "eddy/error.h"
#include "sys/output.h"
#include "test/replay.h"

/* Parts of a line. */
enum { TEXT_SHOWN_BYTES = 160, LINE_BYTES = 1600 };

/* Parts of a block. */
enum { BLOCK_LINES = 50, BLOCK_LINE_BYTES = 300 };

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

/* A character of a program's output, which must not control a terminal. */
static void char_add(struct ed_text *line, char c)
{
        if (c == '\n')
                ed_text_add(line, "\\n");
        else if ((unsigned char) c < ' ' || c == 0x7f)
                ed_text_add(line, "\\x%02x", (unsigned char) c);
        else
                ed_text_add(line, "%c", c);
}

/* In quotes, without the newline at the end. */
static void text_add(struct ed_text *line, const struct eddy_test_outcome *outcome)
{
        size_t bytes = outcome->text_bytes;

        if (bytes > 0 && outcome->text[bytes - 1] == '\n')
                bytes--;
        ed_text_add(line, "\"");
        for (size_t i = 0; i < bytes && i < TEXT_SHOWN_BYTES; i++) {
                char c = outcome->text[i];

                if (c == '"' || c == '\\')
                        ed_text_add(line, "\\");
                char_add(line, c);
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

/* --- as blocks of lines --- */

/* A descriptor, until a write fails. */
struct output {
        int fd;
        char line[4 * BLOCK_LINE_BYTES + 64];
        int err;
};

static void output_bytes(struct output *output, const char *at, size_t left)
{
        while (left > 0 && output->err == 0) {
                int64_t n = ed_sys_write_quietly(output->fd, at, left);

                if (n > 0) {
                        at += n;
                        left -= (size_t) n;
                } else if (n != -EINTR) {
                        output->err = n < 0 ? (int) n : -EIO;
                }
        }
}

static void output_line(struct output *output, const char *format, ...) EDDY_PRINTF(2, 3);
static void output_line(struct output *output, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        (void) vsnprintf(output->line, sizeof(output->line), format, args);
        va_end(args);
        output_bytes(output, output->line, strlen(output->line));
}

static size_t lines_of(const char *text, const char *end)
{
        size_t lines = 0;

        for (; text < end && (text = memchr(text, '\n', (size_t) (end - text))); text++)
                lines++;
        return lines;
}

static const char *line_after(const char *text, const char *end)
{
        const char *newline = memchr(text, '\n', (size_t) (end - text));

        return newline ? newline + 1 : end;
}

/* U+0080 to U+009F control terminals too. Returns the number of bytes of such a character, or 0. */
static size_t control_bytes(const char *text, const char *end)
{
        return end - text >= 2 && text[0] == '\xc2' && (unsigned char) text[1] < 0xa0 ? 2 : 0;
}

static void output_text_line(struct output *output, const char *text, const char *end)
{
        char buf[4 * BLOCK_LINE_BYTES + 9];
        struct ed_text line = { buf, sizeof(buf) };
        const char *cut = end - text > BLOCK_LINE_BYTES ? text + BLOCK_LINE_BYTES : end;

        buf[0] = '\0';
        while (text < cut) {
                if (control_bytes(text, end)) {
                        ed_text_add(&line, "\\xc2\\x%02x", (unsigned char) text[1]);
                        text += 2;
                } else {
                        char_add(&line, *text++);
                }
        }
        output_line(output, "    %s%s\n", buf, cut < end ? "..." : "");
}

/* A text, indented, without the lines in its middle if it is long. */
static void output_text(struct output *output, const char *text, size_t bytes)
{
        const char *end = text + bytes, *next;
        size_t left = lines_of(text, end), middle = left > BLOCK_LINES ? left - BLOCK_LINES : 0;

        for (size_t i = 0; text < end; text = next, i++) {
                next = line_after(text, end);
                if (i < BLOCK_LINES / 2 || i >= BLOCK_LINES / 2 + middle)
                        output_text_line(output, text, next - (next[-1] == '\n'));
                else if (i == BLOCK_LINES / 2)
                        output_line(output, "    ... (%zu more lines)\n", middle);
        }
}

static void output_outcome(struct output *output, const struct eddy_test_outcome *outcome,
                           const char *command)
{
        output_text(output, outcome->text, outcome->text_bytes);
        if (outcome->text_bytes > 0 && outcome->text[outcome->text_bytes - 1] != '\n')
                output_line(output, "  without a newline at the end\n");
        if (outcome->result < 0)
                output_line(output, "  the main task returned %s\n",
                            eddy_error_name(outcome->result));
        else if (outcome->result > 0)
                output_line(output, "  the main task returned %d\n", outcome->result);
        if (outcome->problem[0])
                output_line(output, "  found:\n");
        output_text(output, outcome->problem, strlen(outcome->problem));
        output_line(output, "  again: EDDY_TEST_REPLAY='%s' ", outcome->replay);
        output_bytes(output, command, strlen(command));
        output_line(output, "\n\n");
}

/* The last line, about all outcomes. */
static void output_all(struct output *output, const struct eddy_test_explored *all,
                       const struct eddy_test_explore_opts *how)
{
        unsigned deviations = (unsigned) all->deviations;

        output_line(output, "%zu outcome%s in %llu run%s: ", all->outcomes_count,
                    all->outcomes_count == 1 ? "" : "s", (unsigned long long) all->runs,
                    all->runs == 1 ? "" : "s");
        if (all->complete)
                output_line(output, "all orders\n");
        else if (all->schedules >= how->runs_max)
                output_line(output, "more runs than %llu (--runs) would be needed\n",
                            (unsigned long long) how->runs_max);
        else if (deviations == how->deviations_max && deviations < EDDY_TEST_DEVIATIONS_MAX)
                output_line(output,
                            "all orders with at most %u deviation%s; --deviations %u tries more\n",
                            deviations, deviations == 1 ? "" : "s", deviations + 1);
        else
                output_line(output,
                            "all orders with at most %u deviation%s; a limit leaves out others\n",
                            deviations, deviations == 1 ? "" : "s");
        if (all->other_runs > 0)
                output_line(output, "%llu runs had outcomes beyond the first %d\n",
                            (unsigned long long) all->other_runs, EDDY_TEST_OUTCOMES_MAX);
}

int ed_test_outcomes_write(const struct eddy_test_explored *all,
                           const struct eddy_test_explore_opts *how, bool is_whole,
                           const char *command, int fd)
{
        struct output output = { .fd = fd };

        for (size_t i = 0; i < all->outcomes_count; i++) {
                const struct eddy_test_outcome *outcome = &all->outcomes[i];

                output_line(&output, "outcome %zu of %zu, in %llu of %llu runs:\n", i + 1,
                            all->outcomes_count, (unsigned long long) outcome->runs,
                            (unsigned long long) all->runs);
                output_outcome(&output, outcome, command);
        }
        if (is_whole)
                output_all(&output, all, how);
        return output.err;
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
