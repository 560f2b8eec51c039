/*
 * test_bases.c - the file of base URLs, which is watched: when a change is believed, and how a list
 * without a server ends. Real files, on the simulated clock.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/run/bases.h"
#include "batch/run/job_endpoint.h"
#include "batch/run/unit.h"
#include "eddy/scope.h"
#include "eddy/test.h"
#include "eddy/time.h"

static char folder[] = "/tmp/eddy-test-bases-XXXXXX", path[sizeof(folder) + 8];
static char heard[4096];
static struct ed_batch_settings settings;
static struct ed_batch_run run;
static struct ed_api_keys no_keys;
static struct ed_batch_paths paths;

EDDY_PRINTF(3, 0)
static void hear(void *arg, enum ed_say_kind kind, const char *format, va_list args)
{
        size_t bytes = strlen(heard);

        (void) arg;
        (void) kind;
        bytes += (size_t) vsnprintf(heard + bytes, sizeof(heard) - bytes, format, args);
        snprintf(heard + bytes, sizeof(heard) - bytes, "\n");
}

/* Returns how often a text was heard. */
static int times(const char *text)
{
        int count = 0;

        for (const char *at = heard; (at = strstr(at, text)); at++)
                count++;
        return count;
}

static void file_write(const char *text)
{
        FILE *file = fopen(path, "w");

        CHECK(file != NULL);
        CHECK_EQ(fwrite(text, 1, strlen(text), file), strlen(text));
        CHECK_EQ(fclose(file), 0);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static eddy_task_fn *main_fn;
static eddy_scope work; /* of the requests of the run */

/* Begin with a list, and watch its file. */
static int main_whole(void *arg)
{
        static struct ed_batch_unit unit;
        struct ed_endpoints_change change;
        char why[ED_BASE_URLS_WHY_BYTES];
        eddy_scope beside;
        int err;

        (void) ed_watched_file_look(path, &settings.bases.file);
        CHECK_EQ(ed_bases_read(&settings.bases, "http://a\n", 9, &settings.bases.listed, why), 0);
        ed_endpoints_init(&run.endpoints, &(struct ed_endpoint_limits){ .changes = true },
                          &run.engine.room);
        CHECK_EQ(ed_endpoints_list(&run.endpoints, &settings.bases.listed, &change), 0);
        memset(&unit, 0, sizeof(unit));
        unit.run = &run;
        unit.paths = &paths;
        eddy_scope_begin(&work, NULL);
        ed_unit_join(&unit, &work);
        eddy_scope_begin(&beside, NULL);
        CHECK_EQ(eddy_scope_start(&beside, ed_bases_watch, &run), 0);
        err = main_fn(arg);
        eddy_scope_cancel(&beside);
        eddy_scope_end(&beside);
        ed_unit_leave(&unit);
        eddy_scope_cancel(&work);
        eddy_scope_end(&work);
        ed_endpoints_fini(&run.endpoints);
        ed_bases_fini(&settings.bases);
        return err;
}

static void run_with(eddy_task_fn *fn)
{
        struct eddy_test_result result;

        main_fn = fn;
        heard[0] = '\0';
        memset(folder + sizeof(folder) - 7, 'X', 6);
        CHECK(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/list", folder);
        file_write("http://a\n");
        settings = (struct ed_batch_settings){ .bases = { .path = path, .is_watched = true },
                                               .throttle_wait_max_ns = EDDY_MIN(10) };
        run = (struct ed_batch_run){ .settings = &settings,
                                     .keys = &no_keys,
                                     .say = { hear, NULL } };
        ed_room_init(&run.engine.room, 1, false);
        CHECK_EQ(eddy_test_run(main_whole, NULL, NULL, &result), 0);
        unlink(path);
        CHECK_EQ(rmdir(folder), 0);
}

static void wait(int64_t ns)
{
        CHECK_EQ(eddy_sleep(ns), 0);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static int half_main(void *arg)
{
        static const char *const halves[] = { "", "http://", "http://b\nhttp://c:80", "# b" };

        (void) arg;
        wait(EDDY_SEC(5));
        /* A half that lasts for two seconds is not believed. */
        for (size_t i = 0; i < 4; i++) {
                file_write(halves[i]);
                wait(EDDY_SEC(2));
                CHECK_STR(heard, "");
        }
        /* A whole file is believed at once, one that seems to be half after a while. */
        file_write("http://a\nhttp://b\n");
        wait(EDDY_MS(600));
        CHECK_EQ(times("1 added, 0 removed: 2 base URLs now"), 1);
        file_write("http://a\nhttp://b\nhttp://c:80");
        wait(EDDY_SEC(3));
        CHECK_EQ(times("1 added, 0 removed: 3 base URLs now"), 1);
        CHECK_EQ(times("\n"), 2);
        return 0;
}

TEST(file_that_is_half_written_is_not_believed)
{
        run_with(half_main);
}

/* An attempt at a server got no connection. */
static enum ed_verdict lose(struct ed_endpoint *endpoint, int64_t since_ns)
{
        static struct ed_request request;
        static struct ed_batch_unit unit;
        static struct ed_batch_job job;

        request.url = "/x";
        unit.run = &run;
        job.unit = &unit;
        job.request = &request;
        job.attempt.endpoint = endpoint;
        return ed_job_endpoint_lost(&job, -ECONNREFUSED, since_ns);
}

static int late_main(void *arg)
{
        struct ed_endpoint *late;

        (void) arg;
        file_write("http://a\nhttp://late\n");
        wait(EDDY_SEC(1));
        ed_endpoint_reached(run.endpoints.first);
        late = run.endpoints.first->next;
        CHECK_STR(late->name, "http://late");
        CHECK_EQ(lose(late, EDDY_SEC(12)), ED_VERDICT_REFUSED);
        CHECK_EQ(lose(late, settings.throttle_wait_max_ns), ED_VERDICT_REFUSED);
        CHECK_EQ(times("http://late cannot be reached"), 1);
        CHECK(!late->is_shut);
        /* A server of an option is taken for a mistake after ten seconds. */
        late->is_listed = false;
        CHECK_EQ(lose(late, EDDY_SEC(10)), ED_VERDICT_REFUSED);
        CHECK(!late->is_shut);
        (void) lose(late, EDDY_SEC(12));
        CHECK(late->is_shut);
        CHECK_EQ(times("requests go to the other base URLs"), 1);
        return 0;
}

TEST(server_that_is_listed_before_it_listens_is_waited_for)
{
        run_with(late_main);
}

static int steady_main(void *arg)
{
        char text[128];

        (void) arg;
        /* A file that changes at each look is read when that ends. */
        for (int i = 0; i < 50; i++) {
                snprintf(text, sizeof(text), "http://a\n#%*d\nhttp://b\n", i + 1, 0);
                file_write(text);
                wait(EDDY_MS(250));
        }
        CHECK_STR(heard, "");
        wait(EDDY_SEC(1));
        CHECK_EQ(times("1 added, 0 removed: 2 base URLs now"), 1);
        return 0;
}

TEST(file_that_changes_all_the_time_is_read_when_it_is_steady)
{
        run_with(steady_main);
}

static int fault_main(void *arg)
{
        static const struct {
                const char *text, *words; /* NULL: no file */
        } steps[] = {
                { "wrong\n",
                  "line 1: wrong: write http://HOST[:PORT][/PATH] or https, without ? and #; "
                  "the previous base URLs are kept" },
                { NULL, NULL },
                { "http://a\n", NULL },
                { NULL, "No such file or directory; the previous base URLs are kept" },
        };

        (void) arg;
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
                heard[0] = '\0';
                if (steps[i].text)
                        file_write(steps[i].text);
                else
                        unlink(path);
                wait(EDDY_SEC(5));
                CHECK_EQ(times("\n"), steps[i].words != NULL);
                CHECK(!steps[i].words || times(steps[i].words) == 1);
                CHECK_EQ(ed_endpoints_usable(&run.endpoints), 1);
        }
        CHECK_EQ(mkfifo(path, 0600), 0);
        heard[0] = '\0';
        wait(EDDY_SEC(5));
        CHECK_STR(heard, ""); /* one fault follows the other */
        return 0;
}

TEST(fault_of_the_file_is_said_once_and_all_stays_as_it_is)
{
        run_with(fault_main);
}

static int empty_main(void *arg)
{
        (void) arg;
        file_write("# none\n");
        wait(EDDY_MIN(5));
        CHECK_EQ(times("they wait for one"), 1);
        CHECK_EQ(ed_endpoints_usable(&run.endpoints), 0);
        file_write("http://b\n");
        wait(EDDY_SEC(1));
        CHECK_EQ(ed_endpoints_usable(&run.endpoints), 1);
        file_write("# none\n");
        wait(EDDY_MIN(9));
        CHECK_EQ(run.stats.stop, ED_STOP_NONE);
        CHECK_EQ(eddy_sleep(EDDY_MIN(2)), -ECANCELED);
        CHECK_EQ(run.stats.stop, ED_STOP_UNREACHED);
        CHECK_EQ(times("has named no server for 10m"), 1);
        return 0;
}

TEST(list_without_a_server_ends_the_run_after_the_longest_pause)
{
        run_with(empty_main);
}

/* Write a list of so many servers. */
static void list_write(int count)
{
        FILE *file = fopen(path, "w");

        CHECK(file != NULL);
        for (int i = 0; i < count; i++)
                fprintf(file, "http://h%d\n", i);
        CHECK_EQ(fclose(file), 0);
}

static int many_main(void *arg)
{
        (void) arg;
        list_write(ED_BASE_URLS_MAX);
        wait(EDDY_SEC(1));
        CHECK_EQ(times("4096 added, 1 removed: 4096 base URLs now"), 1);
        list_write(ED_BASE_URLS_MAX + 1);
        wait(EDDY_SEC(1));
        CHECK_EQ(times("line 4097: http://h4096: at most 4,096 base URLs are possible"), 1);
        CHECK_EQ(ed_endpoints_usable(&run.endpoints), ED_BASE_URLS_MAX);
        return 0;
}

TEST(list_that_grows_beyond_4096_is_refused)
{
        run_with(many_main);
}
