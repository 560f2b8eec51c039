/*
 * traversal.h - forms of paths that try to leave a folder: each spelling of "..", each separator, each
 * depth, before and after other parts.
 */
#ifndef ED_TEST_TRAVERSAL_H
#define ED_TEST_TRAVERSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { TRAVERSAL_BYTES = 600 };

static const char *const traversal_ups[] = {
        "..",
        "%2e%2e",
        ".%2e",
        "%2E.",
        "%252e%252e",
        "%c0%ae%c0%ae",
        "%e0%80%ae%e0%80%ae",
        "%uff0e%uff0e",
        "..%00",
        "..%20",
        "...",
        "..;",
        "..%5c",
        "..%01",
};

static const char *const traversal_slashes[] = {
        "/", "%2f", "%5c", "\\", "//", "/./", "%252f", "%c0%af",
};

static const char *const traversal_before[] = { "/", "//", "/sub/", "/sub/link/" };

enum {
        TRAVERSAL_UPS = sizeof(traversal_ups) / sizeof(traversal_ups[0]),
        TRAVERSAL_SLASHES = sizeof(traversal_slashes) / sizeof(traversal_slashes[0]),
        TRAVERSAL_BEFORE = sizeof(traversal_before) / sizeof(traversal_before[0]),
        TRAVERSAL_DEPTHS = 4,
};

/* Store form number 'i'. Returns false after the last. */
static inline bool traversal_next(size_t i, char path[TRAVERSAL_BYTES])
{
        static const char *const depths[TRAVERSAL_DEPTHS] = { "", "x", "xxx", "xxxxxxxxxxxx" };
        static const char *const targets[] = { "secret.txt", "etc/passwd" };
        const char *up = traversal_ups[i % TRAVERSAL_UPS];
        const char *slash = traversal_slashes[i / TRAVERSAL_UPS % TRAVERSAL_SLASHES];
        size_t rest = i / TRAVERSAL_UPS / TRAVERSAL_SLASHES, n;

        if (rest >= (size_t) TRAVERSAL_BEFORE * TRAVERSAL_DEPTHS)
                return false;
        n = (size_t) snprintf(path, TRAVERSAL_BYTES, "%s",
                              traversal_before[rest % TRAVERSAL_BEFORE]);
        rest /= TRAVERSAL_BEFORE;
        for (size_t j = 0; j <= strlen(depths[rest]); j++)
                n += (size_t) snprintf(path + n, TRAVERSAL_BYTES - n, "%s%s", up, slash);
        snprintf(path + n, TRAVERSAL_BYTES - n, "%s", targets[rest == 3]);
        return true;
}

#endif
