/*
 * wire/netrc.h - the format of ~/.netrc: a user and a password for each host.
 *
 *     machine api.example.com login kim password "a \"b\" c"
 *     default login anonymous password guest
 *
 * Words are separated by white space. A word in quotes may contain white space; in it \n, \r and \t are
 * control characters, and any other character after a backslash is itself. '#' at the start of a keyword
 * begins a comment, up to the end of the line. "macdef" and its lines up to an empty line are skipped.
 * "user" is "login", "passwd" is "password", and "account" is skipped.
 */
#ifndef ED_WIRE_NETRC_H
#define ED_WIRE_NETRC_H

#include <stddef.h>

#include "base/def.h"

enum {
        ED_NETRC_BYTES_MAX = 128 << 10, /* of a file */
        ED_NETRC_WORD_MAX = 1024,       /* bytes of a word, without quotes */
};

/* The credentials of a host; secret. Both texts end in a NUL. */
struct ed_netrc_entry {
        char *login;
        char *password;
        char text[2 * (ED_NETRC_WORD_MAX + 1)];
};

/*
 * Check a whole file. On failure '*ret_line' is the line with the mistake, from 1 on.
 *
 * Errors: EDDY_E_HTTP_NETRC  the text does not follow the format, or a host, user or password contains a
 *                            control character or is too long
 */
ED_SHARED EDDY_MUST_USE int ed_netrc_check(const char *text, size_t bytes, size_t *ret_line);

/*
 * Find the first entry of 'host', ignoring case, or the first "default" if it comes before. Returns 1; 0
 * if there is none, or if it lacks the user or the password. Entries after it do not count.
 *
 * Errors: EDDY_E_HTTP_NETRC
 */
ED_SHARED EDDY_MUST_USE int ed_netrc_find(const char *text, size_t bytes, const char *host,
                                          struct ed_netrc_entry *ret_entry);

#endif
