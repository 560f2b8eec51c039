/*
 * batch/request/target.c - see target.h.
 */
#include "batch/request/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/outcome.h"
#include "common/url_fault.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/http_text.h"

/* A path is checked as that of some host. */
#define SOME_HOST "http://h"

enum { ROOM_BYTES = 512, URL_BYTES_MAX = 64 << 10 /* of the library */ };

/* The latest URL without a fault: most files have one URL in all lines. */
static _Thread_local char latest[ROOM_BYTES];

/* Check a path as part of an absolute URL, which is built in 'room' if it fits. */
static int path_check(const char *path, char room[ROOM_BYTES])
{
        size_t bytes = sizeof(SOME_HOST) + strlen(path);
        char *whole = bytes <= ROOM_BYTES ? room : eddy_malloc(bytes);
        char origin[EDDY_HTTP_ORIGIN_BYTES];
        int err;

        if (!whole)
                return -ENOMEM;
        memcpy(whole, SOME_HOST, strlen(SOME_HOST));
        memcpy(whole + strlen(SOME_HOST), path, strlen(path) + 1);
        err = eddy_http_url_origin(whole, origin);
        if (whole != room)
                eddy_free(whole);
        return err;
}

int ed_target_check(const char *url, char text[ED_TARGET_FAULT_BYTES])
{
        char room[ROOM_BYTES] = "", origin[EDDY_HTTP_ORIGIN_BYTES];
        size_t bytes = strlen(url), most = URL_BYTES_MAX - (*url == '/' ? strlen(SOME_HOST) : 0);
        const char *fault = NULL;
        int err;

        if (strcmp(url, latest) == 0)
                return 0;
        if (bytes > most) {
                snprintf(text, ED_TARGET_FAULT_BYTES,
                         "the URL has %zu bytes; at most %zu are possible", bytes, most);
                return -EINVAL;
        }
        err = *url == '/' ? path_check(url, room) : eddy_http_url_origin(url, origin);
        if (err == 0 && bytes < sizeof(latest))
                memcpy(latest, url, bytes + 1);
        if (err == 0 || err == -ENOMEM)
                return err;
        /* The faulty part may be a password. */
        if (err == EDDY_E_URL_INVALID && !strchr(url, '@')) {
                const char *whole = *url == '/' ? room : url;

                /* A path that does not fit is not searched. */
                fault = *whole ? ed_url_fault(whole, strlen(whole), text) : NULL;
        }
        if (fault != text)
                snprintf(text, ED_TARGET_FAULT_BYTES, "%s",
                         fault ? fault : ed_outcome_message(err));
        return -EINVAL;
}
