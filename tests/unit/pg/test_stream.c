/*
 * Rows one by one, COPY in both directions, and notifications.
 */
#include "eddy/pg_stream.h"

#include "pg_server.h"

/* --- rows --- */

static int all_rows_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        EDDY_AUTO(eddy_pg_cursor) eddy_pg_cursor *cursor = NULL, *none = NULL;
        eddy_pg_result *row;
        int64_t number, n = 0;

        (void) arg;
        for (int repeat = 0; repeat < 2; repeat++) { /* prepared the second time */
                CHECK_EQ(eddy_pg_cursor_open(pg, "select i from generate_series(1, $1) i",
                                             EDDY_PG_PARAMS(eddy_pg_int(100000)), &cursor),
                         0);
                CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_BUSY);
                for (n = 0; eddy_pg_cursor_next(cursor, &row) == 1; n++) {
                        CHECK_EQ(eddy_pg_rows(row), 1);
                        CHECK_EQ(eddy_pg_get_int(row, 0, 0, &number), 0);
                        CHECK_EQ(number, n + 1);
                }
                CHECK_EQ(n, 100000);
                CHECK_EQ(eddy_pg_cursor_next(cursor, &row), 0);
                CHECK_EQ(pg_int(pg, "select 3"), 3); /* free before the close */
                eddy_pg_cursor_close(cursor);
                cursor = NULL;
        }
        CHECK_EQ(eddy_pg_cursor_open(pg, "select 1 where false", NULL, 0, &none), 0);
        CHECK_EQ(eddy_pg_cursor_next(none, &row), 0);
        CHECK_EQ(eddy_pg_cursor_next(NULL, &row), -EINVAL);
        eddy_pg_cursor_close(NULL);
        return 0;
}

TEST(rows_come_one_by_one_and_the_connection_is_free_after_the_last)
{
        pg_run(all_rows_run);
}

static int cut_rows_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        eddy_pg_cursor *cursor;
        eddy_pg_result *row;

        (void) arg;
        CHECK_EQ(eddy_pg_cursor_open(pg, "select generate_series(1, 1000000000)", NULL, 0, &cursor),
                 0);
        CHECK_EQ(eddy_pg_cursor_next(cursor, &row), 1);
        CHECK_EQ(eddy_pg_cursor_next(cursor, &row), 1);
        eddy_pg_cursor_close(cursor);
        CHECK_EQ(pg_int(pg, "select 4"), 4);
        /* An error after the first rows is returned each time. */
        CHECK_EQ(eddy_pg_cursor_open(pg, "select 1 / (5000 - i) from generate_series(1, 9000) i",
                                     NULL, 0, &cursor),
                 0);
        while (eddy_pg_cursor_next(cursor, &row) == 1)
                continue;
        CHECK_EQ(eddy_pg_cursor_next(cursor, &row), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "22012");
        eddy_pg_cursor_close(cursor);
        CHECK_EQ(eddy_pg_cursor_open(pg, "select nonsense", NULL, 0, &cursor), EDDY_E_PG_SERVER);
        CHECK_EQ(eddy_pg_cursor_open(pg, "copy pg_class to stdout", NULL, 0, &cursor),
                 EDDY_E_PG_STATE);
        CHECK_EQ(pg_int(pg, "select 5"), 5);
        return 0;
}

TEST(rows_that_are_left_cost_the_next_call_nothing_but_a_cancel)
{
        pg_run(cut_rows_run);
}

struct taking {
        eddy_pg_cursor *cursor;
        eddy_pg_result *row;
};

static int take(void *arg)
{
        struct taking *taking = arg;

        return eddy_pg_cursor_next(taking->cursor, &taking->row);
}

static int cancelled_rows_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        struct taking taking = { 0 };
        int64_t number;

        (void) arg;
        /* The end of a long row comes with the next one. */
        CHECK_EQ(eddy_pg_cursor_open(pg,
                                     "select i, repeat('x', 100000), pg_sleep(0.2 * i)"
                                     " from generate_series(0, 2) i",
                                     NULL, 0, &taking.cursor),
                 0);
        CHECK_EQ(take(&taking), 1);
        CHECK_EQ(eddy_call_timeout(take, &taking, EDDY_MS(1)), -ETIMEDOUT);
        CHECK_EQ(take(&taking), 1);
        CHECK_EQ(eddy_pg_get_int(taking.row, 0, 0, &number), 0);
        CHECK_EQ(number, 1);
        CHECK_EQ(take(&taking), 1);
        CHECK_EQ(take(&taking), 0);
        eddy_pg_cursor_close(taking.cursor);
        return 0;
}

TEST(a_cancelled_wait_for_a_row_can_be_repeated)
{
        pg_run(cancelled_rows_run);
}

struct point {
        int64_t x;
        char name[8];
};

static const struct eddy_field point_list[] = { EDDY_FIELD(struct point, x),
                                                EDDY_FIELD(struct point, name) };
static const struct eddy_fields point_fields = EDDY_FIELDS(struct point, point_list, 0);

static int struct_rows_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        EDDY_AUTO(eddy_pg_cursor) eddy_pg_cursor *cursor = NULL;
        struct point point = { 0 };

        (void) arg;
        CHECK_EQ(eddy_pg_cursor_open(
                         pg,
                         "select * from (values (1, 'a'), (2, 'too long a name'), (3, 'c'))"
                         " as t (x, name)",
                         NULL, 0, &cursor),
                 0);
        CHECK_EQ(eddy_pg_cursor_into(cursor, &point_fields, &point), 1);
        CHECK_STR(point.name, "a");
        CHECK_EQ(eddy_pg_cursor_into(cursor, &point_fields, &point), EDDY_E_FIELD_LENGTH);
        CHECK_EQ(eddy_pg_cursor_into(cursor, &point_fields, &point), 1);
        CHECK_EQ(point.x, 3);
        CHECK_EQ(eddy_pg_cursor_into(cursor, &point_fields, &point), 0);
        return 0;
}

TEST(a_row_that_does_not_fit_a_struct_does_not_end_the_rows)
{
        pg_run(struct_rows_run);
}

/* --- COPY --- */

static void copy_numbers(eddy_pg *pg, int n)
{
        eddy_stream *stream;
        char line[32];

        CHECK_EQ(eddy_pg_copy(pg, "copy numbers from stdin", &stream), 0);
        for (int i = 0; i < n; i++) {
                int bytes = snprintf(line, sizeof(line), "%d\t%d\n", i, i * 2);

                CHECK_EQ(eddy_stream_write(stream, line, (size_t) bytes), 0);
        }
        CHECK_EQ(eddy_stream_shutdown(stream), 0);
        CHECK_EQ(eddy_pg_copied(pg), n);
        eddy_stream_close(stream);
}

static int copy_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        static char buf[100000];
        eddy_stream *stream;
        int64_t n, bytes = 0, lines = 0;

        (void) arg;
        CHECK_EQ(eddy_pg_exec(pg, "create temp table numbers (i int primary key, twice int)"), 0);
        copy_numbers(pg, 50000);
        CHECK_EQ(pg_int(pg, "select sum(twice) from numbers"), INT64_C(2499950000));
        CHECK_EQ(eddy_pg_copy(pg, "copy (select * from numbers order by i) to stdout", &stream), 0);
        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0) {
                for (int64_t i = 0; i < n; i++)
                        lines += buf[i] == '\n';
                bytes += n;
        }
        CHECK_EQ(n, 0);
        CHECK_EQ(lines, 50000);
        CHECK(bytes > 500000);
        CHECK_EQ(eddy_pg_copied(pg), 50000);
        CHECK_EQ(pg_int(pg, "select 6"), 6);
        CHECK_EQ(eddy_stream_write(stream, "x", 1), -ENOTSUP);
        eddy_stream_close(stream);
        return 0;
}

TEST(copies_go_both_ways)
{
        pg_run(copy_run);
}

static int failed_copy_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        static char much[300000];
        eddy_stream *stream;
        char byte;

        (void) arg;
        CHECK_EQ(eddy_pg_exec(pg, "create temp table numbers (i int primary key, twice int)"), 0);
        /* Closed without its end. */
        CHECK_EQ(eddy_pg_copy(pg, "copy numbers from stdin", &stream), 0);
        CHECK_EQ(eddy_stream_write(stream, "1\t2\n", 4), 0);
        eddy_stream_close(stream);
        CHECK_EQ(pg_int(pg, "select count(*) from numbers"), 0);
        /* Wrong data, before much more. */
        memset(much, 'x', sizeof(much));
        CHECK_EQ(eddy_pg_copy(pg, "copy numbers from stdin", &stream), 0);
        CHECK_EQ(eddy_stream_write(stream, "nonsense\n", 9), 0);
        CHECK(eddy_stream_write(stream, much, sizeof(much)) <= 0);
        CHECK_EQ(eddy_stream_shutdown(stream), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "22P02");
        CHECK_STR(eddy_pg_fault(pg)->context, "COPY numbers, line 1, column i: \"nonsense\"");
        eddy_stream_close(stream);
        CHECK_EQ(pg_int(pg, "select 7"), 7);
        /* A read that is left. */
        CHECK_EQ(eddy_pg_copy(pg, "copy (select generate_series(1, 10000000)) to stdout", &stream),
                 0);
        CHECK_EQ(eddy_stream_read(stream, &byte, 1), 1);
        CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_BUSY);
        eddy_stream_close(stream);
        CHECK_EQ(pg_int(pg, "select 8"), 8);
        CHECK_EQ(eddy_pg_copy(pg, "select 1", &stream), EDDY_E_PG_STATE);
        CHECK_EQ(eddy_pg_copy(pg, "copy none to stdout", &stream), EDDY_E_PG_SERVER);
        CHECK_EQ(pg_int(pg, "select 9"), 9);
        return 0;
}

TEST(a_copy_that_fails_or_is_left_copies_nothing)
{
        pg_run(failed_copy_run);
}

/* Closes a stream and its connection while another task waits in the stream's shutdown. */
static int shut(void *arg)
{
        CHECK_EQ(eddy_stream_shutdown(arg), -ECANCELED);
        return 0;
}

static int closed_copy_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *direct = pg_open();
        eddy_pg *pg = pg_open();
        eddy_stream *stream;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_pg_exec(direct,
                              "drop table if exists slow; create table slow (n text);"
                              "create or replace function wait() returns trigger language plpgsql"
                              " as $$ begin perform pg_sleep(30); return new; end $$;"
                              "create trigger x before insert on slow for each statement"
                              " execute function wait()"),
                 0);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_pg_copy(pg, "copy slow from stdin", &stream), 0);
                CHECK_EQ(eddy_stream_write(stream, "a\n", 2), 0);
                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, shut, stream), 0);
                CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
                CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_BUSY);
                eddy_stream_close(stream);
                if (i == 1)
                        eddy_pg_close(pg);
                else
                        CHECK_EQ(pg_int(pg, "select 1"), 1);
                CHECK_EQ(eddy_scope_end(&scope), 0);
        }
        CHECK_EQ(pg_int(direct, "select count(*) from slow"), 0);
        /* The request to cancel of the connection that was closed. */
        for (int i = 0; i < 10000 && ed_loop_current->waits > 0; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        return 0;
}

TEST(a_copy_can_be_closed_while_another_task_ends_it)
{
        pg_run(closed_copy_run);
}

/* --- notifications --- */

static int notify_later(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();

        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        return eddy_pg_exec(pg, "select pg_notify('news', 'second')");
}

static int wait_notified(void *arg)
{
        struct eddy_pg_notification notification;

        return eddy_pg_notified(arg, &notification);
}

static int notify_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        struct eddy_pg_notification notification = { 0 };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_pg_exec(pg, "listen news; notify news, 'first'"), 0);
        CHECK_EQ(eddy_pg_notified(pg, &notification), 0);
        CHECK_STR(notification.channel, "news");
        CHECK_STR(notification.payload, "first");
        eddy_pg_notification_fini(&notification);
        CHECK_EQ(eddy_call_timeout(wait_notified, pg, EDDY_MS(5)), -ETIMEDOUT);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, notify_later, NULL);
        CHECK_EQ(eddy_pg_notified(pg, &notification), 0);
        CHECK_STR(notification.payload, "second");
        CHECK(notification.pid > 0);
        eddy_pg_notification_fini(&notification);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(pg_int(pg, "select 10"), 10);
        return 0;
}

TEST(notifications_are_waited_for_and_kept_until_then)
{
        pg_run(notify_run);
}
