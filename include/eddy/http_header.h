/*
 * eddy/http_header.h - a header field of a request or a response (RFC 9110, 5).
 */
#ifndef EDDY_HTTP_HEADER_H
#define EDDY_HTTP_HEADER_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* Both texts end in a NUL.  Names are compared without regard to case. */
struct eddy_http_header {
        const char *name;
        const char *value;
};

EDDY_END_DECLS

#endif
