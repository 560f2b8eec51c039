/*
 * http/h2_head.c - see h2_head.h.
 */
#include "http/h2_head.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

static const char cookie_name[] = "cookie";

void ed_h2_head_init(struct ed_h2_head *head, uint32_t fields_max, uint32_t bytes_max)
{
        *head = (struct ed_h2_head){
                .fields_max = fields_max,
                .bytes_max = bytes_max,
                /* Each field has two NULs, for which ED_H2_FIELD_BYTES were counted; Cookie once more. */
                .text.max = 2 * (size_t) bytes_max + sizeof(cookie_name),
                .cookie.max = bytes_max,
        };
}

void ed_h2_head_fini(struct ed_h2_head *head)
{
        ed_buf_fini(&head->text);
        ed_buf_fini(&head->cookie);
}

void ed_h2_head_clear(struct ed_h2_head *head)
{
        ed_buf_consume(&head->text, ed_buf_bytes(&head->text));
        ed_buf_consume(&head->cookie, ed_buf_bytes(&head->cookie));
        head->count = head->kept = 0;
        head->bytes = 0;
        head->begin = 0;
        memset(head->known, 0, sizeof(head->known));
        head->is_too_large = false;
}

static int known_of(const char *name, size_t bytes)
{
        switch (bytes) {
        case 4:
                return memcmp(name, "host", 4) == 0 ? ED_H2_HOST : -1;
        case 5:
                return memcmp(name, ":path", 5) == 0 ? ED_H2_PATH : -1;
        case 6:
                return memcmp(name, "expect", 6) == 0 ? ED_H2_EXPECT : -1;
        case 7:
                if (memcmp(name, ":status", 7) == 0)
                        return ED_H2_STATUS;
                return memcmp(name, ":method", 7) == 0 ? ED_H2_METHOD : -1;
        case 10:
                return memcmp(name, ":authority", 10) == 0 ? ED_H2_AUTHORITY : -1;
        case 14:
                return memcmp(name, "content-length", 14) == 0 ? ED_H2_LENGTH : -1;
        default:
                return -1;
        }
}

/* Note where the value of a field is that is found without a search. */
static void note_known(struct ed_h2_head *head, const char *name, size_t name_bytes, size_t at)
{
        int known = known_of(name, name_bytes);

        if (known >= 0 && head->known[known] == 0)
                head->known[known] = (uint32_t) at;
}

/* Append a field, whose room is reserved. */
static void put(struct ed_h2_head *head, char *at, const char *name, size_t name_bytes,
                const char *value, size_t value_bytes)
{
        memcpy(at, name, name_bytes);
        at[name_bytes] = '\0';
        memcpy(at + name_bytes + 1, value, value_bytes);
        at[name_bytes + 1 + value_bytes] = '\0';
        note_known(head, name, name_bytes, ed_buf_bytes(&head->text) + name_bytes + 1);
        ed_buf_grow(&head->text, name_bytes + value_bytes + 2);
        if (name[0] == ':')
                head->begin = ed_buf_bytes(&head->text);
        else
                head->kept++;
}

static int append(struct ed_h2_head *head, const void *name, size_t name_bytes, const void *value,
                  size_t value_bytes)
{
        char *at;
        int err = ed_buf_reserve(&head->text, name_bytes + value_bytes + 2, &at);

        if (err == 0)
                put(head, at, name, name_bytes, value, value_bytes);
        return err;
}

int ed_h2_head_put_host(struct ed_h2_head *head)
{
        size_t bytes = strlen(ed_h2_head_known(head, ED_H2_AUTHORITY));
        char *at;
        int err = ed_buf_reserve(&head->text, sizeof("host") + bytes + 1, &at);

        /* The text may have moved. */
        if (err == 0)
                put(head, at, "host", 4, ed_h2_head_known(head, ED_H2_AUTHORITY), bytes);
        return err;
}

/* A client may send Cookie in crumbs, which are joined (RFC 9113, 8.2.3). */
static int add_crumb(struct ed_h2_head *head, const void *value, size_t bytes)
{
        bool is_first = ed_buf_bytes(&head->cookie) == 0;
        size_t gap = is_first ? 0 : 2;
        char *at;
        int err = ed_buf_reserve(&head->cookie, gap + bytes, &at);

        if (err < 0)
                return err;
        memcpy(at, "; ", gap);
        memcpy(at + gap, value, bytes);
        ed_buf_grow(&head->cookie, gap + bytes);
        return 0;
}

static bool is_crumb(const void *name, size_t bytes)
{
        return bytes == sizeof(cookie_name) - 1 && memcmp(name, cookie_name, bytes) == 0;
}

int ed_h2_head_add(struct ed_h2_head *head, const void *name, size_t name_bytes, const void *value,
                   size_t value_bytes)
{
        head->count++;
        head->bytes += name_bytes + value_bytes + ED_H2_FIELD_BYTES;
        if (head->is_too_large || head->bytes > head->bytes_max || head->count > head->fields_max) {
                head->is_too_large = true;
                return -EMSGSIZE;
        }
        if (name_bytes == 0) /* nghttp2 refuses it */
                return 0;
        if (is_crumb(name, name_bytes))
                return value_bytes > 0 ? add_crumb(head, value, value_bytes) : 0;
        return append(head, name, name_bytes, value, value_bytes);
}

int ed_h2_head_end(struct ed_h2_head *head)
{
        size_t bytes = ed_buf_bytes(&head->cookie);
        int err;

        if (bytes == 0)
                return 0;
        err = append(head, cookie_name, sizeof(cookie_name) - 1, ed_buf_data(&head->cookie), bytes);
        if (err == 0)
                ed_buf_fini(&head->cookie);
        return err;
}

/* Store the field at '*at', and move '*at' to the next. Returns false at the end. */
static bool next(const struct ed_h2_head *head, size_t *at, struct eddy_http_header *ret_header)
{
        const char *text = ed_buf_data(&head->text);

        if (*at >= ed_buf_bytes(&head->text))
                return false;
        ret_header->name = text + *at;
        *at += strlen(ret_header->name) + 1;
        ret_header->value = text + *at;
        *at += strlen(ret_header->value) + 1;
        return true;
}

const char *ed_h2_head_field(const struct ed_h2_head *head, const char *name)
{
        struct eddy_http_header header;
        size_t at = head->begin;

        while (next(head, &at, &header))
                if (strcasecmp(header.name, name) == 0)
                        return header.value;
        return NULL;
}

int ed_h2_head_at(const struct ed_h2_head *head, size_t i, struct eddy_http_header *ret_header)
{
        size_t at = head->begin;

        if (i >= head->kept)
                return -ENOENT;
        for (size_t n = 0; n <= i; n++)
                (void) next(head, &at, ret_header);
        return 0;
}
