/*
 * fuzz_http1.h - what the targets of requests and responses share.
 *
 * An input is four bytes that choose, and a message: limits, the kind of
 * response, and where the message is cut.
 */
#ifndef ED_TESTS_FUZZ_HTTP1_H
#define ED_TESTS_FUZZ_HTTP1_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"

enum { FUZZ_CHOICES = 4 };

/* Each piece in memory of its own size, so that the sanitizer sees a read beyond it. */
static inline char *fuzz_place(const char *data, size_t bytes)
{
        static char *piece;

        free(piece);
        piece = malloc(bytes ? bytes : 1);
        if (!piece)
                abort();
        return memcpy(piece, data, bytes);
}

/* Delivered at once, cut in two, and byte by byte a message gives the same. */
static inline int fuzz_http1(const uint8_t *data, size_t bytes, const enum wire_kind *kinds,
                             size_t kinds_count)
{
        struct wire_input input = { 0 };
        struct wire_text whole, cut;
        size_t every[256];
        size_t at;

        if (bytes < FUZZ_CHOICES)
                return 0;
        input.kind = kinds[data[1] % kinds_count];
        if (data[0] & 1)
                input.limits.head.line_bytes_max = 24;
        if (data[0] & 2)
                input.limits.head.head_bytes_max = 100;
        if (data[0] & 4)
                input.limits.head.fields_max = 3;
        if (data[0] & 8)
                input.limits.body_bytes_max = 10;
        if (data[0] & 16)
                input.limits.body_bytes_max = INT64_MAX;
        input.data = (const char *) data + FUZZ_CHOICES;
        input.bytes = bytes - FUZZ_CHOICES;

        wire_drive(&input, NULL, 0, fuzz_place, &whole);
        at = (data[2] | (size_t) data[3] << 8) % (input.bytes + 1);
        wire_drive(&input, &at, 1, fuzz_place, &cut);
        if (strcmp(whole.text, cut.text) != 0) {
                fprintf(stderr, "at once:   %s\ncut at %zu: %s\n", whole.text, at, cut.text);
                abort();
        }
        wire_text_free(&cut);
        if (input.bytes <= sizeof(every) / sizeof(every[0])) {
                for (size_t i = 0; i < input.bytes; i++)
                        every[i] = i;
                wire_drive(&input, every, input.bytes, fuzz_place, &cut);
                if (strcmp(whole.text, cut.text) != 0) {
                        fprintf(stderr, "at once: %s\nbytewise: %s\n", whole.text, cut.text);
                        abort();
                }
                wire_text_free(&cut);
        }
        wire_text_free(&whole);
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#endif
