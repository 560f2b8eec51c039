/*
 * http/openapi.h - the flags of eddy/openapi.h, and the page that shows a document.
 */
#ifndef ED_HTTP_OPENAPI_H
#define ED_HTTP_OPENAPI_H

#include "eddy/openapi.h"

enum { ED_OPENAPI_FLAGS = EDDY_OPENAPI_NO_PAGE };

/* The page, and the Content-Security-Policy that has the hashes of its style and its script. */
extern const char ed_openapi_page[];
extern const char ed_openapi_policy[];

#endif
