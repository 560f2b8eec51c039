/*
 * wire/url.h - absolute http and https URLs (RFC 3986), parsed strictly.
 *
 * A parser that repairs its input may find another host than an earlier check of the URL found.
 * This parser therefore repairs nothing and refuses anything that is not clearly a URL. If RFC 3986
 * leaves a choice:
 *
 *   - control characters, spaces, '\', '"', '<', '>' are refused everywhere, and bytes above 0x7F
 *     everywhere except in the host
 *   - two hexadecimal digits follow each '%'; in the host '%' is refused
 *   - "[]{}|^`" are allowed in path and query, because browsers send them
 *   - a host is a name of letters, digits, '-', '_' and '.', or an IPv4 address of four decimal
 *     numbers, or an IPv6 address in brackets without a zone; a name whose last label is a number
 *     in any base is refused (127.1, 2130706433, 0x7f.1: forms that bypass address filters)
 *   - the user information ends at the last '@' of the authority
 *   - the fragment is dropped
 */
#ifndef ED_WIRE_URL_H
#define ED_WIRE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/def.h"
#include "eddy/url.h"

enum {
        ED_URL_HOST_MAX = 253,
        ED_URL_BYTES_MAX = EDDY_URL_BYTES_MAX,
        ED_URL_AUTHORITY_ROOM = ED_URL_HOST_MAX + 2 + 6 + 1, /* [host]:port and a NUL */
};

enum ed_url_host_kind {
        ED_URL_NAME,
        ED_URL_NAME_IDN, /* has bytes above 0x7F (valid UTF-8): must be converted by IDNA */
        ED_URL_IPV4,
        ED_URL_IPV6,
};

struct ed_url {
        bool is_https;
        bool has_userinfo;
        bool has_port;     /* 'port' is in the text */
        bool slash_first;  /* the request target is "/" followed by 'target' */
        uint8_t host_kind; /* enum ed_url_host_kind */
        uint16_t port;     /* explicit, or 80 or 443 */
        uint16_t host_bytes;
        const char *userinfo; /* in the caller's text, still encoded */
        size_t userinfo_bytes;
        const char *target; /* path and query, in the caller's text */
        size_t target_bytes;
        char host[ED_URL_HOST_MAX + 1]; /* letters in lower case, no brackets, with a NUL */
};

/*
 * Parse a URL of 'bytes' bytes.
 *
 * Errors: EDDY_E_URL_INVALID
 *         EDDY_E_URL_SCHEME   a scheme other than http and https
 * Owns: '*ret_url' borrows 'text'.
 */
ED_SHARED EDDY_MUST_USE int ed_url_parse(const char *text, size_t bytes, struct ed_url *ret_url);

/*
 * Write the value for Host and a NUL: the host, in brackets if it is an IPv6 address, and the port
 * unless it is the scheme's default. Returns its length. The bytes of an ED_URL_NAME_IDN must not
 * go into a request: convert the name and call ed_url_set_host() first.
 */
ED_SHARED size_t ed_url_authority(const struct ed_url *url, char out[ED_URL_AUTHORITY_ROOM]);

/*
 * Replace the host, for example by a name that IDNA has converted. The new host is checked as in
 * ed_url_parse(), so full-width digits cannot turn into 127.1.
 *
 * Errors: EDDY_E_URL_INVALID
 */
ED_SHARED EDDY_MUST_USE int ed_url_set_host(struct ed_url *url, const char *host, size_t bytes);

/*
 * Check a host (IPv6 addresses without brackets), and return its kind (enum ed_url_host_kind).
 *
 * Errors: EDDY_E_URL_INVALID
 */
ED_SHARED EDDY_MUST_USE int ed_url_host_check(const char *host, size_t bytes);

/*
 * Split "host", "host:port" or "[v6]:port", and check both parts. Returns the kind of the host. A
 * port that is missing or empty leaves '*port' unchanged.
 * Errors: EDDY_E_URL_INVALID
 */
EDDY_MUST_USE int ed_url_host_port_split(const char *text, size_t bytes, const char **ret_host,
                                         size_t *ret_host_bytes, uint16_t *port);

/* Returns true if all characters may be in a URL, and two hexadecimal digits follow each '%'. */
bool ed_url_text_is(const char *text, size_t bytes);

/*
 * Decode a part of a URL: '%' and two hexadecimal digits become a byte. Returns the number of bytes, no
 * NUL.
 *
 * Errors: EDDY_E_URL_INVALID      a '%' without two digits
 *         EDDY_E_URL_CREDENTIALS  a control character; more than 'room' bytes
 */
ED_SHARED EDDY_MUST_USE int64_t ed_url_decode(const char *text, size_t bytes, char *out,
                                              size_t room);

#endif
