/*
 * test_fd_wait.c - waiting for descriptors that other code owns, closes and replaces.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cancel_at.h"
#include "io/fd_watch.h"
#include "io_test.h"

enum { BOTH = EDDY_FD_READABLE | EDDY_FD_WRITABLE };

struct waiting {
        int fd;
        unsigned events;
        int result;
};

static int wait_once(void *arg)
{
        struct waiting *w = arg;

        return w->result = eddy_fd_wait(w->fd, w->events);
}

static int wait_in_task(void *arg)
{
        (void) wait_once(arg);
        return 0;
}

static void open_pipe(int fds[2])
{
        CHECK_EQ(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
}

static void close_pipe(int fds[2])
{
        close(fds[0]);
        close(fds[1]);
}

static void fill_pipe(int fd)
{
        static char block[4096];

        while (write(fd, block, sizeof(block)) > 0)
                continue;
}

/* --- readiness --- */

static int ready_at_once(void *arg)
{
        int fds[2], file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        (void) arg;
        open_pipe(fds);
        CHECK_EQ(eddy_fd_wait(fds[1], BOTH), EDDY_FD_WRITABLE);
        CHECK_EQ(write(fds[1], "x", 1), 1);
        CHECK_EQ(eddy_fd_wait(fds[0], EDDY_FD_READABLE), EDDY_FD_READABLE);
        CHECK_EQ(eddy_fd_wait(file, BOTH), BOTH);
        CHECK_EQ(eddy_fd_wait(file, EDDY_FD_READABLE), EDDY_FD_READABLE);
        close(file);
        close(fds[1]);
        fds[1] = open("/dev/null", O_RDWR | O_CLOEXEC);
        CHECK_EQ(eddy_fd_wait(fds[1], BOTH), BOTH);
        CHECK_EQ(eddy_fd_wait(fds[0], EDDY_FD_READABLE), EDDY_FD_READABLE);
        close_pipe(fds);
        return 0;
}

TEST(ready_descriptors_are_returned_at_once_and_files_are_always_ready)
{
        io_run(ready_at_once);
}

static int refused(void *arg)
{
        int fds[2];

        (void) arg;
        open_pipe(fds);
        CHECK_EQ(eddy_fd_wait(fds[0], 0), -EINVAL);
        CHECK_EQ(eddy_fd_wait(fds[0], 4 | BOTH), -EINVAL);
        close_pipe(fds);
        CHECK_EQ(eddy_fd_wait(fds[0], BOTH), -EBADF);
        CHECK_EQ(eddy_fd_wait(-1, BOTH), -EBADF);
        CHECK_EQ(eddy_fd_wait(1 << 20, BOTH), -EBADF);
        return 0;
}

TEST(a_closed_descriptor_and_unknown_events_are_refused)
{
        CHECK_EQ(eddy_fd_wait(0, BOTH), EDDY_E_RUN_NOT_RUNNING);
        io_run(refused);
}

static int woken(void *arg)
{
        struct waiting in, out;
        eddy_scope scope;
        char block[8192];
        int fds[2];

        (void) arg;
        open_pipe(fds);
        in = (struct waiting){ fds[0], EDDY_FD_READABLE, 99 };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, wait_in_task, &in);
        io_settle();
        CHECK_EQ(in.result, 99);
        CHECK_EQ(ed_loop_current->waits, 1);
        CHECK_EQ(write(fds[1], "x", 1), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(in.result, EDDY_FD_READABLE);
        CHECK_EQ(read(fds[0], block, 1), 1);

        fill_pipe(fds[1]);
        out = (struct waiting){ fds[1], EDDY_FD_WRITABLE, 99 };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, wait_in_task, &out);
        io_settle();
        CHECK_EQ(out.result, 99);
        while (read(fds[0], block, sizeof(block)) > 0)
                continue;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(out.result, EDDY_FD_WRITABLE);

        /* The end counts as readable. */
        eddy_scope_begin(&scope, NULL);
        in.result = 99;
        eddy_scope_start(&scope, wait_in_task, &in);
        io_settle();
        CHECK_EQ(in.result, 99);
        close(fds[1]);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(in.result, EDDY_FD_READABLE);
        close(fds[0]);
        return 0;
}

TEST(bytes_room_and_the_end_wake_a_waiter)
{
        io_run(woken);
}

/* Events of the other direction do not end a wait. */
static int other_direction(void *arg)
{
        struct waiting w;
        eddy_scope scope;
        static char block[65536];
        int fds[2];

        (void) arg;
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
        fill_pipe(fds[0]);
        w = (struct waiting){ fds[0], EDDY_FD_WRITABLE, 99 };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, wait_in_task, &w);
        io_settle();
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(write(fds[1], "x", 1), 1);
                io_settle();
                CHECK_EQ(w.result, 99);
        }
        while (read(fds[1], block, sizeof(block)) > 0)
                continue;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(w.result, EDDY_FD_WRITABLE);
        close_pipe(fds);
        return 0;
}

TEST(an_event_of_the_other_direction_ends_no_wait)
{
        io_run(other_direction);
}

/* --- a library that replaces its descriptor --- */

struct library {
        int fd;   /* of the caller's waits */
        int feed; /* what makes it readable */
};

/* The number stays, the file is another. */
static void library_reconnect(struct library *library, bool by_dup2)
{
        int fds[2];

        close(library->feed);
        if (by_dup2) {
                open_pipe(fds);
                CHECK_EQ(dup3(fds[0], library->fd, O_CLOEXEC), library->fd);
                close(fds[0]);
        } else {
                close(library->fd);
                CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
                if (fds[0] != library->fd) {
                        CHECK_EQ(dup3(fds[0], library->fd, O_CLOEXEC), library->fd);
                        close(fds[0]);
                }
        }
        library->feed = fds[1];
}

static int feed_later(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        CHECK_EQ(write(((struct library *) arg)->feed, "x", 1), 1);
        return 0;
}

static int replaced_between_waits(void *arg)
{
        struct library library;
        int fds[2];
        char byte;

        (void) arg;
        open_pipe(fds);
        library = (struct library){ fds[0], fds[1] };
        for (int i = 0; i < 6; i++) {
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, feed_later, &library);
                CHECK_EQ(eddy_fd_wait(library.fd, EDDY_FD_READABLE), EDDY_FD_READABLE);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(read(library.fd, &byte, 1), 1);
                library_reconnect(&library, i % 2);
        }
        close(library.fd);
        close(library.feed);
        return 0;
}

TEST(a_descriptor_replaced_since_the_last_wait_is_waited_for_again)
{
        io_run(replaced_between_waits);
}

static int read_byte(void *arg)
{
        char byte;

        return (int) eddy_stream_read(arg, &byte, 1) - 1;
}

/* The number is eddy's own by the time the wait is cancelled, and the old file has an event. */
static int taken_over_during_a_wait(void *arg)
{
        struct waiting w;
        eddy_scope scope;
        eddy_stream *stream;
        eddy_task *task;
        int old[2], fresh[2], former;

        (void) arg;
        open_pipe(old);
        former = dup(old[0]);
        w = (struct waiting){ old[0], EDDY_FD_READABLE, 99 };
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(20) });
        CHECK_EQ(eddy_scope_start_task(&scope, wait_in_task, &w, NULL, &task), 0);
        io_settle();
        open_pipe(fresh);
        CHECK_EQ(dup3(fresh[0], old[0], O_CLOEXEC), old[0]);
        CHECK_EQ(eddy_stream_from_fd(old[0], EDDY_STREAM_OWN_FD, &stream), 0);
        eddy_scope_start(&scope, read_byte, stream);
        io_settle();
        eddy_task_cancel(task);
        CHECK_EQ(eddy_task_join(task, NULL), 0);
        eddy_task_release(task);
        CHECK_EQ(w.result, -ECANCELED);
        memset(&w, 0xff, sizeof(w));
        CHECK_EQ(write(old[1], "x", 1), 1); /* goes to nobody */
        io_settle();
        CHECK_EQ(write(fresh[1], "x", 1), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(stream);
        close(fresh[0]);
        close(fresh[1]);
        close(old[1]);
        close(former);
        return 0;
}

/* A137: a wait that ends leaves the next owner of the number alone. */
TEST(a_number_that_became_eddys_own_during_a_wait_stays_watched)
{
        io_run(taken_over_during_a_wait);
}

static int shared(void *arg)
{
        struct waiting w[3];
        eddy_scope scope;
        eddy_stream *stream;
        int fds[2];

        (void) arg;
        open_pipe(fds);
        CHECK_EQ(eddy_stream_from_fd(fds[0], 0, &stream), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++) {
                w[i] = (struct waiting){ fds[0], EDDY_FD_READABLE, 99 };
                eddy_scope_start(&scope, wait_in_task, &w[i]);
        }
        eddy_scope_start(&scope, read_byte, stream);
        io_settle();
        CHECK_EQ(write(fds[1], "xyz", 3), 3);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(w[i].result, EDDY_FD_READABLE);
        eddy_stream_close(stream);
        close_pipe(fds);
        return 0;
}

TEST(several_tasks_and_a_stream_may_wait_for_a_descriptor)
{
        io_run(shared);
}

static size_t count_locals(void)
{
        size_t n = 0;

        ed_list_each (link, &ed_loop_current->locals)
                n++;
        return n;
}

static int wait_many(void *arg)
{
        enum { WAITS = 100 };
        size_t before = count_locals();
        struct waiting waits[WAITS];
        eddy_scope scope;
        int fds[2];

        (void) arg;
        open_pipe(fds);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < WAITS; i++) {
                waits[i] = (struct waiting){ fds[0], EDDY_FD_READABLE, 99 };
                eddy_scope_start(&scope, wait_in_task, &waits[i]);
        }
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(count_locals(), before);
        CHECK_EQ(write(fds[1], "x", 1), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < WAITS; i++)
                CHECK_EQ(waits[i].result, EDDY_FD_READABLE);
        close_pipe(fds);
        return 0;
}

/* Other parts of the library search the loop's locals one by one. */
TEST(waits_do_not_lengthen_the_list_of_the_loops_locals)
{
        io_run(wait_many);
}

/* --- cancels and shortages --- */

static int cancelled(void *arg)
{
        bool reached = true;
        int n = 0;

        (void) arg;
        for (; reached; n++) {
                struct library library;
                struct waiting w;
                eddy_scope scope;
                int fds[2], result;
                char byte;

                open_pipe(fds);
                library = (struct library){ fds[0], fds[1] };
                w = (struct waiting){ fds[0], EDDY_FD_READABLE, 99 };
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, feed_later, &library);
                result = cancel_at(n, wait_once, &w, &reached);
                CHECK_EQ(result, reached ? -ECANCELED : EDDY_FD_READABLE);
                CHECK_EQ(eddy_fd_wait(fds[0], EDDY_FD_READABLE), EDDY_FD_READABLE);
                CHECK_EQ(read(fds[0], &byte, 1), 1);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                close_pipe(fds);
        }
        CHECK_EQ(n, 3);
        return 0;
}

TEST(a_cancelled_wait_leaves_nothing_and_can_be_repeated)
{
        io_run(cancelled);
}

static int without_descriptors(void *arg)
{
        struct rlimit former, none;
        int fds[2];

        (void) arg;
        open_pipe(fds);
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &former), 0);
        none = former;
        none.rlim_cur = (rlim_t) fds[1] + 1;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
        CHECK_EQ(eddy_fd_wait(fds[0], EDDY_FD_READABLE), -EMFILE);
        CHECK_EQ(eddy_fd_wait(fds[1], EDDY_FD_WRITABLE), EDDY_FD_WRITABLE);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &former), 0);
        close_pipe(fds);
        return 0;
}

TEST(a_wait_without_a_free_descriptor_fails_with_emfile)
{
        io_run(without_descriptors);
}

/* --- a watch that remains between waits --- */

struct watching {
        struct ed_fd_watch watch;
        int fds[2]; /* a socket pair */
        int rounds;
};

static int echo_bytes(void *arg)
{
        struct watching *w = arg;
        char byte;

        for (int i = 0; i < w->rounds; i++) {
                CHECK_EQ(eddy_fd_wait(w->fds[1], EDDY_FD_READABLE), EDDY_FD_READABLE);
                CHECK_EQ(read(w->fds[1], &byte, 1), 1);
                CHECK_EQ(write(w->fds[1], &byte, 1), 1);
        }
        return 0;
}

static int watch_again(void *arg)
{
        struct watching *w = arg;
        eddy_scope scope;
        char byte = 'x';
        int watched = -1;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, echo_bytes, w);
        for (int i = 0; i < w->rounds; i++) {
                CHECK_EQ(write(w->fds[0], &byte, 1), 1);
                CHECK_EQ(ed_fd_watch_wait(&w->watch, w->fds[0], BOTH), EDDY_FD_WRITABLE);
                CHECK_EQ(ed_fd_watch_wait(&w->watch, w->fds[0], EDDY_FD_READABLE),
                         EDDY_FD_READABLE);
                CHECK_EQ(read(w->fds[0], &byte, 1), 1);
                CHECK(w->watch.loop && (watched < 0 || watched == w->watch.watched));
                watched = w->watch.watched;
        }
        return eddy_scope_end(&scope);
}

TEST(a_watch_serves_many_waits_and_ends_with_its_loop)
{
        struct watching w = { .rounds = 10 };

        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, w.fds), 0);
        for (int run = 0; run < 2; run++) {
                CHECK_EQ(eddy_run(watch_again, &w, NULL), 0);
                CHECK(!w.watch.loop);
                CHECK_EQ(fcntl(w.watch.watched, F_GETFD), -1);
        }
        ed_fd_watch_end(&w.watch);
        close_pipe(w.fds);
}

static int cancel_watched(void *arg)
{
        struct watching *w = arg;

        CHECK_EQ(ed_fd_watch_wait(&w->watch, w->fds[0], EDDY_FD_READABLE), -ECANCELED);
        ed_fd_watch_end(&w->watch);
        return 0;
}

static int cancel_watch_run(void *arg)
{
        struct watching *w = arg;
        char byte = 'x';

        CHECK_EQ(eddy_call_timeout(cancel_watched, w, EDDY_MS(1)), 0);
        CHECK_EQ(write(w->fds[1], &byte, 1), 1);
        CHECK_EQ(ed_fd_watch_wait(&w->watch, w->fds[0], EDDY_FD_READABLE), EDDY_FD_READABLE);
        return 0;
}

TEST(a_watch_can_end_after_a_cancelled_wait)
{
        struct watching w = { .rounds = 1 };

        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, w.fds), 0);
        CHECK_EQ(eddy_run(cancel_watch_run, &w, NULL), 0);
        close_pipe(w.fds);
}

static int write_and_close(void *arg)
{
        struct watching *w = arg;

        CHECK_EQ(write(w->fds[1], "x", 1), 1);
        close(w->fds[1]);
        return 0;
}

static int wait_next(void *arg)
{
        struct watching *w = arg;

        return ed_fd_watch_wait_next(&w->watch, w->fds[0], EDDY_FD_READABLE);
}

static int end_with_bytes_run(void *arg)
{
        struct watching *w = arg;
        eddy_scope scope;
        char byte;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, write_and_close, w);
        CHECK_EQ(ed_fd_watch_wait(&w->watch, w->fds[0], EDDY_FD_READABLE), EDDY_FD_READABLE);
        CHECK_EQ(read(w->fds[0], &byte, 1), 1);
        CHECK_EQ(eddy_call_timeout(wait_next, w, EDDY_SEC(5)), EDDY_FD_READABLE);
        CHECK_EQ(read(w->fds[0], &byte, 1), 0);
        ed_fd_watch_end(&w->watch);
        return eddy_scope_end(&scope);
}

TEST(an_end_that_came_with_bytes_is_seen_by_the_next_wait)
{
        struct watching w = { .rounds = 1 };

        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, w.fds), 0);
        CHECK_EQ(eddy_run(end_with_bytes_run, &w, NULL), 0);
        close(w.fds[0]);
}

/* Tasks that wait on one watch, each for its own direction. */
struct directions {
        struct ed_fd_watch watch;
        int fds[2];
        int readable, writable;
};

static int waits_to_read(void *arg)
{
        struct directions *d = arg;

        d->readable = ed_fd_watch_wait_next(&d->watch, d->fds[0], EDDY_FD_READABLE);
        return 0;
}

static int waits_to_write(void *arg)
{
        struct directions *d = arg;

        d->writable = ed_fd_watch_wait(&d->watch, d->fds[0], EDDY_FD_WRITABLE);
        return 0;
}

static int wait_in_directions(void *arg)
{
        struct directions *d = arg;
        static char block[65536];
        eddy_scope scope;

        fill_pipe(d->fds[0]);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, waits_to_read, d);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ((int) d->watch.events, EDDY_FD_READABLE);
        eddy_scope_start(&scope, waits_to_write, d);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ((int) d->watch.events, BOTH);
        while (read(d->fds[1], block, sizeof(block)) > 0)
                continue;
        while (d->writable == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(d->writable, EDDY_FD_WRITABLE);
        CHECK_EQ(d->readable, 0);
        CHECK_EQ(write(d->fds[1], "x", 1), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(d->readable, EDDY_FD_READABLE);
        /* No other task waits now, so only this direction is watched. */
        CHECK_EQ(read(d->fds[0], block, 1), 1);
        CHECK_EQ(eddy_call_timeout(waits_to_read, d, EDDY_MS(1)), 0);
        CHECK_EQ(d->readable, -ECANCELED);
        CHECK_EQ((int) d->watch.events, EDDY_FD_READABLE);
        return 0;
}

static void run_with_directions(eddy_task_fn *fn)
{
        struct directions d = { .readable = 0 };

        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, d.fds), 0);
        CHECK_EQ(eddy_run(fn, &d, NULL), 0);
        close_pipe(d.fds);
}

TEST(a_watch_reports_the_directions_that_tasks_wait_for)
{
        run_with_directions(wait_in_directions);
}

static int reads_briefly(void *arg)
{
        return eddy_call_timeout(waits_to_read, arg, EDDY_MS(5));
}

static int wait_after_a_late_cancel(void *arg)
{
        struct directions *d = arg;
        int64_t began_ns = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, reads_briefly, d);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(write(d->fds[1], "x", 1), 1);
        /* The next turn wakes the task, and then its time is over. */
        while (eddy_now() - began_ns < EDDY_MS(10))
                continue;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(d->readable, -ECANCELED);
        CHECK_EQ(eddy_call_timeout(waits_to_read, d, EDDY_SEC(20)), 0);
        CHECK_EQ(d->readable, EDDY_FD_READABLE);
        return 0;
}

TEST(an_event_is_remembered_if_its_waiter_is_cancelled_before_it_runs)
{
        run_with_directions(wait_after_a_late_cancel);
}
