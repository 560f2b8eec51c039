/*
 * test_inbox.c - loop/inbox.c in every order: a post runs once and is not
 * slept over, a cancel is exact, a close refuses or runs, and nobody wakes a
 * table that is gone.
 */
#include "loop/inbox.h"

#include <errno.h>

#include "eddy/error.h"
#include "loom.h"

/* --- a loop: this thread, which waits and runs what was posted --- */

static struct loom_table table;
static struct ed_loop loop;
static struct ed_inbox *inbox;

static void begin(void)
{
        loom_table_init(&table);
        loop = (struct ed_loop){ .sys = &table.sys };
        inbox = ed_loop_inbox(&loop);
        DFS_CHECK(inbox != NULL);
}

static void finish(void)
{
        ed_inbox_close(inbox);
        table.gone = true;
        loop.inbox = NULL;
}

/* What a turn of the loop does of it. */
static void turn(void)
{
        loom_table_wait(&table);
        ed_inbox_run(inbox);
}

struct item {
        struct ed_post post;
        int ran, closed, err;
        bool runs;
        int again; /* it posts itself so often */
};

static void item_run(struct ed_post *post, bool closed)
{
        struct item *item = ed_container_of(post, struct item, post);

        DFS_CHECK(!item->runs);
        item->runs = true;
        item->ran++;
        item->closed += closed;
        if (item->again-- > 0 && !closed)
                DFS_CHECK_EQ(ed_inbox_post(inbox, post), 0);
        dfs_point();
        item->runs = false;
}

static struct item items[3];

static void items_init(void)
{
        for (int i = 0; i < 3; i++)
                items[i] = (struct item){ .post.fn = item_run };
}

static void post_item(void *arg)
{
        struct item *item = arg;

        item->err = ed_inbox_post(inbox, &item->post);
}

/* --- posts --- */

static void post_two(void *arg)
{
        (void) arg;
        post_item(&items[1]);
        post_item(&items[2]);
}

LOOM_TEST(inbox, posts_of_two_threads_run_once_and_are_not_slept_over)
{
        begin();
        items_init();
        (void) dfs_thread(post_item, &items[0]);
        (void) dfs_thread(post_two, NULL);
        while (items[0].ran + items[1].ran + items[2].ran < 3)
                turn();
        for (int i = 0; i < 3; i++)
                DFS_CHECK_EQ(items[i].ran, 1);
        finish();
}

/* Two threads, one post: it is in line once, and the other gets an error. */
LOOM_TEST(inbox, a_post_that_is_in_line_is_refused)
{
        int errs[2], a, b;

        begin();
        items_init();
        a = dfs_thread(post_item, &items[0]);
        post_item(&items[0]);
        errs[0] = items[0].err;
        dfs_join(a);
        errs[1] = items[0].err;
        b = items[0].ran;
        ed_inbox_run(inbox);
        DFS_CHECK_EQ(items[0].ran, b + 1);
        DFS_CHECK(errs[0] == 0 || errs[0] == -EBUSY);
        DFS_CHECK(errs[1] == 0 || errs[1] == -EBUSY);
        finish();
}

/* --- cancels --- */

struct cancelled {
        int from_line; /* how often a cancel took it out of the line */
        int over;
};

static struct cancelled cancelled;

static void cancel_item(void *arg)
{
        struct item *item = arg;

        cancelled.from_line += ed_inbox_cancel(inbox, &item->post);
        /* Neither in line nor running any more: its memory is the canceller's. */
        DFS_CHECK(!item->runs);
        DFS_CHECK(!item->post.posted);
        item->post.fn = NULL;
        cancelled.over++;
}

static void post_and_cancel(void *arg)
{
        post_item(arg);
        cancel_item(arg);
        post_item(&items[2]);
}

LOOM_TEST(inbox, a_cancelled_post_has_run_or_never_runs)
{
        begin();
        items_init();
        cancelled = (struct cancelled){ 0 };
        (void) dfs_thread(post_and_cancel, &items[0]);
        while (items[2].ran == 0)
                turn();
        DFS_CHECK_EQ(items[0].ran + cancelled.from_line, 1);
        finish();
}

LOOM_TEST(inbox, a_cancel_ends_a_post_that_posts_itself)
{
        begin();
        items_init();
        items[0].again = 2;
        cancelled = (struct cancelled){ 0 };
        (void) dfs_thread(post_and_cancel, &items[0]);
        while (items[2].ran == 0)
                turn();
        DFS_CHECK(cancelled.over == 1);
        finish();
}

static void cancel_only(void *arg)
{
        struct item *item = arg;

        cancelled.from_line += ed_inbox_cancel(inbox, &item->post);
        DFS_CHECK(!item->runs);
        post_item(&items[2]);
}

/* Two cancel it while the loop runs it: one at most takes it out of the line. */
LOOM_TEST(inbox, two_cancels_take_out_one_post)
{
        begin();
        items_init();
        cancelled = (struct cancelled){ 0 };
        post_item(&items[0]);
        (void) dfs_thread(cancel_only, &items[0]);
        (void) dfs_thread(cancel_item, &items[0]);
        while (items[2].ran == 0 || cancelled.over == 0) {
                if (items[2].ran == 0)
                        turn();
                else
                        dfs_yield();
        }
        DFS_CHECK_EQ(items[0].ran + cancelled.from_line, 1);
        finish();
}

/* --- closing --- */

static void post_at_the_end(void *arg)
{
        post_item(arg);
        ed_inbox_unref(inbox);
}

LOOM_TEST(inbox, a_close_refuses_a_post_or_runs_it_as_closed)
{
        int posters[2];

        begin();
        items_init();
        for (int i = 0; i < 2; i++) {
                (void) ed_inbox_ref(inbox);
                posters[i] = dfs_thread(post_at_the_end, &items[i]);
        }
        if (dfs_choose(2))
                ed_inbox_run(inbox);
        finish();
        for (int i = 0; i < 2; i++) {
                dfs_join(posters[i]);
                DFS_CHECK(items[i].err == 0 || items[i].err == EDDY_E_LOOP_CLOSED);
                DFS_CHECK_EQ(items[i].ran, items[i].err == 0 ? 1 : 0);
        }
}
