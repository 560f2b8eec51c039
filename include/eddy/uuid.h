/*
 * eddy/uuid.h - identifiers of 128 bits that need no central registry (RFC 9562).
 *
 *     struct eddy_uuid id;
 *     char text[EDDY_UUID_TEXT_BYTES];
 *
 *     eddy_uuid_v7(&id);
 *     eddy_uuid_format(&id, text);        "019ab3d2-7c1e-7b5a-9f0e-3d2c1b0a9f8e"
 *
 * In a task, time and random bits come from the loop, so a test of eddy/test.h with one
 * seed makes the same identifiers in each run.
 *
 * Suspends: no.
 * Threads:  any.
 */
#ifndef EDDY_UUID_H
#define EDDY_UUID_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* In the order of the text: the most significant byte first.  memcmp() sorts as the text does. */
struct eddy_uuid {
        uint8_t bytes[16];
};

/* The size of a text, with its NUL. */
enum { EDDY_UUID_TEXT_BYTES = 37 };

/*
 * Make an identifier of 122 random bits (version 4).  They are unpredictable, except in
 * a test of eddy/test.h.  Cannot fail.
 *
 * Suspends: no.
 */
EDDY_API void eddy_uuid_v4(struct eddy_uuid *ret_uuid);

/*
 * Make an identifier that begins with the time of day (version 7): 60 bits of time in
 * steps of 1/4096 ms (RFC 9562, 6.2, method 3), and 62 random bits.  Identifiers of one
 * loop are in the order in which they were made, also within a step, and after the clock was
 * set back: the time is then one step after that of the last identifier.  Identifiers of different
 * loops, or of threads without a loop, are in order only if their times differ.  Every
 * reader can see the time; for a secret, use version 4.  Cannot fail.
 *
 * Suspends: no.
 */
EDDY_API void eddy_uuid_v7(struct eddy_uuid *ret_uuid);

/*
 * Read the text form, 36 characters: groups of 8, 4, 4, 4 and 12 hexadecimal digits in
 * either case, separated by '-'.  Any version and variant, nil and max are accepted; braces
 * and "urn:uuid:" are not.  On failure '*ret_uuid' is unchanged.
 *
 * Suspends: no.
 * Errors: -EINVAL
 */
EDDY_API EDDY_MUST_USE int eddy_uuid_parse(const char *text, size_t bytes,
                                           struct eddy_uuid *ret_uuid);

/* Write the text form in lower case, with a NUL after it.  Suspends: no. */
EDDY_API void eddy_uuid_format(const struct eddy_uuid *uuid, char out[EDDY_UUID_TEXT_BYTES]);

EDDY_END_DECLS

#endif
