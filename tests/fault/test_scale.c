/*
 * test_scale.c - very many tasks at once, and storms of them (R15: scale).
 *
 * On the kernel, since memory is what this is about: all that parked tasks
 * need is counted, page tables included.  Where a sanitizer, Valgrind or qemu
 * adds to it (MEASURES=0) there are fewer tasks, and the figures are printed
 * but not held to.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "test.h"

/* What a task may take, parked in a shallow call with its timer: in bytes. */
enum { BYTES_MAX = 4812, BYTES_MAX_SMALL = 4403 };

static bool is_full(void)
{
        const char *full = getenv("EDDY_TEST_FULL");

        return full && *full && !getenv("EDDY_TEST_QUICK");
}

/* A line of a file of /proc, in KiB; 0: there is none. */
static long proc_kib(const char *path, const char *key)
{
        char line[256];
        long kib = 0;
        FILE *file = fopen(path, "re");

        if (!file)
                return 0;
        while (fgets(line, sizeof(line), file))
                if (strncmp(line, key, strlen(key)) == 0)
                        kib = strtol(line + strlen(key), NULL, 10);
        fclose(file);
        return kib;
}

static long memory_kib(void)
{
        return proc_kib("/proc/self/status", "VmRSS:") + proc_kib("/proc/self/status", "VmPTE:");
}

struct crowd {
        long n;
        uint32_t flags; /* of its tasks */
        long begun, cancelled;
        long bytes_each;
        bool guarded; /* without a mapping for each */
};

static int idle(void *arg)
{
        struct crowd *crowd = arg;
        int err;

        crowd->begun++;
        err = eddy_sleep(EDDY_SEC(3600));
        crowd->cancelled += err == -ECANCELED;
        return err;
}

/* Start them all, let them park, cancel them. */
static int crowd_once(struct crowd *crowd)
{
        struct eddy_task_opts opts = { .flags = crowd->flags };
        long before = memory_kib();
        struct eddy_run_info info;
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < crowd->n; i++)
                eddy_scope_start_task(&scope, idle, crowd, &opts, NULL);
        err = eddy_sleep(0);
        CHECK(err == 0);
        CHECK(eddy_run_info(&info) == 0);
        crowd->guarded = strcmp(info.guard, "madvise") == 0;
        crowd->bytes_each = (memory_kib() - before) * 1024 / crowd->n;
        eddy_scope_cancel(&scope);
        return eddy_scope_end(&scope);
}

static int crowd_main(void *arg)
{
        int err = crowd_once(arg);

        return err == -ECANCELED ? 0 : err;
}

static int run_quiet(eddy_task_fn *main_fn, void *arg)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG |
                                               EDDY_RUN_NO_DEBUG };

        return eddy_run(main_fn, arg, &opts);
}

static void check_idle(const char *class, uint32_t flags, long bytes_max)
{
        struct crowd crowd = { .n = MEASURES ? 20000 : 2000, .flags = flags };

        if (is_full())
                crowd.n = MEASURES ? 1000000 : 20000;
        if (proc_kib("/proc/meminfo", "MemAvailable:") / 6 < crowd.n)
                test_skip("less memory is free than 6 KiB for each task");
        CHECK_EQ(run_quiet(crowd_main, &crowd), 0);
        CHECK_EQ(crowd.begun, crowd.n);
        CHECK_EQ(crowd.cancelled, crowd.n);
        printf("# %ld idle tasks, %s: %ld bytes each%s\n", crowd.n, class, crowd.bytes_each,
               crowd.guarded ? ", guards on" : "");
        if (MEASURES && crowd.guarded)
                CHECK(crowd.bytes_each <= bytes_max);
}

TEST(idle_tasks_take_little_more_than_a_page)
{
        check_idle("256 KiB class", 0, BYTES_MAX);
}

TEST(idle_tasks_of_the_small_class_take_less)
{
        check_idle("64 KiB class", EDDY_TASK_STACK_64K, BYTES_MAX_SMALL);
}

/* --- storms --- */

struct storm {
        int rounds;
        struct crowd crowd;
        long early_kib, late_kib;
};

static int storm_main(void *arg)
{
        struct storm *storm = arg;

        for (int i = 0; i < storm->rounds; i++) {
                struct eddy_run_info info;
                int err = crowd_once(&storm->crowd);

                if (err < 0)
                        return err;
                CHECK(eddy_run_info(&info) == 0);
                CHECK_EQ(info.tasks, 1);
                storm->late_kib = memory_kib();
                if (i == 1)
                        storm->early_kib = storm->late_kib;
        }
        return 0;
}

/* What the first rounds left free is used by all others. */
TEST(storms_of_starts_and_cancels_leave_nothing)
{
        struct storm storm = { .rounds = 10, .crowd = { .n = 1000 } };
        long all;

        if (is_full()) {
                storm.rounds = 100;
                storm.crowd.n = MEASURES ? 10000 : 2000;
        }
        all = storm.rounds * storm.crowd.n;
        CHECK_EQ(run_quiet(storm_main, &storm), 0);
        CHECK_EQ(storm.crowd.begun, all);
        CHECK_EQ(storm.crowd.cancelled, all);
        printf("# %ld tasks in %d storms, started and cancelled; memory grew by %ld KiB\n", all,
               storm.rounds, storm.late_kib - storm.early_kib);
        if (MEASURES)
                CHECK(storm.late_kib - storm.early_kib <= 256);
}
