/*
 * fuzz_json.c - any bytes as a JSON text.
 *
 * Check and compact agree; a compacted text is compact and has equal values; each value can be
 * walked and converted; a struct that is read is written as a text that gives an equal struct; the list
 * of all errors begins with the first error.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/alloc.h"
#include "eddy/field_errors.h"
#include "eddy/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

struct inner {
        double d;
        char text[6];
        bool has_d, no_d;
};

struct entry {
        char name[6];
        int16_t *numbers;
        size_t numbers_count;
        bool has_numbers;
};

struct choice {
        int type;
        union {
                struct inner inner;
                struct entry entry;
        } as;
};

struct outer {
        bool b;
        int8_t i;
        uint64_t u;
        char *s;
        char *r;
        struct inner in, two[2], *more;
        size_t two_count, more_count;
        char **list;
        size_t list_count;
        struct entry *map;
        size_t map_count;
        struct choice choice;
        char when[40];
        bool has_when;
        float f;
};

static const struct eddy_field inner_list[] = {
        EDDY_FIELD(struct inner, d, EDDY_FIELD_FLAG(struct inner, has_d),
                   EDDY_FIELD_NULL_FLAG(struct inner, no_d), EDDY_FIELD_MAX(1000)),
        EDDY_FIELD(struct inner, text),
};
static const struct eddy_fields inner_fields =
        EDDY_FIELDS(struct inner, inner_list, EDDY_FIELDS_STRICT);
static const struct eddy_field entry_list[] = {
        EDDY_FIELD(struct entry, name),
        EDDY_FIELD_LIST(struct entry, numbers, numbers_count,
                        EDDY_FIELD_FLAG(struct entry, has_numbers), EDDY_FIELD_UNIQUE),
};
static const struct eddy_fields entry_fields = EDDY_FIELDS(struct entry, entry_list, 0);
static const char *const types[] = { "i", "e", NULL };
static const struct eddy_field choice_list[] = {
        EDDY_FIELD_TAG(struct choice, type, types),
        EDDY_FIELD_STRUCT(struct choice, as.inner, &inner_fields),
        EDDY_FIELD_STRUCT(struct choice, as.entry, &entry_fields),
};
static const struct eddy_fields choice_fields = EDDY_FIELDS(struct choice, choice_list, 0);
static const struct eddy_field outer_list[] = {
        EDDY_FIELD(struct outer, b),
        EDDY_FIELD(struct outer, i),
        EDDY_FIELD(struct outer, u),
        EDDY_FIELD(struct outer, s, EDDY_FIELD_LENGTH(0, 40)),
        EDDY_FIELD_RAW(struct outer, r),
        EDDY_FIELD_STRUCT(struct outer, in, &inner_fields),
        EDDY_FIELD_ARRAY_OF(struct outer, two, two_count, &inner_fields),
        EDDY_FIELD_LIST_OF(struct outer, more, more_count, &inner_fields),
        EDDY_FIELD_LIST(struct outer, list, list_count),
        EDDY_FIELD_MAP(struct outer, map, map_count, &entry_fields),
        EDDY_FIELD_STRUCT(struct outer, choice, &choice_fields),
        EDDY_FIELD(struct outer, when, EDDY_FIELD_FLAG(struct outer, has_when),
                   EDDY_FIELD_FORMAT("date-time")),
        EDDY_FIELD(struct outer, f),
};
static const struct eddy_fields outer_fields = EDDY_FIELDS(struct outer, outer_list, 0);

/* The list of all errors of a text whose first error is 'first', or of a right one. */
static void check_all(const char *text, size_t bytes, const struct eddy_json_error *first)
{
        struct eddy_field_errors errors = { .max = 8 };
        struct outer outer = { 0 };
        int err = eddy_json_read_all(&outer_fields, text, bytes, 0, &outer, &errors);

        require(err == (first ? first->error : 0));
        require(first ? errors.count > 0 && errors.list[0].error == err : !errors.list);
        require(errors.count <= 8 && errors.all >= errors.count);
        if (first)
                require(errors.list[0].offset == first->offset);
        eddy_field_errors_fini(&errors);
        eddy_fields_fini(&outer_fields, &outer);
}

static void check_struct(const char *text, size_t bytes)
{
        struct outer first = { 0 }, second = { 0 };
        struct eddy_json_error error;
        size_t once_bytes, twice_bytes;
        char *once, *twice;

        if (eddy_json_read(&outer_fields, text, bytes, &first, &error) < 0) {
                require(error.text[0] != '\0' && error.offset <= bytes && !first.s && !first.list);
                check_all(text, bytes, &error);
                return;
        }
        check_all(text, bytes, NULL);
        require(eddy_json_write(&outer_fields, &first, &once, &once_bytes, &error) == 0);
        require(eddy_json_read(&outer_fields, once, once_bytes, &second, &error) == 0);
        require(eddy_json_write(&outer_fields, &second, &twice, &twice_bytes, &error) == 0);
        require(once_bytes == twice_bytes && memcmp(once, twice, once_bytes) == 0);
        eddy_free(once);
        eddy_free(twice);
        eddy_fields_fini(&outer_fields, &first);
        eddy_fields_fini(&outer_fields, &second);
}

/* Two values are equal but for white space. */
static void check_equal(const struct eddy_json_value *a, const struct eddy_json_value *b)
{
        struct eddy_json_value name_a, name_b, item_a, item_b;
        struct eddy_json_cursor at_a, at_b;
        double number;

        require(a->kind == b->kind);
        if (eddy_json_walk(a, &at_a) < 0) {
                require(a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0);
                require(a->kind != EDDY_JSON_ARRAY && a->kind != EDDY_JSON_OBJECT);
                (void) !eddy_json_double(a, &number);
                return;
        }
        require(eddy_json_walk(b, &at_b) == 0);
        while (eddy_json_next(&at_a, &name_a, &item_a)) {
                require(eddy_json_next(&at_b, &name_b, &item_b));
                require(name_a.bytes == name_b.bytes);
                check_equal(&item_a, &item_b);
        }
        require(!eddy_json_next(&at_b, &name_b, &item_b));
}

static void check_string(const struct eddy_json_value *value)
{
        char *text = malloc(value->bytes), *quoted;
        int64_t bytes = eddy_json_string(value, text, value->bytes);

        if (bytes >= 0) {
                struct eddy_json_value again;
                size_t n = eddy_json_quoted_bytes(text, (size_t) bytes);

                require(eddy_json_is_utf8(text, (size_t) bytes));
                quoted = malloc(n);
                require(quoted && eddy_json_quote(text, (size_t) bytes, quoted) == n);
                require(eddy_json_parse(quoted, n, NULL, &again, NULL) == 0);
                require(eddy_json_string(&again, NULL, 0) == bytes);
                if (strlen(text) == (size_t) bytes)
                        require(eddy_json_is(value, text) && eddy_json_is(&again, text));
                free(quoted);
        }
        free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        const char *text = (const char *) data;
        struct eddy_json_value value, again;
        char *out = malloc(bytes ? bytes : 1);
        int64_t written = eddy_json_compact(text, bytes, out, NULL, NULL);
        int err = eddy_json_parse(text, bytes, NULL, &value, NULL);

        require(out && (err < 0 ? written == err : written > 0 && (size_t) written <= bytes));
        if (err == 0) {
                require(eddy_json_parse(out, (size_t) written, NULL, &again, NULL) == 0);
                require(again.bytes == (size_t) written);
                check_equal(&value, &again);
                if (value.kind == EDDY_JSON_STRING)
                        check_string(&value);
        }
        check_struct(text, bytes);
        free(out);
        return 0;
}
