/*
 * wire/query_write.c - write a struct that a table describes as a query.
 *
 * The struct is written as JSON first, which checks its limits; each member of that text becomes
 * pairs.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fields.h"
#include "eddy/error.h"
#include "wire/json.h"
#include "wire/query.h"
#include "wire/url_quote.h"

struct writing {
        struct eddy_json_error *error;
        unsigned flags;
        struct ed_buf out;
        struct ed_buf name;  /* decoded */
        struct ed_buf value; /* decoded */
};

static int fail_room(const struct writing *writing, int error)
{
        return ed_json_fail(writing->error, error, NULL, 0, NULL, "%s",
                            error == -EMSGSIZE ? "the text exceeds EDDY_JSON_WRITTEN_MAX bytes"
                                               : "out of memory");
}

/* Store the text of a string without its quotes and escapes; of another value, as it is written. */
static int decode(struct writing *writing, struct ed_buf *buf, const struct eddy_json_value *value)
{
        int64_t bytes = (int64_t) value->bytes;
        char *room;
        int err;

        ed_buf_drop(buf, ed_buf_bytes(buf));
        err = ed_buf_reserve(buf, value->bytes, &room);
        if (err < 0)
                return fail_room(writing, err);
        if (value->kind == EDDY_JSON_STRING)
                bytes = eddy_json_string(value, room, value->bytes);
        else
                memcpy(room, value->text, value->bytes);
        if (bytes < 0)
                return ed_json_fail(writing->error, (int) bytes, NULL, 0, NULL,
                                    "a string cannot be converted");
        ed_buf_grow(buf, (size_t) bytes);
        return 0;
}

static int add_quoted(struct writing *writing, const struct ed_buf *text)
{
        struct ed_url_sink sink = { NULL, 0 };
        char *room;
        int err;

        ed_url_quote_to(&sink, ed_buf_data(text), ed_buf_bytes(text), writing->flags);
        err = ed_buf_reserve(&writing->out, sink.bytes, &room);
        if (err < 0)
                return fail_room(writing, err);
        sink = (struct ed_url_sink){ room, 0 };
        ed_url_quote_to(&sink, ed_buf_data(text), ed_buf_bytes(text), writing->flags);
        ed_buf_grow(&writing->out, sink.bytes);
        return 0;
}

static int add_char(struct writing *writing, char c)
{
        int err = ed_buf_append(&writing->out, &c, 1);

        return err < 0 ? fail_room(writing, err) : 0;
}

/* 'writing->name' has the name. */
static int add_pair(struct writing *writing, const struct eddy_json_value *value)
{
        int err = decode(writing, &writing->value, value);

        if (err == 0 && ed_buf_bytes(&writing->out) > 0)
                err = add_char(writing, '&');
        if (err == 0)
                err = add_quoted(writing, &writing->name);
        if (err == 0)
                err = add_char(writing, '=');
        return err < 0 ? err : add_quoted(writing, &writing->value);
}

static int add_member(struct writing *writing, const struct eddy_json_value *name,
                      const struct eddy_json_value *value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;
        int err = decode(writing, &writing->name, name);

        if (err < 0 || eddy_json_walk(value, &cursor) < 0)
                return err < 0 ? err : add_pair(writing, value);
        while (err == 0 && eddy_json_next(&cursor, NULL, &item))
                err = add_pair(writing, &item);
        return err;
}

static int add_members(struct writing *writing, const char *json, size_t bytes)
{
        struct eddy_json_value all, name, value;
        struct eddy_json_cursor cursor;
        int err = eddy_json_parse(json, bytes, NULL, &all, writing->error);

        if (err == 0)
                err = eddy_json_walk(&all, &cursor);
        while (err == 0 && eddy_json_next(&cursor, &name, &value))
                err = add_member(writing, &name, &value);
        return err < 0 ? err : add_char(writing, '\0');
}

/* A reader would miss such a list, and take null for a text. */
static int check_values(const struct eddy_fields *fields, const void *in,
                        struct eddy_json_error *ret_error)
{
        /* The functions that find members serve readers too. */
        void *from = (void *) (uintptr_t) in;

        for (size_t i = 0; i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                struct ed_field_place place = ed_field_place_of(NULL, field);

                if (field->read_only) /* which a request does not have */
                        continue;
                if (ed_field_flag(field->null_flag, in, false))
                        return ed_json_fail(ret_error, EDDY_E_FIELD_MISSING, NULL, 0, &place,
                                            "a query cannot have null");
                if (field->required && field->shape != EDDY_SHAPE_ONE &&
                    *ed_field_count(field, from) == 0)
                        return ed_json_fail(ret_error, EDDY_E_FIELD_MISSING, NULL, 0, &place,
                                            "a query cannot have an empty list");
        }
        return 0;
}

int eddy_query_write(const struct eddy_fields *fields, const void *in, unsigned flags,
                     char **ret_text, size_t *ret_bytes, struct eddy_json_error *ret_error)
{
        struct writing writing = { .error = ret_error, .flags = flags };
        size_t bytes;
        char *json;
        int err;

        if (flags & ~(unsigned) EDDY_URL_PLUS)
                return ed_json_fail(ret_error, -EINVAL, NULL, 0, NULL, "an unknown flag");
        err = ed_query_table_check(fields, ret_error);
        if (err == 0)
                err = check_values(fields, in, ret_error);
        if (err == 0)
                err = eddy_json_write_as(fields, in, EDDY_JSON_REQUEST, &json, &bytes, ret_error);
        if (err < 0)
                return err;
        ed_buf_init(&writing.out, EDDY_JSON_WRITTEN_MAX);
        ed_buf_init(&writing.name, EDDY_JSON_WRITTEN_MAX);
        ed_buf_init(&writing.value, EDDY_JSON_WRITTEN_MAX);
        err = add_members(&writing, json, bytes);
        ed_free(json);
        ed_buf_fini(&writing.name);
        ed_buf_fini(&writing.value);
        if (err < 0) {
                ed_buf_fini(&writing.out);
                return err;
        }
        *ret_text = writing.out.memory; /* nothing was consumed, so it begins there */
        *ret_bytes = ed_buf_bytes(&writing.out) - 1;
        return 0;
}
