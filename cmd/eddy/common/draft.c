/*
 * common/draft.c - building lines: bytes, numbers, JSON strings, base64.
 */
#include "common/draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "eddy/alloc.h"
#include "eddy/base64.h"
#include "eddy/json.h"

enum { ROOM_FIRST = 512, FORMATTED_BYTES_MAX = 512 };

void ed_draft_fini(struct ed_draft *text)
{
        eddy_free(text->data);
        text->data = NULL;
        text->bytes = 0;
        text->room = 0;
}

void ed_draft_reset(struct ed_draft *text, size_t keep_bytes)
{
        if (text->room > keep_bytes)
                ed_draft_fini(text);
        text->bytes = 0;
        text->failed = false;
}

char *ed_draft_room(struct ed_draft *text, size_t bytes)
{
        size_t max = text->max ? text->max : ED_DRAFT_BYTES_MAX;
        size_t room = text->room ? text->room : ROOM_FIRST;
        char *data;

        if (text->failed)
                return NULL;
        if (bytes > max - text->bytes)
                goto fail_mark;
        if (text->bytes + bytes > text->room) {
                while (room < text->bytes + bytes)
                        room *= 2;
                data = eddy_realloc(text->data, room);
                if (!data)
                        goto fail_mark;
                text->data = data;
                text->room = room;
        }
        return text->data + text->bytes;

fail_mark:
        text->failed = true;
        return NULL;
}

void ed_draft_add(struct ed_draft *text, const void *data, size_t bytes)
{
        char *room;

        if (bytes == 0)
                return;
        room = ed_draft_room(text, bytes);
        if (!room)
                return;
        memcpy(room, data, bytes);
        text->bytes += bytes;
}

void ed_draft_add_str(struct ed_draft *text, const char *str)
{
        ed_draft_add(text, str, strlen(str));
}

void ed_draft_add_printf(struct ed_draft *text, const char *format, ...)
{
        char buf[FORMATTED_BYTES_MAX];
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(buf, sizeof(buf), format, args);
        va_end(args);
        if (n < 0 || (size_t) n >= sizeof(buf))
                text->failed = true;
        else
                ed_draft_add(text, buf, (size_t) n);
}

void ed_draft_add_u64(struct ed_draft *text, uint64_t value)
{
        char buf[20];
        size_t at = sizeof(buf);

        do {
                buf[--at] = (char) ('0' + value % 10);
                value /= 10;
        } while (value > 0);
        ed_draft_add(text, buf + at, sizeof(buf) - at);
}

const char *ed_grouped(uint64_t value, char room[ED_GROUPED_BYTES])
{
        char *at = room + ED_GROUPED_BYTES - 1;
        int digits = 0;

        *at = '\0';
        do {
                if (digits > 0 && digits % 3 == 0)
                        *--at = ',';
                *--at = (char) ('0' + value % 10);
                value /= 10;
                digits++;
        } while (value > 0);
        return at;
}

void ed_draft_add_grouped(struct ed_draft *text, uint64_t value)
{
        char room[ED_GROUPED_BYTES];

        ed_draft_add_str(text, ed_grouped(value, room));
}

void ed_draft_add_ms(struct ed_draft *text, int64_t duration_ns)
{
        uint64_t tenths = duration_ns > 0 ? ((uint64_t) duration_ns + 50000) / 100000 : 0;
        char decimal[2] = { '.', (char) ('0' + tenths % 10) };

        ed_draft_add_u64(text, tenths / 10);
        ed_draft_add(text, decimal, sizeof(decimal));
}

void ed_draft_add_json(struct ed_draft *text, const void *data, size_t bytes)
{
        char *room = ed_draft_room(text, eddy_json_quoted_bytes(data, bytes));

        if (room)
                text->bytes += eddy_json_quote(data, bytes, room);
}

void ed_draft_add_json_str(struct ed_draft *text, const char *str)
{
        ed_draft_add_json(text, str, strlen(str));
}

static void text_add_base64(struct ed_draft *text, const void *data, size_t bytes)
{
        char *room = ed_draft_room(text, EDDY_BASE64_BYTES(bytes));

        if (room)
                text->bytes += eddy_base64_encode(data, bytes, room);
}

void ed_draft_add_json_body(struct ed_draft *text, const void *data, size_t bytes)
{
        if (eddy_json_is_utf8(data, bytes)) {
                ed_draft_add_json(text, data, bytes);
                return;
        }
        ed_draft_add_str(text, "{\"_base64\":\"");
        text_add_base64(text, data, bytes);
        ed_draft_add_str(text, "\"}");
}
