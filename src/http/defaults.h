/*
 * http/defaults.h - what a client adds to all its requests: a base URL and headers.
 */
#ifndef ED_HTTP_DEFAULTS_H
#define ED_HTTP_DEFAULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "eddy/http_client_opts.h"
#include "eddy/http_text.h"

/* All zero: nothing is added. */
struct ed_http_defaults {
        char *url;       /* the base URL as it was given, owned; NULL: none */
        char *directory; /* the same with a '/' at the end of its path, owned */
        char origin[EDDY_HTTP_ORIGIN_BYTES];
        struct eddy_http_header *headers; /* owned, with their texts in one block */
        size_t headers_count;
        size_t headers_bytes;
};

/*
 * Check and copy the options. fini() is due after an error too.
 *
 * Errors: EDDY_E_URL_*, EDDY_E_HTTP_INVALID_REQUEST, -EINVAL, -ENOMEM
 */
EDDY_MUST_USE int ed_http_defaults_init(struct ed_http_defaults *defaults,
                                        const struct eddy_http_client_opts *opts);

void ed_http_defaults_fini(struct ed_http_defaults *defaults);

#endif
