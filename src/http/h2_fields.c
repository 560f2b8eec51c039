/*
 * http/h2_fields.c - see h2_fields.h.
 */
#include "http/h2_fields.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

enum { ROOM_FIRST = 16 };

void ed_h2_fields_begin(struct ed_h2_fields *fields, struct ed_h2 *h2)
{
        *fields = (struct ed_h2_fields){ .h2 = h2 };
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

static inline void append(struct ed_h2_fields *fields, const nghttp2_nv *field)
{
        struct ed_h2 *h2 = fields->h2;

        if (fields->err == 0 && fields->n == h2->fields_room)
                fields->err = grow(h2);
        if (fields->err == 0)
                h2->fields[fields->n++] = *field;
}

void ed_h2_fields_put(struct ed_h2_fields *fields, const char *name, size_t name_bytes,
                      const char *value, size_t value_bytes)
{
        append(fields, &(nghttp2_nv){
                               .name = (uint8_t *) (uintptr_t) name,
                               .namelen = name_bytes,
                               .value = (uint8_t *) (uintptr_t) value,
                               .valuelen = value_bytes,
                               .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME,
                       });
}

void ed_h2_fields_add(struct ed_h2_fields *fields, const char *name, size_t name_bytes,
                      const char *value, size_t value_bytes, unsigned flags)
{
        if (ed_h2_is_of_connection(name, name_bytes))
                return;
        trim(&value, &value_bytes);
        append(fields, &(nghttp2_nv){
                               .name = (uint8_t *) (uintptr_t) name,
                               .namelen = name_bytes,
                               .value = (uint8_t *) (uintptr_t) value,
                               .valuelen = value_bytes,
                               .flags = flags & ED_H2_SECRET ? NGHTTP2_NV_FLAG_NO_INDEX
                                                             : NGHTTP2_NV_FLAG_NONE,
                       });
}

int ed_h2_fields_end(struct ed_h2_fields *fields)
{
        fields->h2->fields_count = fields->n;
        return fields->err;
}
