/*
 * wire/json_out.c - see json_out.h.
 */
#include "wire/json_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eddy/json.h"
#include "wire/json.h"

enum { NUMBER_BYTES = 32 };

void ed_json_out_init(struct ed_json_out *out, size_t max)
{
        ed_buf_init(&out->text, max);
        out->error = 0;
}

static void add(struct ed_json_out *out, const void *data, size_t bytes)
{
        if (out->error == 0)
                out->error = ed_buf_append(&out->text, data, bytes);
}

int ed_json_out_end(struct ed_json_out *out, char **ret_text, size_t *ret_bytes)
{
        add(out, "", 1);
        if (out->error < 0) {
                ed_buf_fini(&out->text);
                return out->error;
        }
        *ret_text = out->text.memory; /* nothing was consumed, so it begins there */
        *ret_bytes = ed_buf_bytes(&out->text) - 1;
        return 0;
}

/* Only a bracket or a colon comes before a value without a comma; a string ends in a quote. */
static void separate(struct ed_json_out *out)
{
        size_t bytes = ed_buf_bytes(&out->text);

        if (bytes > 0 && !strchr("{[:", ed_buf_data(&out->text)[bytes - 1]))
                add(out, ",", 1);
}

void ed_json_out_value(struct ed_json_out *out, const char *json, size_t bytes)
{
        separate(out);
        add(out, json, bytes);
}

void ed_json_out_open(struct ed_json_out *out, char bracket)
{
        ed_json_out_value(out, &bracket, 1);
}

void ed_json_out_close(struct ed_json_out *out, char bracket)
{
        add(out, &bracket, 1);
}

/* Append what is between the quotes of a string. */
static void add_escaped(struct ed_json_out *out, const char *text)
{
        size_t bytes = strlen(text);
        char *room;

        if (out->error == 0)
                out->error = ed_buf_reserve(&out->text, eddy_json_quoted_bytes(text, bytes), &room);
        if (out->error < 0)
                return;
        bytes = eddy_json_quote(text, bytes, room) - 2;
        memmove(room, room + 1, bytes);
        ed_buf_grow(&out->text, bytes);
}

void ed_json_out_joined(struct ed_json_out *out, const char *first, const char *second)
{
        ed_json_out_value(out, "\"", 1);
        add_escaped(out, first);
        add_escaped(out, second);
        add(out, "\"", 1);
}

void ed_json_out_string(struct ed_json_out *out, const char *text)
{
        ed_json_out_joined(out, text, "");
}

void ed_json_out_name(struct ed_json_out *out, const char *name)
{
        ed_json_out_string(out, name);
        add(out, ":", 1);
}

void ed_json_out_int(struct ed_json_out *out, int64_t number)
{
        char text[NUMBER_BYTES];

        snprintf(text, sizeof(text), "%" PRId64, number);
        ed_json_out_value(out, text, strlen(text));
}

void ed_json_out_uint(struct ed_json_out *out, uint64_t number)
{
        char text[NUMBER_BYTES];

        snprintf(text, sizeof(text), "%" PRIu64, number);
        ed_json_out_value(out, text, strlen(text));
}

void ed_json_out_double(struct ed_json_out *out, double number)
{
        char text[ED_JSON_DOUBLE_BYTES];
        size_t bytes = ed_json_double_print(number, text);

        ed_json_out_value(out, text, bytes);
}

void ed_json_out_member(struct ed_json_out *out, const char *name, const char *text)
{
        ed_json_out_name(out, name);
        ed_json_out_string(out, text);
}

void ed_json_out_flag(struct ed_json_out *out, const char *name, bool flag)
{
        ed_json_out_name(out, name);
        ed_json_out_value(out, flag ? "true" : "false", flag ? 4 : 5);
}
