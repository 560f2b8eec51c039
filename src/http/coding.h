/*
 * http/coding.h - a content coding of a response (RFC 9110, 8.4.1), decoded by the library that
 * implements it.
 */
#ifndef ED_HTTP_CODING_H
#define ED_HTTP_CODING_H

#include <stddef.h>

#include "base/def.h"

/* The input and the room for output of a step, which moves the pointers past the bytes it used. */
struct ed_coding_step {
        const unsigned char *in;
        size_t in_bytes;
        unsigned char *out;
        size_t room;
};

enum { ED_CODING_ENDED = 1 };

struct ed_coding {
        const char *name;

        /* Returns the state of a new decoder, or NULL if memory runs out. */
        void *(*new)(void);

        /*
         * Decode until the input or the room is used up. Returns 0, or ED_CODING_ENDED after the
         * last byte of the coded data.
         *
         * Errors: EDDY_E_HTTP_CODING_INVALID, -ENOMEM
         */
        int (*step)(void *state, struct ed_coding_step *step);

        /* Prepare for more coded data after the first. NULL: no data may follow. Errors: as step. */
        int (*restart)(void *state);

        void (*free)(void *state);
};

/* Memory for zlib, from the library's allocator. */
void *ed_coding_zlib_alloc(void *arg, unsigned items, unsigned bytes);
void ed_coding_zlib_free(void *arg, void *ptr);

extern const struct ed_coding ed_coding_gzip;    /* RFC 1952 */
extern const struct ed_coding ed_coding_deflate; /* RFC 1950, and RFC 1951 without its wrapper */
extern const struct ed_coding ed_coding_brotli;  /* RFC 7932 */
extern const struct ed_coding ed_coding_zstd;    /* RFC 8878, windows up to 8 MiB (RFC 9659) */

#endif
