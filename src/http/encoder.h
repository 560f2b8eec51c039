/*
 * http/encoder.h - a content coding of an answer (RFC 9110, 8.4.1), made by the library that implements
 * it.
 */
#ifndef ED_HTTP_ENCODER_H
#define ED_HTTP_ENCODER_H

#include <stdint.h>

#include "http/coding.h"

enum ed_encoder_end {
        ED_ENCODER_MORE,   /* more input will follow */
        ED_ENCODER_FLUSH,  /* all input can be decoded from the output so far */
        ED_ENCODER_FINISH, /* the coded data ends */
};

enum { ED_ENCODER_FULL = 1 };

struct ed_encoder {
        const char *name;
        int level_default, level_max; /* the lowest is 1 */

        /* Returns the state of a new encoder for a body of 'bytes' bytes, below 0: unknown; or NULL. */
        void *(*new)(int level, int64_t bytes);

        /*
         * Encode until the input is used up and 'end' is reached, and return 0; or until the room is
         * used up, and return ED_ENCODER_FULL: repeat with the same 'end' and a room of at least 7
         * bytes, because zlib repeats the end of a flush that leaves no room.
         *
         * Errors: -ENOMEM
         */
        int (*step)(void *state, struct ed_coding_step *step, enum ed_encoder_end end);

        void (*free)(void *state);
};

/* Memory of a state: at most 270 KiB; 1.5 MiB. */
extern const struct ed_encoder ed_encoder_gzip;
extern const struct ed_encoder ed_encoder_zstd;

#endif
