/*
 * test_cancel.c - calls of SQLite that are cancelled: at each suspension, at random moments, while
 * another process has the lock.
 */
#include <errno.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cancel_at.h"
#include "sqlite_test.h"

static bool is_full(void)
{
        return test_is_full();
}

/* --- interrupts --- */

static int run_endless(void *arg)
{
        return eddy_sqlite_exec(arg, ENDLESS, NULL, 0);
}

static int interrupts(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_tx tx = { 0 };

        (void) arg;
        for (int i = 0; i < 5; i++) {
                CHECK_EQ(eddy_call_timeout(run_endless, conn, EDDY_MS(i)), -ETIMEDOUT);
                CHECK_EQ(int_of(conn, "SELECT 1"), 1);
        }
        /* A transaction that only reads outlives the interrupt. */
        CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
        must(conn, "INSERT INTO log (text) VALUES ('x')");
        CHECK_EQ(eddy_call_timeout(run_endless, conn, EDDY_MS(1)), -ETIMEDOUT);
        CHECK_OK(eddy_sqlite_commit(&tx), conn);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

/* D26, D29: by sqlite3_interrupt(). */
TEST(a_deadline_interrupts_the_running_statement)
{
        run_in_folder(interrupts);
}

struct early {
        eddy_sqlite_conn *conn;
        _Atomic bool has_begun;
        int rc;
};

/* A job whose interrupt comes before its statement's first step, which makes SQLite forget it. */
static int run_after_interrupt(struct sqlite3 *handle, void *arg)
{
        struct early *early = arg;

        early->has_begun = true;
        while (!eddy_thread_is_stopping())
                (void) poll(NULL, 0, 1);
        sqlite3_interrupt(handle); /* the cancel's own may come a little later */
        early->rc = sqlite3_exec(handle, ENDLESS, NULL, NULL, NULL);
        return -ECANCELED;
}

static int call_early(void *arg)
{
        struct early *early = arg;

        return eddy_sqlite_call(early->conn, run_after_interrupt, early);
}

static int interrupts_early(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        struct early early = { .conn = borrow(eddy_sqlite_writer(db), &loan) };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, call_early, &early);
        while (!early.has_begun)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(early.rc, SQLITE_INTERRUPT);
        CHECK_EQ(int_of(early.conn, "SELECT 1"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

/* D29 */
TEST(an_interrupt_before_the_first_step_is_not_lost)
{
        run_in_folder(interrupts_early);
}

struct reading {
        eddy_sqlite_rows *rows;
        int64_t before; /* the last number that was read */
};

static int read_next(void *arg)
{
        struct reading *reading = arg;
        int64_t integer;
        int err = eddy_sqlite_rows_next(reading->rows);

        if (err <= 0)
                return err;
        CHECK_EQ(eddy_sqlite_rows_int(reading->rows, 0, &integer), 0);
        CHECK_EQ(integer, ++reading->before);
        return 1;
}

/* Read with short deadlines until one of them ends the rows.  Returns whether the last row came. */
static bool read_until_cancelled(eddy_sqlite_conn *conn, unsigned seed)
{
        struct reading reading = { 0 };
        int err = 1;

        CHECK_OK(eddy_sqlite_query(conn, ENDLESS_ROWS " LIMIT 6000", NULL, 0, &reading.rows), conn);
        while (err == 1 || err == -ETIMEDOUT) {
                seed = seed * 1103515245 + 12345;
                err = eddy_call_timeout(read_next, &reading, 1 + (seed >> 8) % EDDY_MS(3));
        }
        CHECK(err == 0 || err == EDDY_E_SQLITE_ENDED);
        CHECK_EQ(eddy_sqlite_rows_next(reading.rows), err);
        eddy_sqlite_rows_close(reading.rows);
        CHECK_EQ(int_of(conn, "SELECT 1"), 1);
        return err == 0;
}

static int cancelled_rows(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        int rounds = is_full() ? 5000 : 100, whole = 0;
        eddy_pool_loan loan;

        (void) arg;
        borrow(eddy_sqlite_readers(db), &loan);
        for (int i = 0; i < rounds; i++)
                whole += read_until_cancelled(loan.item, (unsigned) i);
        printf("# %d of %d queries were cancelled between or in their batches\n", rounds - whole,
               rounds);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

/* An interrupt that comes after the last step of a batch must not reach the next one. */
TEST(rows_end_at_a_cancel_in_a_batch_and_continue_after_one_outside)
{
        run_in_folder(cancelled_rows);
}

/* --- at each suspension --- */

struct bench {
        eddy_sqlite *db;
        int64_t before;
};

static int use_all(void *arg)
{
        struct bench *bench = arg;
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx inner = { 0 };
        EDDY_AUTO(eddy_sqlite_rows) eddy_sqlite_rows *rows = NULL;
        const struct eddy_sqlite_value texts[] = { eddy_sqlite_text("a"), eddy_sqlite_text("b") };
        eddy_sqlite_conn *conn;
        int err = eddy_pool_acquire(eddy_sqlite_writer(bench->db), &loan);

        if (err < 0)
                return err;
        conn = loan.item;
        err = eddy_sqlite_begin(conn, &tx);
        if (err == 0)
                err = eddy_sqlite_exec(conn, "INSERT INTO log (text) VALUES ('c')", NULL, 0);
        if (err == 0)
                err = eddy_sqlite_begin(conn, &inner);
        if (err == 0)
                err = eddy_sqlite_exec_many(conn, "INSERT INTO log (text) VALUES (?)", texts, 1, 2);
        if (err == 0)
                err = eddy_sqlite_commit(&inner);
        if (err == 0)
                err = eddy_sqlite_query(
                        conn,
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                        "LIMIT 2500) SELECT i FROM n",
                        NULL, 0, &rows);
        while (err == 0 && (err = eddy_sqlite_rows_next(rows)) > 0)
                err = 0;
        if (err == 0)
                err = eddy_sqlite_script(conn, "SELECT 1; SELECT 2");
        return err < 0 ? err : eddy_sqlite_commit(&tx);
}

static int use_all_everywhere(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        struct bench bench = { .db = db };
        struct eddy_pool_stats stats;
        int64_t rows = 0;
        bool reached = true;
        eddy_pool_loan loan;
        int n;

        (void) arg;
        for (n = 0; reached; n++) {
                int err = cancel_at(n, use_all, &bench, &reached);

                CHECK(err == 0 || err == -ECANCELED);
                rows += err == 0 ? 3 : 0;
                CHECK_EQ(int_of(borrow(eddy_sqlite_writer(db), &loan), "SELECT count(*) FROM log"),
                         rows);
                CHECK_EQ(eddy_pool_release(&loan), 0);
        }
        CHECK(n > 10);
        CHECK(rows > 0);
        eddy_pool_stats(eddy_sqlite_writer(db), &stats);
        CHECK_EQ(stats.open, 1);
        CHECK_EQ(stats.broken, 0);
        return 0;
}

TEST(a_cancel_at_any_suspension_leaves_all_or_nothing)
{
        run_in_folder(use_all_everywhere);
}

static int open_and_close(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;
        int err = eddy_sqlite_open("other.db", NULL, &db);

        (void) arg;
        return err < 0 ? err : eddy_sqlite_backup(db, "copy.db", NULL);
}

static int open_everywhere(void *arg)
{
        int before = descriptors();
        bool reached = true;
        int n;

        (void) arg;
        for (n = 0; reached; n++) {
                int err = cancel_at(n, open_and_close, NULL, &reached);

                CHECK(err == 0 || err == -ECANCELED);
                /* A cancelled close does not wait for the pool's tasks. */
                while (descriptors() != before)
                        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        }
        CHECK(n > 5);
        return 0;
}

TEST(an_opening_that_is_cancelled_leaves_nothing_open)
{
        run_in_folder(open_everywhere);
}

/* --- at random moments: each answer is that of its own call --- */

enum { TASKS = 8, ROUNDS = 60, CANCELS_ALL = 1000000 };

struct user {
        eddy_sqlite *db;
        unsigned seed;
        int64_t nonce;
        int asked, answered;
};

static int ask(void *arg)
{
        struct user *user = arg;
        bool is_write = user->seed % 5 == 0;
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        EDDY_AUTO(eddy_sqlite_rows) eddy_sqlite_rows *rows = NULL;
        const char *sql =
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1200) "
                "SELECT ?, i FROM n";
        int64_t integer;
        int err = eddy_pool_acquire(
                is_write ? eddy_sqlite_writer(user->db) : eddy_sqlite_readers(user->db), &loan);

        if (err == 0)
                err = eddy_sqlite_query(loan.item, sql,
                                        EDDY_SQLITE_BIND(eddy_sqlite_int(user->nonce)), &rows);
        for (int i = 1; err == 0 && (err = eddy_sqlite_rows_next(rows)) > 0; i++) {
                CHECK_EQ(eddy_sqlite_rows_int(rows, 0, &integer), 0);
                CHECK_EQ(integer, user->nonce);
                CHECK_EQ(eddy_sqlite_rows_int(rows, 1, &integer), 0);
                CHECK_EQ(integer, i);
                err = 0;
        }
        return err;
}

static int ask_often(void *arg)
{
        struct user *user = arg;
        int cancels = is_full() ? CANCELS_ALL / TASKS : 0;

        for (int i = 0; i < ROUNDS || user->asked - user->answered < cancels; i++) {
                int64_t limit_ns;
                int err;

                user->seed = user->seed * 1103515245 + 12345;
                user->nonce += TASKS;
                /* From 1 us to 16 ms; some calls have time enough. */
                limit_ns = (int64_t) 1000 << (user->seed >> 8) % 15;
                err = eddy_call_timeout(ask, user, i % 8 == 0 ? EDDY_MIN(1) : limit_ns);
                if (err != 0 && err != -ETIMEDOUT)
                        test_fail(__FILE__, __LINE__, "%s", eddy_error_name(err));
                user->asked++;
                user->answered += err == 0;
        }
        return 0;
}

static int random_cancels(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        struct user users[TASKS];
        struct eddy_pool_stats stats;
        int asked = 0, answered = 0;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++) {
                users[i] = (struct user){ .db = db, .seed = (unsigned) i * 77 + 1, .nonce = i };
                eddy_scope_start(&scope, ask_often, &users[i]);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < TASKS; i++) {
                asked += users[i].asked;
                answered += users[i].answered;
        }
        CHECK(answered > asked / 9);
        printf("# P2: %d calls, %d of them cancelled\n", asked, asked - answered);
        /* Nothing was interrupted but the cancelled calls, and no connection was lost. */
        eddy_pool_stats(eddy_sqlite_readers(db), &stats);
        CHECK_EQ(stats.lent, 0);
        CHECK_EQ(stats.broken, 0);
        CHECK(stats.open <= 4);
        eddy_pool_stats(eddy_sqlite_writer(db), &stats);
        CHECK_EQ(stats.lent, 0);
        CHECK_EQ(stats.broken, 0);
        return 0;
}

/* D33: the pool keeps its size. */
TEST(cancels_at_random_moments_reach_no_other_call)
{
        run_in_folder(random_cancels);
}

/* --- locks of another process --- */

/* A process that takes the lock, says so, and holds it until it is killed. */
static pid_t hold_lock(void)
{
        int ready[2];
        pid_t child;
        char byte;

        CHECK(pipe(ready) == 0);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
                sqlite3 *handle;
                int rc = sqlite3_open("app.db", &handle);

                if (rc == SQLITE_OK)
                        rc = sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);
                if (rc == SQLITE_OK && write(ready[1], "r", 1) == 1)
                        for (;;)
                                pause();
                _exit(1);
        }
        close(ready[1]);
        CHECK_EQ(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        return child;
}

static pid_t holder;

static int write_one(void *arg)
{
        return eddy_sqlite_exec(arg, "INSERT INTO log (text) VALUES ('x')", NULL, 0);
}

static int release_soon(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_MS(30)), 0);
        CHECK(kill(holder, SIGKILL) == 0);
        return 0;
}

static int locked(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;
        eddy_pool_loan loan, reader;
        eddy_sqlite_conn *conn;
        eddy_sqlite_tx tx = { 0 };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_sqlite_open("app.db", NULL, &db), 0);
        conn = borrow(eddy_sqlite_writer(db), &loan);
        /* The wait ends at the deadline; readers do not wait. */
        CHECK_EQ(eddy_call_timeout(write_one, conn, EDDY_MS(5)), -ETIMEDOUT);
        CHECK_EQ(int_of(borrow(eddy_sqlite_readers(db), &reader), "SELECT count(*) FROM log"), 0);
        /* Without one it lasts until the lock is free. */
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, release_soon, NULL);
        CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
        CHECK_OK(write_one(conn), conn);
        CHECK_OK(eddy_sqlite_commit(&tx), conn);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(int_of(reader.item, "SELECT count(*) FROM log"), 1);
        CHECK_EQ(eddy_pool_release(&reader), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

static int make_app(void *arg)
{
        (void) arg;
        eddy_sqlite_close(open_app());
        return 0;
}

TEST(a_lock_of_another_process_is_waited_for)
{
        enter_folder();
        CHECK_EQ(eddy_run(make_app, NULL, NULL), 0);
        holder = hold_lock();
        CHECK_EQ(eddy_run(locked, NULL, NULL), 0);
        CHECK(waitpid(holder, NULL, 0) == holder);
}

enum { STORM_WRITES = 50, STORM_WRITES_ALL = 2000, STORM_PROCESSES = 3 };

static int storm(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        int writes = is_full() ? STORM_WRITES_ALL : STORM_WRITES;
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);

        (void) arg;
        for (int i = 0; i < writes; i++) {
                eddy_sqlite_tx tx = { 0 };

                CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
                CHECK_OK(write_one(conn), conn);
                CHECK_OK(eddy_sqlite_commit(&tx), conn);
                CHECK_OK(write_one(conn), conn);
        }
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

static int count_storm(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;

        *(int64_t *) arg =
                int_of(borrow(eddy_sqlite_readers(db), &loan), "SELECT count(*) FROM log");
        return eddy_pool_release(&loan);
}

/* P7: several processes open the file and write at the same time; none of them sees an error. */
TEST(processes_that_write_at_the_same_time_wait_for_each_other)
{
        int64_t count = 0, writes = is_full() ? STORM_WRITES_ALL : STORM_WRITES;
        pid_t children[STORM_PROCESSES];

        enter_folder();
        for (int i = 0; i < STORM_PROCESSES; i++) {
                children[i] = fork();
                CHECK(children[i] >= 0);
                if (children[i] == 0)
                        _exit(eddy_run(storm, NULL, NULL) == 0 ? 0 : 1);
        }
        for (int i = 0; i < STORM_PROCESSES; i++) {
                int status;

                CHECK(waitpid(children[i], &status, 0) == children[i]);
                CHECK_EQ(status, 0);
        }
        CHECK_EQ(eddy_run(count_storm, &count, NULL), 0);
        CHECK_EQ(count, 2 * writes * STORM_PROCESSES);
}
