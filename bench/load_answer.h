/*
 * load_answer.h - what server_load.c knows about the answers of a server: all are like the first.
 */
#ifndef BENCH_LOAD_ANSWER_H
#define BENCH_LOAD_ANSWER_H

#include "bench.h"

enum { LOAD_READ_BYTES = 256 << 10 };

struct load_answer {
        int bytes;
        char last; /* byte */
        int is_http;
};

/*
 * The bytes of a whole answer that begins with 'data', by its Content-Length or its last chunk; 0: not known
 * yet.  NUL follows the data.
 */
static inline size_t load_answer_bytes(const char *data, size_t bytes)
{
        static const char last[] = "\r\n0\r\n\r\n";
        const char *end = memmem(data, bytes, "\r\n\r\n", 4);
        const char *field = strcasestr(data, "\r\ncontent-length: ");
        const char *chunked = strcasestr(data, "\r\ntransfer-encoding: chunked\r\n");

        if (!end)
                return 0;
        if (field && field < end)
                return (size_t) (end + 4 - data) + strtoul(field + 18, NULL, 10);
        if (!chunked || chunked > end)
                bench_die("answer", "neither Content-Length nor chunks");
        if (bytes < sizeof(last) - 1 ||
            memcmp(data + bytes - (sizeof(last) - 1), last, sizeof(last) - 1) != 0)
                return 0;
        return bytes;
}

static inline void load_answer_check_status(const char *data, int64_t bytes)
{
        if (bytes < 12 || memcmp(data, "HTTP/1.1 200", 12) != 0)
                bench_die("answer", "its status is not 200");
}

/*
 * Resident memory and page tables of a process, in KiB; -1: the kernel does not say.  'name' is that of
 * the resident memory: "VmRSS:", or "VmHWM:" for its peak.
 */
static inline long load_memory_kib(pid_t pid, const char *name)
{
        char line[256];
        long rss = -1, tables = 0;
        FILE *status;

        snprintf(line, sizeof(line), "/proc/%d/status", (int) pid);
        status = fopen(line, "re");
        if (!status)
                return -1;
        while (fgets(line, sizeof(line), status)) {
                if (strncmp(line, name, 6) == 0)
                        rss = strtol(line + 6, NULL, 10);
                else if (strncmp(line, "VmPTE:", 6) == 0)
                        tables = strtol(line + 6, NULL, 10);
        }
        fclose(status);
        return rss < 0 ? -1 : rss + tables;
}

#endif
