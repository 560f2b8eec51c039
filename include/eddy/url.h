/*
 * eddy/url.h - URLs (RFC 3986): parse, write, join, quote and unquote, read and write queries.
 *
 *     char url[1024];
 *
 *     if (eddy_url_join("https://api.example.com/v1/", "users", url, sizeof(url)) < 0 ||
 *         eddy_url_query_add(url, sizeof(url), "name", "Zoë & Tim") < 0)
 *             return -EMSGSIZE;
 *     // https://api.example.com/v1/users?name=Zo%C3%AB%20%26%20Tim
 *
 * Nothing is repaired: a text that is not clearly a URL is refused, as eddy_http_client_send() refuses
 * it.  A parser that repairs its input may find another host than an earlier check found.
 *
 *   - control characters, spaces, '\', '"', '<', '>' are refused everywhere, and bytes above 0x7F
 *     everywhere except in the host
 *   - two hexadecimal digits follow each '%'; in the host '%' is refused
 *   - "[]{}|^`" are allowed in the path and the query, because browsers send them
 *   - a host is a name of letters, digits, '-', '_' and '.', or an IPv4 address of four decimal
 *     numbers, or an IPv6 address in brackets without a zone; 127.1 and 0x7f.1 are refused
 *   - the user information ends at the last '@' before the path
 *   - a URL has at most EDDY_URL_BYTES_MAX bytes
 *
 * Each function that writes a text to 'out' stores the text with a NUL, and returns the number of
 * its bytes without the NUL.  'out' has room for 'room' bytes, and is not changed on failure; if
 * 'room' is too small, the error is -EMSGSIZE.  If 'out' is NULL, the bytes are only counted.
 * Nothing is allocated.
 *
 * No function here suspends.  Threads: any.
 */
#ifndef EDDY_URL_H
#define EDDY_URL_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_URL_BYTES_MAX = 64 << 10 };

/* A part of a text, without a NUL: printf("%.*s", (int) part.bytes, part.text). */
struct eddy_url_part {
        const char *text EDDY_UNSET; /* NULL: the URL does not have this part */
        size_t bytes EDDY_UNSET;
};

/*
 * The parts of a URL, as they are written there: neither decoded (eddy_url_unquote()) nor normalised.
 * An empty part has a text of 0 bytes: "http://h/?" has an empty query, "http://h/" has none.
 */
struct eddy_url {
        struct eddy_url_part scheme EDDY_UNSET; /* without ':' */
        struct eddy_url_part user EDDY_UNSET;
        struct eddy_url_part password EDDY_UNSET; /* after the first ':' of the user information */
        struct eddy_url_part host EDDY_UNSET;     /* an IPv6 address has no brackets here */
        struct eddy_url_part path EDDY_UNSET;  /* eddy_url_parse() always sets it; may be empty */
        struct eddy_url_part query EDDY_UNSET; /* without '?' */
        struct eddy_url_part fragment EDDY_UNSET; /* without '#' */
        uint16_t port EDDY_UNSET; /* as written, else 80 for http, 443 for https, 0 for others */
        uintptr_t reserved[2] EDDY_UNSET;
};

/*
 * Parse a URL of any scheme, or a relative reference such as "../a?b", whose scheme is absent.  With the
 * schemes http and https, exactly the URLs that the HTTP client parses are accepted; their host is
 * never empty.  A name outside ASCII stays as it is, and the client converts it (UTS 46) to a name that
 * may be another one: a program that compares hosts with a list refuses bytes above 0x7F first.
 *
 * Errors: EDDY_E_URL_INVALID
 * Owns: '*ret_url' borrows 'text'.
 */
EDDY_API EDDY_MUST_USE int eddy_url_parse(const char *text, size_t bytes, struct eddy_url *ret_url);

/*
 * Write the text of a URL (RFC 3986, 5.3), from which eddy_url_parse() reads the same parts: a part
 * that would end early or begin another part is refused.  The port is left out if it is 0 or the
 * default of http or https.
 *
 * Errors: EDDY_E_URL_INVALID  a part must be quoted first (eddy_url_quote())
 *         -EMSGSIZE
 */
EDDY_API EDDY_MUST_USE int64_t eddy_url_format(const struct eddy_url *url, char *out, size_t room);

/*
 * Write the URL to which 'reference' leads from 'base' (RFC 3986, 5.2, strict: "http:a" is not relative
 * and remains "http:a", without a host, which eddy_url_parse() and the client refuse).
 * "." and ".." segments are removed, except from the path of 'base' if 'reference' has no path; "%2e" is not
 * such a segment.  The user information of 'base' remains, unless 'reference' has a host.  A path
 * that would begin with "//" without a host gets "/." before it, as in the URL standard of WHATWG.
 * 'out' must overlap neither text.
 *
 * Errors: EDDY_E_URL_INVALID  'base' or 'reference' is not valid; 'base' has no scheme; the result
 *                             would have more than EDDY_URL_BYTES_MAX bytes
 *         -EMSGSIZE
 */
EDDY_API EDDY_MUST_USE int64_t eddy_url_join(const char *base, const char *reference, char *out,
                                             size_t room);

/* ---- quoting --------------------------------------------------------------------------------- */

enum {
        EDDY_URL_PLUS = 1 << 0,  /* a space is '+', as in forms; a '+' is %2B */
        EDDY_URL_SLASH = 1 << 1, /* eddy_url_quote() keeps '/', for a path of several segments */
};

/*
 * Write bytes so that they have no meaning in any part of a URL: each byte other than letters, digits
 * and - . _ ~ (RFC 3986, 2.3) becomes '%' and two digits.  "." and ".." stay and are
 * special as a segment of a path: refuse them there.  'out' must not overlap 'data'.
 *
 * Errors: -EINVAL  an unknown flag
 *         -EMSGSIZE
 */
EDDY_API EDDY_MUST_USE int64_t eddy_url_quote(const void *data, size_t bytes, unsigned flags,
                                              char *out, size_t room);

/*
 * Decode: '%' and two hexadecimal digits become a byte, also "%00"; with EDDY_URL_PLUS, '+' becomes a
 * space.  The result may contain NULs, and need not be UTF-8.  'out' may be 'text' itself.
 *
 * Errors: EDDY_E_URL_INVALID  a '%' without two digits
 *         -EINVAL             an unknown flag
 *         -EMSGSIZE
 */
EDDY_API EDDY_MUST_USE int64_t eddy_url_unquote(const char *text, size_t bytes, unsigned flags,
                                                char *out, size_t room);

/* ---- queries and forms ----------------------------------------------------------------------- */

/* Decoded strings. */
struct eddy_url_pair {
        const char *name EDDY_UNSET;
        const char *value EDDY_UNSET;
};

/*
 * Read the first pair of a query, or of a body of application/x-www-form-urlencoded, and remove the
 * pair from '*query':
 *
 *     struct eddy_url_part query = url.query;
 *
 *     while ((err = eddy_url_query_next(&query, room, sizeof(room), &pair)) > 0)
 *             set_option(pair.name, pair.value);
 *
 * Pairs are read as WHATWG's URL standard reads them: '&' ends a pair, empty pairs are
 * skipped, '+' is a space, a pair without '=' has the value "".  Returns 1, or 0 at the end.
 * The query's bytes, plus 2, always suffice as 'room'.
 *
 * Errors: EDDY_E_URL_INVALID  the pair has a '%' without two digits, or %00; it is removed
 *         -EMSGSIZE           'room' is too small; '*query' is not changed
 * Owns: '*ret_pair' borrows 'out'.
 */
EDDY_API EDDY_MUST_USE int eddy_url_query_next(struct eddy_url_part *query, char *out, size_t room,
                                               struct eddy_url_pair *ret_pair);

/*
 * Write the value of the first pair with this name, decoded as by eddy_url_query_next().
 *
 * Errors: -ENOENT             the query has no such name
 *         EDDY_E_URL_INVALID  the value has a '%' without two digits, or %00
 *         -EMSGSIZE
 */
EDDY_API EDDY_MUST_USE int64_t eddy_url_query_get(const char *query, size_t bytes, const char *name,
                                                  char *out, size_t room);

/*
 * Write pairs as a query or form: "a=1&b=2", quoted as by eddy_url_quote().  A space becomes %20,
 * which every reader of forms and queries decodes, or '+' with EDDY_URL_PLUS.  'out' must not overlap
 * the pairs.
 *
 * Errors: -EINVAL  an unknown flag; a name or value is NULL
 *         -EMSGSIZE
 */
EDDY_API EDDY_MUST_USE int64_t eddy_url_query_write(const struct eddy_url_pair *pairs, size_t count,
                                                    unsigned flags, char *out, size_t room);

/*
 * Append a pair to the query of the URL at 'url', in a buffer of 'room' bytes: after '?' if the URL
 * has no query, else after '&', and before the fragment.  The URL itself is not checked.  Returns the
 * number of bytes of the new URL.
 *
 * Errors: -EINVAL    an argument is NULL
 *         -EMSGSIZE  the URL is not changed
 */
EDDY_API EDDY_MUST_USE int64_t eddy_url_query_add(char *url, size_t room, const char *name,
                                                  const char *value);

EDDY_END_DECLS

#endif
