/*
 * http/range.h - the rules of eddy/http_range.h, on fields of any origin. No I/O.
 */
#ifndef ED_HTTP_RANGE_H
#define ED_HTTP_RANGE_H

#include <stdint.h>

#include "eddy/http_range.h"

/* Returns the value of a header field of a response; NULL: none; ",": it occurs more than once. */
typedef const char *ed_http_range_field_fn(const void *arg, const char *name);

/* 'now_s' is the time of day in seconds since 1970. */
void ed_http_range_note(struct eddy_http_range *range, ed_http_range_field_fn *field,
                        const void *arg, int64_t now_s);

enum eddy_http_range_answer ed_http_range_judge(struct eddy_http_range *range, uint64_t first,
                                                int status, ed_http_range_field_fn *field,
                                                const void *arg, uint64_t *ret_bytes);

#endif
