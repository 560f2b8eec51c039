/*
 * sse_events.c - the events that eddy's parser finds in streams, for test_sse_events.py.
 *
 *     sse_events < STREAMS > EVENTS
 *
 * A stream is a line: a number and its bytes as hexadecimal digits. The number is the seed of the
 * places where the stream is cut. The answer is a line: each event as TYPE:DATA:ID in hexadecimal
 * digits, and the time of "retry".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/sse.h"

enum { STREAM_BYTES = 4096, LINE_BYTES = 2 * STREAM_BYTES + 64, EVENT_BYTES_MAX = 1 << 16 };

static void hex_print(const char *text, size_t bytes, char end)
{
        for (size_t i = 0; i < bytes; i++)
                printf("%02x", (unsigned char) text[i]);
        putchar(end);
}

static size_t hex_read(const char *text, char *bytes)
{
        unsigned byte;
        size_t n = 0;

        while (n < STREAM_BYTES && sscanf(text + 2 * n, "%2x", &byte) == 1)
                bytes[n++] = (char) byte;
        return n;
}

static void event_print(const struct ed_sse *sse)
{
        struct ed_sse_event event;

        ed_sse_event(sse, &event);
        hex_print(event.type, strlen(event.type), ':');
        hex_print(event.data, event.data_bytes, ':');
        hex_print(event.id, strlen(event.id), ' ');
}

/* Read a piece. Returns false after an error. */
static bool piece_read(struct ed_sse *sse, const char *data, size_t bytes)
{
        bool is_event;

        for (size_t at = 0; at < bytes;) {
                int64_t n = ed_sse_read(sse, data + at, bytes - at, &is_event);

                if (n <= 0)
                        return false;
                at += (size_t) n;
                if (is_event)
                        event_print(sse);
        }
        return true;
}

/* Seed 0: the whole at once; seed 1: byte by byte. */
static size_t piece_of(unsigned *seed, size_t left)
{
        size_t n;

        if (*seed < 2)
                return *seed == 0 ? left : 1;
        *seed = *seed * 1103515245 + 12345;
        n = 1 + (*seed >> 16) % 9;
        return n < left ? n : left;
}

int main(void)
{
        static char line[LINE_BYTES], data[STREAM_BYTES];

        while (fgets(line, sizeof(line), stdin)) {
                char *hex;
                unsigned seed = (unsigned) strtoul(line, &hex, 10);
                size_t bytes = hex_read(hex + 1, data), n;
                struct ed_sse sse;

                ed_sse_init(&sse, EVENT_BYTES_MAX);
                for (size_t at = 0; at < bytes; at += n) {
                        n = piece_of(&seed, bytes - at);
                        if (!piece_read(&sse, data + at, n))
                                return 1;
                }
                printf("%lld\n", (long long) sse.retry_ms);
                ed_sse_fini(&sse);
        }
        return 0;
}
