/*
 * sqlite_test.h - databases for tests, in a folder that is removed at the end.
 */
#ifndef ED_SQLITE_TEST_H
#define ED_SQLITE_TEST_H

#include "eddy/eddy.h"
#include "test.h"

/* A folder of this test's own, which is the working folder from now on. */
void enter_folder(void);

/* Run 'fn' in a folder of its own, with app.db in it; the run and 'fn' must succeed. */
void run_in_folder(eddy_task_fn *fn);

/* app.db with its tables users (id, name UNIQUE, score, data) and log (id, text). */
eddy_sqlite *open_app(void);

/* Borrow a connection; the test fails if that fails. */
eddy_sqlite_conn *borrow(eddy_pool *pool, eddy_pool_loan *loan);

/* The only integer of a query; the test fails if there is none. */
int64_t int_of(eddy_sqlite_conn *conn, const char *sql);

/* Run a statement that must succeed. */
void must(eddy_sqlite_conn *conn, const char *sql);

/* How many descriptors are open. */
int descriptors(void);

#define CHECK_OK(call, conn)                                                                       \
        do {                                                                                       \
                int test_err = (call);                                                             \
                if (test_err != 0)                                                                 \
                        test_fail(__FILE__, __LINE__, "%s is %s: %s", #call,                       \
                                  eddy_error_name(test_err), eddy_sqlite_fault(conn)->text);       \
        } while (0)

/* A query that runs until it is interrupted. */
#define ENDLESS                                                                                    \
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
#define ENDLESS_ROWS                                                                               \
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

#endif
