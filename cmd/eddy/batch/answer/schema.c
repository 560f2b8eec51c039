/*
 * batch/answer/schema.c - the schema stays a JSON text, whose keywords are looked up for each value.
 */
#include "batch/answer/schema.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/excerpt.h"
#include "eddy/alloc.h"

struct ed_schema {
        struct eddy_json_value whole; /* borrows 'text' */
        char text[];
};

/* Returns true if a value has the form that a keyword needs. */
typedef bool form_fn(const struct eddy_json_value *value);

/* ---- texts ----------------------------------------------------------------------------------- */

/* Returns 1 if two JSON strings are the same text. Errors: -ENOMEM */
static int strings_equal(const struct eddy_json_value *a, const struct eddy_json_value *b)
{
        char *texts;
        int64_t a_bytes, b_bytes;
        int result;

        if (a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0)
                return 1;
        if (!memchr(a->text, '\\', a->bytes) && !memchr(b->text, '\\', b->bytes))
                return 0;
        texts = eddy_malloc(a->bytes + b->bytes);
        if (!texts)
                return -ENOMEM;
        a_bytes = eddy_json_string(a, texts, a->bytes);
        b_bytes = eddy_json_string(b, texts + a->bytes, b->bytes);
        result = a_bytes >= 0 && a_bytes == b_bytes &&
                 memcmp(texts, texts + a->bytes, (size_t) a_bytes) == 0;
        eddy_free(texts);
        return result;
}

/* Store the number of characters of a string. Errors: -ENOMEM */
static int string_length(const struct eddy_json_value *value, double *ret_length)
{
        char *text = eddy_malloc(value->bytes);
        int64_t bytes, length = 0;

        if (!text)
                return -ENOMEM;
        bytes = eddy_json_string(value, text, value->bytes);
        for (int64_t i = 0; i < bytes; i++)
                length += ((unsigned char) text[i] & 0xc0) != 0x80;
        eddy_free(text);
        *ret_length = (double) length;
        return 0;
}

/* Find the member with a name. Returns 1 if there is one. Errors: -ENOMEM */
static int member_find(const struct eddy_json_value *object, const struct eddy_json_value *wanted,
                       struct eddy_json_value *ret_value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value name, value;
        int found = 0;

        if (object->kind != EDDY_JSON_OBJECT || eddy_json_walk(object, &cursor) < 0)
                return 0;
        while (found == 0 && eddy_json_next(&cursor, &name, &value)) {
                found = strings_equal(&name, wanted);
                if (found == 1)
                        *ret_value = value;
        }
        return found;
}

static uint64_t count_of(const struct eddy_json_value *value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;
        uint64_t count = 0;

        if (eddy_json_walk(value, &cursor) < 0)
                return 0;
        while (eddy_json_next(&cursor, NULL, &item))
                count++;
        return count;
}

/* ---- equality -------------------------------------------------------------------------------- */

static int values_equal(const struct eddy_json_value *a, const struct eddy_json_value *b);

static int lists_equal(const struct eddy_json_value *a, const struct eddy_json_value *b)
{
        struct eddy_json_cursor a_cursor, b_cursor;
        struct eddy_json_value name, a_item, b_item;
        bool is_object = a->kind == EDDY_JSON_OBJECT;
        int result = 1;

        if (count_of(a) != count_of(b) || eddy_json_walk(a, &a_cursor) < 0 ||
            eddy_json_walk(b, &b_cursor) < 0)
                return 0;
        while (result == 1 && eddy_json_next(&a_cursor, &name, &a_item)) {
                result = is_object ? member_find(b, &name, &b_item)
                                   : eddy_json_next(&b_cursor, NULL, &b_item);
                if (result == 1)
                        result = values_equal(&a_item, &b_item);
        }
        return result;
}

/* Returns 1 if two values are equal: 1 and 1.0 are. Errors: -ENOMEM */
static int values_equal(const struct eddy_json_value *a, const struct eddy_json_value *b)
{
        double a_number, b_number;

        if (a->kind != b->kind)
                return 0;
        if (a->kind == EDDY_JSON_STRING)
                return strings_equal(a, b);
        if (a->kind == EDDY_JSON_OBJECT || a->kind == EDDY_JSON_ARRAY)
                return lists_equal(a, b);
        if (a->kind == EDDY_JSON_NUMBER && eddy_json_double(a, &a_number) == 0 &&
            eddy_json_double(b, &b_number) == 0)
                return a_number == b_number;
        return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

/* Returns 1 if a value is in a list. */
static int is_in(const struct eddy_json_value *list, const struct eddy_json_value *value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;
        int found = 0;

        if (eddy_json_walk(list, &cursor) < 0)
                return 0;
        while (found == 0 && eddy_json_next(&cursor, NULL, &item))
                found = values_equal(&item, value);
        return found;
}

/* ---- checking a value ------------------------------------------------------------------------ */

/* A check, and the place of the value. */
struct check {
        char *fault;
        struct place {
                const struct place *outer;
                const struct eddy_json_value *name; /* NULL: an item */
                uint64_t index;
        } const *place;
};

static int schema_check(const struct check *check, const struct eddy_json_value *schema,
                        const struct eddy_json_value *value);

static size_t place_print(const struct place *place, char *text, size_t room)
{
        char shown[ED_EXCERPT_BYTES];
        size_t bytes;

        if (!place)
                return 0;
        bytes = place_print(place->outer, text, room);
        if (bytes >= room)
                return bytes;
        if (place->name)
                ed_excerpt(shown, place->name->text + 1, place->name->bytes - 2);
        else
                snprintf(shown, sizeof(shown), "%llu", (unsigned long long) place->index);
        return bytes + (size_t) snprintf(text + bytes, room - bytes, "/%s", shown);
}

/* Store the keyword that does not accept the value. Returns 0. */
static int refuse(const struct check *check, const struct eddy_json_value *keyword)
{
        char place[ED_SCHEMA_ERROR_BYTES - 40] = "";

        place_print(check->place, place, sizeof(place));
        snprintf(check->fault, ED_SCHEMA_ERROR_BYTES, "%.*s of %s",
                 (int) (keyword->bytes < 30 ? keyword->bytes - 2 : 28), keyword->text + 1,
                 *place ? place : "the whole");
        return 0;
}

static bool has_type(const struct eddy_json_value *type, const struct eddy_json_value *value)
{
        static const char *const names[] = {
                [EDDY_JSON_NULL] = "null",     [EDDY_JSON_BOOL] = "boolean",
                [EDDY_JSON_NUMBER] = "number", [EDDY_JSON_STRING] = "string",
                [EDDY_JSON_ARRAY] = "array",   [EDDY_JSON_OBJECT] = "object",
        };
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;
        double number;

        if (type->kind == EDDY_JSON_ARRAY && eddy_json_walk(type, &cursor) == 0) {
                while (eddy_json_next(&cursor, NULL, &item))
                        if (has_type(&item, value))
                                return true;
                return false;
        }
        if (eddy_json_is(type, "integer"))
                return value->kind == EDDY_JSON_NUMBER && eddy_json_double(value, &number) == 0 &&
                       floor(number) == number;
        return eddy_json_is(type, names[value->kind]);
}

/* Check the members or the items of a value by a schema for each. */
static int parts_check(const struct check *check, const struct eddy_json_value *schemas,
                       const struct eddy_json_value *value)
{
        bool is_object = value->kind == EDDY_JSON_OBJECT;
        struct eddy_json_cursor cursor;
        struct eddy_json_value name, item, schema = *schemas;
        struct place place = { .outer = check->place, .name = is_object ? &name : NULL };
        struct check inner = { .fault = check->fault, .place = &place };
        int result = 1;

        if (eddy_json_walk(value, &cursor) < 0)
                return 1;
        for (; result == 1 && eddy_json_next(&cursor, &name, &item); place.index++) {
                int found = is_object ? member_find(schemas, &name, &schema) : 1;

                if (found < 0)
                        return found;
                if (found)
                        result = schema_check(&inner, &schema, &item);
        }
        return result;
}

static int required_check(const struct eddy_json_value *names, const struct eddy_json_value *value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value name, member;
        int result = 1;

        if (value->kind != EDDY_JSON_OBJECT || eddy_json_walk(names, &cursor) < 0)
                return 1;
        while (result == 1 && eddy_json_next(&cursor, NULL, &name))
                result = member_find(value, &name, &member);
        return result;
}

/* With additionalProperties false, each member is one of 'properties'. */
static int additional_check(const struct eddy_json_value *schema,
                            const struct eddy_json_value *allowed,
                            const struct eddy_json_value *value)
{
        struct eddy_json_value properties = { .kind = EDDY_JSON_NONE }, name, member, known;
        struct eddy_json_cursor cursor;
        int result = 1;

        if (*allowed->text == 't' || value->kind != EDDY_JSON_OBJECT ||
            eddy_json_walk(value, &cursor) < 0)
                return 1;
        if (eddy_json_get(schema, "properties", &properties) < 0)
                properties.kind = EDDY_JSON_NONE;
        while (result == 1 && eddy_json_next(&cursor, &name, &member))
                result = member_find(&properties, &name, &known);
        return result;
}

/* Check a limit, such as minLength. */
static int limit_check(const struct eddy_json_value *keyword, const struct eddy_json_value *limit,
                       const struct eddy_json_value *value)
{
        bool is_min = strncmp(keyword->text, "\"min", 4) == 0;
        char of = keyword->text[4]; /* "minimum", "minLength", "minItems" */
        double most, size;
        int err = 0;

        if (eddy_json_double(limit, &most) < 0)
                return 1;
        if (of == 'L' && value->kind == EDDY_JSON_STRING)
                err = string_length(value, &size);
        else if (of == 'I' && value->kind == EDDY_JSON_ARRAY)
                size = (double) count_of(value);
        else if (of != 'i' || value->kind != EDDY_JSON_NUMBER || eddy_json_double(value, &size) < 0)
                return 1;
        if (err < 0)
                return err;
        return is_min ? size >= most : size <= most;
}

/* Check a value by one keyword. */
static int keyword_check(const struct check *check, const struct eddy_json_value *schema,
                         const struct eddy_json_value *keyword,
                         const struct eddy_json_value *operand, const struct eddy_json_value *value)
{
        int result = 1;

        if (eddy_json_is(keyword, "properties"))
                return value->kind == EDDY_JSON_OBJECT ? parts_check(check, operand, value) : 1;
        if (eddy_json_is(keyword, "items"))
                return value->kind == EDDY_JSON_ARRAY ? parts_check(check, operand, value) : 1;
        if (eddy_json_is(keyword, "type"))
                result = has_type(operand, value);
        else if (eddy_json_is(keyword, "required"))
                result = required_check(operand, value);
        else if (eddy_json_is(keyword, "additionalProperties"))
                result = additional_check(schema, operand, value);
        else if (eddy_json_is(keyword, "enum"))
                result = is_in(operand, value);
        else if (eddy_json_is(keyword, "const"))
                result = values_equal(operand, value);
        else if (strncmp(keyword->text, "\"min", 4) == 0 || strncmp(keyword->text, "\"max", 4) == 0)
                result = limit_check(keyword, operand, value);
        return result == 0 ? refuse(check, keyword) : result;
}

static int schema_check(const struct check *check, const struct eddy_json_value *schema,
                        const struct eddy_json_value *value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value keyword, operand;
        int result = 1;

        if (eddy_json_walk(schema, &cursor) < 0)
                return 1;
        while (result == 1 && eddy_json_next(&cursor, &keyword, &operand))
                result = keyword_check(check, schema, &keyword, &operand, value);
        return result;
}

/* ---- reading a schema ------------------------------------------------------------------------ */

static bool is_any(const struct eddy_json_value *value)
{
        (void) value;
        return true;
}

static bool is_bool(const struct eddy_json_value *value)
{
        return value->kind == EDDY_JSON_BOOL;
}

static bool is_object(const struct eddy_json_value *value)
{
        return value->kind == EDDY_JSON_OBJECT;
}

static bool is_list(const struct eddy_json_value *value)
{
        return value->kind == EDDY_JSON_ARRAY;
}

static bool is_number(const struct eddy_json_value *value)
{
        double number;

        return eddy_json_double(value, &number) == 0;
}

static bool is_size(const struct eddy_json_value *value)
{
        uint64_t size;

        return eddy_json_uint64(value, &size) == 0;
}

static bool is_texts(const struct eddy_json_value *value)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;

        if (value->kind != EDDY_JSON_ARRAY || eddy_json_walk(value, &cursor) < 0)
                return false;
        while (eddy_json_next(&cursor, NULL, &item))
                if (item.kind != EDDY_JSON_STRING)
                        return false;
        return true;
}

static bool is_type(const struct eddy_json_value *value)
{
        static const char *const names[] = { "null",   "boolean", "number", "integer",
                                             "string", "array",   "object" };
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (eddy_json_is(value, names[i]))
                        return true;
        if (value->kind != EDDY_JSON_ARRAY || eddy_json_walk(value, &cursor) < 0)
                return false;
        while (eddy_json_next(&cursor, NULL, &item))
                if (item.kind != EDDY_JSON_STRING || !is_type(&item))
                        return false;
        return true;
}

static const struct {
        const char *name;
        form_fn *has_form;
} keywords[] = {
        { "type", is_type },
        { "properties", is_object },
        { "required", is_texts },
        { "items", is_object },
        { "additionalProperties", is_bool },
        { "enum", is_list },
        { "const", is_any },
        { "minimum", is_number },
        { "maximum", is_number },
        { "minLength", is_size },
        { "maxLength", is_size },
        { "minItems", is_size },
        { "maxItems", is_size },
        /* Notes, without an effect */
        { "$schema", is_any },
        { "$id", is_any },
        { "$comment", is_any },
        { "title", is_any },
        { "description", is_any },
        { "default", is_any },
        { "examples", is_any },
};

static int schema_read(const struct eddy_json_value *schema, char error[ED_SCHEMA_ERROR_BYTES]);

/* Check that a keyword is known and has its form, and the schemas in it. */
static int keyword_read(const struct eddy_json_value *keyword,
                        const struct eddy_json_value *operand, char error[ED_SCHEMA_ERROR_BYTES])
{
        char shown[ED_EXCERPT_BYTES];
        struct eddy_json_cursor cursor;
        struct eddy_json_value schema;
        size_t i = 0;
        int err = 0;

        while (i < sizeof(keywords) / sizeof(keywords[0]) &&
               !eddy_json_is(keyword, keywords[i].name))
                i++;
        ed_excerpt(shown, keyword->text + 1, keyword->bytes - 2);
        if (i == sizeof(keywords) / sizeof(keywords[0]) ||
            memchr(keyword->text, '\\', keyword->bytes))
                snprintf(error, ED_SCHEMA_ERROR_BYTES,
                         "the keyword %s is not supported; eddy-batch(1) lists those that are",
                         shown);
        else if (!keywords[i].has_form(operand))
                snprintf(error, ED_SCHEMA_ERROR_BYTES,
                         "the value of the keyword %s has a form that is "
                         "not supported",
                         shown);
        if (*error)
                return -EINVAL;
        if (eddy_json_is(keyword, "items"))
                return schema_read(operand, error);
        if (!eddy_json_is(keyword, "properties") || eddy_json_walk(operand, &cursor) < 0)
                return 0;
        while (err == 0 && eddy_json_next(&cursor, NULL, &schema))
                err = schema_read(&schema, error);
        return err;
}

static int schema_read(const struct eddy_json_value *schema, char error[ED_SCHEMA_ERROR_BYTES])
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value keyword, operand;
        int err = 0;

        if (schema->kind != EDDY_JSON_OBJECT || eddy_json_walk(schema, &cursor) < 0) {
                snprintf(error, ED_SCHEMA_ERROR_BYTES, "a schema is an object of keywords");
                return -EINVAL;
        }
        while (err == 0 && eddy_json_next(&cursor, &keyword, &operand))
                err = keyword_read(&keyword, &operand, error);
        return err;
}

int ed_schema_new(const char *text, size_t bytes, struct ed_schema **ret_schema,
                  char error[ED_SCHEMA_ERROR_BYTES])
{
        struct ed_schema *schema = eddy_malloc(sizeof(*schema) + bytes);
        int err;

        if (!schema)
                return -ENOMEM;
        memcpy(schema->text, text, bytes);
        *error = '\0';
        if (eddy_json_parse(schema->text, bytes, NULL, &schema->whole, NULL) < 0) {
                snprintf(error, ED_SCHEMA_ERROR_BYTES, "it is not JSON");
                err = -EINVAL;
        } else {
                err = schema_read(&schema->whole, error);
        }
        if (err < 0) {
                eddy_free(schema);
                return err;
        }
        *ret_schema = schema;
        return 0;
}

void ed_schema_free(struct ed_schema *schema)
{
        eddy_free(schema);
}

int ed_schema_check(const struct ed_schema *schema, const struct eddy_json_value *value,
                    char fault[ED_SCHEMA_ERROR_BYTES])
{
        struct check check = { .fault = fault };

        *fault = '\0';
        return schema_check(&check, &schema->whole, value);
}
