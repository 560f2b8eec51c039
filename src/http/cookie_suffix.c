/*
 * http/cookie_suffix.c - the public suffix list that libpsl was built with, so that no file is read.
 */
#include "http/cookie_suffix.h"

#include <libpsl.h>
#include <string.h>

bool ed_cookie_suffix_is(const char *name)
{
        const psl_ctx_t *list = psl_builtin();

        /* Without a list, at least "com" is a suffix. */
        if (!list)
                return !strchr(name, '.');
        return psl_is_public_suffix2(list, name, PSL_TYPE_ANY);
}
