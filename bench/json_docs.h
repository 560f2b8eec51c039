/*
 * json_docs.h - what the programs of the JSON rows share: the documents of a file, and the rounds.
 *
 * The file has each document after its length, four bytes, little-endian.
 */
#ifndef BENCH_JSON_DOCS_H
#define BENCH_JSON_DOCS_H

#include "bench.h"

enum { JSON_DOCS_MAX = 1024, JSON_PADDING = 64 /* after each document, for simdjson */ };

struct json_docs {
        char *text[JSON_DOCS_MAX];
        size_t bytes[JSON_DOCS_MAX];
        size_t count, bytes_max, bytes_all;
};

static inline void json_docs_read(struct json_docs *docs, const char *path)
{
        FILE *file = fopen(path, "rb");
        unsigned char length[4];

        if (!file)
                bench_die(path, "cannot be opened");
        docs->count = docs->bytes_max = docs->bytes_all = 0;
        while (docs->count < JSON_DOCS_MAX && fread(length, 1, 4, file) == 4) {
                size_t bytes = length[0] | (size_t) length[1] << 8 | (size_t) length[2] << 16;
                char *text = (char *) calloc(1, bytes + JSON_PADDING);

                if (!text || fread(text, 1, bytes, file) != bytes)
                        bench_die(path, "cannot be read");
                docs->text[docs->count] = text;
                docs->bytes[docs->count++] = bytes;
                docs->bytes_all += bytes;
                if (bytes > docs->bytes_max)
                        docs->bytes_max = bytes;
        }
        fclose(file);
        if (docs->count == 0)
                bench_die(path, "has no document");
}

/* Validates and compacts to 'out'; returns the bytes, or below 0. */
typedef long json_compact_fn(const char *text, size_t bytes, char *out, size_t room);

/* arguments: FILE ROUNDS */
static inline int json_docs_run(int argc, char **argv, const char *peer, json_compact_fn *compact)
{
        static struct json_docs docs;
        struct bench_span span;
        char extra[96], *out;
        size_t room, written = 0;
        long rounds;

        if (argc != 3)
                bench_die(argv[0], "FILE ROUNDS");
        json_docs_read(&docs, argv[1]);
        rounds = bench_count(argv[2], 1000000);
        room = 2 * docs.bytes_max + JSON_PADDING; /* some write more digits than they read */
        out = (char *) malloc(room);
        if (!out)
                bench_die(argv[0], "out of memory");
        bench_span_begin(&span);
        for (long round = 0; round < rounds; round++)
                for (size_t i = 0; i < docs.count; i++) {
                        long n = compact(docs.text[i], docs.bytes[i], out, room);

                        if (n < 0)
                                bench_die(argv[0], "a document is refused");
                        written += (size_t) n;
                }
        bench_span_end(&span);
        snprintf(extra, sizeof(extra), "\"bytes\": %zu, \"written\": %zu",
                 docs.bytes_all * (size_t) rounds, written);
        bench_core_print(peer, "json", rounds * (long) docs.count, &span, extra);
        return 0;
}

#endif
