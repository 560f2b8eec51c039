/*
 * sqlite_test.c - see sqlite_test.h.
 */
#include "sqlite_test.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/eddy-sqlite-XXXXXX";

static pid_t owner;

static void remove_folder(void)
{
        DIR *dir = getpid() == owner ? opendir(folder) : NULL;
        struct dirent *entry;

        if (!dir)
                return;
        while ((entry = readdir(dir)))
                (void) unlinkat(dirfd(dir), entry->d_name, 0);
        closedir(dir);
        (void) rmdir(folder);
}

void enter_folder(void)
{
        CHECK(mkdtemp(folder));
        owner = getpid();
        CHECK(atexit(remove_folder) == 0);
        CHECK(chdir(folder) == 0);
}

void run_in_folder(eddy_task_fn *fn)
{
        enter_folder();
        CHECK_EQ(eddy_run(fn, NULL, NULL), 0);
}

eddy_sqlite_conn *borrow(eddy_pool *pool, eddy_pool_loan *loan)
{
        *loan = (eddy_pool_loan){ 0 };
        CHECK_EQ(eddy_pool_acquire(pool, loan), 0);
        return loan->item;
}

eddy_sqlite *open_app(void)
{
        struct eddy_sqlite_fault fault = { 0 };
        struct eddy_sqlite_opts opts = { .ret_fault = &fault };
        eddy_sqlite *db = NULL;
        eddy_pool_loan loan;
        int err = eddy_sqlite_open("app.db", &opts, &db);

        if (err < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", eddy_error_name(err), fault.text);
        CHECK_OK(eddy_sqlite_script(
                         borrow(eddy_sqlite_writer(db), &loan),
                         "CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name "
                         "TEXT UNIQUE, score REAL, data BLOB);\n"
                         "CREATE TABLE IF NOT EXISTS log (id INTEGER PRIMARY KEY, text TEXT, "
                         "user INTEGER REFERENCES users (id));"),
                 loan.item);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return db;
}

int64_t int_of(eddy_sqlite_conn *conn, const char *sql)
{
        eddy_sqlite_rows *rows = NULL;
        int64_t n = -1;

        CHECK_OK(eddy_sqlite_query(conn, sql, NULL, 0, &rows), conn);
        CHECK_EQ(eddy_sqlite_rows_next(rows), 1);
        CHECK_EQ(eddy_sqlite_rows_int(rows, 0, &n), 0);
        eddy_sqlite_rows_close(rows);
        return n;
}

void must(eddy_sqlite_conn *conn, const char *sql)
{
        CHECK_OK(eddy_sqlite_exec(conn, sql, NULL, 0), conn);
}

int descriptors(void)
{
        DIR *dir = opendir("/proc/self/fd");
        int n = 0;

        CHECK(dir != NULL);
        while (readdir(dir))
                n++;
        closedir(dir);
        return n;
}
