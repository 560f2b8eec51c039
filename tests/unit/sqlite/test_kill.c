/*
 * test_kill.c - P7: programs that are killed during transactions. No commit that was acknowledged is
 * lost, and the database is whole.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sqlite_test.h"

enum { KILLS = 15, KILLS_ALL = 1000, ROWS = 20 };

static int to_parent; /* a pipe: the number of each transaction whose commit has returned */

/* Each transaction has ROWS rows with its number; one in three is rolled back. */
static int write_for_ever(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        int64_t number = int_of(conn, "SELECT coalesce(max(CAST(text AS INTEGER)), 0) FROM log");

        (void) arg;
        for (;;) {
                eddy_sqlite_tx tx = { 0 };

                number++;
                CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
                for (int i = 0; i < ROWS; i++)
                        CHECK_OK(eddy_sqlite_exec(conn, "INSERT INTO log (text) VALUES (?)",
                                                  EDDY_SQLITE_BIND(eddy_sqlite_int(number))),
                                 conn);
                if (number % 3 == 0) {
                        eddy_sqlite_rollback(&tx);
                        continue;
                }
                CHECK_OK(eddy_sqlite_commit(&tx), conn);
                CHECK(write(to_parent, &number, sizeof(number)) == sizeof(number));
        }
}

struct found {
        int64_t last; /* the last acknowledged commit */
};

static int look(void *arg)
{
        const struct found *found = arg;
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        char sql[128];
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_readers(db), &loan);

        CHECK_EQ(int_of(conn, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM (SELECT 1 FROM log GROUP BY text HAVING "
                              "count(*) <> 20)"),
                 0);
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM log WHERE text = '%lld'",
                 (long long) found->last);
        CHECK_EQ(int_of(conn, sql), found->last == 0 ? 0 : ROWS);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log WHERE CAST(text AS INTEGER) % 3 = 0"), 0);
        return eddy_pool_release(&loan);
}

/* Looks in a process of its own: a program that uses SQLite must not fork. */
static void check_whole(struct found *found)
{
        pid_t child = fork();
        int status;

        CHECK(child >= 0);
        if (child == 0)
                _exit(eddy_run(look, found, NULL) == 0 ? 0 : 1);
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_EQ(status, 0);
}

static void kill_one(struct found *found, unsigned seed)
{
        int ends[2], status;
        int64_t number;
        pid_t child;

        CHECK(pipe(ends) == 0);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
                close(ends[0]);
                to_parent = ends[1];
                _exit(eddy_run(write_for_ever, NULL, NULL) == 0 ? 0 : 1);
        }
        close(ends[1]);
        /* After some commits, and a moment: in the middle of a transaction, or of a checkpoint. */
        for (unsigned i = 0; i < seed % 7; i++) {
                CHECK_EQ(read(ends[0], &number, sizeof(number)), sizeof(number));
                found->last = number;
        }
        (void) poll(NULL, 0, (int) (seed / 7 % 5));
        CHECK(kill(child, SIGKILL) == 0);
        while (read(ends[0], &number, sizeof(number)) == (ssize_t) sizeof(number))
                found->last = number;
        close(ends[0]);
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(a_kill_loses_no_acknowledged_commit)
{
        int kills = test_is_full() ? KILLS_ALL : KILLS;
        struct found found = { 0 };
        unsigned seed = 1;

        if (getenv("EDDY_TEST_QEMU"))
                test_skip("qemu shares no locks of shared memory between processes in time");
        enter_folder();
        for (int i = 0; i < kills; i++) {
                seed = seed * 1103515245 + 12345;
                kill_one(&found, seed >> 8);
                check_whole(&found);
        }
        printf("# P7: %d kills, integrity_check is ok after each, the last acknowledged commit is "
               "%lld\n",
               kills, (long long) found.last);
}
