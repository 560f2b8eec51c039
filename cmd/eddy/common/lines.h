/*
 * common/lines.h - the lines of a stream of bytes, or the rows of CSV: bytes in, lines out; no I/O.
 *
 * A line ends in LF or CRLF. A byte order mark at the start is not part of the first line. The
 * buffer grows with the longest line, up to a maximum. A line that is too long is returned when its
 * end has been read, and only with its beginning. The lines do not depend on how the input is split
 * into calls.
 */
#ifndef ED_CMD_COMMON_LINES_H
#define ED_CMD_COMMON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

struct ed_lines {
        char *data;
        size_t start, end, room;
        size_t scanned; /* bytes after 'start' that are known to have no end of a line */
        size_t line_bytes_max;
        uint64_t offset;  /* position of 'start' in the input */
        uint64_t skipped; /* dropped bytes of a line that is too long, before 'end' */
        uint64_t number;  /* lines so far */
        bool csv;         /* a line feed in a quoted field does not end a row (RFC 4180) */
        uint8_t place;    /* CSV: the state of ed_csv_row_end() after the scanned bytes */
};

struct ed_line {
        const char *data; /* without its end; valid until the next call; not NUL-terminated */
        size_t bytes;
        uint64_t number;  /* from 1 */
        uint64_t offset;  /* position of the line in the input */
        uint64_t next;    /* position after the line and its end */
        bool is_too_long; /* 'data' is only its beginning */
};

void ed_lines_init(struct ed_lines *lines, size_t line_bytes_max, bool csv);
void ed_lines_fini(struct ed_lines *lines);

/* Begin inside of the input: 'number' lines, of 'offset' bytes, come before. */
void ed_lines_begin_at(struct ed_lines *lines, uint64_t offset, uint64_t number);

/*
 * Returns room for more bytes, and stores its size, which is at least one byte if ed_lines_next()
 * returned false. Returns NULL if memory is short.
 */
char *ed_lines_room(struct ed_lines *lines, size_t *ret_bytes);
void ed_lines_grow(struct ed_lines *lines, size_t bytes);

/*
 * Find the next line. 'at_end' means that no more bytes will come, so a last line without an end
 * counts. Returns false if the line is not complete yet.
 */
bool ed_lines_next(struct ed_lines *lines, bool at_end, struct ed_line *ret_line);

#endif
