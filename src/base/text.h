/*
 * base/text.h - formatting text into a buffer, which cuts the text at its end.
 */
#ifndef ED_BASE_TEXT_H
#define ED_BASE_TEXT_H

#include <stddef.h>

#include "base/def.h"

/* The rest of the buffer; initially all of it. */
struct ed_text {
        char *at;
        size_t left;
};

/* Append text; the buffer always ends in a NUL. */
ED_SHARED void ed_text_add(struct ed_text *text, const char *format, ...) EDDY_PRINTF(2, 3);

/*
 * Find the function at the start of a call's argument text, as in "serve_client, &client": an
 * identifier, or a path of identifiers such as net::serve or job->run. Returns its size and start,
 * or 0 if the text is another expression.
 */
ED_SHARED size_t ed_text_function(const char *text, const char **ret_begin);

#endif
