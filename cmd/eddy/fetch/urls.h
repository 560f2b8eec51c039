/*
 * fetch/urls.h - a list of URLs, line by line: bytes in, lines out; no I/O.
 *
 * Each line has one URL and ends in LF or CRLF. Blanks around a URL, empty lines, lines that begin
 * with '#', and a byte order mark at the start are skipped.
 */
#ifndef ED_CMD_FETCH_URLS_H
#define ED_CMD_FETCH_URLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

enum {
        ED_URLS_LINE_BYTES_MAX = 64 << 10,
        ED_URLS_SHOWN_BYTES_MAX = 200, /* shown from a line that is not a request */
        ED_URLS_STARS_BYTES = 3,       /* "***", in place of a password */
        ED_URLS_ROOM = 2 * ED_URLS_LINE_BYTES_MAX,
};

struct ed_urls {
        char *data;
        size_t start;
        size_t end;
        uint64_t offset;     /* position of 'start' in the input */
        bool inside_refused; /* skipping the rest of a line that was too long */
};

struct ed_urls_line {
        const char *data; /* valid until the next call; not NUL-terminated */
        size_t bytes;
        int error;       /* 0; or ED_E_LINE_*, and 'data' is only the beginning */
        uint64_t offset; /* position after the line in the input */
};

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_urls_init(struct ed_urls *urls);
void ed_urls_fini(struct ed_urls *urls);

/* Returns room for more bytes, and its size (at least one byte, if ed_urls_next() returned 0). */
char *ed_urls_room(struct ed_urls *urls, size_t *ret_bytes);
void ed_urls_grow(struct ed_urls *urls, size_t bytes);

/*
 * Find the next line. 'at_end' means that no more bytes will come, so a last line without a line
 * feed counts. Returns 1, or 0 if the line is not complete yet.
 */
int ed_urls_next(struct ed_urls *urls, bool at_end, struct ed_urls_line *ret_line);

/*
 * Replace the password in a URL ("http://user:password@host/") by three stars, in place: 'url' has
 * room for ED_URLS_STARS_BYTES more. In a text that was 'refused' as a URL, the password may have
 * any bytes, so everything between "://" (or the beginning) and the last @ is replaced. Returns the
 * new size.
 */
size_t ed_urls_hide_password(char *url, size_t bytes, bool refused);

#endif
