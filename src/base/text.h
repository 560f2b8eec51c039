/*
 * base/text.h - text that is put together in a buffer and cut where that ends.
 */
#ifndef ED_BASE_TEXT_H
#define ED_BASE_TEXT_H

#include <stddef.h>

#include "base/def.h"

/* What is left of the buffer; begins as all of it. */
struct ed_text {
        char *at;
        size_t left;
};

/* Add to it; the end stays a '\0'. */
ED_SHARED void ed_text_add(struct ed_text *text, const char *format, ...) EDDY_PRINTF(2, 3);

/*
 * The function that the text of a call's arguments begins with, as in
 * "serve_client, &client": an identifier, or a path of identifiers such as
 * net::serve or job->run.  Returns its bytes and where it begins; 0: the text
 * is another expression.
 */
size_t ed_text_function(const char *text, const char **ret_begin);

#endif
