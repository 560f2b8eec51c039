/*
 * test_buf.c - the growing buffer: what it holds, its limit, and what is left
 * when there is no room or no memory.
 */
#include "base/buf.h"

#include <errno.h>
#include <stdint.h>

#include "base/alloc.h"
#include "test.h"

/* Gives memory that many more times. */
struct budget {
        int left;
        int freed;
};

static void *limited(void *ctx, void *ptr, size_t bytes)
{
        struct budget *budget = ctx;

        if (bytes == 0) {
                budget->freed += ptr != NULL;
                free(ptr);
                return NULL;
        }
        return budget->left-- > 0 ? realloc(ptr, bytes) : NULL;
}

TEST(appended_bytes_come_out_in_order)
{
        struct ed_buf buf;

        ed_buf_init(&buf, 1000);
        CHECK_EQ(ed_buf_bytes(&buf), 0);
        CHECK_EQ(ed_buf_append(&buf, "abc", 3), 0);
        CHECK_EQ(ed_buf_append(&buf, "defg", 4), 0);
        CHECK_EQ(ed_buf_bytes(&buf), 7);
        CHECK(memcmp(ed_buf_data(&buf), "abcdefg", 7) == 0);
        ed_buf_consume(&buf, 2);
        CHECK_EQ(ed_buf_bytes(&buf), 5);
        CHECK(memcmp(ed_buf_data(&buf), "cdefg", 5) == 0);
        ed_buf_fini(&buf);
}

TEST(exactly_the_maximum_fits_and_one_more_does_not)
{
        struct ed_buf buf;
        char byte = 'x';

        ed_buf_init(&buf, 300);
        for (int i = 0; i < 300; i++)
                CHECK_EQ(ed_buf_append(&buf, &byte, 1), 0);
        CHECK_EQ(ed_buf_append(&buf, &byte, 1), -EMSGSIZE);
        CHECK_EQ(ed_buf_bytes(&buf), 300);
        ed_buf_consume(&buf, 1);
        CHECK_EQ(ed_buf_append(&buf, &byte, 1), 0);
        CHECK_EQ(ed_buf_append(&buf, &byte, 1), -EMSGSIZE);
        ed_buf_fini(&buf);
}

TEST(a_maximum_of_zero_holds_nothing)
{
        struct ed_buf buf;

        ed_buf_init(&buf, 0);
        CHECK_EQ(ed_buf_append(&buf, "x", 1), -EMSGSIZE);
        CHECK_EQ(ed_buf_append(&buf, "x", 0), 0);
        CHECK_EQ(ed_buf_bytes(&buf), 0);
        ed_buf_fini(&buf);
}

TEST(a_size_that_overflows_is_too_large_and_changes_nothing)
{
        struct ed_buf buf;
        char *room = (char *) &buf;

        ed_buf_init(&buf, SIZE_MAX);
        CHECK_EQ(ed_buf_append(&buf, "abc", 3), 0);
        CHECK_EQ(ed_buf_reserve(&buf, SIZE_MAX - 1, &room), -EMSGSIZE);
        CHECK(room == (char *) &buf);
        CHECK_EQ(ed_buf_bytes(&buf), 3);
        CHECK(memcmp(ed_buf_data(&buf), "abc", 3) == 0);
        ed_buf_fini(&buf);
}

TEST(reserved_room_is_writable_to_its_last_byte)
{
        struct ed_buf buf;
        char *room;

        ed_buf_init(&buf, 100000);
        for (size_t bytes = 1; bytes < 20000; bytes = bytes * 3 + 1) {
                CHECK_EQ(ed_buf_reserve(&buf, bytes, &room), 0);
                memset(room, 'r', bytes);
                ed_buf_grow(&buf, bytes);
        }
        for (size_t i = 0; i < ed_buf_bytes(&buf); i++)
                CHECK_EQ(ed_buf_data(&buf)[i], 'r');
        ed_buf_fini(&buf);
}

TEST(room_in_front_is_used_before_memory_is_asked_for)
{
        struct budget budget = { .left = 1 };
        struct ed_buf buf;
        char bytes[200];

        memset(bytes, 'a', sizeof(bytes));
        eddy_alloc_set(limited, &budget);
        ed_buf_init(&buf, 256);
        CHECK_EQ(ed_buf_append(&buf, bytes, 200), 0);
        ed_buf_consume(&buf, 150);
        memset(bytes, 'b', sizeof(bytes));
        CHECK_EQ(ed_buf_append(&buf, bytes, 200), 0);
        CHECK_EQ(ed_buf_bytes(&buf), 250);
        CHECK(ed_buf_data(&buf)[49] == 'a' && ed_buf_data(&buf)[50] == 'b');
        ed_buf_fini(&buf);
        CHECK_EQ(budget.freed, 1);
}

TEST(no_memory_leaves_the_held_objects)
{
        struct budget budget = { .left = 1 };
        struct ed_buf buf;
        char bytes[300] = { 0 };

        eddy_alloc_set(limited, &budget);
        ed_buf_init(&buf, 10000);
        CHECK_EQ(ed_buf_append(&buf, "keep", 4), 0);
        CHECK_EQ(ed_buf_append(&buf, bytes, sizeof(bytes)), -ENOMEM);
        CHECK_EQ(ed_buf_bytes(&buf), 4);
        CHECK(memcmp(ed_buf_data(&buf), "keep", 4) == 0);
        budget.left = 1;
        CHECK_EQ(ed_buf_append(&buf, bytes, sizeof(bytes)), 0);
        CHECK(memcmp(ed_buf_data(&buf), "keep", 4) == 0);
        ed_buf_fini(&buf);
}

TEST(a_finished_buffer_is_empty_and_can_be_used_again)
{
        struct ed_buf buf;

        ed_buf_init(&buf, 10);
        CHECK_EQ(ed_buf_append(&buf, "0123456789", 10), 0);
        ed_buf_fini(&buf);
        CHECK_EQ(ed_buf_bytes(&buf), 0);
        CHECK_EQ(ed_buf_append(&buf, "0123456789", 10), 0);
        CHECK_EQ(ed_buf_append(&buf, "x", 1), -EMSGSIZE);
        ed_buf_fini(&buf);
        ed_buf_fini(&buf);
}

TEST_DIES(consuming_more_than_is_held_is_a_broken_invariant, 6)
{
        struct ed_buf buf;

        ed_buf_init(&buf, 10);
        CHECK_EQ(ed_buf_append(&buf, "ab", 2), 0);
        ed_buf_consume(&buf, 3);
}
