/*
 * common/secret_header.c - see secret_header.h.
 */
#include "common/secret_header.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

bool ed_header_is_secret(const char *name)
{
        static const char *const ends[] = { "authorization", "cookie", "key",
                                            "token",         "secret", "password" };
        size_t bytes = strlen(name);

        if (strcasecmp(name, "Idempotency-Key") == 0)
                return false;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                size_t end = strlen(ends[i]);

                if (bytes >= end && strcasecmp(name + bytes - end, ends[i]) == 0)
                        return true;
        }
        return false;
}
