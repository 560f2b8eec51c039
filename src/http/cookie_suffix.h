/*
 * http/cookie_suffix.h - the public suffix list: names under which anybody may register names.
 */
#ifndef ED_HTTP_COOKIE_SUFFIX_H
#define ED_HTTP_COOKIE_SUFFIX_H

#include <stdbool.h>

/*
 * Returns true if a name, in lower case and ASCII, is a public suffix. A name without a dot always is
 * one.
 */
bool ed_cookie_suffix_is(const char *name);

#endif
