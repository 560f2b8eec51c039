/*
 * common/excerpt.h - texts of others, as messages show them: short and printable.
 */
#ifndef ED_CMD_COMMON_EXCERPT_H
#define ED_CMD_COMMON_EXCERPT_H

#include <stddef.h>

enum { ED_EXCERPT_BYTES = 64 };

/*
 * Returns 'room' with the beginning of the text, and "..." if there is more. Control characters and
 * bytes that are not UTF-8 become question marks.
 */
const char *ed_excerpt(char room[ED_EXCERPT_BYTES], const char *text, size_t bytes);

#endif
