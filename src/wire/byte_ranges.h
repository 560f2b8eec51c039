/*
 * wire/byte_ranges.h - the field Range of a request (RFC 9110, 14.1 and 14.2).
 *
 * A short request can ask for a very large answer: "bytes=0-,0-,0-,..." (a range bomb). Therefore
 * at most ED_BYTE_RANGES_MAX ranges are answered, and only if their total does not exceed the
 * content. Other requests get the whole content, which RFC 9110, 14.2 allows.
 */
#ifndef ED_WIRE_BYTE_RANGES_H
#define ED_WIRE_BYTE_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/def.h"

enum { ED_BYTE_RANGES_MAX = 32 };

/* The bytes from 'first' to 'last', both included. */
struct ed_byte_range {
        int64_t first, last;
};

/*
 * Read the value of Range for a content of 'bytes' bytes. Stores the ranges that overlap the
 * content, in the order of the request, and returns their number. Returns 0 if the whole content
 * should be sent, because the value is not valid, has another unit, or asks for too much. Returns
 * -1 if no range overlaps the content (416).
 */
ED_SHARED int ed_byte_ranges_read(const char *value, int64_t bytes,
                                  struct ed_byte_range out[ED_BYTE_RANGES_MAX]);

#endif
