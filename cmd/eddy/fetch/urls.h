/*
 * fetch/urls.h - a list of URLs, line by line: bytes in, lines out; no I/O.
 *
 * One URL per line; LF or CRLF ends it.  Blanks around it, empty lines, lines
 * that begin with '#', and a byte order mark at the start are passed over.
 */
#ifndef ED_CMD_FETCH_URLS_H
#define ED_CMD_FETCH_URLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

enum {
        ED_URLS_LINE_BYTES_MAX = 64 << 10,
        ED_URLS_SHOWN_BYTES_MAX = 200, /* of a line that is no request */
        ED_URLS_ROOM = 2 * ED_URLS_LINE_BYTES_MAX,
};

struct ed_urls {
        char *data;
        size_t start;
        size_t end;
        uint64_t offset;     /* in the input, of 'start' */
        bool inside_refused; /* dropping the rest of a line that was too long */
};

struct ed_urls_line {
        const char *data; /* valid until the next call; no NUL behind */
        size_t bytes;
        int error;       /* 0, ED_E_LINE_*: then only the line's beginning */
        uint64_t offset; /* in the input, of what comes behind the line */
};

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_urls_init(struct ed_urls *urls);
void ed_urls_fini(struct ed_urls *urls);

/* Where to put more bytes, and how many (at least one, if _next gave 0). */
char *ed_urls_room(struct ed_urls *urls, size_t *ret_bytes);
void ed_urls_grow(struct ed_urls *urls, size_t bytes);

/*
 * The next line.  'at_end' says that no more bytes will come: a last line
 * without a line feed counts then.  Returns 1, or 0 when there is none yet.
 */
int ed_urls_next(struct ed_urls *urls, bool at_end, struct ed_urls_line *ret_line);

/*
 * Overwrite the password of a URL ("http://user:password@host/") by at most
 * three stars, in place; returns the bytes that are left.
 */
size_t ed_urls_hide_password(char *url, size_t bytes);

#endif
