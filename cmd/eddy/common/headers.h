/*
 * common/headers.h - the headers of -H, and the method of -X.
 */
#ifndef ED_CMD_COMMON_HEADERS_H
#define ED_CMD_COMMON_HEADERS_H

#include <stddef.h>

#include "eddy/def.h"
#include "eddy/http_response.h"

enum { ED_HEADERS_MAX = 64 };

struct ed_headers {
        struct eddy_http_header items[ED_HEADERS_MAX]; /* one allocation each */
        size_t count;
};

void ed_headers_fini(struct ed_headers *headers);

/*
 * Add 'NAME: VALUE', which is copied, or each line of the file in '@FILE'. Errors are reported on
 * stderr, without the value.
 *
 * Errors: -EINVAL, -ENOMEM
 */
EDDY_MUST_USE int ed_headers_add(struct ed_headers *headers, const char *command, const char *text);

/* Overwrite the value of a header in the arguments, which `ps` shows. */
void ed_headers_overwrite(char *text);

/* Check a method. Errors are reported on stderr. Errors: -EINVAL */
EDDY_MUST_USE int ed_headers_check_method(const char *command, const char *method);

#endif
