/*
 * test_epoll.c - the kernel's table where it is more than its sockets: how
 * long a poll waits, wakes, edges, the clocks.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sys/sys.h"
#include "test.h"

#define MS ((int64_t) 1000000)

struct seen {
        struct ed_target target;
        unsigned events;
};

static struct ed_sys *sys;

static void begin(void)
{
        CHECK_EQ(ed_sys_epoll_new(&sys), 0);
}

static void finish(void)
{
        sys->free(sys);
}

/* It sleeps in one way while it watches nothing, in another from then on. */
static int watched[2];

static void begin_watching(void)
{
        static struct ed_target unused;
        struct ed_event events[ED_EVENTS_MAX];

        begin();
        CHECK_EQ(pipe(watched), 0);
        CHECK_EQ(sys->poll->watch(sys, watched[0], &unused), 0);
        CHECK_EQ(sys->poll->poll(sys, 0, events, ED_EVENTS_MAX), 0);
}

static void finish_watching(void)
{
        sys->socket->close(sys, watched[0]);
        close(watched[1]);
        finish();
}

static int polled(int64_t timeout_ns, struct ed_event *events)
{
        return sys->poll->poll(sys, timeout_ns, events, ED_EVENTS_MAX);
}

static void check_waits(void)
{
        static const int64_t waits[] = { 1, 50000, MS, 3 * MS + 1 };
        struct ed_event events[ED_EVENTS_MAX];

        for (int i = 0; i < 4; i++) {
                int64_t begun = sys->poll->now(sys);

                CHECK_EQ(polled(waits[i], events), 0);
                CHECK(sys->poll->now(sys) - begun >= waits[i]);
        }
}

TEST(a_poll_waits_its_timeout_to_the_microsecond)
{
        begin();
        check_waits();
        finish();
        begin_watching();
        check_waits();
        finish_watching();
}

TEST(a_poll_that_may_not_wait_does_not)
{
        struct ed_event events[ED_EVENTS_MAX];

        begin();
        for (int i = 0; i < 1000; i++)
                CHECK_EQ(polled(0, events), 0);
        finish();
}

static void check_wakes_before(void)
{
        struct ed_event events[ED_EVENTS_MAX];
        int64_t begun;

        sys->poll->wake(sys);
        sys->poll->wake(sys);
        CHECK_EQ(polled(-1, events), 0);
        begun = sys->poll->now(sys);
        CHECK_EQ(polled(2 * MS, events), 0);
        CHECK(sys->poll->now(sys) - begun >= 2 * MS);
}

TEST(a_wake_before_a_poll_ends_it_and_only_that_one)
{
        begin();
        check_wakes_before();
        finish();
        begin_watching();
        check_wakes_before();
        finish_watching();
}

TEST(a_wake_before_the_first_descriptor_ends_the_poll_after_it)
{
        struct ed_event events[ED_EVENTS_MAX];
        struct ed_target unused = { 0 };
        int fds[2];

        begin();
        CHECK_EQ(pipe(fds), 0);
        sys->poll->wake(sys);
        CHECK_EQ(sys->poll->watch(sys, fds[0], &unused), 0);
        CHECK_EQ(polled(-1, events), 0);
        sys->socket->close(sys, fds[0]);
        close(fds[1]);
        finish();
}

static bool is_readable(int fd)
{
        struct pollfd pfd = { .fd = fd, .events = POLLIN };

        return poll(&pfd, 1, 0) == 1;
}

TEST(a_waiter_for_the_table_sees_wakes_before_and_after_it_is_asked_for)
{
        struct ed_event events[ED_EVENTS_MAX];
        int fd;

        begin();
        sys->poll->wake(sys);
        fd = sys->embed->pollable(sys);
        CHECK(fd >= 0);
        for (int i = 0; i < 3; i++) {
                CHECK(is_readable(fd));
                CHECK_EQ(polled(0, events), 0);
                CHECK(!is_readable(fd));
                sys->poll->wake(sys);
                sys->poll->wake(sys);
        }
        CHECK_EQ(polled(-1, events), 0);
        finish();
}

static void *wakes_cancelled(void *arg)
{
        (void) arg;
        pthread_cancel(pthread_self());
        sys->poll->wake(sys);
        pthread_testcancel();
        return NULL;
}

TEST(a_thread_that_is_cancelled_wakes_before_it_ends)
{
        struct ed_event events[ED_EVENTS_MAX];
        pthread_t thread;
        void *result;
        int fd;

        begin();
        fd = sys->embed->pollable(sys);
        CHECK(fd >= 0);
        CHECK(is_readable(fd)); /* it is new */
        CHECK_EQ(polled(0, events), 0);
        CHECK(!is_readable(fd));
        CHECK_EQ(pthread_create(&thread, NULL, wakes_cancelled, NULL), 0);
        CHECK_EQ(pthread_join(thread, &result), 0);
        CHECK(result == PTHREAD_CANCELED);
        CHECK(is_readable(fd));
        finish();
}

static void *wakes(void *arg)
{
        (void) arg;
        (void) poll(NULL, 0, 2);
        sys->poll->wake(sys);
        return NULL;
}

/* A10: a wake from another thread reaches a poll that waits for ever. */
static void check_wake_during(void)
{
        struct ed_event events[ED_EVENTS_MAX];
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, wakes, NULL), 0);
        CHECK_EQ(polled(-1, events), 0);
        pthread_join(thread, NULL);
}

TEST(another_thread_wakes_a_poll_that_waits_for_ever)
{
        begin();
        check_wake_during();
        finish();
        begin_watching();
        check_wake_during();
        finish_watching();
}

static void on_alarm(int signo)
{
        (void) signo;
        sys->poll->wake(sys);
}

static void check_wake_by_signal(void)
{
        struct itimerspec soon = { .it_value.tv_nsec = 2000000 };
        struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
        struct ed_event events[ED_EVENTS_MAX];
        timer_t timer;

        signal(SIGUSR1, on_alarm);
        CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
        CHECK_EQ(timer_settime(timer, 0, &soon, NULL), 0);
        CHECK_EQ(polled(-1, events), 0);
        timer_delete(timer);
}

TEST(a_signal_handler_wakes_a_poll)
{
        begin();
        check_wake_by_signal();
        finish();
        begin_watching();
        check_wake_by_signal();
        finish_watching();
}

TEST(readiness_is_reported_once_per_change)
{
        struct ed_event events[ED_EVENTS_MAX];
        struct seen seen = { 0 };
        int ends[2];
        char byte;

        begin();
        CHECK_EQ(pipe(ends), 0);
        CHECK(!sys->poll->is_readable(sys, ends[0]));
        CHECK(sys->poll->is_writable(sys, ends[1]));
        CHECK_EQ(sys->poll->watch(sys, ends[0], &seen.target), 0);
        CHECK_EQ(polled(0, events), 0);
        CHECK_EQ(write(ends[1], "ab", 2), 2);
        CHECK_EQ(polled(-1, events), 1);
        CHECK(events[0].target == &seen.target);
        CHECK(events[0].events & ED_EVENT_READ);
        CHECK_EQ(polled(0, events), 0);
        CHECK(sys->poll->is_readable(sys, ends[0]));
        CHECK_EQ(sys->socket->read(sys, ends[0], &byte, 1), 1);
        CHECK_EQ(polled(0, events), 0);
        close(ends[1]);
        CHECK_EQ(polled(-1, events), 1);
        CHECK(events[0].events & ED_EVENT_END);
        sys->poll->unwatch(sys, ends[0]);
        close(ends[0]);
        finish();
}

TEST(only_the_wanted_direction_of_a_descriptor_of_other_code_is_reported)
{
        struct ed_event events[ED_EVENTS_MAX];
        struct seen seen = { 0 };
        int ends[2], own;
        char byte = 'x';

        begin();
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        own = sys->poll->watch_foreign(sys, ends[0], ED_EVENT_READ, &seen.target);
        CHECK(own >= 0);
        CHECK_EQ(polled(0, events), 0);
        /* The peer's read makes room. */
        CHECK_EQ(write(ends[0], &byte, 1), 1);
        CHECK_EQ(read(ends[1], &byte, 1), 1);
        CHECK_EQ(polled(0, events), 0);
        CHECK_EQ(sys->poll->rewatch_foreign(sys, own, ED_EVENT_WRITE, &seen.target), 0);
        CHECK_EQ(polled(0, events), 1);
        CHECK(events[0].target == &seen.target && events[0].events == ED_EVENT_WRITE);
        CHECK_EQ(write(ends[1], &byte, 1), 1);
        while (polled(0, events) > 0)
                CHECK_EQ(events[0].events, ED_EVENT_WRITE);
        CHECK_EQ(sys->poll->rewatch_foreign(sys, own, ED_EVENT_READ, &seen.target), 0);
        CHECK_EQ(polled(0, events), 1);
        CHECK_EQ(events[0].events, ED_EVENT_READ);
        close(ends[1]);
        CHECK_EQ(polled(-1, events), 1);
        CHECK(events[0].events & ED_EVENT_HANGUP);
        sys->poll->unwatch_foreign(sys, own, &seen.target);
        CHECK_EQ(sys->poll->rewatch_foreign(sys, own, ED_EVENT_READ, &seen.target), -EBADF);
        close(ends[0]);
        finish();
}

TEST(a_descriptor_whose_watch_ended_is_not_reported)
{
        struct ed_event events[ED_EVENTS_MAX];
        struct seen seen = { 0 };
        int ends[2];

        begin();
        CHECK_EQ(pipe(ends), 0);
        CHECK_EQ(sys->poll->watch(sys, ends[0], &seen.target), 0);
        CHECK_EQ(write(ends[1], "a", 1), 1);
        sys->poll->unwatch(sys, ends[0]);
        CHECK_EQ(polled(0, events), 0);
        sys->poll->unwatch(sys, ends[0]);
        close(ends[0]);
        close(ends[1]);
        finish();
}

TEST(a_descriptor_that_is_always_ready_says_so)
{
        struct seen seen = { 0 };
        char name[] = "/tmp/eddy-test-XXXXXX";
        int fd = mkstemp(name);

        begin();
        CHECK(fd >= 0);
        unlink(name);
        CHECK_EQ(sys->poll->watch(sys, fd, &seen.target), -EPERM);
        CHECK_EQ(sys->poll->watch(sys, -1, &seen.target), -EBADF);
        close(fd);
        finish();
}

TEST(no_more_events_are_stored_than_there_is_room_for)
{
        enum { PIPES = 8 };
        struct ed_event events[ED_EVENTS_MAX];
        struct seen seen[PIPES];
        int ends[PIPES][2], reported = 0;

        begin();
        for (int i = 0; i < PIPES; i++) {
                CHECK_EQ(pipe(ends[i]), 0);
                CHECK_EQ(sys->poll->watch(sys, ends[i][0], &seen[i].target), 0);
                CHECK_EQ(write(ends[i][1], "x", 1), 1);
        }
        while (reported < PIPES) {
                int n = sys->poll->poll(sys, 0, events, 3);

                CHECK(n > 0 && n <= 3);
                reported += n;
        }
        CHECK_EQ(polled(0, events), 0);
        for (int i = 0; i < PIPES; i++) {
                close(ends[i][0]);
                close(ends[i][1]);
        }
        finish();
}

TEST(without_descriptors_no_table_is_made_and_nothing_leaks)
{
        struct rlimit limit, few;

        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        for (rlim_t n = 0; n < 5; n++) {
                struct ed_sys *none = NULL;
                int err;

                few = limit;
                few.rlim_cur = n;
                CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
                err = ed_sys_epoll_new(&none);
                CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
                CHECK(err == -EMFILE || err == 0);
                CHECK((err == 0) == (none != NULL));
                if (none)
                        none->free(none);
        }
}

TEST(clocks_go_on_and_randomness_differs)
{
        unsigned char a[600] = { 0 }, b[600] = { 0 };
        int64_t before;

        begin();
        before = sys->poll->now(sys);
        CHECK(sys->poll->now(sys) >= before);
        CHECK(ed_sys_now() >= before);
        CHECK(sys->poll->time_of_day(sys) > (int64_t) 1600000000 * 1000 * MS);
        sys->poll->random(sys, a, sizeof(a));
        sys->poll->random(sys, b, sizeof(b));
        CHECK(memcmp(a, b, sizeof(a)) != 0);
        sys->poll->random(sys, a, 0);
        finish();
}
