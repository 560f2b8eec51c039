/*
 * test_inbox.c - calls from other threads: they wake a loop that waits, run
 * once each and in order, their wake-ups coalesce, and a cancel is exact
 * before, while and after they run.
 */
#include "loop/inbox.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "eddy/error.h"
#include "test.h"

enum { ROUNDS = 1000, POSTERS = 4, EACH = 500 };

/* --- a loop of the test's thread, whose wakes are counted --- */

static struct ed_loop loop;
static struct ed_inbox *inbox;
static struct ed_sys_poll wrapped;
static void (*real_wake)(struct ed_sys *sys);
static _Atomic int wakes;
static bool done;

/* Any thread: under the lock. */
static bool is_posted(const struct ed_post *post)
{
        bool posted;

        ed_mutex_lock(&inbox->lock);
        posted = post->posted;
        ed_mutex_unlock(&inbox->lock);
        return posted;
}

static void counted_wake(struct ed_sys *sys)
{
        static const struct ed_post none;

        /* A loop that runs before this returns finds no lock taken; nor does this, or it hangs. */
        (void) is_posted(&none);
        atomic_fetch_add(&wakes, 1);
        real_wake(sys);
}

static void begin(void)
{
        struct ed_sys *sys;

        CHECK_EQ(ed_sys_epoll_new(&sys), 0);
        wrapped = *sys->poll;
        real_wake = wrapped.wake;
        wrapped.wake = counted_wake;
        sys->poll = &wrapped;
        ed_loop_init(&loop, sys);
        loop.waits = 1; /* for posts */
        inbox = ed_loop_inbox(&loop);
        CHECK(inbox != NULL);
        CHECK(ed_loop_inbox(&loop) == inbox);
        atomic_store(&wakes, 0);
        done = false;
}

static void run(void)
{
        done = false;
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
}

static void finish(void)
{
        ed_loop_fini(&loop);
}

static void end_run(struct ed_post *post, bool closed)
{
        (void) post;
        CHECK(!closed);
        done = true;
}

static struct ed_post ending = { .fn = end_run };

static pthread_t thread(void *(*fn)(void *), void *arg)
{
        pthread_t id;

        CHECK_EQ(pthread_create(&id, NULL, fn, arg), 0);
        return id;
}

/* What two threads wait for each other at. */
static pthread_barrier_t meeting;

static void meet(void)
{
        (void) pthread_barrier_wait(&meeting);
}

static void meeting_of(unsigned n)
{
        CHECK_EQ(pthread_barrier_init(&meeting, NULL, n), 0);
}

/* --- running --- */

static void *wait_for_poll_and_end(void *arg)
{
        (void) arg;
        while (!atomic_load(&loop.polling))
                (void) sched_yield();
        CHECK_EQ(ed_inbox_post(inbox, &ending), 0);
        return NULL;
}

/* A10: a call from another thread wakes a loop that waits. */
TEST(a_post_wakes_a_loop_that_waits)
{
        begin();
        for (int i = 0; i < ROUNDS; i++) {
                pthread_t poster;

                atomic_store(&loop.polling, false);
                poster = thread(wait_for_poll_and_end, NULL);
                run();
                pthread_join(poster, NULL);
        }
        CHECK_EQ(atomic_load(&wakes), ROUNDS);
        finish();
}

struct numbered {
        struct ed_post post;
        int poster, number;
};

static int next_of[POSTERS], ran;

static void run_numbered(struct ed_post *post, bool closed)
{
        struct numbered *numbered = ed_container_of(post, struct numbered, post);

        CHECK(!closed);
        CHECK(ed_inbox_is_mine(inbox));
        CHECK_EQ(numbered->number, next_of[numbered->poster]++);
        free(numbered); /* nothing touches it any more */
        if (++ran == POSTERS * EACH)
                done = true;
}

static void *post_many(void *arg)
{
        for (int i = 0; i < EACH; i++) {
                struct numbered *numbered = calloc(1, sizeof(*numbered));

                CHECK(numbered != NULL);
                CHECK(!ed_inbox_is_mine(inbox));
                numbered->post.fn = run_numbered;
                numbered->poster = (int) (intptr_t) arg;
                numbered->number = i;
                CHECK_EQ(ed_inbox_post(inbox, &numbered->post), 0);
        }
        return NULL;
}

TEST(posts_of_each_thread_run_once_and_in_order)
{
        pthread_t posters[POSTERS];

        begin();
        for (int i = 0; i < POSTERS; i++)
                posters[i] = thread(post_many, (void *) (intptr_t) i);
        run();
        for (int i = 0; i < POSTERS; i++) {
                pthread_join(posters[i], NULL);
                CHECK_EQ(next_of[i], EACH);
        }
        printf("# %d posts, %d wakes\n", POSTERS * EACH, atomic_load(&wakes));
        finish();
}

static struct ed_post many[ROUNDS];

static void count_run(struct ed_post *post, bool closed)
{
        CHECK(!closed);
        CHECK(post == &many[ran]);
        ran++;
}

static void hold_the_loop(struct ed_post *post, bool closed)
{
        (void) post;
        (void) closed;
        meet();
        meet();
}

static struct ed_post gate = { .fn = hold_the_loop };

static void *post_behind_the_gate(void *arg)
{
        (void) arg;
        CHECK_EQ(ed_inbox_post(inbox, &gate), 0);
        meet();
        CHECK_EQ(atomic_load(&wakes), 1);
        for (int i = 0; i < ROUNDS; i++) {
                many[i].fn = count_run;
                CHECK_EQ(ed_inbox_post(inbox, &many[i]), 0);
                CHECK_EQ(ed_inbox_post(inbox, &many[i]), -EBUSY);
                CHECK(is_posted(&many[i]));
        }
        CHECK_EQ(ed_inbox_post(inbox, &ending), 0);
        CHECK_EQ(atomic_load(&wakes), 2);
        meet();
        return NULL;
}

/* A10: of many posts that the loop has not looked at yet, the first wakes it. */
TEST(wakes_coalesce)
{
        pthread_t poster;

        begin();
        meeting_of(2);
        poster = thread(post_behind_the_gate, NULL);
        run();
        pthread_join(poster, NULL);
        CHECK_EQ(ran, ROUNDS);
        CHECK_EQ(atomic_load(&wakes), 2);
        finish();
}

static uint64_t polls_at[3];

static void post_again(struct ed_post *post, bool closed)
{
        CHECK(!closed);
        polls_at[ran++] = loop.polls;
        if (ran < 3)
                CHECK_EQ(ed_inbox_post(inbox, post), 0);
        else
                done = true;
}

TEST(a_post_that_posts_itself_runs_in_the_next_turn)
{
        struct ed_post again = { .fn = post_again };

        begin();
        CHECK_EQ(ed_inbox_post(inbox, &again), 0);
        run();
        CHECK_EQ(polls_at[1], polls_at[0] + 1);
        CHECK_EQ(polls_at[2], polls_at[1] + 1);
        finish();
}

TEST(a_loop_with_a_post_in_line_is_not_stuck)
{
        begin();
        loop.waits = 0;
        CHECK_EQ(ed_inbox_post(inbox, &ending), 0);
        run();
        CHECK_EQ(ed_loop_run(&loop, &(bool){ false }), -EDEADLK);
        finish();
}

/* --- cancelling --- */

static void fail_if_run(struct ed_post *post, bool closed)
{
        (void) post;
        (void) closed;
        test_fail(__FILE__, __LINE__, "a cancelled post ran");
}

static void *cancel_before(void *arg)
{
        struct ed_post post = { .fn = fail_if_run }, other = { .fn = fail_if_run };

        (void) arg;
        for (int i = 0; i < ROUNDS; i++) {
                CHECK_EQ(ed_inbox_post(inbox, &gate), 0);
                meet();
                CHECK_EQ(ed_inbox_cancel(inbox, &post), 0);
                CHECK_EQ(ed_inbox_post(inbox, &post), 0);
                CHECK_EQ(ed_inbox_post(inbox, &other), 0);
                CHECK_EQ(ed_inbox_cancel(inbox, &post), 1);
                CHECK_EQ(ed_inbox_cancel(inbox, &post), 0);
                CHECK_EQ(ed_inbox_cancel(inbox, &other), 1);
                CHECK(!is_posted(&post));
                meet();
        }
        CHECK_EQ(ed_inbox_post(inbox, &ending), 0);
        return NULL;
}

/* A11: cancelled from another thread before it starts, a call never runs. */
TEST(a_cancel_before_the_run_prevents_it)
{
        pthread_t canceller;

        begin();
        meeting_of(2);
        canceller = thread(cancel_before, NULL);
        run();
        pthread_join(canceller, NULL);
        finish();
}

struct slow {
        struct ed_post post;
        int begun;
        bool returned; /* plain: the cancel must order it */
        bool repost;
};

static void run_slowly(struct ed_post *post, bool closed)
{
        struct slow *slow = ed_container_of(post, struct slow, post);

        (void) closed;
        slow->returned = false;
        if (++slow->begun == 1)
                meet();
        if (slow->repost)
                CHECK_EQ(ed_inbox_post(inbox, post), 0);
        for (int i = 0; i < 20; i++)
                (void) sched_yield();
        slow->returned = true;
}

static void *cancel_while(void *arg)
{
        int expected = *(bool *) arg ? 1 : 0;

        for (int i = 0; i < ROUNDS; i++) {
                struct slow *slow = calloc(1, sizeof(*slow));
                int was_posted;

                slow->post.fn = run_slowly;
                slow->repost = expected;
                CHECK_EQ(ed_inbox_post(inbox, &slow->post), 0);
                meet();
                was_posted = ed_inbox_cancel(inbox, &slow->post);
                CHECK(slow->returned);
                CHECK_EQ(was_posted, expected);
                CHECK(slow->begun == 1 || slow->repost);
                free(slow);
        }
        CHECK_EQ(ed_inbox_post(inbox, &ending), 0);
        return NULL;
}

/* A11: cancelled from another thread while it runs, the cancel waits until it has returned. */
TEST(a_cancel_while_it_runs_waits_for_its_end)
{
        pthread_t canceller;
        bool repost = false;

        begin();
        meeting_of(2);
        canceller = thread(cancel_while, &repost);
        run();
        pthread_join(canceller, NULL);
        finish();
}

/* A11: even if it schedules itself once more meanwhile. */
TEST(a_cancel_while_it_runs_takes_back_its_posts)
{
        pthread_t canceller;
        bool repost = true;

        begin();
        meeting_of(2);
        canceller = thread(cancel_while, &repost);
        run();
        pthread_join(canceller, NULL);
        finish();
}

struct racing {
        struct ed_post post;
        _Atomic int ran;
};

static void run_racing(struct ed_post *post, bool closed)
{
        (void) closed;
        atomic_fetch_add(&ed_container_of(post, struct racing, post)->ran, 1);
}

static _Atomic int racers;

static void *cancel_whenever(void *arg)
{
        int *cancelled = arg;

        for (int i = 0; i < ROUNDS; i++) {
                struct racing *racing = calloc(1, sizeof(*racing));
                int was_posted;

                racing->post.fn = run_racing;
                CHECK_EQ(ed_inbox_post(inbox, &racing->post), 0);
                for (int spin = 0; spin < i % 4; spin++)
                        (void) sched_yield();
                was_posted = ed_inbox_cancel(inbox, &racing->post);
                CHECK_EQ(atomic_load(&racing->ran), 1 - was_posted);
                *cancelled += was_posted;
                free(racing);
        }
        if (atomic_fetch_sub(&racers, 1) == 1)
                CHECK_EQ(ed_inbox_post(inbox, &ending), 0);
        return NULL;
}

/* A11: it has run once, or the cancel says 1; whenever it comes. */
TEST(a_cancel_at_any_time_is_exact)
{
        int cancelled[POSTERS] = { 0 }, all = 0;
        pthread_t cancellers[POSTERS];

        begin();
        atomic_store(&racers, POSTERS);
        for (int i = 0; i < POSTERS; i++)
                cancellers[i] = thread(cancel_whenever, &cancelled[i]);
        run();
        for (int i = 0; i < POSTERS; i++) {
                pthread_join(cancellers[i], NULL);
                all += cancelled[i];
        }
        printf("# %d of %d were cancelled in time\n", all, POSTERS * ROUNDS);
        finish();
}

static int results[3];

static void cancel_itself(struct ed_post *post, bool closed)
{
        (void) closed;
        results[0] = ed_inbox_cancel(inbox, post);
        CHECK_EQ(ed_inbox_post(inbox, post), 0);
        results[1] = ed_inbox_cancel(inbox, post);
        results[2] = is_posted(post);
        done = true;
}

/* A11: a call that cancels itself takes back nothing of its present run. */
TEST(a_cancel_by_itself_does_not_wait)
{
        struct ed_post self = { .fn = cancel_itself };

        begin();
        CHECK_EQ(ed_inbox_post(inbox, &self), 0);
        run();
        CHECK_EQ(results[0], 0);
        CHECK_EQ(results[1], 1);
        CHECK_EQ(results[2], 0);
        CHECK_EQ(ed_inbox_cancel(inbox, &self), 0);
        finish();
}

static struct ed_post behind = { .fn = fail_if_run };

static void cancel_the_next(struct ed_post *post, bool closed)
{
        (void) post;
        (void) closed;
        CHECK_EQ(ed_inbox_cancel(inbox, &behind), 1);
}

TEST(a_post_cancels_one_of_the_same_turn)
{
        struct ed_post first = { .fn = cancel_the_next };

        begin();
        CHECK_EQ(ed_inbox_post(inbox, &first), 0);
        CHECK_EQ(ed_inbox_post(inbox, &behind), 0);
        CHECK_EQ(ed_inbox_post(inbox, &ending), 0);
        run();
        finish();
}

/* --- the end --- */

static void note_closed(struct ed_post *post, bool closed)
{
        CHECK(closed);
        CHECK(post == &many[ran]);
        CHECK_EQ(ed_inbox_post(inbox, post), EDDY_E_LOOP_CLOSED);
        ran++;
}

static void *post_to_the_closed(void *arg)
{
        struct ed_inbox *held = arg;
        struct ed_post post = { .fn = fail_if_run };

        meet();
        CHECK_EQ(ed_inbox_post(held, &post), EDDY_E_LOOP_CLOSED);
        CHECK_EQ(ed_inbox_cancel(held, &post), 0);
        ed_inbox_unref(held);
        return NULL;
}

TEST(a_closed_loop_runs_the_rest_as_closed_and_refuses_more)
{
        pthread_t poster;

        begin();
        meeting_of(2);
        poster = thread(post_to_the_closed, ed_inbox_ref(inbox));
        for (int i = 0; i < 3; i++) {
                many[i].fn = note_closed;
                CHECK_EQ(ed_inbox_post(inbox, &many[i]), 0);
        }
        finish();
        CHECK_EQ(ran, 3);
        meet();
        pthread_join(poster, NULL);
}

static void *post_until_closed(void *arg)
{
        struct ed_inbox *held = arg;
        int accepted = 0;

        while (accepted < ROUNDS * 100) {
                struct racing racing = { .post.fn = run_racing };
                int err = ed_inbox_post(held, &racing.post);

                if (err < 0) {
                        CHECK_EQ(err, EDDY_E_LOOP_CLOSED);
                        break;
                }
                accepted++;
                if (accepted == 10)
                        meet();
                CHECK_EQ(ed_inbox_cancel(held, &racing.post) + racing.ran, 1);
        }
        ed_inbox_unref(held);
        return NULL;
}

TEST(a_loop_may_close_while_threads_post)
{
        for (int i = 0; i < 50; i++) {
                pthread_t posters[2];

                begin();
                meeting_of(3);
                for (int k = 0; k < 2; k++)
                        posters[k] = thread(post_until_closed, ed_inbox_ref(inbox));
                meet();
                finish();
                for (int k = 0; k < 2; k++)
                        pthread_join(posters[k], NULL);
        }
}

/* --- a table that is being woken --- */

static _Atomic bool table_gone;
static void (*real_free)(struct ed_sys *sys);

static void noted_free(struct ed_sys *sys)
{
        atomic_store(&table_gone, true);
        real_free(sys);
}

static void slow_wake(struct ed_sys *sys)
{
        (void) sys;
        meet();
        for (int i = 0; i < ROUNDS; i++) {
                CHECK(!atomic_load(&table_gone));
                (void) sched_yield();
        }
}

static void expect_closed(struct ed_post *post, bool closed)
{
        (void) post;
        CHECK(closed);
}

static void *post_once(void *arg)
{
        static struct ed_post post = { .fn = expect_closed };
        int err = ed_inbox_post(arg, &post);

        CHECK_EQ(err, 0);
        ed_inbox_unref(arg);
        return NULL;
}

TEST(a_table_stays_while_a_thread_wakes_it)
{
        pthread_t poster;

        begin();
        meeting_of(2);
        real_free = loop.sys->free;
        loop.sys->free = noted_free;
        wrapped.wake = slow_wake;
        poster = thread(post_once, ed_inbox_ref(inbox));
        meet();
        finish();
        CHECK(atomic_load(&table_gone));
        pthread_join(poster, NULL);
}
