/*
 * loom.c - see loom.h.
 */
#include "loom.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/list.h"
#include "loop/loop.h"
#include "scope/vars.h"

/* --- the table --- */

static struct loom_table *self(struct ed_sys *sys)
{
        return ed_container_of(sys, struct loom_table, sys);
}

static int64_t table_now(struct ed_sys *sys)
{
        return self(sys)->now_ns;
}

static void table_random(struct ed_sys *sys, void *buf, size_t bytes)
{
        (void) sys;
        memset(buf, 0, bytes);
}

static void table_wake(struct ed_sys *sys)
{
        dfs_point();
        if (self(sys)->gone)
                dfs_fail("a table was woken that is gone");
        self(sys)->woken = true;
        dfs_write();
        dfs_point();
}

static bool is_woken(const void *arg)
{
        return ((const struct loom_table *) arg)->woken;
}

void loom_table_wait(struct loom_table *table)
{
        dfs_point();
        if (!table->woken)
                dfs_wait(is_woken, table, "a wake of its loop");
        table->woken = false;
}

/*
 * A wait with an end may end by it at any time at which others could go on, so
 * that a deadline comes before, between and after all that they do.
 */
static int table_poll(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max)
{
        struct loom_table *table = self(sys);

        (void) max;
        if (timeout_ns < 0) {
                loom_table_wait(table);
        } else if (timeout_ns > 0) {
                dfs_pause();
                if (!table->woken)
                        table->now_ns += timeout_ns;
        }
        table->woken = false;
        if (!table->event.target)
                return 0;
        events[0] = table->event;
        table->event.target = NULL;
        return 1;
}

static void table_free(struct ed_sys *sys)
{
        dfs_point();
        self(sys)->gone = true;
        ed_free(self(sys));
}

static uint32_t table_cpu_count(struct ed_sys *sys)
{
        (void) sys;
        return 1;
}

static const struct ed_sys_poll poll_table = {
        .now = table_now,
        .time_of_day = table_now,
        .random = table_random,
        .poll = table_poll,
        .wake = table_wake,
};

static const struct ed_sys_worker worker_table = { .cpu_count = table_cpu_count };

static const struct ed_sys loom_sys = {
        .name = "loom", .free = table_free, .poll = &poll_table, .worker = &worker_table
};

void loom_table_init(struct loom_table *table)
{
        *table = (struct loom_table){ .sys = loom_sys, .now_ns = 1 };
}

struct ed_sys *loom_table_new(void)
{
        struct loom_table *table = ed_alloc(sizeof(*table));

        CHECK(table != NULL);
        loom_table_init(table);
        return &table->sys;
}

/* --- cases --- */

static void check_result(const char *name, int bound, const struct dfs_result *result)
{
        const char *planted = getenv("EDDY_TEST_PLANTED");

        if (planted) {
                printf("# R10: planted: %s: at bound %d, schedule %" PRIu64 ": %s\n", name, bound,
                       result->schedules, result->problem);
                if (!result->found || !strstr(result->problem, planted))
                        test_fail(__FILE__, __LINE__, "expected to be found: %s", planted);
                return;
        }
        if (result->found)
                test_fail(__FILE__, __LINE__, "%s: schedule %" PRIu64 ": %s\n# decisions: %s", name,
                          result->schedules, result->problem, result->schedule);
        printf("# R10: %s: %" PRIu64 " schedules at bound %d, all explored, %" PRIu64 " points\n",
               name, result->schedules, bound, result->points);
}

void loom_case(const char *part, const char *name, void (*program)(void))
{
        bool full_search = getenv("EDDY_TEST_FULL") && !getenv("EDDY_TEST_QUICK");
        int bound = full_search ? 3 : 2;
        struct dfs_result result;
        char full[128];

        if (getenv("EDDY_TEST_PLANTED") && getenv("EDDY_TEST_VALGRIND"))
                test_skip("a planted fault may use a stack that was left, which Valgrind reports");
        dfs_local((void **) &ed_loop_current);
        dfs_local((void **) &ed_vars_current);
        snprintf(full, sizeof(full), "%s: %s", part, name);
        dfs_explore(program, bound, &result);
        check_result(full, bound, &result);
        fflush(stdout);
        if (result.found)
                _exit(0); /* what the run left behind is no leak */
}
