/*
 * test_memory.c - each allocation fails in turn: eddy's, and SQLite's own.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "sqlite_test.h"

/* The allocation that fails, counted from 1, with those after it; 0: none. */
static int64_t fail_at, count;
static bool is_once;

static bool fails(void)
{
        int64_t n = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);

        return fail_at > 0 && (is_once ? n == fail_at : n >= fail_at);
}

static void *own_alloc(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return fails() ? NULL : realloc(ptr, bytes);
}

struct item {
        int64_t id;
        char *text;
};

static const struct eddy_field item_list[] = {
        EDDY_FIELD(struct item, id),
        EDDY_FIELD(struct item, text),
};
static const struct eddy_fields item_fields = EDDY_FIELDS(struct item, item_list, 0);

struct items {
        struct item *list;
        size_t list_count;
};

static const struct eddy_field items_list[] = {
        EDDY_FIELD_LIST_OF(struct items, list, list_count, &item_fields),
};
static const struct eddy_fields items_fields = EDDY_FIELDS(struct items, items_list, 0);

static int work(eddy_sqlite *db)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };
        EDDY_AUTO(eddy_sqlite_rows) eddy_sqlite_rows *rows = NULL;
        const struct eddy_sqlite_value texts[] = { eddy_sqlite_text("b"), eddy_sqlite_text("c") };
        struct items items = { 0 };
        struct item item = { 0 };
        int err = eddy_pool_acquire(eddy_sqlite_writer(db), &loan);

        if (err == 0)
                err = eddy_sqlite_begin(loan.item, &tx);
        if (err == 0)
                err = eddy_sqlite_exec(loan.item, "INSERT INTO log (text) VALUES (?)",
                                       EDDY_SQLITE_BIND(eddy_sqlite_text("a")));
        if (err == 0)
                err = eddy_sqlite_exec_many(loan.item, "INSERT INTO log (text) VALUES (?)", texts,
                                            1, 2);
        if (err == 0)
                err = eddy_sqlite_one(loan.item,
                                      "SELECT id, text FROM log ORDER BY id DESC LIMIT 1", NULL, 0,
                                      &item_fields, &item);
        eddy_fields_fini(&item_fields, &item);
        if (err == 0)
                err = eddy_sqlite_all(loan.item,
                                      "SELECT id, text FROM log ORDER BY id DESC LIMIT 3", NULL, 0,
                                      &items_fields, &items);
        eddy_fields_fini(&items_fields, &items);
        if (err == 0)
                err = eddy_sqlite_query(loan.item,
                                        "SELECT text, hex(zeroblob(30000)) FROM log LIMIT 5", NULL,
                                        0, &rows);
        while (err == 0 && (err = eddy_sqlite_rows_next(rows)) > 0)
                err = 0;
        return err < 0 ? err : eddy_sqlite_commit(&tx);
}

static int committed; /* by calls that have returned 0 */

static int life(void *arg)
{
        struct eddy_sqlite_opts opts = { .readers_max = 1 };
        eddy_sqlite *db = NULL;
        int err = eddy_sqlite_open("app.db", &opts, &db);

        (void) arg;
        if (err == 0) {
                err = work(db);
                if (err == 0)
                        committed++;
        }
        if (err == 0)
                err = eddy_sqlite_backup(db, "copy.db", NULL);
        eddy_sqlite_close(db);
        return err;
}

static int look(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);

        (void) arg;
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 3 * committed);
        CHECK_EQ(int_of(conn, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

static bool is_quick(void)
{
        return !test_is_full();
}

/* 'stride': not each allocation, but one in so many. */
static void sweep(int64_t stride)
{
        int64_t all, runs = 0, failed = 0;
        struct eddy_run_opts opts = { .report = NULL };
        int before;

        CHECK_EQ(eddy_run(look, NULL, NULL), 0);
        before = descriptors();
        count = 0;
        CHECK_EQ(eddy_run(life, NULL, &opts), 0);
        all = count;
        CHECK(all > 50);
        for (int64_t n = 1; n <= all; n += stride) {
                int err;

                count = 0;
                fail_at = n;
                err = eddy_run(life, NULL, &opts);
                fail_at = 0;
                runs++;
                failed += err < 0;
                if (err < 0 && err != -ENOMEM && err != -EAGAIN)
                        test_fail(__FILE__, __LINE__, "allocation %lld: %s", (long long) n,
                                  eddy_error_name(err));
                CHECK_EQ(descriptors(), before);
        }
        CHECK_EQ(eddy_run(look, NULL, NULL), 0);
        printf("# %lld allocations, %lld runs, %lld failed and said so\n", (long long) all,
               (long long) runs, (long long) failed);
}

TEST(each_allocation_of_eddy_fails)
{
        enter_folder();
        eddy_alloc_set(own_alloc, NULL);
        for (int i = 0; i < 2; i++) {
                is_once = i == 0;
                sweep(1);
        }
        eddy_alloc_set(NULL, NULL);
}

/* --- SQLite's own memory: its configuration belongs to the program, not to the library --- */

static sqlite3_mem_methods before_us;

static void *sqlite_malloc(int bytes)
{
        return fails() ? NULL : before_us.xMalloc(bytes);
}

static void *sqlite_realloc(void *ptr, int bytes)
{
        return fails() ? NULL : before_us.xRealloc(ptr, bytes);
}

TEST(each_allocation_of_sqlite_fails)
{
        sqlite3_mem_methods methods;

        enter_folder();
        CHECK_EQ(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &before_us), SQLITE_OK);
        methods = before_us;
        methods.xMalloc = sqlite_malloc;
        methods.xRealloc = sqlite_realloc;
        CHECK_EQ(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), SQLITE_OK);
        for (int i = 0; i < 2; i++) {
                is_once = i == 0;
                sweep(is_quick() ? 17 : 1);
        }
}
