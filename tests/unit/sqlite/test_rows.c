/*
 * test_rows.c - rows of SQLite: batches, columns, structs.
 */
#include <errno.h>
#include <math.h>

#include "sqlite_test.h"

static int columns(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_rows *rows = NULL;
        const char *text;
        const void *data;
        int64_t integer;
        double real;
        size_t bytes;

        (void) arg;
        CHECK_OK(eddy_sqlite_query(
                         conn, "SELECT ? AS a, ? AS b, ? AS c, ? AS d, NULL, '' AS f, ? AS g",
                         EDDY_SQLITE_BIND(eddy_sqlite_int(INT64_MIN), eddy_sqlite_real(0.5),
                                          eddy_sqlite_text_n("x\0y", 3),
                                          eddy_sqlite_blob("\1\0", 2), eddy_sqlite_blob("", 0)),
                         &rows),
                 conn);
        CHECK_EQ(eddy_sqlite_rows_columns(rows), 7);
        CHECK_STR(eddy_sqlite_rows_name(rows, 3), "d");
        CHECK(eddy_sqlite_rows_name(rows, 7) == NULL);
        CHECK_EQ(eddy_sqlite_rows_column(rows, "c"), 2);
        CHECK_EQ(eddy_sqlite_rows_column(rows, "z"), -ENOENT);
        CHECK_EQ(eddy_sqlite_rows_int(rows, 0, &integer), -EINVAL);
        CHECK_EQ(eddy_sqlite_rows_next(rows), 1);
        CHECK_EQ(eddy_sqlite_rows_int(rows, 0, &integer), 0);
        CHECK(integer == INT64_MIN);
        CHECK_EQ(eddy_sqlite_rows_real(rows, 0, &real), 0);
        CHECK_EQ(eddy_sqlite_rows_real(rows, 1, &real), 0);
        CHECK(real == 0.5);
        CHECK_EQ(eddy_sqlite_rows_int(rows, 1, &integer), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_sqlite_rows_text(rows, 2, &text, &bytes), 0);
        CHECK(bytes == 3 && memcmp(text, "x\0y", 4) == 0);
        CHECK_EQ(eddy_sqlite_rows_blob(rows, 2, &data, &bytes), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_sqlite_rows_blob(rows, 3, &data, &bytes), 0);
        CHECK(bytes == 2 && memcmp(data, "\1\0", 2) == 0);
        CHECK_EQ(eddy_sqlite_rows_type(rows, 4), EDDY_SQLITE_NULL);
        CHECK_EQ(eddy_sqlite_rows_text(rows, 4, &text, NULL), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_sqlite_rows_text(rows, 5, &text, NULL), 0);
        CHECK_STR(text, "");
        CHECK_EQ(eddy_sqlite_rows_type(rows, 6), EDDY_SQLITE_BLOB);
        CHECK_EQ(eddy_sqlite_rows_type(rows, 7), -EINVAL);
        CHECK_EQ(eddy_sqlite_rows_int(rows, -1, &integer), -EINVAL);
        CHECK_EQ(eddy_sqlite_rows_next(rows), 0);
        CHECK_EQ(eddy_sqlite_rows_int(rows, 0, &integer), -EINVAL);
        CHECK_EQ(eddy_sqlite_rows_next(rows), 0);
        eddy_sqlite_rows_close(rows);
        eddy_sqlite_rows_close(NULL);
        CHECK_EQ(eddy_sqlite_rows_next(NULL), -EINVAL);
        /* Names are there without rows. */
        CHECK_OK(eddy_sqlite_query(conn, "SELECT 1 AS one WHERE 0", NULL, 0, &rows), conn);
        CHECK_STR(eddy_sqlite_rows_name(rows, 0), "one");
        CHECK_EQ(eddy_sqlite_rows_next(rows), 0);
        eddy_sqlite_rows_close(rows);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_column_has_a_type_and_a_name)
{
        run_in_folder(columns);
}

static size_t in_use, in_use_most;

/* Counts bytes: each block has its size in front. */
static void *counting(void *ctx, void *ptr, size_t bytes)
{
        size_t *block = ptr ? (size_t *) ptr - 2 : NULL;
        size_t now;

        (void) ctx;
        if (block)
                __atomic_sub_fetch(&in_use, block[0], __ATOMIC_SEQ_CST);
        if (bytes == 0) {
                free(block);
                return NULL;
        }
        block = realloc(block, bytes + 2 * sizeof(size_t));
        CHECK(block != NULL);
        block[0] = bytes;
        now = __atomic_add_fetch(&in_use, bytes, __ATOMIC_SEQ_CST);
        if (now > in_use_most)
                in_use_most = now;
        return block + 2;
}

static int batches(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_readers(db), &loan);
        eddy_sqlite_rows *rows = NULL;
        int64_t integer, before = 0;
        size_t used = in_use;
        int err;

        (void) arg;
        in_use_most = 0;
        CHECK_OK(eddy_sqlite_query(
                         conn,
                         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
                         "20000) SELECT i, hex(zeroblob(100)) FROM n",
                         NULL, 0, &rows),
                 conn);
        while ((err = eddy_sqlite_rows_next(rows)) > 0) {
                CHECK_EQ(eddy_sqlite_rows_int(rows, 0, &integer), 0);
                CHECK_EQ(integer, ++before);
        }
        CHECK_EQ(err, 0);
        CHECK_EQ(before, 20000);
        CHECK(in_use_most < used + 4 * EDDY_SQLITE_BATCH_BYTES);
        eddy_sqlite_rows_close(rows);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(rows_are_read_in_batches_with_bounded_memory)
{
        eddy_alloc_set(counting, NULL);
        run_in_folder(batches);
        eddy_alloc_set(NULL, NULL);
        CHECK_EQ(in_use, 0);
}

static int returning(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_rows *rows = NULL;

        (void) arg;
        CHECK_OK(eddy_sqlite_query(conn, "INSERT INTO log (text) VALUES ('a'), ('b') RETURNING id",
                                   NULL, 0, &rows),
                 conn);
        eddy_sqlite_rows_close(rows);
        CHECK_EQ(eddy_sqlite_changes(conn), 2);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 2);
        /* More than the limit: nothing has changed. */
        CHECK_EQ(eddy_sqlite_query(
                         conn,
                         "INSERT INTO log (text) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                         "SELECT i + 1 FROM n LIMIT 40) SELECT i FROM n RETURNING "
                         "zeroblob(1000000)",
                         NULL, 0, &rows),
                 -EMSGSIZE);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 2);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_statement_that_returns_its_changes_is_done_at_once)
{
        run_in_folder(returning);
}

/* More than the limit of the rows in memory. */
#define LARGE_INSERT                                                                               \
        "INSERT INTO log (text) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "   \
        "LIMIT 40) SELECT i FROM n RETURNING zeroblob(1000000)"

static int returning_nested(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_rows *rows = NULL;
        eddy_sqlite_tx tx = { 0 };

        (void) arg;
        CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
        must(conn, "INSERT INTO log (text) VALUES ('before')");
        CHECK_EQ(eddy_sqlite_query(conn, LARGE_INSERT, NULL, 0, &rows), -EMSGSIZE);
        CHECK(strstr(eddy_sqlite_fault(conn)->text, "longer than"));
        CHECK_EQ(int_of(conn, "INSERT INTO log (text) VALUES ('after') RETURNING 7"), 7);
        CHECK_OK(eddy_sqlite_commit(&tx), conn);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 2);
        /* A transaction of the program's own. */
        must(conn, "BEGIN");
        CHECK_EQ(eddy_sqlite_query(conn, LARGE_INSERT, NULL, 0, &rows), -EMSGSIZE);
        must(conn, "COMMIT");
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 2);
        return 0;
}

TEST(a_statement_whose_rows_are_too_large_changes_nothing_in_a_transaction)
{
        run_in_folder(returning_nested);
}

/* The names of the columns are above their limit; found after the first step. */
static int large_names(void *arg)
{
        enum { COLUMNS = 30, NAME_BYTES = 28000, SQL_BYTES = COLUMNS * (NAME_BYTES + 8) };
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_rows *rows = NULL;
        char *sql = malloc(SQL_BYTES);
        size_t at = (size_t) snprintf(sql, SQL_BYTES, "CREATE TABLE wide (a");

        (void) arg;
        for (int i = 0; i < COLUMNS; i++)
                at += (size_t) snprintf(sql + at, SQL_BYTES - at, ", n%0*d", NAME_BYTES, i);
        snprintf(sql + at, SQL_BYTES - at, ")");
        must(conn, sql);
        free(sql);
        CHECK_EQ(eddy_sqlite_query(conn, "INSERT INTO wide (a) VALUES (1), (2) RETURNING *, *",
                                   NULL, 0, &rows),
                 -EMSGSIZE);
        CHECK(strstr(eddy_sqlite_fault(conn)->text, "names of the columns"));
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM wide"), 0);
        return 0;
}

TEST(a_statement_whose_names_are_too_long_changes_nothing)
{
        run_in_folder(large_names);
}

static int schema_changes(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_rows *rows = NULL;

        (void) arg;
        must(conn, "CREATE TABLE t AS SELECT 1 AS a");
        for (int i = 1; i < 4; i++) {
                char sql[64];

                CHECK_OK(eddy_sqlite_query(conn, "SELECT * FROM t", NULL, 0, &rows), conn);
                CHECK_EQ(eddy_sqlite_rows_columns(rows), i);
                CHECK_EQ(eddy_sqlite_rows_next(rows), 1);
                eddy_sqlite_rows_close(rows);
                snprintf(sql, sizeof(sql), "ALTER TABLE t ADD COLUMN c%d", i);
                must(conn, sql);
        }
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_kept_statement_follows_the_schema)
{
        run_in_folder(schema_changes);
}

/* --- structs --- */

struct user {
        int32_t id;
        char name[8];
        char *mail;
        double score;
        bool is_admin, has_score;
        int color;
        char *extra;
        int64_t *groups;
        size_t groups_count;
};

static const char *const colors[] = { "red", "green", NULL };
static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1)),
        EDDY_FIELD(struct user, name),
        EDDY_FIELD(struct user, mail, EDDY_FIELD_AS("e-mail")),
        EDDY_FIELD(struct user, score, EDDY_FIELD_FLAG(struct user, has_score)),
        EDDY_FIELD(struct user, is_admin),
        EDDY_FIELD_ENUM(struct user, color, colors),
        EDDY_FIELD_RAW(struct user, extra),
        EDDY_FIELD_LIST(struct user, groups, groups_count),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);
static const struct eddy_fields strict_fields =
        EDDY_FIELDS(struct user, user_list, EDDY_FIELDS_STRICT);

static int one(eddy_sqlite_conn *conn, const char *sql, struct user *out)
{
        *out = (struct user){ .score = 9 };
        return eddy_sqlite_one(conn, sql, NULL, 0, &user_fields, out);
}

static int structs(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_readers(db), &loan);
        struct user user;

        (void) arg;
        CHECK_OK(one(conn,
                     "SELECT 7 AS id, 'a\"b' AS name, 'é@x' AS \"e-mail\", 2.5 AS score, 1 AS "
                     "is_admin, "
                     "'green' AS color, '{\"k\": 1}' AS extra, '[1, 2]' AS groups, x'00' AS other",
                     &user),
                 conn);
        CHECK_EQ(user.id, 7);
        CHECK_STR(user.name, "a\"b");
        CHECK_STR(user.mail, "é@x");
        CHECK(user.score == 2.5 && user.has_score && user.is_admin);
        CHECK_EQ(user.color, 1);
        CHECK_STR(user.extra, "{\"k\":1}");
        CHECK(user.groups_count == 2 && user.groups[1] == 2);
        eddy_fields_fini(&user_fields, &user);
        CHECK_OK(one(conn, "SELECT 7 AS id, NULL AS score, NULL AS name", &user), conn);
        CHECK(user.score == 9 && !user.has_score);
        eddy_fields_fini(&user_fields, &user);
        CHECK_EQ(one(conn, "SELECT 0 AS id", &user), EDDY_E_FIELD_RANGE);
        CHECK_STR(eddy_sqlite_fault(conn)->text, "id: 0 is below the minimum 1");
        CHECK_EQ(one(conn, "SELECT NULL AS id", &user), EDDY_E_FIELD_MISSING);
        CHECK_EQ(one(conn, "SELECT 1 AS id, x'00' AS name", &user), EDDY_E_FIELD_TYPE);
        CHECK_STR(eddy_sqlite_fault(conn)->text, "name: the value has another type");
        CHECK_EQ(one(conn, "SELECT 1 AS id, 9e999 AS score", &user), EDDY_E_FIELD_TYPE);
        CHECK_EQ(one(conn, "SELECT 1 AS id, 'too long a name' AS name", &user),
                 EDDY_E_FIELD_LENGTH);
        CHECK_EQ(one(conn, "SELECT 1 AS id, 2 AS id", &user), EDDY_E_FIELD_DUPLICATE);
        CHECK_EQ(one(conn, "SELECT 1 AS id, 2 AS is_admin", &user), EDDY_E_FIELD_TYPE);
        /* Text that is not JSON cannot add fields. */
        CHECK_EQ(one(conn, "SELECT 1 AS id, '1, \"name\": 2' AS groups", &user), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_sqlite_one(conn, "SELECT 1 AS id, 2 AS more", NULL, 0, &strict_fields, &user),
                 EDDY_E_FIELD_UNKNOWN);
        /* One row, and none or more. */
        CHECK_EQ(one(conn, "SELECT 1 AS id WHERE 0", &user), EDDY_E_SQLITE_NO_ROW);
        CHECK_EQ(one(conn, "SELECT 1 AS id UNION SELECT 2", &user), EDDY_E_SQLITE_MANY_ROWS);
        CHECK_EQ(one(conn, "SELECT 1 AS id UNION ALL SELECT 1 UNION ALL SELECT 1", &user),
                 EDDY_E_SQLITE_MANY_ROWS);
        CHECK_EQ(eddy_sqlite_one_or_none(conn, "SELECT 1 AS id WHERE 0", NULL, 0, &user_fields,
                                         &user),
                 0);
        CHECK_EQ(eddy_sqlite_one_or_none(conn, "SELECT 1 AS id", NULL, 0, &user_fields, &user), 1);
        CHECK_EQ(eddy_sqlite_one(conn, "SELECT 1", NULL, 0, NULL, &user), -EINVAL);
        CHECK_EQ(int_of(conn, "SELECT 1"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_row_is_read_into_a_struct)
{
        run_in_folder(structs);
}

/* A struct of all kinds goes into a row by the names of its parameters, and comes back. */
static int bound(void *arg)
{
        static const char kept[] =
                "SELECT :id AS id, @name AS name, $score AS score, :is_admin AS is_admin, "
                ":color AS color, :extra AS extra, :id + 1 AS next";
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        struct user user = { .id = 7,
                             .name = "1234567",
                             .score = 2.5,
                             .is_admin = true,
                             .color = 1,
                             .has_score = true },
                    back = { 0 };
        eddy_sqlite_rows *rows = NULL;
        const char *text;

        (void) arg;
        user.extra = (char[]){ "[1, 2]" };
        CHECK_OK(eddy_sqlite_one(conn, kept, EDDY_SQLITE_BIND_STRUCT(&user_fields, &user),
                                 &user_fields, &back),
                 conn);
        CHECK(back.id == 7 && back.score == 2.5 && back.has_score && back.is_admin);
        CHECK_STR(back.name, "1234567");
        CHECK_EQ(back.color, 1);
        CHECK_STR(back.extra, "[1,2]");
        eddy_fields_fini(&user_fields, &back);
        /* Not given, and NULL; the rows are read after the struct has changed. */
        user.has_score = false;
        user.extra = NULL;
        CHECK_OK(eddy_sqlite_query(conn, "SELECT :name, :score IS NULL AND :extra IS NULL",
                                   EDDY_SQLITE_BIND_STRUCT(&user_fields, &user), &rows),
                 conn);
        memset(user.name, 'x', 7);
        CHECK_EQ(eddy_sqlite_rows_next(rows), 1);
        CHECK_EQ(eddy_sqlite_rows_text(rows, 0, &text, NULL), 0);
        CHECK_STR(text, "1234567");
        eddy_sqlite_rows_close(rows);
        /* A char [N] without a NUL. */
        memset(user.name, 'x', 8);
        CHECK_OK(eddy_sqlite_exec(conn, "INSERT INTO users(name) VALUES (:name)",
                                  EDDY_SQLITE_BIND_STRUCT(&user_fields, &user)),
                 conn);
        CHECK_EQ(int_of(conn, "SELECT length(name) FROM users"), 8);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_struct_gives_the_parameters_of_a_statement_by_name)
{
        run_in_folder(bound);
}

struct odd {
        uint64_t large;
        int color;
        int64_t *groups;
        size_t groups_count;
};

static const struct eddy_field odd_list[] = {
        EDDY_FIELD(struct odd, large),
        EDDY_FIELD_ENUM(struct odd, color, colors),
        EDDY_FIELD_LIST(struct odd, groups, groups_count),
};
static const struct eddy_fields odd_fields = EDDY_FIELDS(struct odd, odd_list, 0);

static int wrongly_bound(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        struct odd odd = { .large = INT64_MAX, .color = 1 }, *none = NULL;

        (void) arg;
        CHECK_OK(eddy_sqlite_exec(conn, "SELECT :large, :color",
                                  EDDY_SQLITE_BIND_STRUCT(&odd_fields, &odd)),
                 conn);
        odd = (struct odd){ .large = (uint64_t) INT64_MAX + 1, .color = 2 };
        CHECK_EQ(
                eddy_sqlite_exec(conn, "SELECT :large", EDDY_SQLITE_BIND_STRUCT(&odd_fields, &odd)),
                EDDY_E_FIELD_TYPE);
        CHECK_STR(eddy_sqlite_fault(conn)->text,
                  "the field for the parameter :large is not a value");
        CHECK_EQ(
                eddy_sqlite_exec(conn, "SELECT :color", EDDY_SQLITE_BIND_STRUCT(&odd_fields, &odd)),
                EDDY_E_FIELD_TYPE);
        odd.color = -1;
        CHECK_EQ(
                eddy_sqlite_exec(conn, "SELECT :color", EDDY_SQLITE_BIND_STRUCT(&odd_fields, &odd)),
                EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT :groups",
                                  EDDY_SQLITE_BIND_STRUCT(&odd_fields, &odd)),
                 EDDY_E_FIELD_TYPE);
        CHECK_EQ(
                eddy_sqlite_exec(conn, "SELECT :other", EDDY_SQLITE_BIND_STRUCT(&odd_fields, &odd)),
                EDDY_E_SQLITE_SQL);
        CHECK_STR(eddy_sqlite_fault(conn)->text,
                  "the struct has no field for the parameter :other");
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT ?", EDDY_SQLITE_BIND_STRUCT(&odd_fields, &odd)),
                 EDDY_E_SQLITE_SQL);
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT 1", EDDY_SQLITE_BIND_STRUCT(&user_fields, &odd)),
                 EDDY_E_FIELD_TABLE);
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT 1", EDDY_SQLITE_BIND_STRUCT(&odd_fields, none)),
                 -EINVAL);
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT 1", EDDY_SQLITE_BIND_STRUCT(NULL, &odd)), -EINVAL);
        CHECK_EQ(int_of(conn, "SELECT 1"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_struct_that_does_not_have_a_parameter_is_refused_by_name)
{
        run_in_folder(wrongly_bound);
}

struct team {
        struct user *users;
        size_t users_count;
        struct user three[3];
        size_t three_count;
};

static const struct eddy_field team_list[] = {
        EDDY_FIELD_LIST_OF(struct team, users, users_count, &user_fields, EDDY_FIELD_AS("all \"")),
};
static const struct eddy_fields team_fields = EDDY_FIELDS(struct team, team_list, 0);
static const struct eddy_field three_list[] = {
        EDDY_FIELD_ARRAY_OF(struct team, three, three_count, &user_fields),
};
static const struct eddy_fields three_fields = EDDY_FIELDS(struct team, three_list, 0);

/* More rows than a batch has. */
#define NUMBERS(n) "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT " n ")"

static int lists(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        struct team team = { 0 };

        (void) arg;
        CHECK_OK(eddy_sqlite_all(conn,
                                 NUMBERS("3000") " SELECT id, 'n' || id AS name, x'00' AS other, "
                                                 "id % 2 AS is_admin FROM n WHERE id <> ?",
                                 EDDY_SQLITE_BIND(eddy_sqlite_int(2)), &team_fields, &team),
                 conn);
        CHECK_EQ(team.users_count, 2999);
        CHECK_EQ(team.users[2998].id, 3000);
        CHECK_STR(team.users[1].name, "n3");
        CHECK(team.users[1].is_admin && !team.users[2].is_admin);
        eddy_fields_fini(&team_fields, &team);
        /* No row, and no column that the table has. */
        CHECK_OK(eddy_sqlite_all(conn, "SELECT 1 AS id WHERE 0", NULL, 0, &team_fields, &team),
                 conn);
        CHECK(team.users_count == 0 && !team.users);
        CHECK_EQ(eddy_sqlite_all(conn, "SELECT 1 AS other", NULL, 0, &team_fields, &team),
                 EDDY_E_FIELD_MISSING);
        /* A statement that changes rows. */
        CHECK_OK(eddy_sqlite_all(conn,
                                 "INSERT INTO users(name) VALUES ('a'), ('b'), ('c') RETURNING "
                                 "id, name",
                                 NULL, 0, &three_fields, &team),
                 conn);
        CHECK_EQ(team.three_count, 3);
        CHECK_STR(team.three[2].name, "c");
        eddy_fields_fini(&three_fields, &team);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM users"), 3);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(all_rows_are_read_into_a_list)
{
        run_in_folder(lists);
}

static int wrong_lists(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        struct team team = { 0 };
        struct user user = { 0 };

        (void) arg;
        CHECK_EQ(eddy_sqlite_all(conn, NUMBERS("4") " SELECT id FROM n", NULL, 0, &three_fields,
                                 &team),
                 EDDY_E_FIELD_LENGTH);
        CHECK(strstr(eddy_sqlite_fault(conn)->text, "three"));
        CHECK_EQ(eddy_sqlite_all(conn, "SELECT 1 AS id UNION ALL SELECT 0", NULL, 0, &team_fields,
                                 &team),
                 EDDY_E_FIELD_RANGE);
        CHECK(strstr(eddy_sqlite_fault(conn)->text, "[1].id: 0 is below the minimum 1"));
        CHECK_EQ(eddy_sqlite_all(conn,
                                 NUMBERS("2000") " SELECT id, iif(id = 1500, x'00', '') AS "
                                                 "name FROM n",
                                 NULL, 0, &team_fields, &team),
                 EDDY_E_FIELD_TYPE);
        CHECK_STR(eddy_sqlite_fault(conn)->text, "name: the value has another type");
        CHECK_EQ(eddy_sqlite_all(conn,
                                 NUMBERS("9000") " SELECT id, hex(zeroblob(3000)) AS "
                                                 "\"e-mail\" FROM n",
                                 NULL, 0, &team_fields, &team),
                 -EMSGSIZE);
        CHECK_EQ(eddy_sqlite_all(conn, "no SQL", NULL, 0, &team_fields, &team), EDDY_E_SQLITE_SQL);
        CHECK(strstr(eddy_sqlite_fault(conn)->text, "syntax error"));
        CHECK(team.users_count == 0 && !team.users && team.three_count == 0);
        /* Another table: the statement is not run. */
        CHECK_EQ(eddy_sqlite_all(conn, "INSERT INTO users(name) VALUES ('a') RETURNING id", NULL, 0,
                                 &user_fields, &user),
                 EDDY_E_FIELD_TABLE);
        CHECK_STR(eddy_sqlite_fault(conn)->text,
                  "a table of one field is needed, a list of structs");
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM users"), 0);
        CHECK_EQ(eddy_sqlite_all(conn, "SELECT 1", NULL, 0, NULL, &team), -EINVAL);
        CHECK_EQ(eddy_sqlite_all(NULL, "SELECT 1", NULL, 0, &team_fields, &team), -EINVAL);
        CHECK_EQ(eddy_sqlite_all(conn, NULL, NULL, 0, &team_fields, &team), -EINVAL);
        CHECK_EQ(int_of(conn, "SELECT 1"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_list_that_rows_do_not_fit_is_refused_as_a_whole)
{
        run_in_folder(wrong_lists);
}

struct entry {
        char *name;
        int32_t number;
};

struct wide {
        struct entry *map;
        size_t map_count;
        float ratio;
        int32_t number;
        bool is_null;
};

static const struct eddy_field entry_list[] = {
        EDDY_FIELD(struct entry, name),
        EDDY_FIELD(struct entry, number),
};
static const struct eddy_fields entry_fields = EDDY_FIELDS(struct entry, entry_list, 0);
static const struct eddy_field wide_list[] = {
        EDDY_FIELD_MAP(struct wide, map, map_count, &entry_fields),
        EDDY_FIELD(struct wide, ratio),
        EDDY_FIELD(struct wide, number, EDDY_FIELD_NULL_FLAG(struct wide, is_null)),
};
static const struct eddy_fields wide_fields = EDDY_FIELDS(struct wide, wide_list, 0);

struct either {
        int type;
        struct entry entry;
};

static const char *const types[] = { "entry", NULL };
static const struct eddy_field either_list[] = {
        EDDY_FIELD_TAG(struct either, type, types),
        EDDY_FIELD_STRUCT(struct either, entry, &entry_fields),
};
static const struct eddy_fields either_fields = EDDY_FIELDS(struct either, either_list, 0);

struct eithers {
        struct either *list;
        size_t list_count;
};

static const struct eddy_field eithers_list[] = {
        EDDY_FIELD_LIST_OF(struct eithers, list, list_count, &either_fields),
};
static const struct eddy_fields eithers_fields = EDDY_FIELDS(struct eithers, eithers_list, 0);
static const struct eddy_field map_list[] = {
        EDDY_FIELD_MAP(struct wide, map, map_count, &entry_fields),
};
static const struct eddy_fields map_fields = EDDY_FIELDS(struct wide, map_list, 0);

static int other_kinds(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        struct either either = { 0 };
        struct eithers eithers = { 0 };
        struct wide wide = { 0 };

        (void) arg;
        CHECK_OK(eddy_sqlite_one(
                         conn, "SELECT '{\"a\":1,\"b\":null}' AS map, 0.5 AS ratio, NULL AS number",
                         NULL, 0, &wide_fields, &wide),
                 conn);
        CHECK_EQ(wide.map_count, 2);
        CHECK_STR(wide.map[1].name, "b");
        CHECK_EQ(wide.map[0].number, 1);
        CHECK(wide.ratio == 0.5f && wide.is_null);
        eddy_fields_fini(&wide_fields, &wide);
        CHECK_EQ(eddy_sqlite_one(conn, "SELECT 'entry' AS type, 'n' AS name", NULL, 0,
                                 &either_fields, &either),
                 EDDY_E_FIELD_TABLE);
        CHECK(strstr(eddy_sqlite_fault(conn)->text, "a row cannot be a tagged union"));
        CHECK_EQ(eddy_sqlite_all(conn, "SELECT 1", NULL, 0, &eithers_fields, &eithers),
                 EDDY_E_FIELD_TABLE);
        CHECK(strstr(eddy_sqlite_fault(conn)->text, "a row cannot be a tagged union"));
        CHECK_EQ(eddy_sqlite_all(conn, "SELECT 1", NULL, 0, &map_fields, &wide),
                 EDDY_E_FIELD_TABLE);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_row_has_maps_floats_and_nulls_but_is_not_a_union)
{
        run_in_folder(other_kinds);
}

static int codes_checked;

static const char *code_fault(const char *text, size_t bytes)
{
        (void) text;
        codes_checked++;
        return bytes == 1 ? NULL : "a code has one letter";
}

struct coded {
        char code[8];
};

static const struct eddy_field coded_list[] = {
        EDDY_FIELD(struct coded, code, EDDY_FIELD_FORMAT_FN("code", code_fault),
                   EDDY_FIELD_EXAMPLE("\"x\"")),
};
static const struct eddy_fields coded_fields = EDDY_FIELDS(struct coded, coded_list, 0);

static const struct eddy_field twice_list[] = { EDDY_FIELD(struct coded, code),
                                                EDDY_FIELD(struct coded, code) };
static const struct eddy_fields twice_fields = EDDY_FIELDS(struct coded, twice_list, 0);

static int many_rows(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_rows *rows;
        struct coded coded;
        int of_first = 0;

        (void) arg;
        CHECK_OK(eddy_sqlite_query(
                         conn, "SELECT 'a' AS code UNION SELECT 'b' UNION SELECT 'c' ORDER BY 1",
                         NULL, 0, &rows),
                 conn);
        for (char c = 'a'; c <= 'c'; c++) {
                CHECK_EQ(eddy_sqlite_rows_next(rows), 1);
                codes_checked = 0;
                CHECK_EQ(eddy_sqlite_rows_read(rows, &coded_fields, &coded, NULL), 0);
                CHECK_EQ(coded.code[0], c);
                of_first = c == 'a' ? codes_checked : of_first;
                CHECK(c == 'a' || codes_checked == 1);
                /* Another table is checked as the first was, and does not get its result. */
                CHECK_EQ(eddy_sqlite_rows_read(rows, &twice_fields, &coded, NULL),
                         EDDY_E_FIELD_TABLE);
        }
        CHECK(of_first > 1);
        eddy_sqlite_rows_close(rows);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_table_is_checked_once_for_all_rows)
{
        run_in_folder(many_rows);
}
