/*
 * bench_http1.c - what reading a response as nginx sends it costs, and writing
 * a request: nanoseconds of the best of seven rounds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wire/http1.h"

enum { ROUNDS = 7, TIMES = 300000 };

static char response[] = "HTTP/1.1 200 OK\r\n"
                         "Server: nginx/1.22.1\r\n"
                         "Date: Sat, 21 Nov 2026 04:37:28 GMT\r\n"
                         "Content-Type: application/octet-stream\r\n"
                         "Content-Length: 12\r\n"
                         "Connection: keep-alive\r\n"
                         "\r\n"
                         "hello world\n";

static uint64_t checksum;

static int64_t now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void read_response(void)
{
        struct ed_http1_field fields[16];
        struct ed_http1_head head;
        struct ed_http1_body body;
        size_t bytes = sizeof(response) - 1;
        size_t span_bytes;
        const char *span;
        int64_t n;

        ed_http1_response_init(&head, fields, &(struct ed_http1_limits){ .fields_max = 16 },
                               ED_HTTP1_TO_OTHER);
        n = ed_http1_head_parse(&head, response, bytes);
        if (n <= 0 || ed_http1_body_init(&body, &head, 1 << 20) < 0 ||
            ed_http1_body_decode(&body, response + n, bytes - (size_t) n, &span, &span_bytes) < 0 ||
            !body.done)
                abort();
        checksum += head.status + span_bytes + head.fields_count;
}

static struct ed_buf out;

static void write_request(void)
{
        struct ed_http1_writer writer;

        ed_buf_consume(&out, ed_buf_bytes(&out));
        ed_http1_write_request(&writer, &out, "GET", 3, "/bytes/12?n=1", 13);
        ed_http1_write_field(&writer, "Host", 4, "127.0.0.1:8080", 14);
        ed_http1_write_field(&writer, "User-Agent", 10, "eddy/0.3.0", 10);
        ed_http1_write_field(&writer, "Accept", 6, "*/*", 3);
        if (ed_http1_write_end(&writer) < 0)
                abort();
        checksum += ed_buf_bytes(&out);
}

static struct ed_url url;

static void read_url(void)
{
        static const char text[] = "http://127.0.0.1:8080/bytes/12?n=1";

        if (ed_url_parse(text, sizeof(text) - 1, &url) < 0)
                abort();
        checksum += url.port;
}

static void measure(const char *what, void (*fn)(void))
{
        double best = 1e9;

        for (int round = 0; round < ROUNDS; round++) {
                int64_t start = now_ns();
                double each;

                for (int i = 0; i < TIMES; i++)
                        fn();
                each = (double) (now_ns() - start) / TIMES;
                if (each < best)
                        best = each;
        }
        printf("%-44s %7.1f ns\n", what, best);
}

int main(void)
{
        ed_buf_init(&out, 1 << 16);
        measure("read a response of 5 fields and 12 bytes", read_response);
        measure("write a request of 3 fields", write_request);
        measure("read a URL", read_url);
        ed_buf_fini(&out);
        return checksum == 0;
}
