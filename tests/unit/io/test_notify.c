/*
 * test_notify.c - changes of files and folders: each kind of event, events that are merged, limits
 * and overflows, and cancels, closes and shortages.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scope/sim_run.h"
#include "cancel_at.h"
#include "io_test.h"

static char folder[64];

/* Run with a folder of its own, which must be empty in the end. */
static void run_in_folder(eddy_task_fn *fn)
{
        snprintf(folder, sizeof(folder), "/tmp/eddy-notify-XXXXXX");
        CHECK(mkdtemp(folder));
        io_run(fn);
        CHECK_EQ(rmdir(folder), 0);
}

/* Valid until the fourth call from now. */
static const char *path_of(const char *name)
{
        static char paths[4][128];
        static unsigned next;
        char *path = paths[next++ % 4];

        snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
        return path;
}

static void make_file(const char *name)
{
        int fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        CHECK(fd >= 0);
        close(fd);
}

static void write_file(const char *name, int times)
{
        int fd = open(path_of(name), O_WRONLY | O_APPEND | O_CLOEXEC);

        CHECK(fd >= 0);
        for (int i = 0; i < times; i++)
                CHECK_EQ(write(fd, "x", 1), 1);
        close(fd);
}

static void remove_file(const char *name)
{
        CHECK_EQ(unlink(path_of(name)), 0);
}

static void rename_file(const char *from, const char *to)
{
        CHECK_EQ(rename(path_of(from), path_of(to)), 0);
}

static eddy_notify *open_with(int64_t merge_ns, uint32_t events_max)
{
        struct eddy_notify_opts opts = { .merge_ns = merge_ns, .events_max = events_max };
        eddy_notify *notify;

        CHECK_EQ(eddy_notify_open(&opts, &notify), 0);
        return notify;
}

static int watch_at(eddy_notify *notify, const char *name)
{
        int watch = eddy_notify_add(notify, path_of(name));

        CHECK(watch > 0);
        return watch;
}

static struct eddy_notify_event expect(eddy_notify *notify, int kind, const char *name)
{
        struct eddy_notify_event event;

        CHECK_EQ(eddy_notify_next(notify, &event), 0);
        CHECK_EQ(event.kind, kind);
        CHECK_STR(event.name, name);
        if (kind != EDDY_NOTIFY_MOVED) {
                CHECK_STR(event.from, "");
                CHECK_EQ(event.from_watch, 0);
        }
        return event;
}

static int next_call(void *arg)
{
        struct eddy_notify_event event;

        return eddy_notify_next(arg, &event);
}

static void expect_nothing(eddy_notify *notify)
{
        CHECK_EQ(eddy_call_timeout(next_call, notify, EDDY_MS(20)), -ETIMEDOUT);
}

/* -- kinds -------------------------------------------------------------------- */

static int kinds(void *arg)
{
        eddy_notify *notify = open_with(-1, 0);
        int watch = watch_at(notify, "");
        struct eddy_notify_event event;

        (void) arg;
        make_file("a");
        event = expect(notify, EDDY_NOTIFY_CREATED, "a");
        CHECK_EQ(event.watch, watch);
        CHECK(!event.is_folder);
        write_file("a", 1);
        expect(notify, EDDY_NOTIFY_CHANGED, "a");
        CHECK_EQ(chmod(path_of("a"), 0400), 0);
        expect(notify, EDDY_NOTIFY_CHANGED, "a");
        rename_file("a", "b");
        event = expect(notify, EDDY_NOTIFY_MOVED, "b");
        CHECK_STR(event.from, "a");
        CHECK_EQ(event.from_watch, watch);
        remove_file("b");
        expect(notify, EDDY_NOTIFY_REMOVED, "b");
        CHECK_EQ(mkdir(path_of("f"), 0700), 0);
        CHECK(expect(notify, EDDY_NOTIFY_CREATED, "f").is_folder);
        make_file("f/inside"); /* not in the folder itself */
        remove_file("f/inside");
        CHECK_EQ(rmdir(path_of("f")), 0);
        CHECK(expect(notify, EDDY_NOTIFY_REMOVED, "f").is_folder);
        expect_nothing(notify);
        eddy_notify_close(notify);
        return 0;
}

TEST(each_change_of_a_folder_is_an_event)
{
        run_in_folder(kinds);
}

static int moves(void *arg)
{
        eddy_notify *notify = open_with(-1, 0);
        struct eddy_notify_event event;
        int a, b;

        (void) arg;
        CHECK_EQ(mkdir(path_of("a"), 0700), 0);
        CHECK_EQ(mkdir(path_of("b"), 0700), 0);
        make_file("x");
        a = watch_at(notify, "a");
        b = watch_at(notify, "b");
        CHECK_EQ(eddy_notify_add(notify, path_of("a/../b")), -EEXIST);
        rename_file("x", "a/x");
        CHECK_EQ(expect(notify, EDDY_NOTIFY_CREATED, "x").watch, a);
        rename_file("a/x", "b/y");
        event = expect(notify, EDDY_NOTIFY_MOVED, "y");
        CHECK_EQ(event.watch, b);
        CHECK_EQ(event.from_watch, a);
        CHECK_STR(event.from, "x");
        rename_file("b/y", "x");
        CHECK_EQ(expect(notify, EDDY_NOTIFY_REMOVED, "y").watch, b);
        remove_file("x");
        CHECK_EQ(eddy_notify_remove(notify, a), 0);
        CHECK_EQ(eddy_notify_remove(notify, a), -EINVAL);
        make_file("a/x");
        remove_file("a/x");
        expect_nothing(notify);
        CHECK_EQ(rmdir(path_of("a")), 0);
        CHECK_EQ(rmdir(path_of("b")), 0);
        CHECK_EQ(expect(notify, EDDY_NOTIFY_GONE, "").watch, b);
        CHECK_EQ(eddy_notify_remove(notify, b), -EINVAL);
        eddy_notify_close(notify);
        return 0;
}

TEST(a_move_is_one_event_if_both_folders_are_watched)
{
        run_in_folder(moves);
}

static int itself(void *arg)
{
        eddy_notify *notify = open_with(-1, 0);
        int watch;

        (void) arg;
        make_file("x");
        watch = watch_at(notify, "x");
        write_file("x", 1);
        CHECK_EQ(expect(notify, EDDY_NOTIFY_CHANGED, "").watch, watch);
        remove_file("x");
        CHECK_EQ(expect(notify, EDDY_NOTIFY_GONE, "").watch, watch);
        make_file("x");
        watch = watch_at(notify, "x");
        rename_file("x", "y");
        CHECK_EQ(expect(notify, EDDY_NOTIFY_GONE, "").watch, watch);
        write_file("y", 1); /* which the watch does not follow */
        CHECK_EQ(eddy_notify_remove(notify, watch), -EINVAL);
        expect_nothing(notify);
        remove_file("y");
        eddy_notify_close(notify);
        return 0;
}

TEST(a_watch_ends_with_its_file)
{
        run_in_folder(itself);
}

/* -- merging ------------------------------------------------------------------ */

static int saves(void *arg)
{
        eddy_notify *notify = open_with(0, 0);
        int64_t begun_ns;

        (void) arg;
        make_file("doc");
        watch_at(notify, "");
        begun_ns = eddy_now();
        write_file("doc", 20);
        CHECK_EQ(chmod(path_of("doc"), 0644), 0);
        expect(notify, EDDY_NOTIFY_CHANGED, "doc");
        CHECK(eddy_now() - begun_ns >= EDDY_NOTIFY_MERGE_NS);
        /* As editors save: to a file of another name, which then takes the place. */
        make_file("doc.tmp");
        write_file("doc.tmp", 3);
        CHECK_EQ(chmod(path_of("doc.tmp"), 0644), 0);
        rename_file("doc.tmp", "doc");
        write_file("doc", 1);
        expect(notify, EDDY_NOTIFY_CREATED, "doc");
        /* With a backup. */
        rename_file("doc", "doc~");
        make_file("doc");
        write_file("doc", 2);
        CHECK_STR(expect(notify, EDDY_NOTIFY_MOVED, "doc~").from, "doc");
        expect(notify, EDDY_NOTIFY_CREATED, "doc");
        remove_file("doc~");
        write_file("doc", 1);
        remove_file("doc");
        expect(notify, EDDY_NOTIFY_REMOVED, "doc~");
        expect(notify, EDDY_NOTIFY_REMOVED, "doc");
        /* One name replaces another within the time. */
        make_file("doc");
        remove_file("doc");
        make_file("doc");
        expect(notify, EDDY_NOTIFY_CREATED, "doc");
        write_file("doc", 1);
        rename_file("doc", "new");
        CHECK_STR(expect(notify, EDDY_NOTIFY_MOVED, "new").from, "doc");
        remove_file("new");
        expect(notify, EDDY_NOTIFY_REMOVED, "new");
        expect_nothing(notify);
        eddy_notify_close(notify);
        return 0;
}

TEST(a_save_is_one_event)
{
        run_in_folder(saves);
}

/* The program knows "a", which another file replaces and leaves. */
static int replaced_and_moved(void *arg)
{
        eddy_notify *notify = open_with(0, 0);
        int watch = watch_at(notify, "");

        (void) arg;
        make_file("a");
        expect(notify, EDDY_NOTIFY_CREATED, "a");

        remove_file("a");
        make_file("a");
        rename_file("a", "b");
        expect(notify, EDDY_NOTIFY_REMOVED, "a");
        expect(notify, EDDY_NOTIFY_CREATED, "b");

        make_file("tmp");
        rename_file("tmp", "b");
        rename_file("b", "c");
        expect(notify, EDDY_NOTIFY_REMOVED, "b");
        expect(notify, EDDY_NOTIFY_CREATED, "c");

        mkdir(path_of("other"), 0700);
        expect(notify, EDDY_NOTIFY_CREATED, "other");
        rename_file("c", "other/c"); /* not watched */
        make_file("c");
        rename_file("c", "d");
        expect(notify, EDDY_NOTIFY_REMOVED, "c");
        expect(notify, EDDY_NOTIFY_CREATED, "d");

        CHECK_EQ(eddy_notify_remove(notify, watch), 0);
        remove_file("other/c");
        remove_file("d");
        CHECK_EQ(rmdir(path_of("other")), 0);
        eddy_notify_close(notify);
        return 0;
}

TEST(a_name_that_the_program_knows_is_reported_gone_although_its_file_was_replaced)
{
        run_in_folder(replaced_and_moved);
}

static int write_for_long(void *arg)
{
        for (int i = 0; i < 30; i++) {
                write_file(arg, 1);
                CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        }
        return 0;
}

/* Writes without an end do not delay the event. */
static int long_write(void *arg)
{
        eddy_notify *notify = open_with(EDDY_MS(20), 0);
        eddy_scope scope;
        int64_t begun_ns = eddy_now();

        (void) arg;
        make_file("log");
        watch_at(notify, "");
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, write_for_long, (void *) "log");
        for (int i = 0; i < 3; i++)
                expect(notify, EDDY_NOTIFY_CHANGED, "log");
        CHECK(eddy_now() - begun_ns >= EDDY_MS(60));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        remove_file("log");
        eddy_notify_close(notify);
        return 0;
}

TEST(an_event_waits_at_most_the_time_of_merging)
{
        run_in_folder(long_write);
}

/* -- limits ------------------------------------------------------------------- */

static void make_files(int n)
{
        char name[16];

        for (int i = 0; i < n; i++) {
                snprintf(name, sizeof(name), "%d", i);
                make_file(name);
        }
}

static void remove_files(int n)
{
        char name[16];

        for (int i = 0; i < n; i++) {
                snprintf(name, sizeof(name), "%d", i);
                remove_file(name);
        }
}

static int bounded(void *arg)
{
        eddy_notify *notify = open_with(EDDY_MS(1), 4);

        (void) arg;
        watch_at(notify, "");
        make_files(4);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(next_call(notify), 0);
        remove_files(4);
        make_files(5);
        expect(notify, EDDY_NOTIFY_OVERFLOW, "");
        while (eddy_call_timeout(next_call, notify, EDDY_MS(20)) == 0)
                continue;
        make_file("x");
        expect(notify, EDDY_NOTIFY_CREATED, "x");
        remove_file("x");
        remove_files(5);
        eddy_notify_close(notify);
        return 0;
}

TEST(a_full_queue_is_one_overflow)
{
        run_in_folder(bounded);
}

/* More than the kernel keeps; equal events in a row would be one. */
static int kernel_queue(void *arg)
{
        eddy_notify *notify = open_with(EDDY_MS(1), EDDY_NOTIFY_EVENTS_MAX);
        struct eddy_notify_event event = { .kind = 0 };
        int max = 0;
        FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "re");

        (void) arg;
        if (file) {
                if (fscanf(file, "%d", &max) != 1)
                        max = 0;
                fclose(file);
        }
        if (max > 0 && max <= 50000) {
                make_files(2);
                watch_at(notify, "");
                for (int i = 0; i < max / 2 + 10; i++) {
                        CHECK_EQ(chmod(path_of("0"), i % 2 ? 0600 : 0400), 0);
                        CHECK_EQ(chmod(path_of("1"), i % 2 ? 0600 : 0400), 0);
                }
                while (event.kind != EDDY_NOTIFY_OVERFLOW)
                        CHECK_EQ(eddy_notify_next(notify, &event), 0);
                remove_files(2);
        }
        eddy_notify_close(notify);
        return 0;
}

TEST(an_overflow_of_the_system_is_reported)
{
        run_in_folder(kernel_queue);
}

/* The system ends a watch without a reason, which it has lost. */
static int ends_without_reason(void *arg)
{
        int before = dup(STDIN_FILENO), watch;
        eddy_notify *notify;

        (void) arg;
        close(before);
        notify = open_with(-1, 0); /* with the number of the descriptor that was closed */
        watch = watch_at(notify, "");
        CHECK_EQ(inotify_rm_watch(before, watch), 0);
        CHECK_EQ(expect(notify, EDDY_NOTIFY_GONE, "").watch, watch);
        CHECK_EQ(eddy_notify_remove(notify, watch), -EINVAL);
        (void) watch_at(notify, "");
        expect_nothing(notify);
        eddy_notify_close(notify);
        return 0;
}

TEST(a_watch_that_the_system_has_ended_is_gone)
{
        run_in_folder(ends_without_reason);
}

static int no_memory(void *arg)
{
        eddy_notify *notify = NULL;

        (void) arg;
        io_fail_allocations(0);
        CHECK_EQ(eddy_notify_open(NULL, &notify), -ENOMEM);
        io_fail_allocations(-1);
        notify = open_with(-1, 0);
        watch_at(notify, "");
        make_file("x");
        io_fail_allocations(0);
        expect(notify, EDDY_NOTIFY_OVERFLOW, "");
        io_fail_allocations(-1);
        remove_file("x");
        expect(notify, EDDY_NOTIFY_REMOVED, "x");
        eddy_notify_close(notify);
        return 0;
}

TEST(without_memory_events_are_lost_and_that_is_an_event)
{
        run_in_folder(no_memory);
}

/* -- waiting ------------------------------------------------------------------ */

static int make_soon(void *arg)
{
        (void) arg;
        make_file("x");
        return 0;
}

static int next_beside_maker(void *arg)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, make_soon, NULL);
        err = next_call(arg);
        (void) eddy_scope_end(&scope);
        return err;
}

static int cancels(void *arg)
{
        eddy_notify *notify = open_with(EDDY_MS(1), 0);
        bool reached = true;

        (void) arg;
        watch_at(notify, "");
        CHECK_EQ(cancel_at(0, next_call, notify, &reached), -ECANCELED);
        for (int n = 1; reached; n++) {
                int err = cancel_at(n, next_beside_maker, notify, &reached);

                CHECK(err == 0 || err == -ECANCELED);
                if (err == -ECANCELED)
                        expect(notify, EDDY_NOTIFY_CREATED, "x");
                remove_file("x");
                expect(notify, EDDY_NOTIFY_REMOVED, "x");
        }
        eddy_notify_close(notify);
        return 0;
}

TEST(a_cancelled_wait_loses_no_event)
{
        run_in_folder(cancels);
}

static int expect_canceled(void *arg)
{
        CHECK_EQ(next_call(arg), -ECANCELED);
        return 0;
}

static void close_while_waiting(bool pending)
{
        eddy_notify *notify = open_with(EDDY_SEC(5), 0);
        eddy_scope scope;

        watch_at(notify, "");
        if (pending)
                make_file("x");
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, expect_canceled, notify);
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        CHECK_EQ(next_call(notify), -EBUSY);
        eddy_notify_close(notify);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int closes(void *arg)
{
        (void) arg;
        close_while_waiting(false);
        close_while_waiting(true); /* until its time of merging is over */
        remove_file("x");
        return 0;
}

TEST(a_close_ends_the_wait)
{
        run_in_folder(closes);
}

/* -- misuse ------------------------------------------------------------------- */

static int misuse(void *arg)
{
        struct eddy_notify_opts opts = { .merge_ns = EDDY_NOTIFY_MERGE_MAX_NS + 1 };
        struct eddy_notify_event event;
        eddy_notify *notify;

        (void) arg;
        CHECK_EQ(eddy_notify_open(&opts, &notify), -EINVAL);
        opts = (struct eddy_notify_opts){ .events_max = EDDY_NOTIFY_EVENTS_MAX + 1 };
        CHECK_EQ(eddy_notify_open(&opts, &notify), -EINVAL);
        CHECK_EQ(eddy_notify_open(NULL, &notify), 0);
        CHECK_EQ(eddy_notify_add(notify, path_of("none")), -ENOENT);
        CHECK_EQ(eddy_notify_add(notify, NULL), -EINVAL);
        CHECK_EQ(eddy_notify_add(NULL, folder), -EINVAL);
        CHECK_EQ(eddy_notify_remove(notify, 1), -EINVAL);
        CHECK_EQ(eddy_notify_remove(NULL, 1), -EINVAL);
        CHECK_EQ(eddy_notify_next(NULL, &event), -EINVAL);
        eddy_notify_close(notify);
        eddy_notify_close(NULL);
        return 0;
}

TEST(misuse_is_refused)
{
        eddy_notify *notify;

        run_in_folder(misuse);
        CHECK_EQ(eddy_notify_open(NULL, &notify), EDDY_E_RUN_NOT_RUNNING);
}

SIM_TEST(a_simulation_reports_no_changes)
{
        eddy_notify *notify;

        CHECK_EQ(eddy_notify_open(NULL, &notify), -ENOTSUP);
}

/* -- completed writes, and quiet time ------------------------------------------ */

static eddy_notify *open_written(int64_t merge_ns, int64_t quiet_ns)
{
        struct eddy_notify_opts opts = { .merge_ns = merge_ns,
                                         .quiet_ns = quiet_ns,
                                         .flags = EDDY_NOTIFY_REPORT_WRITTEN };
        eddy_notify *notify;

        CHECK_EQ(eddy_notify_open(&opts, &notify), 0);
        return notify;
}

static int main_reports_written(void *arg)
{
        eddy_notify *notify = open_written(0, 0);

        (void) arg;
        (void) watch_at(notify, "");
        make_file("a");
        (void) expect(notify, EDDY_NOTIFY_CREATED, "a");
        (void) expect(notify, EDDY_NOTIFY_WRITTEN, "a");
        write_file("a", 3);
        (void) expect(notify, EDDY_NOTIFY_WRITTEN, "a");
        /* Saved by a rename. */
        make_file("b");
        write_file("b", 1);
        rename_file("b", "a");
        (void) expect(notify, EDDY_NOTIFY_CREATED, "a");
        (void) expect(notify, EDDY_NOTIFY_WRITTEN, "a");
        write_file("a", 1);
        remove_file("a");
        (void) expect(notify, EDDY_NOTIFY_REMOVED, "a");
        eddy_notify_close(notify);
        return 0;
}

TEST(a_file_that_a_writer_has_closed_is_reported)
{
        run_in_folder(main_reports_written);
}

/* Each write comes within the quiet time of the one before, on a clock that only waits move. */
static int main_merges_until_quiet(void *arg)
{
        eddy_notify *notify;
        struct eddy_notify_event event;
        int fd;

        (void) arg;
        io_clock_advance(0);
        make_file("a");
        notify = open_written(EDDY_SEC(5), EDDY_MS(100));
        (void) watch_at(notify, "");
        fd = open(path_of("a"), O_WRONLY | O_APPEND | O_CLOEXEC);
        CHECK(fd >= 0);
        for (int i = 0; i < 8; i++) {
                CHECK_EQ(write(fd, "x", 1), 1);
                CHECK_EQ(eddy_call_timeout(next_call, notify, EDDY_MS(60)), -ETIMEDOUT);
        }
        close(fd);
        (void) expect(notify, EDDY_NOTIFY_WRITTEN, "a");
        CHECK_EQ(eddy_call_timeout(next_call, notify, EDDY_MS(300)), -ETIMEDOUT);
        eddy_notify_close(notify);

        /* At the latest merge_ns after the first event. */
        notify = open_written(EDDY_MS(150), EDDY_MS(100));
        (void) watch_at(notify, "");
        fd = open(path_of("a"), O_WRONLY | O_APPEND | O_CLOEXEC);
        CHECK(fd >= 0);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(write(fd, "x", 1), 1);
                CHECK_EQ(eddy_call_timeout(next_call, notify, EDDY_MS(60)), -ETIMEDOUT);
        }
        CHECK_EQ(write(fd, "x", 1), 1);
        CHECK_EQ(eddy_call_timeout(next_call, notify, EDDY_MS(60)), 0);
        close(fd);
        CHECK_EQ(eddy_notify_next(notify, &event), 0);
        CHECK_EQ(event.kind, EDDY_NOTIFY_WRITTEN);
        eddy_notify_close(notify);
        remove_file("a");
        return 0;
}

TEST(events_are_merged_until_a_quiet_time_with_a_maximum)
{
        run_in_folder(main_merges_until_quiet);
}

static int main_checks_quiet_options(void *arg)
{
        struct eddy_notify_opts bad[] = { { .quiet_ns = -1 },
                                          { .quiet_ns = EDDY_NOTIFY_MERGE_MAX_NS + 1 },
                                          { .quiet_ns = 1, .merge_ns = -1 },
                                          { .flags = 2 } };
        eddy_notify *notify;

        (void) arg;
        for (size_t i = 0; i < ed_array_count(bad); i++)
                CHECK_EQ(eddy_notify_open(&bad[i], &notify), -EINVAL);
        return 0;
}

TEST(the_quiet_time_and_flags_are_checked)
{
        io_run(main_checks_quiet_options);
}
