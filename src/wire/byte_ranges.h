/*
 * wire/byte_ranges.h - the field Range of a request (RFC 9110, 14.1 and 14.2).
 *
 * A request may ask for many bytes with few: "bytes=0-,0-,0-,..." (a range bomb). Therefore the ranges that
 * are answered are at most ED_BYTE_RANGES_MAX, and have together at most the bytes of the whole content.
 * Others are answered with the whole content, which RFC 9110, 14.2 allows.
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
 * Read the value of Range for a content of 'bytes' bytes. Stores the ranges that the content has, in the
 * order asked for, and returns their number. Returns 0 if the whole content is the answer: the value is
 * not valid, has another unit, or asks for too much. Returns -1 if the content has none of the ranges
 * (416).
 */
ED_SHARED int ed_byte_ranges_read(const char *value, int64_t bytes,
                                  struct ed_byte_range out[ED_BYTE_RANGES_MAX]);

#endif
