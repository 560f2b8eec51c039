/*
 * lines.h - result lines as `eddy fetch` and `eddy batch` write them, for the
 * floor and the C peers of the whole program: collected during a turn of the
 * loop, and appended to a file in one write at its end, or more if they are long.
 */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <errno.h>
#include <fcntl.h>

#include "bench.h"

struct bench_lines {
        int fd; /* -1: no lines are wanted */
        const char *url;
        size_t url_bytes;
        size_t bytes;
        char data[262144];
};

enum { BENCH_LINE_BYTES_MAX = 1024 };

static inline void bench_lines_open(struct bench_lines *lines, const char *path, const char *url)
{
        lines->fd = -1;
        if (!path)
                return;
        lines->url = url;
        lines->url_bytes = strlen(url);
        if (lines->url_bytes > BENCH_LINE_BYTES_MAX / 2)
                bench_die(url, "too long");
        lines->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (lines->fd < 0)
                bench_die(path, strerror(errno));
}

/* At the end of a turn. */
static inline void bench_lines_write(struct bench_lines *lines)
{
        if (lines->bytes == 0)
                return;
        if (write(lines->fd, lines->data, lines->bytes) != (ssize_t) lines->bytes)
                bench_die("write", "not all lines were taken");
        lines->bytes = 0;
}

static inline void bench_lines_close(struct bench_lines *lines)
{
        if (lines->fd >= 0 && close(lines->fd) < 0)
                bench_die("close", strerror(errno));
}

static inline void bench_line_text(struct bench_lines *lines, const char *text, size_t bytes)
{
        memcpy(lines->data + lines->bytes, text, bytes);
        lines->bytes += bytes;
}

static inline void bench_line_number(struct bench_lines *lines, uint64_t number)
{
        char digits[20];
        size_t at = sizeof(digits);

        do
                digits[--at] = (char) ('0' + number % 10);
        while ((number /= 10) > 0);
        bench_line_text(lines, digits + at, sizeof(digits) - at);
}

#define BENCH_LINE_STR(lines, text) bench_line_text(lines, text, sizeof(text) - 1)

static inline void bench_line_ms(struct bench_lines *lines, int64_t elapsed_ns)
{
        uint64_t tenths = ((uint64_t) elapsed_ns + 50000) / 100000;

        bench_line_number(lines, tenths / 10);
        BENCH_LINE_STR(lines, ".");
        bench_line_number(lines, tenths % 10);
}

/* The line of a response with status 200. */
static inline void bench_line_add(struct bench_lines *lines, long index, long body_bytes,
                                  int64_t elapsed_ns)
{
        if (lines->bytes > sizeof(lines->data) - BENCH_LINE_BYTES_MAX)
                bench_lines_write(lines);
        BENCH_LINE_STR(lines, "{\"index\":");
        bench_line_number(lines, (uint64_t) index);
        BENCH_LINE_STR(lines, ",\"url\":\"");
        bench_line_text(lines, lines->url, lines->url_bytes);
        BENCH_LINE_STR(lines, "\",\"status\":200,\"bytes\":");
        bench_line_number(lines, (uint64_t) body_bytes);
        BENCH_LINE_STR(lines, ",\"ms\":");
        bench_line_ms(lines, elapsed_ns);
        BENCH_LINE_STR(lines, ",\"attempts\":1,\"error\":null}\n");
}

struct bench_answer {
        long index;
        const char *body; /* JSON on one line */
        size_t body_bytes;
        int64_t elapsed_ns;
};

/* The line of an answer, as long as that of `eddy batch`; hash and tokens are not true. */
static inline void bench_answer_add(struct bench_lines *lines, const struct bench_answer *answer)
{
        uint64_t at_ms = (uint64_t) bench_clock_ns(CLOCK_REALTIME) / 1000000;
        uint64_t name = 1000000000000000000u + (uint64_t) answer->index;
        const char *path = strchr(lines->url + strlen("https://"), '/');

        if (answer->body_bytes > sizeof(lines->data) - BENCH_LINE_BYTES_MAX - lines->bytes)
                bench_lines_write(lines);
        BENCH_LINE_STR(lines, "{\"id\":\"batch_req_00000");
        bench_line_number(lines, name);
        BENCH_LINE_STR(lines, "\",\"custom_id\":\"request-");
        bench_line_number(lines, (uint64_t) answer->index);
        BENCH_LINE_STR(lines, "\",\"response\":{\"status_code\":200,\"request_id\":\"req_00000");
        bench_line_number(lines, name);
        BENCH_LINE_STR(lines, "\",\"body\":");
        bench_line_text(lines, answer->body, answer->body_bytes);
        BENCH_LINE_STR(lines, "},\"error\":null,\"x_meta\":{\"input_line\":");
        bench_line_number(lines, (uint64_t) answer->index + 1);
        BENCH_LINE_STR(lines,
                       ",\"input_hash\":\"0123456789abcdef\",\"attempts\":1,\"endpoint\":\"");
        bench_line_text(lines, lines->url, (size_t) (path - lines->url));
        BENCH_LINE_STR(lines, "\",\"completed_at_ms\":");
        bench_line_number(lines, at_ms);
        BENCH_LINE_STR(lines, ",\"t_queue_ms\":0.0,\"t_first_ms\":");
        bench_line_ms(lines, answer->elapsed_ns);
        BENCH_LINE_STR(lines, ",\"t_total_ms\":");
        bench_line_ms(lines, answer->elapsed_ns);
        BENCH_LINE_STR(lines, ",\"input_tokens\":12,\"output_tokens\":200}}\n");
}

#endif
