/*
 * mock/number.h - numbers, parts and durations inside the values of options.
 */
#ifndef ED_CMD_MOCK_NUMBER_H
#define ED_CMD_MOCK_NUMBER_H

#include <stdint.h>

#include "eddy/def.h"

/* Read a number with decimals, at most 15 digits. Returns the text after it, or NULL. */
const char *ed_number_read(const char *text, double *ret_number);

/*
 * Read a part of the whole, 5% or 0.05, from 0 to 1. Returns the text after it, or NULL.
 */
const char *ed_number_read_part(const char *text, double *ret_part);

/*
 * Read a duration up to one of the characters 'ends' or the NUL. Returns the text after it, or
 * NULL, and '*ret_why' is a short explanation.
 */
const char *ed_number_read_duration(const char *text, const char *ends, int64_t *ret_ns,
                                    const char **ret_why);

#endif
