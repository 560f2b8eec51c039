/*
 * eddy/endpoint.h - where a stream or a listener is: an IP address and a port, or
 * the path of a Unix socket.
 *
 * An endpoint is a plain struct, to be copied and kept as a value.  Its text is
 *
 *     127.0.0.1:80           IPv4 and port
 *     [::1]:80               IPv6 and port
 *     [fe80::1%2]:80         a link-local address of interface number 2
 *     unix:/run/x.sock       a Unix socket with a file
 *     unix:@name             a Unix socket with an abstract name (Linux), no file
 *
 * Threads: any.
 */
#ifndef EDDY_ENDPOINT_H
#define EDDY_ENDPOINT_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/dns.h" /* struct eddy_address */

EDDY_BEGIN_DECLS

enum eddy_endpoint_kind {
        EDDY_ENDPOINT_NONE = 0, /* unknown */
        EDDY_ENDPOINT_IP = 1,
        EDDY_ENDPOINT_UNIX = 2,
};

enum {
        EDDY_ENDPOINT_PATH_MAX = 107,  /* bytes of a path without its NUL, or of '@' and a name */
        EDDY_ENDPOINT_TEXT_BYTES = 120 /* of the longest text, with its NUL */
};

struct eddy_endpoint {
        uint8_t kind;                /* EDDY_ENDPOINT_* */
        uint8_t path_bytes;          /* length of 'path'; 0: a Unix socket without a name */
        uint16_t port;               /* of EDDY_ENDPOINT_IP */
        struct eddy_address address; /* of EDDY_ENDPOINT_IP */
        char path[EDDY_ENDPOINT_PATH_MAX + 1]; /* of EDDY_ENDPOINT_UNIX; the first byte of an
                                                  abstract name is NUL */
};

/*
 * Read an endpoint from its text.  Only the forms above are accepted.  A port has
 * only digits, no leading zero, and is at most 65,535; IPv6 has brackets; a path is
 * not empty and has no control characters.  A relative path is taken as it is.  For a
 * file whose name begins with '@', write "unix:./@name".
 *
 * Suspends: no.
 * Errors: EDDY_E_ENDPOINT_ADDRESS  not an IPv4 address or an IPv6 address in brackets
 *         EDDY_E_ENDPOINT_PORT     no port after the address, or not a port
 *         EDDY_E_ENDPOINT_PATH     no path, or a control character in it
 *         -ENAMETOOLONG            more than EDDY_ENDPOINT_PATH_MAX bytes of path
 */
EDDY_API EDDY_MUST_USE int eddy_endpoint_parse(const char *text,
                                               struct eddy_endpoint *ret_endpoint);

/*
 * Write the text of an endpoint.  eddy_endpoint_parse() reads this text, with three
 * exceptions: "none" for EDDY_ENDPOINT_NONE; "unix:" for a Unix socket without a name,
 * which is usual for clients; and texts in which a '?' replaces a control character of
 * the path, so that the text is one line.
 *
 * Suspends: no.
 */
EDDY_API void eddy_endpoint_format(const struct eddy_endpoint *endpoint,
                                   char ret_text[EDDY_ENDPOINT_TEXT_BYTES]);

/*
 * Make the endpoint of a Unix socket: 'path' is the path of its file, or '@' and an
 * abstract name.
 *
 * Suspends: no.
 * Errors: EDDY_E_ENDPOINT_PATH  the path or the name is empty
 *         -ENAMETOOLONG         more than EDDY_ENDPOINT_PATH_MAX bytes
 */
EDDY_API EDDY_MUST_USE int eddy_endpoint_unix(const char *path, struct eddy_endpoint *ret_endpoint);

/*
 * Returns whether two endpoints are equal in all their parts.  Two unnamed Unix
 * sockets are not equal, nor are two EDDY_ENDPOINT_NONE, because they may be
 * different places.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_endpoint_is_equal(const struct eddy_endpoint *a, const struct eddy_endpoint *b);

EDDY_END_DECLS

#endif
