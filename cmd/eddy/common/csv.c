/*
 * common/csv.c - see csv.h.
 */
#include "common/csv.h"

#include <errno.h>
#include <string.h>

enum { PLACE_START, PLACE_PLAIN, PLACE_QUOTED, PLACE_CLOSED };

static uint8_t place_after(uint8_t place, char c)
{
        if (c == '"' && place != PLACE_PLAIN)
                return place == PLACE_QUOTED ? PLACE_CLOSED : PLACE_QUOTED;
        if (place == PLACE_QUOTED)
                return PLACE_QUOTED;
        return c == ',' ? PLACE_START : PLACE_PLAIN;
}

size_t ed_csv_row_end(const char *data, size_t bytes, size_t at, uint8_t *place)
{
        uint8_t now = *place;

        while (at < bytes && (data[at] != '\n' || now == PLACE_QUOTED))
                now = place_after(now, data[at++]);
        *place = now;
        return at;
}

struct ed_csv_cursor ed_csv_walk(const char *row, size_t bytes)
{
        return (struct ed_csv_cursor){ row, row + bytes, false };
}

int ed_csv_next(struct ed_csv_cursor *cursor, struct ed_csv_field *ret_field)
{
        const char *at = cursor->at, *end = cursor->end, *stop;

        if (cursor->ended)
                return 0;
        if (at < end && *at == '"') {
                stop = ++at;
                while ((stop = memchr(stop, '"', (size_t) (end - stop))) && end - stop > 1 &&
                       stop[1] == '"')
                        stop += 2;
                if (!stop || (end - stop > 1 && stop[1] != ','))
                        return -EINVAL;
                *ret_field = (struct ed_csv_field){ at, (size_t) (stop - at), true };
                stop++;
        } else {
                stop = at < end ? memchr(at, ',', (size_t) (end - at)) : NULL;
                if (!stop)
                        stop = end;
                *ret_field = (struct ed_csv_field){ at, (size_t) (stop - at), false };
        }
        cursor->ended = stop == end;
        cursor->at = cursor->ended ? end : stop + 1;
        return 1;
}

void ed_csv_add(const struct ed_csv_field *field, struct ed_draft *value)
{
        const char *at = field->text, *end = at + field->bytes, *quote;

        while (field->is_quoted &&
               (quote = at < end ? memchr(at, '"', (size_t) (end - at)) : NULL)) {
                ed_draft_add(value, at, (size_t) (quote + 1 - at));
                at = quote + 2;
        }
        if (at < end)
                ed_draft_add(value, at, (size_t) (end - at));
}
