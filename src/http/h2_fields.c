/*
 * http/h2_fields.c - see h2_fields.h.
 *
 * Until the end of the list, a field whose name is copied has the offset of its name in place of the
 * pointer, since the buffer of names may move.
 */
#include "http/h2_fields.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

enum { ROOM_FIRST = 16, NAMES_BYTES_MAX = 1 << 20 };

void ed_h2_fields_begin(struct ed_h2_fields *fields, struct ed_h2 *h2)
{
        *fields = (struct ed_h2_fields){ .h2 = h2 };
        h2->names.max = NAMES_BYTES_MAX;
        ed_buf_consume(&h2->names, ed_buf_bytes(&h2->names));
}

static int grow(struct ed_h2 *h2)
{
        size_t room = h2->fields_room ? 2 * h2->fields_room : ROOM_FIRST;
        nghttp2_nv *list = ed_realloc(h2->fields, room * sizeof(*list));

        if (!list)
                return -ENOMEM;
        h2->fields = list;
        h2->fields_room = room;
        return 0;
}

static char lower(char c)
{
        return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}

bool ed_h2_is_of_connection(const char *name, size_t bytes)
{
        switch (bytes) {
        case 7:
                return strncasecmp(name, "upgrade", bytes) == 0;
        case 10:
                return strncasecmp(name, "connection", bytes) == 0 ||
                       strncasecmp(name, "keep-alive", bytes) == 0;
        case 14:
                return strncasecmp(name, "http2-settings", bytes) == 0;
        case 16:
                return strncasecmp(name, "proxy-connection", bytes) == 0;
        case 17:
                return strncasecmp(name, "transfer-encoding", bytes) == 0;
        default:
                return false;
        }
}

static bool is_space(char c)
{
        return c == ' ' || c == '\t';
}

/* White space around a value is not a part of it, and HTTP/2 forbids it (RFC 9113, 8.2.1). */
static void trim(const char **value, size_t *bytes)
{
        while (*bytes > 0 && is_space((*value)[*bytes - 1]))
                --*bytes;
        for (; *bytes > 0 && is_space((*value)[0]); --*bytes)
                ++*value;
}

void ed_h2_fields_put(struct ed_h2_fields *fields, const char *name, size_t name_bytes,
                      const char *value, size_t value_bytes)
{
        struct ed_h2 *h2 = fields->h2;

        if (fields->err == 0 && fields->n == h2->fields_room)
                fields->err = grow(h2);
        if (fields->err < 0)
                return;
        h2->fields[fields->n++] = (nghttp2_nv){
                .name = (uint8_t *) (uintptr_t) name,
                .namelen = name_bytes,
                .value = (uint8_t *) (uintptr_t) value,
                .valuelen = value_bytes,
                .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME,
        };
}

void ed_h2_fields_add(struct ed_h2_fields *fields, const char *name, size_t name_bytes,
                      const char *value, size_t value_bytes, unsigned flags)
{
        struct ed_h2 *h2 = fields->h2;
        char *at;

        if (fields->err < 0 || ed_h2_is_of_connection(name, name_bytes))
                return;
        if (fields->n == h2->fields_room)
                fields->err = grow(h2);
        if (fields->err == 0)
                fields->err = ed_buf_reserve(&h2->names, name_bytes + 1, &at);
        if (fields->err < 0)
                return;
        trim(&value, &value_bytes);
        for (size_t i = 0; i < name_bytes; i++)
                at[i] = lower(name[i]);
        h2->fields[fields->n++] = (nghttp2_nv){
                .name = (uint8_t *) ed_buf_bytes(&h2->names),
                .namelen = name_bytes,
                .value = (uint8_t *) (uintptr_t) value,
                .valuelen = value_bytes,
                .flags = flags & ED_H2_SECRET ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE,
        };
        ed_buf_grow(&h2->names, name_bytes + 1);
}

int ed_h2_fields_end(struct ed_h2_fields *fields)
{
        struct ed_h2 *h2 = fields->h2;

        for (size_t i = 0; i < fields->n && fields->err == 0; i++)
                if (!(h2->fields[i].flags & NGHTTP2_NV_FLAG_NO_COPY_NAME))
                        h2->fields[i].name = (uint8_t *) ed_buf_data(&h2->names) +
                                             (uintptr_t) h2->fields[i].name;
        h2->fields_count = fields->n;
        return fields->err;
}
