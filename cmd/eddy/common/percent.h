/*
 * common/percent.h - percent-encoding (RFC 3986, 2.1).
 */
#ifndef ED_CMD_COMMON_PERCENT_H
#define ED_CMD_COMMON_PERCENT_H

#include <stddef.h>

#include "common/draft.h"

/*
 * Append bytes, all of them encoded but letters, digits and - . _ ~ (RFC 3986, 2.3). The result has
 * no meaning in any part of a URL: a space becomes %20, not +.
 */
void ed_percent_add(struct ed_draft *text, const char *data, size_t bytes);

#endif
