/*
 * common/lines.c - splits a stream of bytes into lines, or into the rows of CSV.
 */
#include "common/lines.h"

#include <string.h>

#include "common/csv.h"
#include "eddy/alloc.h"

enum {
        ROOM_FIRST = 64 << 10,
        ROOM_LEFT_MIN = 16 << 10, /* less is not worth a read */
        MARK_BYTES = 3,
};

void ed_lines_init(struct ed_lines *lines, size_t line_bytes_max, bool csv)
{
        *lines = (struct ed_lines){ .line_bytes_max = line_bytes_max, .csv = csv };
}

void ed_lines_fini(struct ed_lines *lines)
{
        eddy_free(lines->data);
        lines->data = NULL;
        lines->start = lines->end = lines->room = lines->scanned = 0;
}

void ed_lines_begin_at(struct ed_lines *lines, uint64_t offset, uint64_t number)
{
        lines->offset = offset;
        lines->number = number;
}

char *ed_lines_room(struct ed_lines *lines, size_t *ret_bytes)
{
        size_t room_max = lines->line_bytes_max + ROOM_FIRST, room;
        char *data;

        if (lines->room - lines->end < ROOM_LEFT_MIN && lines->start > 0) {
                memmove(lines->data, lines->data + lines->start, lines->end - lines->start);
                lines->end -= lines->start;
                lines->start = 0;
        }
        if (lines->room - lines->end < ROOM_LEFT_MIN && lines->room < room_max) {
                room = lines->room ? lines->room : ROOM_FIRST / 2;
                room = room < room_max / 2 ? room * 2 : room_max;
                data = eddy_realloc(lines->data, room);
                if (!data)
                        return NULL;
                lines->data = data;
                lines->room = room;
        }
        *ret_bytes = lines->room - lines->end;
        return lines->data + lines->end;
}

void ed_lines_grow(struct ed_lines *lines, size_t bytes)
{
        lines->end += bytes;
}

static void lines_consume(struct ed_lines *lines, size_t bytes)
{
        lines->start += bytes;
        lines->offset += bytes + lines->skipped;
        lines->scanned = 0;
        lines->skipped = 0;
        lines->place = 0;
}

/* Skip a byte order mark. Returns false if the input so far may be the beginning of a mark. */
static bool mark_skip(struct ed_lines *lines, bool at_end)
{
        size_t held = lines->end - lines->start;
        size_t bytes = held < MARK_BYTES ? held : MARK_BYTES;

        if (lines->offset > 0 || lines->scanned > 0 || held == 0 ||
            memcmp(lines->data + lines->start, "\xef\xbb\xbf", bytes) != 0)
                return true;
        if (bytes < MARK_BYTES)
                return at_end;
        lines_consume(lines, MARK_BYTES);
        return true;
}

/* Find the next line feed that ends a line, and set 'scanned' to its place. */
static bool line_scan(struct ed_lines *lines)
{
        size_t held = lines->end - lines->start;
        const char *data = lines->data + lines->start, *newline;

        if (lines->scanned == held)
                return false;
        if (lines->csv) {
                lines->scanned = ed_csv_row_end(data, held, lines->scanned, &lines->place);
                return lines->scanned < held;
        }
        newline = memchr(data + lines->scanned, '\n', held - lines->scanned);
        lines->scanned = newline ? (size_t) (newline - data) : held;
        return newline;
}

/*
 * Keep only the beginning of a line that is too long for certain: the byte after the maximum may be
 * the CR of its end.
 */
static void rest_drop(struct ed_lines *lines)
{
        size_t max = lines->line_bytes_max, held = lines->end - lines->start;

        if (held <= max || (held == max + 1 && lines->skipped == 0))
                return;
        lines->skipped += held - max;
        lines->end = lines->start + max;
        lines->scanned = max;
}

bool ed_lines_next(struct ed_lines *lines, bool at_end, struct ed_line *ret_line)
{
        size_t bytes;
        bool found;

        if (!lines->data || !mark_skip(lines, at_end))
                return false;
        found = line_scan(lines);
        if (!found && !at_end) {
                rest_drop(lines);
                return false;
        }
        bytes = lines->scanned;
        if (!found && bytes == 0 && lines->skipped == 0)
                return false;
        ret_line->data = lines->data + lines->start;
        ret_line->bytes = bytes;
        ret_line->number = ++lines->number;
        ret_line->offset = lines->offset;
        ret_line->is_too_long = lines->skipped > 0;
        lines_consume(lines, bytes + found);
        ret_line->next = lines->offset;
        if (bytes > 0 && ret_line->data[bytes - 1] == '\r')
                ret_line->bytes--;
        if (ret_line->is_too_long || ret_line->bytes > lines->line_bytes_max) {
                ret_line->is_too_long = true;
                ret_line->bytes = lines->line_bytes_max;
        }
        return true;
}
