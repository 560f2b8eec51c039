/*
 * Commands with parameters of each kind; values of each type; rows into structs; errors of the
 * server; the cache of prepared statements; limits.
 */
#include <math.h>
#include <stdint.h>

#include "pg_server.h"

static const char *text_of(eddy_pg *pg, const char *sql, struct eddy_pg_value value, char out[64])
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        int err = eddy_pg_query(pg, sql, &value, 1, &result);

        if (err < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", sql, eddy_pg_fault(pg)->text);
        if (eddy_pg_is_null(result, 0, 0))
                return NULL;
        snprintf(out, 64, "%s", eddy_pg_get_text(result, 0, 0, NULL));
        return out;
}

static int params_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        char out[64];

        CHECK_STR(text_of(pg, "select $1::int8", eddy_pg_int(INT64_MIN), out),
                  "-9223372036854775808");
        CHECK_STR(text_of(pg, "select $1::int2", eddy_pg_int(-7), out), "-7");
        CHECK_STR(text_of(pg, "select $1::numeric", eddy_pg_text("12.50"), out), "12.50");
        CHECK_STR(text_of(pg, "select $1::float8", eddy_pg_double(0.1), out), "0.1");
        CHECK_STR(text_of(pg, "select $1::float8", eddy_pg_double(-INFINITY), out), "-Infinity");
        CHECK_STR(text_of(pg, "select $1::float8", eddy_pg_double(NAN), out), "NaN");
        CHECK_STR(text_of(pg, "select $1::bool", eddy_pg_bool(true), out), "t");
        CHECK_STR(text_of(pg, "select $1::text", eddy_pg_text("'; drop table x; --"), out),
                  "'; drop table x; --");
        CHECK_STR(text_of(pg, "select $1::bytea", eddy_pg_bytes("\0\xff", 2), out), "\\x00ff");
        CHECK_STR(text_of(pg, "select $1::bytea", eddy_pg_bytes(NULL, 0), out), "\\x");
        CHECK(!text_of(pg, "select $1::text", eddy_pg_null(), out));
        CHECK(!text_of(pg, "select $1::text", eddy_pg_text(NULL), out));
        /* More than the few. */
        {
                struct eddy_pg_value many[20];
                EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
                char sql[400] = "select 0";

                for (int i = 0; i < 20; i++) {
                        many[i] = eddy_pg_int(i);
                        snprintf(sql + strlen(sql), 20, " + $%d::int8", i + 1);
                }
                CHECK_EQ(eddy_pg_query(pg, sql, many, 20, &result), 0);
                CHECK_STR(eddy_pg_get_text(result, 0, 0, NULL), "190");
                CHECK_EQ(eddy_pg_query(pg, sql, many, 65536, NULL), -EINVAL);
                many[0] = eddy_pg_bytes("", (size_t) 1 << 31);
                CHECK_EQ(eddy_pg_query(pg, sql, many, 20, NULL), -EINVAL);
                many[0].kind = 77;
                CHECK_EQ(eddy_pg_query(pg, sql, many, 20, NULL), -EINVAL);
        }
        CHECK_EQ(pg_int(pg, "select 1"), 1);
        return 0;
}

TEST(parameters_of_each_kind)
{
        pg_run(params_run);
}

static int values_run(void *arg)
{
        static const char sql[] =
                "select 9223372036854775807::int8, 1.5::float4, false, 'x'::text, '\\x00ff'::bytea,"
                " 12345678901234567890.5::numeric, '2024-02-29 12:34:56.123456+02'::timestamptz,"
                " '00112233-4455-6677-8899-aabbccddeeff'::uuid, '{\"a\":1}'::jsonb,"
                " array[1,null,3], array['a','b \"c\\', null, '', 'NULL', '{,}'],"
                " null::int4, '1969-12-31'::date, 'infinity'::timestamp, '4000-01-01'::date,"
                " '0044-03-15 BC'::date, array[[1,2],[3,4]], '{}'::int4[], 'NaN'::numeric, 1e300";
        static const uint8_t uuid[16] = { 0,    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                          0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
        static const char *const items[] = { "a", "b \"c\\", NULL, "", "NULL", "{,}" };
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *r = NULL;
        uint8_t bytes[16];
        eddy_pg_array array;
        int64_t n = 0;
        double real;
        bool truth = true;
        char text[32];

        CHECK_EQ(eddy_pg_exec(pg, "set timezone = 'Asia/Kolkata'"), 0);
        CHECK_EQ(eddy_pg_query(pg, sql, NULL, 0, &r), 0);
        CHECK_EQ(eddy_pg_get_int(r, 0, 0, &n), 0);
        CHECK_EQ(n, INT64_MAX);
        CHECK_EQ(eddy_pg_get_double(r, 0, 1, &real), 0);
        CHECK(real == 1.5);
        CHECK_EQ(eddy_pg_get_bool(r, 0, 2, &truth), 0);
        CHECK(!truth);
        CHECK_STR(eddy_pg_get_text(r, 0, 3, NULL), "x");
        CHECK_EQ(eddy_pg_get_bytes(r, 0, 4, NULL, 0), 2);
        CHECK_EQ(eddy_pg_get_bytes(r, 0, 4, bytes, 1), -EMSGSIZE);
        CHECK_EQ(eddy_pg_get_bytes(r, 0, 4, bytes, 2), 2);
        CHECK(bytes[0] == 0 && bytes[1] == 0xff);
        CHECK_STR(eddy_pg_get_text(r, 0, 5, NULL), "12345678901234567890.5");
        CHECK_EQ(eddy_pg_get_double(r, 0, 5, &real), 0);
        CHECK(real == 12345678901234567890.5);
        CHECK_EQ(eddy_pg_get_time(r, 0, 6, &n), 0);
        CHECK_EQ(n, 1709202896123456000);
        CHECK_EQ(eddy_pg_get_uuid(r, 0, 7, bytes), 0);
        CHECK(memcmp(bytes, uuid, 16) == 0);
        CHECK_STR(eddy_pg_get_text(r, 0, 8, NULL), "{\"a\": 1}");
        CHECK_EQ(eddy_pg_get_array(r, 0, 10, &array), 0);
        CHECK_EQ(eddy_pg_array_next(&array, text, 1, NULL), -EMSGSIZE);
        for (size_t i = 0; i < 6; i++) {
                bool is_null = false;
                int64_t got = eddy_pg_array_next(&array, text, sizeof(text), &is_null);

                CHECK_EQ(is_null, !items[i]);
                CHECK_STR(text, items[i] ? items[i] : "");
                CHECK_EQ(got, strlen(text));
        }
        CHECK_EQ(eddy_pg_array_next(&array, text, sizeof(text), NULL), -ENOENT);
        CHECK_EQ(eddy_pg_get_int(r, 0, 11, &n), EDDY_E_PG_IS_NULL);
        CHECK_EQ(eddy_pg_get_time(r, 0, 12, &n), 0);
        CHECK_EQ(n, -86400000000000);
        CHECK_EQ(eddy_pg_get_time(r, 0, 13, &n), 0);
        CHECK_EQ(n, INT64_MAX);
        CHECK_EQ(eddy_pg_get_time(r, 0, 14, &n), EDDY_E_FIELD_RANGE);
        CHECK_EQ(eddy_pg_get_time(r, 0, 15, &n), EDDY_E_FIELD_RANGE);
        CHECK_EQ(eddy_pg_get_array(r, 0, 16, &array), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_get_array(r, 0, 17, &array), 0);
        CHECK_EQ(eddy_pg_array_next(&array, text, sizeof(text), NULL), -ENOENT);
        CHECK_EQ(eddy_pg_get_double(r, 0, 18, &real), 0);
        CHECK(isnan(real));
        CHECK_EQ(eddy_pg_get_int(r, 0, 19, &n), EDDY_E_FIELD_RANGE);
        /* Values of another form, and what does not exist. */
        CHECK_EQ(eddy_pg_get_int(r, 0, 3, &n), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_get_int(r, 0, 5, &n), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_get_bool(r, 0, 3, &truth), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_get_double(r, 0, 3, &real), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_get_time(r, 0, 0, &n), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_get_uuid(r, 0, 3, bytes), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_get_bytes(r, 0, 3, bytes, 16), EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_get_int(r, 1, 0, &n), -EINVAL);
        CHECK_EQ(eddy_pg_get_int(r, 0, 99, &n), -EINVAL);
        CHECK_EQ(eddy_pg_get_int(r, -1, -1, &n), -EINVAL);
        CHECK(!eddy_pg_get_text(r, 5, 5, NULL) && eddy_pg_is_null(r, 5, 5));
        CHECK_EQ(eddy_pg_column(r, "int8"), 0);
        CHECK_EQ(eddy_pg_column(r, "none"), -ENOENT);
        CHECK_EQ(eddy_pg_column_type(r, 0), 20);
        CHECK(!eddy_pg_column_name(r, 99));
        CHECK_STR(eddy_pg_tag(r), "SELECT 1");
        CHECK_EQ(eddy_pg_affected(r), 1);
        return 0;
}

TEST(values_of_each_type)
{
        pg_run(values_run);
}

struct user {
        char name[16];
        int64_t born;
        double height;
        bool active;
        char *note;
        char *extra;
        int32_t *groups;
        size_t groups_count;
};

static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, name, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct user, born),
        EDDY_FIELD(struct user, height, EDDY_FIELD_MAX(3)),
        EDDY_FIELD(struct user, active),
        EDDY_FIELD(struct user, note),
        EDDY_FIELD_RAW(struct user, extra),
        EDDY_FIELD_LIST(struct user, groups, groups_count),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);

static int rows_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        struct user user = { .name = "" };

        CHECK_EQ(eddy_pg_one(pg,
                             "select $1 as name, '1970-01-02'::date as born, 1.75 as height, true "
                             "as active,"
                             " 'a \"b\"' as note, '[1, {}]'::json as extra, array[7,8] as groups, "
                             "5 as other",
                             EDDY_PG_PARAMS(eddy_pg_text("Ada")), &user_fields, &user),
                 0);
        CHECK_STR(user.name, "Ada");
        CHECK_EQ(user.born, 86400000000000);
        CHECK(user.height == 1.75 && user.active);
        CHECK_STR(user.note, "a \"b\"");
        CHECK_STR(user.extra, "[1,{}]");
        CHECK_EQ(user.groups_count, 2);
        CHECK_EQ(user.groups[1], 8);
        eddy_fields_fini(&user_fields, &user);

        CHECK_EQ(eddy_pg_one(pg, "select 'x' as name limit 0", NULL, 0, &user_fields, &user),
                 EDDY_E_PG_NO_ROW);
        CHECK_EQ(
                eddy_pg_one_or_none(pg, "select 'x' as name limit 0", NULL, 0, &user_fields, &user),
                0);
        CHECK_EQ(eddy_pg_one(pg, "values (1), (2)", NULL, 0, &user_fields, &user),
                 EDDY_E_PG_MANY_ROWS);
        CHECK_EQ(eddy_pg_one(pg, "select null as name", NULL, 0, &user_fields, &user),
                 EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_one(pg, "select 1 as born", NULL, 0, &user_fields, &user),
                 EDDY_E_FIELD_MISSING);
        CHECK_EQ(eddy_pg_one(pg, "select 'x' as name, 4 as height", NULL, 0, &user_fields, &user),
                 EDDY_E_FIELD_RANGE);
        CHECK(strstr(eddy_pg_fault(pg)->text, "height"));
        CHECK_EQ(eddy_pg_one(pg, "select 'x' as name, 'y' as born", NULL, 0, &user_fields, &user),
                 EDDY_E_FIELD_TYPE);
        CHECK_EQ(eddy_pg_one_or_none(pg, "select 'y' as name", NULL, 0, &user_fields, &user), 1);
        CHECK_STR(user.name, "y");
        eddy_fields_fini(&user_fields, &user);
        CHECK_EQ(eddy_pg_one(pg, "select 1", NULL, 0, NULL, &user), -EINVAL);
        CHECK_STR(eddy_pg_fault(pg)->text, "");
        return 0;
}

TEST(a_row_into_a_struct)
{
        pg_run(rows_run);
}

struct settings {
        int32_t dark;
};

struct person {
        int32_t id;
        struct settings settings;
        bool is_admin;
        char **tags;
        size_t tags_count;
        struct settings *all;
        size_t all_count;
};

static const struct eddy_field settings_list[] = { EDDY_FIELD(struct settings, dark) };
static const struct eddy_fields settings_fields = EDDY_FIELDS(struct settings, settings_list, 0);
static const struct eddy_field person_list[] = {
        EDDY_FIELD(struct person, id),
        EDDY_FIELD_STRUCT(struct person, settings, &settings_fields),
        EDDY_FIELD(struct person, is_admin),
        EDDY_FIELD_LIST(struct person, tags, tags_count),
        EDDY_FIELD_LIST_OF(struct person, all, all_count, &settings_fields),
};
static const struct eddy_fields person_fields = EDDY_FIELDS(struct person, person_list, 0);

/* Texts that would be more than one value, or part of one, if they were taken as they are. */
static int injected_run(void *arg)
{
        static const char *const columns[] = { "settings", "tags", "all" };
        static const char *const texts[] = { "{\"dark\":1},\"is_admin\":true",
                                             "[],\"is_admin\":true", "[1:x]={a}", "",
                                             "{\"dark\":1}}" };
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();

        (void) arg;
        for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < 5; j++) {
                        struct person person = { .id = 0 };
                        char sql[80];
                        int err;

                        snprintf(sql, sizeof(sql), "select 7 as id, $1::text as \"%s\"",
                                 columns[i]);
                        err = eddy_pg_one(pg, sql, EDDY_PG_PARAMS(eddy_pg_text(texts[j])),
                                          &person_fields, &person);
                        if (err >= 0)
                                test_fail(__FILE__, __LINE__, "%s as %s", texts[j], columns[i]);
                        CHECK(!person.is_admin && person.id == 0);
                        CHECK(strstr(eddy_pg_fault(pg)->text, columns[i]));
                }
        return 0;
}

TEST(a_text_that_is_not_one_json_value_does_not_reach_other_fields)
{
        pg_run(injected_run);
}

static int json_lists_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        struct person person = { .id = 0 };

        (void) arg;
        CHECK_EQ(eddy_pg_one(pg, "select '[\"k={v}\"]'::jsonb as tags", NULL, 0, &person_fields,
                             &person),
                 0);
        CHECK_EQ(person.tags_count, 1);
        CHECK_STR(person.tags[0], "k={v}");
        eddy_fields_fini(&person_fields, &person);
        CHECK_EQ(eddy_pg_one(pg, "select '[-1:0]={k,\"=\"}'::text[] as tags", NULL, 0,
                             &person_fields, &person),
                 0);
        CHECK_EQ(person.tags_count, 2);
        CHECK_STR(person.tags[1], "=");
        eddy_fields_fini(&person_fields, &person);
        return 0;
}

TEST(a_list_of_json_is_not_taken_for_an_array)
{
        pg_run(json_lists_run);
}

static int errors_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        const struct eddy_pg_fault *fault;

        CHECK_EQ(eddy_pg_exec(pg, "create temp table t (id int primary key, n int check (n > 0));"
                                  "insert into t values (1, 1)"),
                 0);
        CHECK_EQ(eddy_pg_query(pg, "insert into t values ($1, 2)", EDDY_PG_PARAMS(eddy_pg_int(1)),
                               &result),
                 EDDY_E_PG_SERVER);
        CHECK(!result);
        fault = eddy_pg_fault(pg);
        CHECK_STR(fault->sqlstate, "23505");
        CHECK_STR(fault->table, "t");
        CHECK_STR(fault->constraint, "t_pkey");
        CHECK_STR(fault->detail, "Key (id)=(1) already exists.");
        CHECK_EQ(eddy_pg_query(pg, "select nothing", NULL, 0, &result), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "42703");
        CHECK_EQ(eddy_pg_fault(pg)->position, 8);
        CHECK_EQ(eddy_pg_exec(pg, "insert into t values (2, 2); select 1/0; select 1"),
                 EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "22012");
        CHECK_EQ(pg_int(pg, "select count(*) from t"), 1);
        CHECK_EQ(eddy_pg_exec(pg, "do $$ begin raise exception 'x' using errcode = '40001', hint = "
                                  "'again'; end $$"),
                 EDDY_E_PG_RETRY);
        CHECK_STR(eddy_pg_fault(pg)->hint, "again");
        CHECK_EQ(eddy_pg_query(pg, "copy t to stdout", NULL, 0, NULL), EDDY_E_PG_STATE);
        CHECK_EQ(pg_int(pg, "select 5"), 5);
        CHECK_EQ(eddy_pg_exec(pg, "copy t from stdin"), EDDY_E_PG_STATE);
        CHECK_EQ(pg_int(pg, "select 6"), 6);
        CHECK_EQ(eddy_pg_query(pg, "update t set n = 3", NULL, 0, &result), 0);
        CHECK_STR(eddy_pg_tag(result), "UPDATE 1");
        CHECK_EQ(eddy_pg_affected(result), 1);
        CHECK_EQ(eddy_pg_query(NULL, "select 1", NULL, 0, NULL), -EINVAL);
        CHECK_EQ(eddy_pg_query(pg, NULL, NULL, 0, NULL), -EINVAL);
        CHECK_EQ(eddy_pg_exec(pg, ""), 0);
        return 0;
}

TEST(errors_have_a_state_and_details)
{
        pg_run(errors_run);
}

static int statements_run(void *arg)
{
        static const char count_sql[] = "select count(*) from pg_prepared_statements";
        struct eddy_pg_opts opts = { .conninfo = pg_unix, .statements_max = 3 };
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL, *plain = NULL;
        eddy_pg_transaction transaction;
        char sql[64];

        CHECK_EQ(eddy_pg_connect(&opts, &pg), 0);
        for (int round = 0; round < 3; round++)
                for (int i = 0; i < 10; i++) {
                        snprintf(sql, sizeof(sql), "select %d", i);
                        CHECK_EQ(pg_int(pg, sql), i);
                }
        CHECK_EQ(pg_int(pg, count_sql), 3);
        /* The program drops them; a table gets another form. */
        CHECK_EQ(eddy_pg_exec(pg, "deallocate all; create temp table t as select 1 as a"), 0);
        CHECK_EQ(pg_int(pg, count_sql), 0);
        CHECK_EQ(pg_int(pg, "select * from t"), 1);
        CHECK_EQ(eddy_pg_exec(pg, "alter table t add b int"), 0);
        CHECK_EQ(pg_int(pg, "select * from t"), 1);
        CHECK_STR(eddy_pg_fault(pg)->text, ""); /* the first try failed, the repetition did not */
        /* A statement that is not valid is not kept. */
        CHECK_EQ(eddy_pg_query(pg, "select * from u", NULL, 0, NULL), EDDY_E_PG_SERVER);
        CHECK_EQ(eddy_pg_exec(pg, "create temp table u as select 7"), 0);
        CHECK_EQ(pg_int(pg, "select * from u"), 7);

        /* In a transaction the cache may grow, and no error of a release ends the transaction. */
        CHECK_EQ(eddy_pg_exec(pg, "deallocate all"), 0);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &transaction), 0);
        for (int i = 0; i < 10; i++) {
                snprintf(sql, sizeof(sql), "select 100 + %d", i);
                CHECK_EQ(pg_int(pg, sql), 100 + i);
        }
        CHECK_EQ(eddy_pg_end(&transaction, 0), 0);
        CHECK_EQ(pg_int(pg, "select (count(*) <= 6)::int from pg_prepared_statements"), 1);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &transaction), 0);
        CHECK_EQ(eddy_pg_end(&transaction, 0), 0);
        CHECK_EQ(pg_int(pg, count_sql), 3);

        opts.flags = EDDY_PG_NO_STATEMENTS;
        CHECK_EQ(eddy_pg_connect(&opts, &plain), 0);
        CHECK_EQ(pg_int(plain, "select 1"), 1);
        CHECK_EQ(pg_int(plain, count_sql), 0);
        return 0;
}

TEST(a_bounded_cache_of_statements)
{
        pg_run(statements_run);
}

static int large_run(void *arg)
{
        struct eddy_pg_opts opts = { .conninfo = pg_tcp, .result_max = 1 << 20 };
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;

        CHECK_EQ(eddy_pg_connect(&opts, &pg), 0);
        CHECK_EQ(pg_int(pg, "select length(repeat('x', 10000000))"), 10000000);
        CHECK_EQ(eddy_pg_query(pg, "select repeat('x', 10000000)", NULL, 0, NULL),
                 EDDY_E_PG_TOO_LARGE);
        CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_CLOSED);
        CHECK(strstr(eddy_pg_fault(pg)->text, "result_max"));
        eddy_pg_close(pg);
        pg = NULL;
        /* A flood of notices counts too. */
        CHECK_EQ(eddy_pg_connect(&opts, &pg), 0);
        CHECK_EQ(eddy_pg_exec(pg, "set client_min_messages = notice"), 0);
        CHECK_EQ(eddy_pg_exec(
                         pg,
                         "do $$ begin loop raise notice '%', repeat('x', 10000); end loop; end $$"),
                 EDDY_E_PG_TOO_LARGE);
        return 0;
}

TEST(a_result_has_a_limit)
{
        pg_run(large_run);
}

static int lost_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        EDDY_AUTO(eddy_pg) eddy_pg *other = pg_open();
        char sql[100];

        CHECK_EQ(eddy_pg_exec(pg, "select pg_terminate_backend(pg_backend_pid())"),
                 EDDY_E_PG_CLOSED);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "57P01");
        CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_CLOSED);
        eddy_pg_close(pg);
        pg = pg_open();
        snprintf(sql, sizeof(sql), "select pg_terminate_backend(%d)",
                 (int) pg_int(pg, "select pg_backend_pid()"));
        CHECK_EQ(eddy_pg_exec(other, sql), 0);
        CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_CLOSED);
        return 0;
}

TEST(a_lost_connection_is_reported_and_stays_lost)
{
        pg_run(lost_run);
}
