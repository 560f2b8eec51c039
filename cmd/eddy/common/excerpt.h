/*
 * common/excerpt.h - makes text from input files short and printable for messages.
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

/* The same in another room, of at least 4 bytes. */
const char *ed_excerpt_within(char *room, size_t room_bytes, const char *text, size_t bytes);

/* Returns a copy of a text (owned), or NULL if memory is short. */
char *ed_text_copy(const char *text);

#endif
