/*
 * test_work.c - the engine of `eddy batch` without the command: units of work of one run, each with
 * a part of a file, files of its own, and a scope of its own. Nothing is printed.
 */
#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/run/work.h"
#include "eddy/event.h"
#include "eddy/http_server.h"
#include "eddy/run.h"
#include "eddy/tcp.h"
#include "eddy/time.h"

enum { LINES = 40, UNITS = 2, PART = LINES / UNITS };

static char folder[] = "/tmp/eddy-test-work-XXXXXX";
static char input[64], outputs[UNITS][64], errors[UNITS][64];
static struct ed_batch_paths paths[UNITS];
static struct ed_range ranges[UNITS];

/* ---- the server ---------------------------------------------------------------------------- */

static bool holds;      /* requests of the second part get no answer */
static unsigned held;   /* those that wait */
static eddy_event full; /* all of them wait, or no more will */

static int answer(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        if (holds && strcmp(eddy_http_exchange_path(exchange), "/1") == 0) {
                if (++held == PART)
                        eddy_event_set(&full);
                return eddy_sleep(EDDY_SEC(600));
        }
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "{\"n\":1}", 7);
}

static int serve(void *arg)
{
        return eddy_http_serve(arg, NULL, answer, NULL);
}

/* ---- messages ------------------------------------------------------------------------------ */

static char heard[1024];

EDDY_PRINTF(3, 0)
static void hear(void *arg, enum ed_say_kind kind, const char *format, va_list args)
{
        size_t bytes = strlen(heard);

        CHECK(arg == heard);
        bytes += (size_t) snprintf(heard + bytes, sizeof(heard) - bytes, "%d ", kind);
        vsnprintf(heard + bytes, sizeof(heard) - bytes, format, args);
}

/* ---- files --------------------------------------------------------------------------------- */

static void paths_make(void)
{
        CHECK(mkdtemp(folder) != NULL);
        snprintf(input, sizeof(input), "%s/in", folder);
        for (int i = 0; i < UNITS; i++) {
                snprintf(outputs[i], sizeof(outputs[i]), "%s/out-%d", folder, i);
                snprintf(errors[i], sizeof(errors[i]), "%s/errors-%d", folder, i);
                paths[i] = (struct ed_batch_paths){ input, outputs[i], errors[i] };
        }
}

static void paths_remove(void)
{
        for (int i = 0; i < UNITS; i++) {
                unlink(outputs[i]);
                unlink(errors[i]);
        }
        unlink(input);
        CHECK_EQ(rmdir(folder), 0);
}

/* Lines without ids, so that these are their numbers. */
static void input_make(void)
{
        FILE *file = fopen(input, "w");

        CHECK(file != NULL);
        for (int i = 0; i < LINES; i++) {
                if (i % PART == 0)
                        ranges[i / PART] = (struct ed_range){ .at = (uint64_t) ftell(file),
                                                              .lines = (uint64_t) i };
                fprintf(file, "{\"method\":\"POST\",\"url\":\"/%d\",\"body\":{\"i\":%d}}\n",
                        i / PART, i);
        }
        ranges[0].bytes = ranges[1].at;
        CHECK_EQ(fclose(file), 0);
}

/* Returns the lines of an output. Each must have the id of another line of its part. */
static int output_check(int part)
{
        char line[512], id[32];
        bool seen[LINES + 1] = { false };
        FILE *file = fopen(outputs[part], "r");
        int count = 0;

        CHECK(file != NULL);
        while (fgets(line, sizeof(line), file)) {
                const char *at = strstr(line, "\"custom_id\":\"line-");
                int number;

                CHECK(at != NULL);
                CHECK_EQ(sscanf(at, "\"custom_id\":\"%31[^\"]\"", id), 1);
                number = (int) strtol(id + 5, NULL, 10);
                CHECK(number > part * PART && number <= (part + 1) * PART);
                CHECK(!seen[number]);
                seen[number] = true;
                count++;
        }
        fclose(file);
        return count;
}

/* ---- runs ---------------------------------------------------------------------------------- */

static char base_url[64];
static struct ed_api_keys no_keys;

static struct ed_batch_settings defaults = {
        .format = "json",
        .max_errors = UINT32_MAX,
        .timeout_ns = EDDY_SEC(600),
        .timeout_text = "600s",
        .attempts = 1,
        .throttle_wait_max_ns = EDDY_MIN(60),
};
static struct ed_batch_run run;
static struct ed_batch_unit units[UNITS];
static int results[UNITS];

static void run_open(void)
{
        run = (struct ed_batch_run){ .settings = &defaults,
                                     .keys = &no_keys,
                                     .say = { hear, heard } };
        for (int i = 0; i < UNITS; i++) {
                units[i] = (struct ed_batch_unit){ .input = { .range = ranges[i] } };
                ed_unit_init(&units[i], &run, &paths[i]);
                CHECK_EQ(ed_reader_open(&units[i]), 0);
                CHECK_EQ(ed_checkpoint_open(&units[i]), 0);
                CHECK_EQ(ed_reader_check(&units[i]), 0);
                CHECK_EQ(ed_checkpoint_begin(&units[i]), 0);
        }
        ed_run_init(&run, 2 * LINES);
}

static void run_close(void)
{
        for (int i = 0; i < UNITS; i++) {
                CHECK_EQ(ed_checkpoint_close(&units[i], true), 0);
                ed_unit_fini(&units[i]);
        }
        ed_run_fini(&run);
}

static int unit_work(void *arg)
{
        struct ed_batch_unit *unit = arg;

        results[unit - units] = ed_unit_work(unit);
        return 0;
}

/* End the second unit once all of its requests are held, and the first unit is done. */
static int second_end(void *arg)
{
        (void) arg;
        if (eddy_event_wait(&full) < 0)
                return 0;
        while (units[0].sink.ok < PART)
                eddy_sleep(EDDY_MS(1));
        ed_unit_end(&units[1], eddy_now());
        return 0;
}

static int work(void *arg)
{
        eddy_listener *listener;
        eddy_scope whole, both;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        snprintf(base_url, sizeof(base_url), "http://127.0.0.1:%u", eddy_listener_port(listener));
        CHECK_EQ(eddy_http_client_new(&(struct eddy_http_client_opts){ .connections_max = LINES },
                                      &run.client),
                 0);
        eddy_scope_begin(&whole, NULL);
        CHECK_EQ(eddy_scope_start(&whole, serve, listener), 0);
        CHECK_EQ(ed_run_begin(&run, &whole), 0);
        if (holds)
                CHECK_EQ(eddy_scope_start(&whole, second_end, NULL), 0);
        eddy_scope_begin(&both, NULL);
        for (int i = 0; i < UNITS; i++)
                CHECK_EQ(eddy_scope_start(&both, unit_work, &units[i]), 0);
        CHECK_EQ(eddy_scope_end(&both), 0);
        CHECK(run.units == NULL);
        eddy_scope_cancel(&whole);
        eddy_scope_end(&whole);
        eddy_http_client_close(run.client);
        eddy_listener_close(listener);
        return 0;
}

static void run_whole(void)
{
        run_open();
        /* On a busy machine, the watchdog would print. */
        CHECK_EQ(eddy_run(work, NULL, &(struct eddy_run_opts){ .watchdog_ns = EDDY_MIN(60) }), 0);
        for (int i = 0; i < UNITS; i++)
                CHECK_EQ(results[i], 0);
        run_close();
}

TEST(two_parts_of_a_file_are_worked_at_together_and_one_may_end_without_the_other)
{
        int printed = memfd_create("printed", MFD_CLOEXEC);
        int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
        struct stat st;

        paths_make();
        input_make();
        CHECK_EQ(ed_base_urls_add(&defaults.bases.given, base_url), 0); /* its text comes later */
        CHECK(dup2(printed, STDOUT_FILENO) >= 0 && dup2(printed, STDERR_FILENO) >= 0);
        holds = true;
        run_whole();
        CHECK_EQ(run.stats.stop, ED_STOP_NONE);
        CHECK_EQ(units[0].sink.ok, PART);
        CHECK_EQ(units[1].sink.ok, 0);
        CHECK_EQ(run.stats.ok, PART);
        CHECK_EQ(run.stats.cancelled, PART);
        CHECK_EQ(output_check(0), PART);
        CHECK_EQ(output_check(1), 0);
        /* Another run at the same parts sends what has no answer. */
        holds = false;
        run_whole();
        CHECK_EQ(units[0].checked.total, 0);
        CHECK_EQ(units[1].checked.total, PART);
        CHECK_EQ(run.stats.ok, PART);
        CHECK_EQ(output_check(0), PART);
        CHECK_EQ(output_check(1), PART);
        CHECK(dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0);
        CHECK(fstat(printed, &st) == 0 && st.st_size == 0);
        CHECK_STR(heard, "");
        ed_bases_fini(&defaults.bases);
        paths_remove();
}

TEST(messages_of_a_run_are_heard_and_not_printed)
{
        int printed = memfd_create("printed", MFD_CLOEXEC), err = dup(STDERR_FILENO);
        struct ed_batch_unit unit = { 0 };
        struct stat st;

        paths_make();
        CHECK(dup2(printed, STDERR_FILENO) >= 0);
        run = (struct ed_batch_run){ .settings = &defaults,
                                     .keys = &no_keys,
                                     .say = { hear, heard } };
        ed_unit_init(&unit, &run, &paths[0]);
        CHECK_EQ(ed_reader_open(&unit), 3);
        ed_unit_fini(&unit);
        CHECK(dup2(err, STDERR_FILENO) >= 0);
        CHECK(fstat(printed, &st) == 0 && st.st_size == 0);
        CHECK(strstr(heard, "/in: No such file or directory") != NULL);
        CHECK_EQ(rmdir(folder), 0);
}
