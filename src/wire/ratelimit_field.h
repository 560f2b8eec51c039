/*
 * wire/ratelimit_field.h - a list of structured fields (RFC 9651, 3.1), as far as the headers of rate
 * limits use them.
 */
#ifndef ED_WIRE_RATELIMIT_FIELD_H
#define ED_WIRE_RATELIMIT_FIELD_H

#include <stdbool.h>
#include <stdint.h>

/* An entry such as `"default";r=50;t=30`, `100;w=60` or `limit=100`.  -1: not there. */
struct ed_ratelimit_entry {
        int64_t number;           /* of an entry that is a number, or has one after "=" */
        char key[16];             /* before that "=", in lower case; "" if there is none */
        int64_t quota, window;    /* "q" and "w" */
        int64_t remaining, reset; /* "r" and "t" */
        bool other_unit;          /* "qu" is there, and not "requests" */
};

/*
 * Read the entry at '*at', and move '*at' to the next one, or to the end.  Returns false if the text
 * does not follow the format.
 */
bool ed_ratelimit_entry_read(const char **at, struct ed_ratelimit_entry *ret_entry);

#endif
