/*
 * http/forwarded.h - the client that trusted proxies report, in the frame of the middleware.
 */
#ifndef ED_HTTP_FORWARDED_H
#define ED_HTTP_FORWARDED_H

#include "eddy/http_forwarded.h"

struct ed_http_forwarded {
        struct eddy_endpoint client;
};

#endif
