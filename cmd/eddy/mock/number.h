/*
 * mock/number.h - numbers, fractions and durations inside the values of options.
 */
#ifndef ED_CMD_MOCK_NUMBER_H
#define ED_CMD_MOCK_NUMBER_H

#include <stdint.h>

#include "eddy/def.h"

/* Read a number with decimals, at most 15 digits. Returns the text after it, or NULL. */
const char *ed_number_read(const char *text, double *ret_number);

/* Read a fraction from 0 to 1, such as 5% or 0.05. Returns the text after it, or NULL. */
const char *ed_number_read_part(const char *text, double *ret_part);

/*
 * Read a duration that ends before one of the characters in 'ends' or the NUL. Returns the text
 * after it, or NULL and a short explanation in '*ret_why'.
 */
const char *ed_number_read_duration(const char *text, const char *ends, int64_t *ret_ns,
                                    const char **ret_why);

#endif
