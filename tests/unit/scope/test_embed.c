/*
 * test_embed.c - loops of one's own: run again and again, for ever, stopped,
 * stepped inside another loop, closed.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_WATCHDOG };

static eddy_loop *new_loop(void)
{
        eddy_loop *loop;

        CHECK_EQ(eddy_loop_new(&quiet, &loop), 0);
        return loop;
}

static void end_loop(eddy_loop *loop)
{
        CHECK_EQ(eddy_loop_close(loop), 0);
}

static int count_up(void *arg)
{
        ++*(int *) arg;
        return 0;
}

static int returns_7(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(1), 0);
        return 7;
}

/* --- running --- */

static int rest_a_little(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        ++*(int *) arg;
        return 0;
}

static int starts_background(void *arg)
{
        return eddy_background(rest_a_little, arg);
}

static int sleeps_1_ms(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_MS(1));
}

/* A111: one loop runs main tasks one after another, and keeps its background tasks. */
TEST(a_loop_runs_again_and_keeps_its_background)
{
        eddy_loop *loop = new_loop();
        int done = 0;

        CHECK_EQ(eddy_loop_run(loop, returns_7, NULL), 7);
        CHECK_EQ(eddy_loop_run(loop, starts_background, &done), 0);
        CHECK_EQ(eddy_loop_run(loop, sleeps_1_ms, NULL), 0);
        CHECK_EQ(done, 1);
        end_loop(loop);
}

static int never_ends(void *arg)
{
        int err = eddy_sleep(EDDY_SEC(1000));

        *(int *) arg = err;
        return err;
}

static int stops(void *arg)
{
        eddy_loop_stop(arg);
        return 0;
}

struct stopped {
        eddy_loop *loop;
        eddy_handle handles[3];
        int seen;
        int main_result;
};

static int main_of_stopped(void *arg)
{
        struct stopped *stopped = arg;

        CHECK_EQ(eddy_loop_call_soon(NULL, &stopped->handles[0], stops, stopped->loop), 0);
        return never_ends(&stopped->main_result);
}

/*
 * A15, A13: a main task whose loop is stopped has not ended; another cannot
 * run before it has; the loop's end cancels it and waits for it.
 */
TEST(a_stopped_main_task_is_not_a_result)
{
        struct stopped stopped = { .loop = new_loop(), .main_result = 1 };

        CHECK_EQ(eddy_loop_run(stopped.loop, main_of_stopped, &stopped), EDDY_E_LOOP_STOPPED);
        CHECK_EQ(eddy_loop_run(stopped.loop, returns_7, NULL), -EBUSY);
        CHECK_EQ(stopped.main_result, 1);
        end_loop(stopped.loop);
        CHECK_EQ(stopped.main_result, -ECANCELED);
}

static int stop_and_count(void *arg)
{
        struct stopped *stopped = arg;

        eddy_loop_stop(stopped->loop);
        CHECK_EQ(eddy_loop_call_soon(NULL, &stopped->handles[2], count_up, &stopped->seen), 0);
        return 0;
}

/* A13: stopping lets the present turn finish: who was ready before still runs. */
TEST(stop_finishes_the_turn)
{
        struct stopped stopped = { .loop = new_loop() };

        CHECK_EQ(eddy_loop_call_soon(stopped.loop, &stopped.handles[0], stop_and_count, &stopped),
                 0);
        CHECK_EQ(eddy_loop_call_soon(stopped.loop, &stopped.handles[1], count_up, &stopped.seen),
                 0);
        CHECK_EQ(eddy_loop_run_forever(stopped.loop), 0);
        CHECK_EQ(stopped.seen, 1);
        CHECK_EQ(eddy_handle_is_scheduled(&stopped.handles[2]), 1);
        end_loop(stopped.loop);
}

/* A13: stopped before it runs, a loop makes one turn, without waiting. */
TEST(a_loop_stopped_before_it_runs_makes_a_turn)
{
        eddy_loop *loop = new_loop();
        eddy_handle handle = { 0 }, late = { 0 };
        int calls = 0;

        eddy_loop_stop(loop);
        CHECK_EQ(eddy_loop_call_soon(loop, &handle, count_up, &calls), 0);
        CHECK_EQ(eddy_loop_call_later(loop, &late, EDDY_SEC(1000), count_up, &calls), 0);
        CHECK_EQ(eddy_loop_run_forever(loop), 0);
        CHECK_EQ(calls, 1);
        end_loop(loop);
        CHECK_EQ(calls, 1);
}

static void *stop_from_afar(void *arg)
{
        eddy_loop_stop(arg);
        eddy_loop_release(arg);
        return NULL;
}

/* A10: a loop that waits for nothing is stopped from another thread. */
TEST(another_thread_stops_a_loop)
{
        eddy_loop *loop = new_loop();
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, stop_from_afar, eddy_loop_ref(loop)), 0);
        CHECK_EQ(eddy_loop_run_forever(loop), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        end_loop(loop);
}

static int interrupts(void *arg)
{
        (void) arg;
        return raise(SIGINT);
}

/* A107, A110: an interrupt ends a loop that runs for ever; the former handling comes back. */
TEST(a_signal_ends_a_loop_that_runs_for_ever)
{
        struct sigaction now;
        eddy_loop *loop = new_loop();
        eddy_handle handle = { 0 };

        CHECK_EQ(eddy_loop_call_soon(loop, &handle, interrupts, NULL), 0);
        CHECK_EQ(eddy_loop_run_forever(loop), 0);
        CHECK_EQ(eddy_run_signal(), SIGINT);
        CHECK_EQ(sigaction(SIGINT, NULL, &now), 0);
        CHECK(now.sa_handler == SIG_DFL);
        end_loop(loop);
}

/* --- stepping --- */

static bool is_readable(int fd, int timeout_ms)
{
        struct pollfd pfd = { .fd = fd, .events = POLLIN };

        return poll(&pfd, 1, timeout_ms) == 1;
}

enum { FOREVER_MS = 20000 };

TEST(the_descriptor_is_readable_when_to_step)
{
        eddy_loop *loop = new_loop();
        eddy_handle soon = { 0 }, later = { 0 }, far = { 0 };
        int calls = 0, fd = eddy_loop_fd(loop);

        CHECK(fd >= 0);
        while (is_readable(fd, 0))
                CHECK(eddy_loop_step(loop) >= 0);
        CHECK_EQ(eddy_loop_call_soon(loop, &soon, count_up, &calls), 0);
        CHECK(is_readable(fd, 0));
        while (is_readable(fd, 0))
                CHECK(eddy_loop_step(loop) >= 0);
        CHECK_EQ(calls, 1);
        CHECK_EQ(eddy_loop_call_later(loop, &later, EDDY_US(300), count_up, &calls), 0);
        CHECK_EQ(eddy_loop_call_later(loop, &far, EDDY_SEC(1000), count_up, &calls), 0);
        while (calls < 2) {
                CHECK(is_readable(fd, FOREVER_MS));
                CHECK(eddy_loop_step(loop) >= 0);
        }
        while (eddy_loop_step(loop) > 0)
                continue;
        CHECK(!is_readable(fd, 0));
        CHECK_EQ(calls, 2);
        end_loop(loop);
}

/* A host may ask before each of its waits. A timer that was set before the first call still counts. */
TEST(asking_for_the_descriptor_does_not_make_it_readable)
{
        eddy_loop *loop = new_loop();
        eddy_handle later = { 0 };
        int calls = 0, fd;

        CHECK_EQ(eddy_loop_call_later(loop, &later, EDDY_US(300), count_up, &calls), 0);
        fd = eddy_loop_fd(loop);
        while (calls == 0) {
                CHECK(is_readable(eddy_loop_fd(loop), FOREVER_MS));
                CHECK(eddy_loop_step(loop) >= 0);
        }
        while (eddy_loop_step(loop) > 0)
                continue;
        CHECK_EQ(eddy_loop_fd(loop), fd);
        CHECK(!is_readable(fd, 0));
        end_loop(loop);
}

struct ends {
        int fds[2];
        int got;
        bool done;
};

static int read_all(void *arg)
{
        struct ends *ends = arg;
        eddy_stream *stream = NULL;
        char buf[8];
        int64_t n;

        CHECK_EQ(eddy_stream_from_fd(ends->fds[0], 0, &stream), 0);
        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                ends->got += (int) n;
        eddy_stream_close(stream);
        ends->done = true;
        return (int) n;
}

static int starts_reading(void *arg)
{
        return eddy_background(read_all, arg);
}

TEST(a_stepped_loop_does_io)
{
        struct ends ends = { .got = 0 };
        eddy_loop *loop = new_loop();
        int fd = eddy_loop_fd(loop);

        CHECK_EQ(pipe(ends.fds), 0);
        CHECK_EQ(eddy_loop_run(loop, starts_reading, &ends), 0);
        for (int i = 0; i < 3; i++) {
                while (is_readable(fd, 0))
                        CHECK(eddy_loop_step(loop) >= 0);
                CHECK_EQ(write(ends.fds[1], "abc", 3), 3);
                CHECK(is_readable(fd, FOREVER_MS));
        }
        CHECK_EQ(close(ends.fds[1]), 0);
        while (!ends.done) {
                CHECK(is_readable(fd, FOREVER_MS));
                CHECK(eddy_loop_step(loop) >= 0);
        }
        CHECK_EQ(ends.got, 9);
        end_loop(loop);
        CHECK_EQ(close(ends.fds[0]), 0);
}

static int yields(void *arg)
{
        bool *stop = arg;

        while (!*stop)
                CHECK_EQ(eddy_sleep(0), 0);
        return 0;
}

static int starts_yields(void *arg)
{
        return eddy_background(yields, arg);
}

/* A step ends, however much there is to do, and says that there is more. */
TEST(a_step_is_short)
{
        eddy_loop *loop = new_loop();
        bool stop = false;
        int fd = eddy_loop_fd(loop);

        CHECK_EQ(eddy_loop_run(loop, starts_yields, &stop), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_loop_step(loop), 1);
                CHECK(is_readable(fd, 0));
        }
        stop = true;
        while (eddy_loop_step(loop) > 0)
                continue;
        CHECK(!is_readable(fd, 0));
        end_loop(loop);
}

/* --- closing without a wait --- */

struct cleanup {
        int fds[2];
        int ended; /* tasks */
        char byte;
};

/* Needs the program after the cancel: the byte comes between two steps. */
static int cleans_up(void *arg)
{
        struct cleanup *cleanup = arg;
        int err = eddy_sleep(EDDY_SEC(1000));
        eddy_stream *stream = NULL;
        eddy_scope scope;

        CHECK_EQ(err, -ECANCELED);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(1000),
                                                            .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(eddy_stream_from_fd(cleanup->fds[0], 0, &stream), 0);
        CHECK_EQ(eddy_stream_read(stream, &cleanup->byte, 1), 1);
        eddy_stream_close(stream);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        cleanup->ended++;
        return err;
}

static int starts_a_cleanup_and_waits(void *arg)
{
        CHECK_EQ(eddy_background(cleans_up, arg), 0);
        return eddy_sleep(EDDY_SEC(1000));
}

static int stops_soon(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        eddy_loop_stop(arg);
        return 0;
}

/* Steps the loop while it has work, and returns what the close then says. */
static int step_and_close(eddy_loop *loop, int fd)
{
        int err = -EAGAIN;

        while (err == -EAGAIN && is_readable(fd, 0)) {
                CHECK(eddy_loop_step(loop) >= 0);
                err = eddy_loop_try_close(loop);
        }
        return err;
}

TEST(a_loop_is_closed_step_by_step_while_the_program_goes_on)
{
        static const struct eddy_run_opts cancels_all = { .flags = EDDY_RUN_NO_WATCHDOG,
                                                          .drain_ns = -1 };
        struct cleanup cleanup = { .ended = 0 };
        eddy_loop *loop;
        int fd;

        CHECK_EQ(pipe(cleanup.fds), 0);
        CHECK_EQ(eddy_loop_new(&cancels_all, &loop), 0);
        eddy_loop_ref(loop);
        fd = eddy_loop_fd(loop);
        CHECK_EQ(eddy_loop_start_threadsafe(loop, stops_soon, loop, NULL), 0);
        CHECK_EQ(eddy_loop_run(loop, starts_a_cleanup_and_waits, &cleanup), EDDY_E_LOOP_STOPPED);
        CHECK_EQ(eddy_loop_try_close(loop), -EAGAIN);
        CHECK_EQ(step_and_close(loop, fd), -EAGAIN);
        CHECK_EQ(cleanup.ended, 0);
        CHECK_EQ(eddy_loop_run(loop, returns_7, NULL), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_loop_run_forever(loop), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(write(cleanup.fds[1], "!", 1), 1);
        CHECK_EQ(step_and_close(loop, fd), 0);
        CHECK_EQ(cleanup.ended, 1);
        CHECK_EQ(cleanup.byte, '!');
        CHECK_EQ(eddy_loop_step(loop), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_loop_try_close(loop), 0);
        eddy_loop_release(loop);
        CHECK_EQ(close(cleanup.fds[0]) | close(cleanup.fds[1]), 0);
}

/* A host that ends at once closes in the usual way. */
TEST(a_close_waits_for_the_end_that_an_earlier_call_began)
{
        eddy_loop *loop = new_loop();
        int done = 0;

        CHECK_EQ(eddy_loop_run(loop, starts_background, &done), 0);
        CHECK_EQ(eddy_loop_try_close(loop), -EAGAIN);
        CHECK_EQ(done, 0);
        end_loop(loop);
        CHECK_EQ(done, 1);
}

static int tries_to_close(void *arg)
{
        CHECK_EQ(eddy_loop_try_close(arg), eddy_loop_current() == arg ? -EBUSY : EDDY_E_RUN_NESTED);
        return 0;
}

TEST(a_loop_is_not_closed_step_by_step_inside_a_run)
{
        eddy_loop *loop = new_loop();

        CHECK_EQ(eddy_loop_run(loop, tries_to_close, loop), 0);
        CHECK_EQ(eddy_run(tries_to_close, loop, &quiet), 0);
        CHECK_EQ(eddy_loop_run(loop, returns_7, NULL), 7);
        end_loop(loop);
}

/* --- tasks that are started between steps --- */

TEST(between_steps_the_thread_of_a_loop_starts_a_task_and_gets_its_result)
{
        eddy_loop *loop = new_loop();
        int fd = eddy_loop_fd(loop), result = 0;
        eddy_remote *remote = NULL;

        CHECK_EQ(eddy_loop_start_threadsafe(loop, returns_7, NULL, &remote), 0);
        CHECK_EQ(eddy_remote_wait(remote, &result), -EDEADLK);
        while (!eddy_remote_is_done(remote)) {
                CHECK(is_readable(fd, FOREVER_MS));
                CHECK(eddy_loop_step(loop) >= 0);
        }
        CHECK_EQ(eddy_remote_wait(remote, &result), 0);
        CHECK_EQ(result, 7);
        eddy_remote_release(remote);
        end_loop(loop);
}

/* --- what is refused --- */

static int closes_another(void *arg)
{
        eddy_loop *made;

        CHECK_EQ(eddy_loop_new(&quiet, &made), EDDY_E_RUN_NESTED);
        CHECK_EQ(eddy_loop_close(arg), EDDY_E_RUN_NESTED);
        return eddy_sleep(1);
}

/* Its tasks would have to run to their ends, inside of a task of another loop. */
TEST(no_loop_is_closed_inside_another)
{
        eddy_loop *loop = new_loop();
        int done = 0;

        CHECK_EQ(eddy_run(closes_another, loop, &quiet), 0);
        CHECK_EQ(eddy_loop_run(loop, starts_background, &done), 0);
        end_loop(loop);
        CHECK_EQ(done, 1);
}

static int allocations_left;
static int64_t live;

static void *fail_when_none_is_left(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                live--;
                free(ptr);
                return NULL;
        }
        if (allocations_left-- == 0)
                return NULL;
        live += !ptr;
        return realloc(ptr, bytes);
}

TEST(without_memory_a_loop_is_not_made_and_nothing_is_left)
{
        eddy_loop *loop = NULL;
        int n = 0, err;

        eddy_alloc_set(fail_when_none_is_left, NULL);
        for (;; n++) {
                allocations_left = n;
                err = eddy_loop_new(&quiet, &loop);
                if (err == 0)
                        break;
                CHECK_EQ(err, -ENOMEM);
                CHECK(!loop);
                CHECK_EQ(live, 0);
        }
        CHECK(n >= 3);
        allocations_left = -1;
        end_loop(loop);
        CHECK_EQ(live, 0);
        eddy_alloc_set(NULL, NULL);
}

/* --- descriptors --- */

struct watch {
        eddy_handle handle;
        int fd;
        int calls;
        eddy_loop *loop;
};

static int read_a_byte(void *arg)
{
        struct watch *watch = arg;
        char byte;

        CHECK_EQ(read(watch->fd, &byte, 1), 1);
        if (++watch->calls == 3) {
                CHECK_EQ(eddy_handle_cancel(&watch->handle), 1);
                eddy_loop_stop(watch->loop);
        }
        return 0;
}

/* A watch calls as long as there is something to read, and not after it was cancelled. */
TEST(a_watch_calls_while_the_descriptor_is_ready)
{
        struct watch watch = { .loop = new_loop() };
        eddy_handle second = { 0 };
        int fds[2];

        CHECK_EQ(pipe(fds), 0);
        watch.fd = fds[0];
        CHECK_EQ(eddy_loop_watch(watch.loop, &watch.handle, fds[0], 0, read_a_byte, &watch),
                 -EINVAL);
        CHECK_EQ(eddy_loop_watch(watch.loop, &watch.handle, fds[0], EDDY_LOOP_READ, read_a_byte,
                                 &watch),
                 0);
        CHECK_EQ(eddy_loop_watch(watch.loop, &second, fds[0], EDDY_LOOP_READ, read_a_byte, &watch),
                 -EEXIST);
        CHECK_EQ(write(fds[1], "abcd", 4), 4);
        CHECK_EQ(eddy_loop_run_forever(watch.loop), 0);
        CHECK_EQ(watch.calls, 3);
        CHECK_EQ(eddy_loop_run(watch.loop, sleeps_1_ms, NULL), 0);
        CHECK_EQ(watch.calls, 3);
        end_loop(watch.loop);
        CHECK_EQ(close(fds[0]) | close(fds[1]), 0);
}

static int stop_at_three(void *arg)
{
        struct watch *watch = arg;

        if (++watch->calls == 3)
                eddy_loop_stop(watch->loop);
        return 0;
}

/* A14: what a stopped loop has called for an event is not called for it again. */
TEST(a_watch_for_writing_goes_on_in_the_next_run)
{
        struct watch watch = { .loop = new_loop() };
        int fds[2], before;

        CHECK_EQ(pipe(fds), 0);
        CHECK_EQ(eddy_loop_watch(watch.loop, &watch.handle, fds[1], EDDY_LOOP_WRITE, stop_at_three,
                                 &watch),
                 0);
        CHECK_EQ(eddy_loop_run_forever(watch.loop), 0);
        before = watch.calls;
        CHECK(before >= 3);
        eddy_loop_stop(watch.loop);
        CHECK_EQ(eddy_loop_run_forever(watch.loop), 0);
        CHECK(watch.calls <= before + 1);
        CHECK_EQ(eddy_handle_cancel(&watch.handle), 1);
        end_loop(watch.loop);
        CHECK_EQ(close(fds[0]) | close(fds[1]), 0);
}

static int receive_a_byte(void *arg)
{
        struct watch *watch = arg;
        char byte;

        CHECK_EQ(recv(watch->fd, &byte, 1, MSG_DONTWAIT), 1);
        watch->calls++;
        return 0;
}

/* One end can be written all the time; of the other, where nothing more fits, something comes. */
TEST(a_watch_is_called_for_its_events_only)
{
        struct watch reader = { .loop = new_loop() }, writer = { .loop = reader.loop };
        char page[4096] = { 0 };
        int fds[2];

        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        reader.fd = fds[0];
        CHECK_EQ(eddy_loop_watch(reader.loop, &reader.handle, fds[0], EDDY_LOOP_READ,
                                 receive_a_byte, &reader),
                 0);
        CHECK_EQ(send(fds[1], "a", 1, 0), 1);
        CHECK_EQ(eddy_loop_run(reader.loop, sleeps_1_ms, NULL), 0);
        CHECK_EQ(reader.calls, 1);
        CHECK_EQ(eddy_handle_cancel(&reader.handle), 1);
        while (send(fds[0], page, sizeof(page), MSG_DONTWAIT) > 0)
                continue;
        CHECK_EQ(send(fds[1], "b", 1, 0), 1);
        CHECK_EQ(eddy_loop_watch(writer.loop, &writer.handle, fds[0], EDDY_LOOP_WRITE,
                                 stop_at_three, &writer),
                 0);
        CHECK_EQ(eddy_loop_run(writer.loop, sleeps_1_ms, NULL), 0);
        CHECK_EQ(writer.calls, 0);
        CHECK_EQ(eddy_handle_cancel(&writer.handle), 1);
        end_loop(reader.loop);
        CHECK_EQ(close(fds[0]) | close(fds[1]), 0);
}

/* --- misuse --- */

static int uses_it_inside(void *arg)
{
        eddy_loop *other;

        CHECK_EQ(eddy_loop_close(arg), -EBUSY);
        CHECK_EQ(eddy_loop_run(arg, returns_7, NULL), EDDY_E_RUN_NESTED);
        CHECK_EQ(eddy_loop_run_forever(arg), EDDY_E_RUN_NESTED);
        CHECK_EQ(eddy_loop_step(arg), EDDY_E_RUN_NESTED);
        CHECK_EQ(eddy_loop_new(NULL, &other), EDDY_E_RUN_NESTED);
        CHECK_EQ(eddy_run(returns_7, NULL, NULL), EDDY_E_RUN_NESTED);
        CHECK(eddy_loop_current() == arg);
        return 0;
}

/* A12, A16: a loop that runs can neither be run inside itself nor closed. */
TEST(a_running_loop_is_neither_run_nor_closed)
{
        eddy_loop *loop = new_loop();

        CHECK_EQ(eddy_loop_run(loop, uses_it_inside, loop), 0);
        end_loop(loop);
}

/* A12: all that is asked of a closed loop fails; closing it twice does nothing. */
TEST(a_closed_loop_says_so)
{
        eddy_loop *loop = new_loop();
        eddy_handle handle = { 0 };

        eddy_loop_ref(loop);
        CHECK_EQ(eddy_loop_close(loop), 0);
        CHECK_EQ(eddy_loop_close(loop), 0);
        CHECK_EQ(eddy_loop_try_close(loop), 0);
        CHECK_EQ(eddy_loop_run(loop, returns_7, NULL), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_loop_run_forever(loop), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_loop_step(loop), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_loop_fd(loop), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_loop_call_soon(loop, &handle, count_up, NULL), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_loop_call_threadsafe(loop, &handle, count_up, NULL), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_loop_watch(loop, &handle, 0, EDDY_LOOP_READ, count_up, NULL),
                 EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_handle_cancel(&handle), 0);
        eddy_loop_stop(loop);
        eddy_loop_release(loop);
}

static void *use_from_afar(void *arg)
{
        eddy_handle handle = { 0 };

        CHECK_EQ(eddy_loop_run(arg, returns_7, NULL), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_loop_call_soon(arg, &handle, count_up, NULL), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_loop_close(arg), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_loop_try_close(arg), EDDY_E_RUN_NOT_RUNNING);
        return NULL;
}

/* A20: what only a loop's own thread may do is refused to others. */
TEST(another_threads_loop_is_not_run)
{
        eddy_loop *loop = new_loop();
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, use_from_afar, loop), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        end_loop(loop);
}

static int take_loop(void *arg)
{
        *(eddy_loop **) arg = eddy_loop_ref(eddy_loop_current());
        return 0;
}

/* A10, A12: a caller that keeps the loop of a run that is over gets an error. */
TEST(the_loop_of_a_run_that_is_over_is_closed)
{
        eddy_handle handle = { 0 };
        eddy_loop *loop = NULL;

        CHECK_EQ(eddy_run(take_loop, &loop, &quiet), 0);
        CHECK_EQ(eddy_loop_call_threadsafe(loop, &handle, count_up, NULL), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(eddy_loop_run(loop, returns_7, NULL), EDDY_E_LOOP_CLOSED);
        eddy_loop_release(loop);
}

TEST(two_loops_on_one_thread_take_turns)
{
        eddy_loop *a = new_loop(), *b = new_loop();

        CHECK_EQ(eddy_loop_run(a, returns_7, NULL), 7);
        CHECK_EQ(eddy_loop_run(b, returns_7, NULL), 7);
        CHECK_EQ(eddy_loop_run(a, sleeps_1_ms, NULL), 0);
        end_loop(b);
        CHECK_EQ(eddy_loop_run(a, returns_7, NULL), 7);
        end_loop(a);
}

/* --- from another thread --- */

struct callers {
        eddy_loop *loop;
        eddy_handle handles[100];
        int calls;
};

static int count_call(void *arg)
{
        struct callers *callers = arg;

        if (++callers->calls == 100)
                eddy_loop_stop(callers->loop);
        return 0;
}

static void *call_from_afar(void *arg)
{
        struct callers *callers = arg;

        for (int i = 0; i < 100; i++)
                CHECK_EQ(eddy_loop_call_threadsafe(callers->loop, &callers->handles[i], count_call,
                                                   callers),
                         0);
        return NULL;
}

/* A10: calls from another thread wake the loop, and all are made. */
TEST(calls_from_another_thread_are_made)
{
        static struct callers callers;
        pthread_t thread;

        callers.loop = new_loop();
        CHECK_EQ(pthread_create(&thread, NULL, call_from_afar, &callers), 0);
        CHECK_EQ(eddy_loop_run_forever(callers.loop), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(callers.calls, 100);
        end_loop(callers.loop);
}

static int cancels_itself(void *arg)
{
        CHECK_EQ(eddy_handle_cancel(arg), 0);
        return 0;
}

/* A11: cancelled before it starts it never runs; in itself a cancel does nothing. */
TEST(a_posted_call_can_be_cancelled)
{
        eddy_loop *loop = new_loop();
        eddy_handle handle = { 0 }, own = { 0 };
        int calls = 0;

        CHECK_EQ(eddy_loop_call_threadsafe(loop, &handle, count_up, &calls), 0);
        CHECK_EQ(eddy_loop_call_threadsafe(loop, &handle, count_up, &calls), -EBUSY);
        CHECK_EQ(eddy_handle_cancel(&handle), 1);
        CHECK(!eddy_handle_is_scheduled(&handle));
        CHECK_EQ(eddy_handle_cancel(&handle), 0);
        CHECK_EQ(eddy_loop_call_threadsafe(loop, &own, cancels_itself, &own), 0);
        CHECK_EQ(eddy_loop_run(loop, sleeps_1_ms, NULL), 0);
        CHECK_EQ(calls, 0);
        CHECK_EQ(eddy_handle_cancel(&own), 0);
        end_loop(loop);
}

enum { AFAR = 3 };

static void *cancel_from_afar(void *arg)
{
        eddy_handle *handles = arg;

        for (int i = 0; i < AFAR; i++) {
                CHECK_EQ(eddy_handle_is_scheduled(&handles[i]), 1);
                CHECK_EQ(eddy_handle_cancel(&handles[i]), EDDY_E_RUN_OTHER_LOOP);
        }
        CHECK_EQ(eddy_handle_is_scheduled(&handles[AFAR]), 0);
        CHECK_EQ(eddy_handle_cancel(&handles[AFAR]), 0);
        return NULL;
}

/* Only posted callbacks can be cancelled by other threads; a refusal changes nothing. */
TEST(a_cancel_on_another_thread_is_refused)
{
        eddy_loop *loop = new_loop();
        eddy_handle handles[AFAR + 1] = { 0 };
        int calls = 0, pipe_fds[2];
        pthread_t thread;

        CHECK_EQ(pipe(pipe_fds), 0);
        CHECK_EQ(eddy_loop_call_soon(loop, &handles[0], count_up, &calls), 0);
        CHECK_EQ(eddy_loop_call_later(loop, &handles[1], 1, count_up, &calls), 0);
        CHECK_EQ(eddy_loop_watch(loop, &handles[2], pipe_fds[0], EDDY_LOOP_READ, count_up, &calls),
                 0);
        CHECK_EQ(pthread_create(&thread, NULL, cancel_from_afar, handles), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(eddy_loop_run(loop, sleeps_1_ms, NULL), 0);
        CHECK_EQ(calls, 2);
        CHECK_EQ(eddy_handle_cancel(&handles[2]), 1);
        end_loop(loop);
        close(pipe_fds[0]);
        close(pipe_fds[1]);
}
