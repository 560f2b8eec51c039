/*
 * common/text_form.h - the form of a message: its text without what differs between two messages of
 * one cause. No I/O.
 *
 *     model "a" allows 4096 tokens, req_7f3a     ->  model "" allows # tokens, #
 *
 * Quoted parts are empty. A word with a digit is '#', with points, commas, colons and slashes between
 * its parts, as in 1.5, 10.0.0.1:80 and an id; so is a word of eight or more letters that are all
 * hexadecimal. Rows of such parts, as in 1, 2, 3, are one. A run of white space is one space.
 */
#ifndef ED_CMD_COMMON_TEXT_FORM_H
#define ED_CMD_COMMON_TEXT_FORM_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of a text that count, and those of its form at most. */
enum { ED_TEXT_FORM_COUNTED = 256, ED_TEXT_FORM_BYTES = 2 * ED_TEXT_FORM_COUNTED };

/* Write the form of a text. Returns its bytes. */
size_t ed_text_form_write(const char *text, size_t bytes, char form[ED_TEXT_FORM_BYTES]);

/* Returns a number that two texts have in common if their forms are equal, and so are their kinds. */
uint64_t ed_text_form(const char *kind, const char *text, size_t bytes);

#endif
