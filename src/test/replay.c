/*
 * test/replay.c - runs as strings, and printing findings.
 */
#include "test/replay.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/def.h"
#include "base/text.h"
#include "eddy/error.h"
#include "sys/output.h"
#include "test/run.h"

enum { LINE_BYTES = 1536 }; /* room for a problem, a name and a spec */

/* --- writing --- */

static const char *error_name(int error)
{
        return error == EDDY_TEST_SHORT ? "SHORT" : eddy_error_name(error);
}

static void number_add(struct ed_text *text, const char *begin, const char *what, uint64_t n)
{
        if (n > 0)
                ed_text_add(text, "%s%s=%llu", text->at > begin ? "," : "", what,
                            (unsigned long long) n);
}

void ed_test_spec_write(const struct eddy_test_opts *opts, char *buf, size_t bytes)
{
        struct ed_text text = { buf, bytes };

        buf[0] = '\0';
        number_add(&text, buf, "seed", opts->seed);
        number_add(&text, buf, "task", opts->cancel_at > 0 ? opts->cancel_task : 0);
        number_add(&text, buf, "cancel", opts->cancel_at);
        number_add(&text, buf, "alloc", opts->alloc_at);
        if (opts->alloc_at > 0 && opts->alloc_forever)
                ed_text_add(&text, "+");
        else if (opts->alloc_at > 0 && opts->alloc_again > 0)
                ed_text_add(&text, "+%llu", (unsigned long long) opts->alloc_again);
        number_add(&text, buf, "call", opts->call_at);
        if (opts->call_at > 0)
                ed_text_add(&text, "/%s", error_name(opts->call_error));
        if (opts->order)
                ed_text_add(&text, "%sorder=%s", text.at > buf ? "," : "", opts->order);
}

/* --- reading --- */

static bool is_named(int error, const char *name, size_t bytes)
{
        return strlen(error_name(error)) == bytes && memcmp(error_name(error), name, bytes) == 0;
}

/* Returns 0 if there is no error of that name. */
static int error_by_name(const char *name, size_t bytes)
{
        static const int ours[] = { EDDY_TEST_SHORT,
#define ERROR_OF(facility, number, name, text) EDDY_E_##facility##_##name,
                                    EDDY_ERRORS(ERROR_OF)
#undef ERROR_OF
        };

        for (size_t i = 0; i < ed_array_count(ours); i++)
                if (is_named(ours[i], name, bytes))
                        return ours[i];
        for (int error = -1; error > -4096; error--)
                if (is_named(error, name, bytes))
                        return error;
        return 0;
}

/* Read a number above 0. Returns the text after it, or NULL if there is none. */
static const char *number_read(const char *at, uint64_t *ret_number)
{
        char *end;

        if (*at < '1' || *at > '9')
                return NULL;
        errno = 0;
        *ret_number = strtoull(at, &end, 10);
        return errno ? NULL : end;
}

static const char *after_word(const char *at, const char *word)
{
        size_t bytes = strlen(word);

        return strncmp(at, word, bytes) == 0 ? at + bytes : NULL;
}

/* Read "12", "12+" or "12+3". Returns the text after it, or NULL if it is invalid. */
static const char *alloc_read(const char *at, struct eddy_test_opts *opts)
{
        opts->alloc_again = 0;
        opts->alloc_forever = 0;
        at = number_read(at, &opts->alloc_at);
        if (!at || *at != '+')
                return at;
        if (at[1] && at[1] != ',')
                return number_read(at + 1, &opts->alloc_again);
        opts->alloc_forever = 1;
        return at + 1;
}

/* Read "3/2.7/3" or "0". Returns the text after it, or NULL if it is invalid. */
static const char *order_read(const char *at, struct eddy_test_opts *opts)
{
        static char order[ED_TEST_ORDER_BYTES]; /* the variable may change in a run */
        struct ed_test_schedule schedule;
        size_t bytes = strcspn(at, ",");

        if (bytes >= sizeof(order))
                return NULL;
        memcpy(order, at, bytes);
        order[bytes] = '\0';
        opts->order = order;
        return ed_test_schedule_read(order, &schedule) < 0 ? NULL : at + bytes;
}

/* Read one part. Returns the text after it, or NULL if it is invalid. */
static const char *part_read(const char *at, struct eddy_test_opts *opts)
{
        const char *number, *end;

        if ((number = after_word(at, "seed=")))
                return number_read(number, &opts->seed);
        if ((number = after_word(at, "task=")))
                return number_read(number, &opts->cancel_task);
        if ((number = after_word(at, "cancel=")))
                return number_read(number, &opts->cancel_at);
        if ((number = after_word(at, "alloc=")))
                return alloc_read(number, opts);
        if ((number = after_word(at, "order=")))
                return order_read(number, opts);
        number = after_word(at, "call=");
        at = number ? number_read(number, &opts->call_at) : NULL;
        if (!at || *at++ != '/')
                return NULL;
        end = at + strcspn(at, ",");
        opts->call_error = error_by_name(at, (size_t) (end - at));
        return opts->call_error ? end : NULL;
}

static int spec_read(const char *at, struct eddy_test_opts *opts)
{
        opts->seed = opts->cancel_at = opts->cancel_task = 0;
        opts->alloc_at = opts->alloc_again = opts->call_at = 0;
        opts->alloc_forever = opts->call_error = 0;
        opts->order = NULL;
        while (*at) {
                at = part_read(at, opts);
                if (!at || (*at && *at != ',') || (*at && !at[1]))
                        return -EINVAL;
                at += *at == ',';
        }
        /* A task without a point is not a run. */
        return opts->cancel_task > 0 && opts->cancel_at == 0 ? -EINVAL : 1;
}

int ed_test_replay(const char *name, struct eddy_test_opts *opts)
{
        const char *replay = getenv("EDDY_TEST_REPLAY"), *colon;
        struct eddy_test_opts read = *opts;
        char line[256];
        int err;

        if (!replay || !*replay)
                return ED_TEST_REPLAY_NONE;
        colon = strrchr(replay, ':');
        err = colon ? spec_read(colon + 1, &read) : -EINVAL;
        if (err < 0) {
                struct ed_text text = { line, sizeof(line) };

                ed_text_add(&text, "eddy_test: EDDY_TEST_REPLAY='%.200s' is not a replay string\n",
                            replay);
                ed_sys_write_error(line, strlen(line));
                return err;
        }
        if (strlen(name) != (size_t) (colon - replay) ||
            strncmp(replay, name, (size_t) (colon - replay)) != 0)
                return 0;
        *opts = read;
        return 1;
}

void ed_test_replay_trace(struct eddy_test_opts *opts, struct eddy_run_opts *run)
{
        const char *path = secure_getenv("EDDY_TRACE");

        if (!path || !*path || (opts->run && opts->run->trace_file))
                return;
        *run = opts->run ? *opts->run : (struct eddy_run_opts){ 0 };
        run->trace_file = path;
        opts->run = run;
}

uint64_t ed_test_number(const char *variable, uint64_t otherwise)
{
        const char *value = getenv(variable), *end;
        uint64_t number;

        end = value ? number_read(value, &number) : NULL;
        return end && !*end ? number : otherwise;
}

/* --- printing --- */

/* "eddy_test: transfer: cancel=31: " */
static void begin_add(struct ed_text *text, const char *name, const char *spec)
{
        ed_text_add(text, "eddy_test: %s: %s%s", name, spec, *spec ? ": " : "");
}

void ed_test_print_strikes(const char *name, const struct eddy_test_opts *opts,
                           const struct ed_test_strikes *strikes)
{
        char line[LINE_BYTES], spec[ED_TEST_SPEC_BYTES];
        struct ed_text text = { line, sizeof(line) };

        ed_test_spec_write(opts, spec, sizeof(spec));
        begin_add(&text, name, spec);
        for (int i = 0; ed_test_strike_line(strikes, opts, i, &text); i++) {
                ed_text_add(&text, "\n");
                ed_sys_write_error(line, strlen(line));
                text = (struct ed_text){ line, sizeof(line) };
                begin_add(&text, name, spec);
        }
}

void ed_test_print_lines(const char *name, const struct eddy_test_opts *opts, const char *problem)
{
        char line[LINE_BYTES], spec[ED_TEST_SPEC_BYTES];
        struct ed_text text;

        ed_test_spec_write(opts, spec, sizeof(spec));
        while (*problem) {
                size_t bytes = strcspn(problem, "\n");

                text = (struct ed_text){ line, sizeof(line) };
                /* Indented lines continue the line above, so they get no prefix. */
                if (*problem != ' ')
                        begin_add(&text, name, spec);
                ed_text_add(&text, "%.*s\n", (int) bytes, problem);
                ed_sys_write_error(line, strlen(line));
                problem += bytes + (problem[bytes] == '\n');
        }
}

void ed_test_print(const char *name, const struct eddy_test_opts *opts, const char *problem,
                   const struct ed_test_strikes *strikes)
{
        char line[LINE_BYTES], spec[ED_TEST_SPEC_BYTES];
        struct ed_text text;

        ed_test_print_lines(name, opts, problem);
        ed_test_print_strikes(name, opts, strikes);
        ed_test_spec_write(opts, spec, sizeof(spec));
        text = (struct ed_text){ line, sizeof(line) };
        ed_text_add(&text, "eddy_test: again with EDDY_TEST_REPLAY='%s:%s'\n", name, spec);
        ed_sys_write_error(line, strlen(line));
}

void ed_test_print_differs(const char *name, const struct eddy_test_opts *opts, const char *problem)
{
        static const char words[] =
                "eddy_test: EDDY_TEST_REPLAY cannot repeat it, because it depends on the "
                "runs before it: repeat the sweep\n";

        ed_test_print_lines(name, opts, problem);
        ed_sys_write_error(words, strlen(words));
}

void ed_test_print_before(const char *name, const struct eddy_test_opts *opts)
{
        char line[LINE_BYTES], spec[ED_TEST_SPEC_BYTES];
        struct ed_text text = { line, sizeof(line) };

        ed_test_spec_write(opts, spec, sizeof(spec));
        ed_text_add(&text, "eddy_test: %s: %s\n", name, *spec ? spec : "as it is");
        ed_sys_write_error(line, strlen(line));
}
