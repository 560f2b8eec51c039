/*
 * common/text_find.h - a search for a short text in a long one, sixteen bytes at a time. No I/O.
 */
#ifndef ED_CMD_COMMON_TEXT_FIND_H
#define ED_CMD_COMMON_TEXT_FIND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns true if 'text' has 'part', of at least one byte. memmem() needs twice the time or more if
 * the first and the last byte of 'part' seldom have this distance.
 */
bool ed_text_has(const char *text, size_t bytes, const char *part, size_t part_bytes);

#endif
