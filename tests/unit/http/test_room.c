/*
 * test_room.c - what idle connections of a server hold.
 */
#include <malloc.h>

#include "server_test.h"

#define GET "GET /ok HTTP/1.1\r\nHost: a\r\n\r\n"

enum {
        FIRST = 20, /* connections after which the server's own memory is made */
        ALL = 84,
        HEAD_BYTES = 6000,
        BYTES_MAX = 2560, /* the streams of both sides, and an exchange */
};

/* The address sanitizer has its own heap. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t held_bytes(void)
{
        struct mallinfo2 info;

        if (__sanitizer_get_current_allocated_bytes)
                return __sanitizer_get_current_allocated_bytes();
        info = mallinfo2();
        return info.uordblks + info.hblkhd;
}

static void open_all(struct site *site, eddy_stream **streams, int from, int to)
{
        for (int i = from; i < to; i++) {
                streams[i] = site_connect(site);
                CHECK_HAS(say(streams[i], GET, "\r\n\r\nok"), "200 OK");
        }
}

static void hold_idle(struct site *site)
{
        eddy_stream *streams[ALL];
        size_t before, each;

        open_all(site, streams, 0, FIRST);
        before = held_bytes();
        open_all(site, streams, FIRST, ALL);
        each = (held_bytes() - before) / (ALL - FIRST);
        CHECK(each <= BYTES_MAX);
        for (int i = 0; i < ALL; i++)
                eddy_stream_close(streams[i]);
}

/* Sockets of the simulation would count. */
TEST(an_idle_connection_holds_no_memory_of_a_request)
{
        site_run(SERVER_OPTIONS(.connections_max = ALL, .idle_timeout_ns = EDDY_SEC(60)), true,
                 hold_idle);
}

/* Buffers that have grown are not kept, and those of the first size serve any connection. */
SERVER_TEST(connections_with_heads_of_any_size_share_the_memory_of_requests,
            SERVER_OPTIONS(.connections_max = ALL, .idle_timeout_ns = EDDY_SEC(60)))
{
        static char head[HEAD_BYTES + 100];
        eddy_stream *streams[FIRST];
        int at = snprintf(head, sizeof(head), "GET /ok HTTP/1.1\r\nHost: a\r\nX: ");

        memset(head + at, 'x', HEAD_BYTES);
        memcpy(head + at + HEAD_BYTES, "\r\n\r\n", 5);
        open_all(site, streams, 0, FIRST);
        for (int round = 0; round < 3; round++)
                for (int i = 0; i < FIRST; i++)
                        CHECK_HAS(say(streams[i], (i + round) % 3 ? GET : head, "\r\n\r\nok"),
                                  "200 OK");
        /* More at once than are kept. */
        for (int i = 0; i < FIRST; i++)
                CHECK_EQ(eddy_stream_write(streams[i], GET, 10), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        for (int i = 0; i < FIRST; i++)
                CHECK_HAS(say(streams[i], &GET[10], "\r\n\r\nok"), "200 OK");
        for (int i = 0; i < FIRST; i++)
                eddy_stream_close(streams[i]);
}
