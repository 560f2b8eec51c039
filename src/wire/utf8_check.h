/*
 * wire/utf8_check.h - texts in UTF-8 that arrive in pieces.
 */
#ifndef ED_WIRE_UTF8_CHECK_H
#define ED_WIRE_UTF8_CHECK_H

#include <stdint.h>

#include "base/def.h"

/*
 * Returns the length of the whole sequences at the start of 'text': all of it, or less if its last
 * sequence is cut; the next call begins there, with more bytes. Returns -1 if the text is not UTF-8,
 * whatever follows.
 */
ED_SHARED int64_t ed_utf8_check(const void *text, size_t bytes);

#endif
