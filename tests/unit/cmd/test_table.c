/*
 * test_table.c - the join of rows and their answers: the table is that of a simple model at sizes
 * around those of the sorter's memory; failures of the output and of allocations are returned.
 */
#include "select/table.h"

#include <errno.h>

#include "batch/sort/id_places.h"
#include "common/random.h"
#include "eddy/alloc.h"
#include "starve.h"
#include "test.h"

enum { PLACES = 300, TEXT_BYTES = 4 << 20 };

TEST_ROOM(char, got, TEXT_BYTES);
TEST_ROOM(char, wanted, TEXT_BYTES);
static size_t got_bytes, got_most = TEXT_BYTES, wanted_bytes;

static int text_keep(void *arg, const char *data, size_t bytes)
{
        (void) arg;
        if (got_bytes + bytes > got_most)
                return -EPIPE;
        memcpy(got + got_bytes, data, bytes);
        got_bytes += bytes;
        return 0;
}

static struct ed_table table_open(size_t memory)
{
        struct ed_table table = { .fn = text_keep, .blank_end = ",none", .blank_end_bytes = 5 };

        got_bytes = 0;
        CHECK_EQ(ed_merge_sort_new(memory, "/tmp", &table.sorter), 0);
        return table;
}

static void table_close(struct ed_table *table)
{
        ed_table_fini(table);
        ed_merge_sort_free(table->sorter);
}

static int add(struct ed_table *table, uint64_t place, enum ed_table_kind kind, const char *text,
               size_t bytes)
{
        struct ed_draft piece = { 0 };
        int err;

        ed_table_piece_begin(&piece);
        ed_draft_add(&piece, text, bytes);
        err = ed_table_add(table, place, kind, &piece);
        ed_draft_fini(&piece);
        return err;
}

static void add_str(struct ed_table *table, uint64_t place, enum ed_table_kind kind,
                    const char *text)
{
        CHECK_EQ(add(table, place, kind, text, strlen(text)), 0);
}

static void check_got(const char *text)
{
        CHECK_EQ(got_bytes, strlen(text));
        CHECK(memcmp(got, text, got_bytes) == 0);
}

TEST(row_ends_with_its_last_answer_or_else_its_last_failure)
{
        struct ed_table table = table_open(ED_MERGE_SORT_MEMORY_MIN);
        bool is_disk;

        for (uint64_t place = 1; place <= 5; place++)
                add_str(&table, place, ED_TABLE_ROW, "r\n");
        add_str(&table, 1, ED_TABLE_FAILURE, ",f1");
        add_str(&table, 1, ED_TABLE_ANSWER, ",a1");
        add_str(&table, 1, ED_TABLE_FAILURE, ",f2");
        add_str(&table, 2, ED_TABLE_ANSWER, ",a1");
        add_str(&table, 2, ED_TABLE_ANSWER, ",a2");
        add_str(&table, 4, ED_TABLE_FAILURE, ",f1");
        add_str(&table, 4, ED_TABLE_FAILURE, ",f2");
        add_str(&table, 5, ED_TABLE_ANSWER, "");
        add_str(&table, ED_PLACE_NONE, ED_TABLE_STRANGE, "x,1");
        add_str(&table, ED_PLACE_NONE, ED_TABLE_STRANGE, "y,2");
        CHECK_EQ(ed_table_finish(&table, &is_disk), 0);
        check_got("r\n,a1\nr\n,a2\nr\n,none\nr\n,f2\nr\n\nx,1\ny,2\n");
        CHECK_EQ(table.answered, 3);
        CHECK_EQ(table.failed, 1);
        CHECK_EQ(table.unanswered, 1);
        CHECK_EQ(table.repeated, 1);
        table_close(&table);
}

TEST(table_without_rows_is_empty)
{
        struct ed_table table = table_open(ED_MERGE_SORT_MEMORY_MIN);
        bool is_disk;

        CHECK_EQ(ed_table_finish(&table, &is_disk), 0);
        CHECK_EQ(got_bytes, 0);
        table_close(&table);
}

static void want(const char *text, size_t bytes)
{
        memcpy(wanted + wanted_bytes, text, bytes);
        wanted_bytes += bytes;
}

/* A text of line feeds and other bytes. */
static size_t text_make(struct ed_random *random, char *text, size_t bytes_max)
{
        size_t bytes = (size_t) (ed_random_next(random) % (bytes_max + 1));

        for (size_t i = 0; i < bytes; i++)
                text[i] = "\n\r,a\"\0"[ed_random_next(random) % 6];
        return bytes;
}

typedef char place_text[12000];

TEST_ROOM(place_text, rows, PLACES);
TEST_ROOM(place_text, ends, PLACES);

/* Add rows and then answers in a random order, with texts of up to 'bytes_max' bytes. */
static void check_model(size_t bytes_max, size_t memory, struct ed_random *random)
{
        static size_t row_bytes[PLACES], end_bytes[PLACES];
        struct ed_table table = table_open(memory);
        uint64_t order[PLACES];
        bool is_disk;

        wanted_bytes = 0;
        for (size_t i = 0; i < PLACES; i++) {
                order[i] = i;
                row_bytes[i] = text_make(random, rows[i], bytes_max);
                end_bytes[i] = text_make(random, ends[i], bytes_max);
                want(rows[i], row_bytes[i]);
                want(ends[i], end_bytes[i]);
                want("\n", 1);
                CHECK_EQ(add(&table, i + 1, ED_TABLE_ROW, rows[i], row_bytes[i]), 0);
        }
        for (size_t i = PLACES - 1; i > 0; i--) {
                size_t k = (size_t) (ed_random_next(random) % (i + 1));
                uint64_t other = order[k];

                order[k] = order[i];
                order[i] = other;
        }
        for (size_t i = 0; i < PLACES; i++)
                CHECK_EQ(add(&table, order[i] + 1, ED_TABLE_ANSWER, ends[order[i]],
                             end_bytes[order[i]]),
                         0);
        CHECK_EQ(ed_table_finish(&table, &is_disk), 0);
        CHECK_EQ(got_bytes, wanted_bytes);
        CHECK(memcmp(got, wanted, got_bytes) == 0);
        table_close(&table);
}

TEST(table_larger_than_the_memory_is_that_of_the_model)
{
        static const size_t sizes[] = { 0, 1, 10, 100, 400, 1000, 6000 };
        struct ed_random random = { 7 };

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                check_model(sizes[i], ED_MERGE_SORT_MEMORY_MIN, &random);
                check_model(sizes[i], 16 << 20, &random);
        }
}

TEST(failure_of_the_output_at_each_byte_is_returned)
{
        static const char text[] = "one,1\ntwo,none\nx,1\n";

        for (got_most = 0; got_most <= strlen(text); got_most++) {
                struct ed_table table = table_open(ED_MERGE_SORT_MEMORY_MIN);
                bool is_disk = false;
                int err;

                add_str(&table, 1, ED_TABLE_ROW, "one");
                add_str(&table, 2, ED_TABLE_ROW, "two");
                add_str(&table, 1, ED_TABLE_ANSWER, ",1");
                add_str(&table, ED_PLACE_NONE, ED_TABLE_STRANGE, "x,1");
                err = ed_table_finish(&table, &is_disk);
                CHECK_EQ(err, got_most < strlen(text) ? -EPIPE : 0);
                CHECK(!is_disk);
                table_close(&table);
        }
}

TEST(failure_of_each_allocation_is_returned)
{
        static char large[5000];
        int err = -ENOMEM;

        memset(large, 'b', sizeof(large));
        eddy_alloc_set(starve, NULL);
        for (int left = 0; err == -ENOMEM; left++) {
                struct ed_table table;
                bool is_disk;

                allocations_left = -1;
                table = table_open(ED_MERGE_SORT_MEMORY_MIN);
                allocations_left = left;
                err = 0;
                for (uint64_t place = 1; err == 0 && place <= 60; place++) {
                        err = add(&table, place, ED_TABLE_ROW, large, sizeof(large));
                        if (err == 0)
                                err = add(&table, place, ED_TABLE_ANSWER, "a", 1);
                }
                if (err == 0)
                        err = ed_table_finish(&table, &is_disk);
                CHECK(err == 0 || err == -ENOMEM);
                CHECK(left < 10000);
                table_close(&table);
        }
        CHECK_EQ(got_bytes, 60 * (sizeof(large) + 2));
}
