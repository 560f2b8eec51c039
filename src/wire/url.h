/*
 * wire/url.h - absolute http and https URLs (RFC 3986), read strictly.
 *
 * A parser that repairs what it reads can be made to see another host than
 * the check before it saw.  So nothing is repaired: what is not clearly a
 * URL is refused, with these decisions where RFC 3986 leaves room:
 *
 *   - control characters, spaces, '\', '"', '<', '>' are refused everywhere,
 *     and bytes above 0x7F everywhere but in the host
 *   - '%' is followed by two hexadecimal digits; in the host it is refused
 *   - "[]{}|^`" pass in path and query, as browsers send them
 *   - a host is a name of letters, digits, '-', '_' and '.', or an IPv4
 *     address of four decimal numbers, or an IPv6 address in brackets without
 *     a zone; a name whose last label is a number in any base is refused
 *     (127.1, 2130706433, 0x7f.1: forms under which address filters are passed)
 *   - the user information ends at the last '@' of the authority
 *   - the fragment is dropped
 */
#ifndef ED_WIRE_URL_H
#define ED_WIRE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/def.h"

enum {
        ED_URL_HOST_MAX = 253,
        ED_URL_BYTES_MAX = 64 << 10,
        ED_URL_AUTHORITY_ROOM = ED_URL_HOST_MAX + 2 + 6 + 1, /* [host]:port and a NUL */
};

enum ed_url_host_kind {
        ED_URL_NAME,
        ED_URL_NAME_IDN, /* holds bytes above 0x7F (valid UTF-8): to be converted by IDNA */
        ED_URL_IPV4,
        ED_URL_IPV6,
};

struct ed_url {
        bool is_https;
        bool has_userinfo;
        bool slash_first;  /* the request target is "/" and then 'target' */
        uint8_t host_kind; /* enum ed_url_host_kind */
        uint16_t port;     /* given, or 80 or 443 */
        uint16_t host_bytes;
        const char *userinfo; /* in the caller's text, as it stands there */
        size_t userinfo_bytes;
        const char *target; /* path and query, in the caller's text */
        size_t target_bytes;
        char host[ED_URL_HOST_MAX + 1]; /* ASCII letters in lower case, no brackets, with a NUL */
};

/*
 * Read a URL of 'bytes' bytes.
 *
 * Errors: EDDY_E_URL_INVALID
 *         EDDY_E_URL_SCHEME   a scheme other than http and https
 * Owns: '*ret_url' borrows 'text'.
 */
ED_SHARED EDDY_MUST_USE int ed_url_parse(const char *text, size_t bytes, struct ed_url *ret_url);

/* Whether two URLs have the same scheme, host and port. */
ED_SHARED bool ed_url_same_origin(const struct ed_url *a, const struct ed_url *b);

/*
 * Write the value for Host: the host, in brackets if it is an IPv6 address,
 * and the port if it is not the scheme's own; a NUL follows.  Returns its
 * length.  An ED_URL_NAME_IDN gives bytes that must not go into a request: put
 * the converted name in by ed_url_set_host() first.
 */
ED_SHARED size_t ed_url_authority(const struct ed_url *url, char out[ED_URL_AUTHORITY_ROOM]);

/*
 * Put another host in, such as a name that IDNA has converted, checked as
 * ed_url_parse() checks it (so full-width digits cannot turn into 127.1).
 *
 * Errors: EDDY_E_URL_INVALID
 */
ED_SHARED EDDY_MUST_USE int ed_url_set_host(struct ed_url *url, const char *host, size_t bytes);

/*
 * Check one host, an IPv6 address without brackets, and tell its kind (enum
 * ed_url_host_kind).
 *
 * Errors: EDDY_E_URL_INVALID
 */
ED_SHARED EDDY_MUST_USE int ed_url_host_check(const char *host, size_t bytes);

#endif
