/*
 * script.h - a stream for tests whose bytes arrive in given pieces, and which takes what is written
 * in given pieces.
 */
#ifndef ED_IO_SCRIPT_H
#define ED_IO_SCRIPT_H

#include <stdbool.h>

#include "eddy/eddy.h"

struct script {
        struct eddy_stream stream;
        const char *data;
        size_t bytes, at;
        uint64_t cuts; /* bit i: a piece ends after byte i; of the first 64 bytes */
        int error;     /* after the last byte: 0 for the end */
        bool has_come; /* the next piece can be read */
        char taken[256];
        size_t taken_bytes, piece_max; /* written so far; at most this many at a time, 0: any */
        size_t held;                   /* of them, not passed on yet */
        int write_error;               /* after 'write_error_at' bytes */
        size_t write_error_at;
        bool has_room;
        bool holds; /* like TLS, passes on only by a flush */
};

/* A stream in the caller's memory; closing it frees nothing. */
void script_init(struct script *script, const char *data, size_t bytes, uint64_t cuts);

#endif
