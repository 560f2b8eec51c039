/*
 * eddy/http_cookies.h - a cookie jar (RFC 6265bis): keeps the cookies of servers, and sends them back.
 *
 *     EDDY_AUTO(eddy_http_cookies) eddy_http_cookies *cookies = NULL;
 *     int err = eddy_http_cookies_new(&cookies);
 *
 *     if (err == 0)
 *             err = eddy_http_cookies_load(cookies, "cookies.txt");
 *     if (err < 0 && err != -ENOENT)
 *             return err;
 *     ... clients with the option 'cookies', or requests with their own ...
 *     err = eddy_http_cookies_save(cookies, "cookies.txt");
 *
 * A jar is independent of clients: several clients may share a jar, and a jar may be used without a
 * client.  The rules are those of RFC 6265bis for a program without pages:
 *
 *   - A cookie without the attribute Domain goes only to the host that set it.  With Domain, it also
 *     goes to the hosts below.  A Domain that does not include the host, or ends in a dot, is refused, and
 *     so is a public suffix ("co.uk", "github.io"; the list is libpsl's); if the suffix is the host itself,
 *     the cookie is only for this host.  A host that is an IP address has only
 *     cookies of its own.
 *   - A cookie with Secure is set by and sent to https only, and http cannot replace it.
 *   - The names "__Secure-..." and "__Host-..." require what they promise.
 *   - Max-Age overrides Expires.  A server can set a cookie for 400 days at most.
 *   - HttpOnly and SameSite are kept, and have no effect: they are instructions for pages.
 *
 * A cookie has at most 4,096 bytes of name and value, and a path of 1,024 bytes.  A jar has at most
 * 3,000 cookies, and 50 of a domain.  Above that, expired cookies are dropped first; in a domain
 * then those without Secure; then those that were not sent for the longest time.  Cookies with a control
 * character are ignored, and the response that has them is read as usual.
 *
 * Calls with a NULL jar, or with NULL where an argument is needed, return -EINVAL.  A jar belongs to no
 * loop, but two threads must not use it at the same time.  Time is eddy_time_of_day().
 */
#ifndef EDDY_HTTP_COOKIES_H
#define EDDY_HTTP_COOKIES_H

#include <stdbool.h>

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_http_cookies eddy_http_cookies;

enum {
        EDDY_HTTP_COOKIES_MAX = 3000,
        EDDY_HTTP_COOKIES_DOMAIN_MAX = 50,
        EDDY_HTTP_COOKIE_BYTES_MAX = 4096,        /* name and value together */
        EDDY_HTTP_COOKIE_PATH_MAX = 1024,         /* bytes */
        EDDY_HTTP_COOKIE_HEADER_MAX = 8190,       /* bytes of the value of a header Cookie */
        EDDY_HTTP_COOKIES_FILE_MAX = 32 << 20,    /* bytes of a file to load */
        EDDY_HTTP_COOKIE_AGE_MAX_S = 400 * 86400, /* of a cookie that a server sets */
};

/* The attribute SameSite. */
enum {
        EDDY_HTTP_SAME_SITE_UNSET,
        EDDY_HTTP_SAME_SITE_NONE,
        EDDY_HTTP_SAME_SITE_LAX,
        EDDY_HTTP_SAME_SITE_STRICT,
};

/* All zero is the default, except for 'domain'. */
struct eddy_http_cookie {
        const char *name EDDY_UNSET;     /* NULL: "", as set by a server that sends no '=' */
        const char *value EDDY_UNSET;    /* NULL: "" */
        const char *domain EDDY_UNSET;   /* a host, without a dot before it */
        const char *path EDDY_UNSET;     /* begins with '/'; NULL: "/" */
        int64_t expires_s EDDY_UNSET;    /* seconds since 1970; 0: when the session ends */
        bool with_subdomains EDDY_UNSET; /* also for hosts below 'domain' */
        bool secure EDDY_UNSET;          /* https only */
        bool http_only EDDY_UNSET;
        uint8_t same_site EDDY_UNSET;     /* EDDY_HTTP_SAME_SITE_* */
        uintptr_t reserved[2] EDDY_UNSET; /* zero */
};

/*
 * Make an empty jar.
 *
 * Suspends: no.
 * Threads:  any.
 * Errors: -ENOMEM
 * Owns: returns (owned) '*ret_cookies', to be freed by eddy_http_cookies_free().
 */
EDDY_API EDDY_MUST_USE int eddy_http_cookies_new(eddy_http_cookies **ret_cookies);

/*
 * Free a jar, after the clients that use it were closed.  NULL is ignored.
 *
 * Suspends: no.
 * Threads:  any.
 */
EDDY_API void eddy_http_cookies_free(eddy_http_cookies *cookies);

/*
 * Take the value of a header Set-Cookie of the response to 'url'.  Returns 1 if the cookie was stored,
 * replaced or removed (a server removes a cookie by a time that has passed), or 0 if the rules above
 * refuse it.  A client with the option 'cookies' does this with each response.
 *
 * Suspends: no.
 * Threads:  any.
 * Errors: -ENOMEM
 *         EDDY_E_URL_INVALID, EDDY_E_URL_SCHEME, EDDY_E_DNS_BAD_NAME
 */
EDDY_API EDDY_MUST_USE int eddy_http_cookies_set(eddy_http_cookies *cookies, const char *url,
                                                 const char *set_cookie);

/*
 * Write the value of the header Cookie for a request to 'url', and a NUL: "a=1; b=2".  Cookies with longer
 * paths come first, then those that were set first.  Returns its bytes without the NUL; 0 if no cookie
 * matches.  Cookies that would make the value longer than EDDY_HTTP_COOKIE_HEADER_MAX are left out.  'out' has
 * room for 'room' bytes; if 'out' is NULL, the bytes are only counted.  A client with the option
 * 'cookies' does this for each request.
 *
 * Suspends: no.
 * Threads:  any.
 * Errors: -EMSGSIZE  'room' is too small; 'out' is unchanged
 *         -ENOMEM
 *         EDDY_E_URL_INVALID, EDDY_E_URL_SCHEME, EDDY_E_DNS_BAD_NAME
 */
EDDY_API EDDY_MUST_USE int64_t eddy_http_cookies_header(eddy_http_cookies *cookies, const char *url,
                                                        char *out, size_t room);

/*
 * Store a cookie of the program's own.  It replaces one with the same name, domain and path; a time that has
 * passed removes that cookie.
 *
 * Suspends: no.
 * Threads:  any.
 * Errors: -EINVAL    a name with '=', a name or value with ';', a control character or white space at its ends,
 *                    a domain that is neither a host nor an address, 'with_subdomains' of an address or a
 *                    public suffix, a path without '/', a name "__Secure-..." or "__Host-..." without what it
 *                    promises, or an unknown 'same_site'
 *         -EMSGSIZE  longer than the limits above
 *         -ENOMEM
 * Owns: copies '*cookie'.
 */
EDDY_API EDDY_MUST_USE int eddy_http_cookies_add(eddy_http_cookies *cookies,
                                                 const struct eddy_http_cookie *cookie);

/*
 * Remove the cookies that have this domain, path and name; NULL matches each.  All NULL removes all
 * cookies.  Returns their number.
 *
 * Suspends: no.
 * Threads:  any.
 */
EDDY_API int eddy_http_cookies_remove(eddy_http_cookies *cookies, const char *domain,
                                      const char *path, const char *name);

/*
 * Remove the cookies without a time at which they expire, as a browser does when it ends.  Returns their
 * number.
 *
 * Suspends: no.
 * Threads:  any.
 */
EDDY_API int eddy_http_cookies_end_session(eddy_http_cookies *cookies);

/*
 * Store cookie number 'i', in the order in which they were first set.  Expired ones are left out.
 *
 * Suspends: no.
 * Threads:  any.
 * Errors: -ENOENT  'i' is their number, or more
 * Owns: '*ret_cookie' borrows from the jar, until a call that stores, removes or loads cookies.
 */
EDDY_API int eddy_http_cookies_at(const eddy_http_cookies *cookies, size_t i,
                                  struct eddy_http_cookie *ret_cookie);

/*
 * Add the cookies of a file: the format of Netscape and curl, which wget, yt-dlp, Python and browsers'
 * extensions use too, also with line ends of Windows.  Expired cookies are left out; session cookies are
 * not (eddy_http_cookies_end_session()).  The time of a cookie in a file is not limited to 400 days.
 *
 * A line that is not a cookie, for example a comment, or that the rules or the number of cookies
 * exclude, is kept as text, up to 1 MiB of them, and eddy_http_cookies_save() writes it again.  A lock file
 * is not used: the last program that saves wins.
 *
 * After an error of the first two, some of the cookies may have been added: do not save the jar to
 * this file.
 *
 * Suspends: yes.
 * Errors: -EMSGSIZE  more than 1 MiB of lines to keep
 *         -ENOMEM
 *         those of eddy_file_read_whole(), of at most EDDY_HTTP_COOKIES_FILE_MAX bytes; -ENOENT: no file
 */
EDDY_API EDDY_MUST_USE int eddy_http_cookies_load(eddy_http_cookies *cookies, const char *path);

/*
 * Write all cookies that have not expired, and the kept lines, to a file of the format above, with the
 * permissions 0600.  The file is replaced as by eddy_file_replace(): after a crash it has the former
 * contents or the new ones.  A comment before a cookie has its SameSite, which the format lacks.
 *
 * Suspends: yes.
 * Errors: -ENOMEM, those of eddy_file_replace()
 */
EDDY_API EDDY_MUST_USE int eddy_http_cookies_save(eddy_http_cookies *cookies, const char *path);

static inline void eddy_http_cookies_auto_release(eddy_http_cookies **cookies)
{
        eddy_http_cookies_free(*cookies);
}

EDDY_END_DECLS

#endif
