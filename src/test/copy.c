/*
 * test/copy.c - a run in a copy of the process, which then continues to its end.
 *
 * An exploration of a whole program needs this: the program's own state is as new in each run, and a
 * run may end the process.
 */
#include "test/copy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sys/kit/process_copies.h"
#include "test/replay.h"

enum { ERROR_BYTES = 4096, REASON_BYTES = 256 };

/* The results that a copy gives to its parent. */
struct results {
        bool is_over; /* the run has ended */
        struct eddy_test_result result;
        struct ed_test_figures figures;
        struct ed_test_schedule chosen;
        uint8_t sizes[ED_TEST_CHOICES_MAX];
};

static struct ed_sys_copies copies;
static struct results *results; /* NULL until the first copy is made */
static bool is_copy;

static unsigned seconds_max(void)
{
        return (unsigned) ed_test_number("EDDY_EXPLORE_SECONDS", ED_TEST_COPY_S);
}

bool ed_test_copy_is_here(void)
{
        return is_copy;
}

int ed_test_copy_result(void)
{
        return results->result.result;
}

/* The rest of the findings, on a new line. */
static struct ed_text problem_end(void)
{
        size_t used = strlen(results->result.problem);
        struct ed_text text = { results->result.problem + used,
                                sizeof(results->result.problem) - used };

        ed_text_add(&text, "%s", used > 0 ? "\n" : "");
        return text;
}

void ed_test_copy_found(const char *problem)
{
        struct ed_text text;

        if (!*problem)
                return;
        text = problem_end();
        ed_text_add(&text, "%s", problem);
}

/* A sanitizer prints more after it. */
static bool is_summary(const char *line)
{
        return strncmp(line, "SUMMARY: ", strlen("SUMMARY: ")) == 0;
}

/*
 * The last line of standard error that is the program's own, or "".  Lines of sanitizers begin with
 * the number of the process, which differs from run to run.
 */
static void reason_read(char *buf, size_t bytes)
{
        static char text[ERROR_BYTES];
        char *line, *next = text;

        buf[0] = '\0';
        ed_sys_copies_error(&copies, text, sizeof(text));
        while ((line = strsep(&next, "\n")) && !is_summary(buf)) {
                if (*line && *line != ' ' && strncmp(line, "==", 2) != 0 &&
                    strncmp(line, "eddy_test: ", strlen("eddy_test: ")) != 0)
                        snprintf(buf, bytes, "%s", line);
        }
}

/* A run that ended its process has no figures but those that were recorded meanwhile. */
static void figures_find(void)
{
        memset(&results->result, 0, sizeof(results->result));
        memset(&results->figures, 0, sizeof(results->figures));
        results->figures.choices = strnlen((const char *) results->sizes, sizeof(results->sizes));
        results->figures.deviations = results->chosen.count;
}

/* Add how the copy ended to the findings of its run. */
static void end_add(const struct ed_sys_copy_end *end)
{
        char reason[REASON_BYTES];
        struct ed_text text;

        if (results->is_over && end->status == 0)
                return;
        text = problem_end();
        if (end->is_large)
                ed_text_add(&text, "the program printed more than %d MiB",
                            ED_SYS_COPY_BYTES_MAX >> 20);
        else if (end->is_late)
                ed_text_add(&text, "the program did not end within %u s (--timeout)",
                            seconds_max());
        else if (end->status < 0)
                ed_text_add(&text, "ended by signal %d (%s)", end->signo, strsignal(end->signo));
        else
                ed_text_add(&text, "ended with exit status %d", end->status);
        reason_read(reason, sizeof(reason));
        ed_text_add(&text, "%s%s%s",
                    results->is_over || end->is_late || end->is_large ? "" : " in the run",
                    *reason ? ": " : "", reason);
}

/* Replace the end of an output that is too long by a checksum. Returns the number of bytes. */
static size_t output_read(char *buf, size_t bytes, const struct ed_sys_copy_end *end)
{
        size_t all = ed_sys_copies_output(&copies, buf, bytes);
        char line[96];
        int n;

        if (all <= bytes)
                return all;
        /* How much a copy has printed when it is killed is an accident. */
        n = end->is_late || end->is_large
                    ? snprintf(line, sizeof(line), "\n...\n")
                    : snprintf(line, sizeof(line), "\n... (%zu bytes, checksum %016llx)\n", all,
                               (unsigned long long) ed_sys_copies_checksum(&copies));
        memcpy(buf + bytes - (size_t) n, line, (size_t) n);
        return bytes;
}

static int play(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                const struct ed_test_more *more)
{
        struct ed_test_more here = *more;

        is_copy = true;
        here.sizes = results->sizes;
        here.schedule = &results->chosen;
        here.output = NULL;
        (void) ed_test_run_with(main_fn, arg, opts, &here, &results->result, &results->figures);
        results->is_over = true;
        return -ECHILD;
}

int ed_test_copy_run(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                     const struct ed_test_more *more, struct eddy_test_result *ret_result,
                     struct ed_test_figures *ret_figures)
{
        int err = results ? 0 : ed_sys_copies_open(&copies, sizeof(*results));
        struct ed_sys_copy_end end;

        if (err < 0)
                return err;
        results = copies.shared;
        memset(results, 0, sizeof(*results));
        err = ed_sys_copies_run(&copies, seconds_max(), &end);
        if (err == 1)
                return play(main_fn, arg, opts, more);
        if (err < 0)
                return err == -EINTR ? -ECANCELED : err;
        if (!results->is_over)
                figures_find();
        end_add(&end);
        results->figures.output_bytes = output_read(more->output, more->output_max, &end);
        memcpy(more->sizes, results->sizes, sizeof(results->sizes));
        *more->schedule = results->chosen;
        *ret_result = results->result;
        *ret_figures = results->figures;
        return 0;
}
