/*
 * wire/query_read.c - read queries, forms and other pairs into a struct that a table describes.
 *
 * The pairs become a JSON text, which the reader of structs reads: limits, formats and errors are
 * the same everywhere. A value becomes a number, true or false only if its field needs one and the
 * text is one; any other value becomes a string, which the reader refuses for such a field.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fields.h"
#include "eddy/error.h"
#include "eddy/query.h"
#include "wire/chars.h"
#include "wire/field_errors.h"
#include "wire/json.h"
#include "wire/query.h"
#include "wire/url_query.h"
#include "wire/url_quote.h"

#define NO_ITEM UINT32_MAX

/* A value of a field, or an unknown name, as it is written. */
struct item {
        struct eddy_url_part text;
        uint32_t next; /* of the same field, or NO_ITEM */
};

struct slot {
        uint32_t first, last;
};

struct reading {
        const struct eddy_fields *fields;
        struct eddy_field_errors *errors; /* NULL: only the first error is reported */
        struct eddy_json_error *error;    /* if 'errors' is NULL, the caller's */
        unsigned flags;
        bool is_quoted;      /* '%' and '+' are to be decoded */
        uint32_t pairs;      /* that were taken */
        size_t first;        /* the field where the search for the next name begins */
        struct slot *slots;  /* of each field, and the last of unknown names */
        struct ed_buf items; /* struct item */
        struct ed_buf piece; /* the decoded name or value */
        struct ed_buf json;
};

#define FAIL(reading, code, ...) ed_json_fail((reading)->error, code, NULL, 0, NULL, __VA_ARGS__)

static int fail_room(const struct reading *reading, int error)
{
        return FAIL(reading, error, "%s",
                    error == -EMSGSIZE ? "the values exceed EDDY_JSON_WRITTEN_MAX bytes"
                                       : "out of memory");
}

/* ---- tables ---------------------------------------------------------------------------------- */

int ed_query_table_check(const struct eddy_fields *fields, struct eddy_json_error *ret_error)
{
        int err = ed_fields_check(fields, ret_error);

        for (size_t i = 0; err == 0 && i < fields->count; i++) {
                const struct eddy_field *field = &fields->list[i];
                struct ed_field_place place = ed_field_place_of(NULL, field);

                if (field->kind == EDDY_KIND_STRUCT || field->kind == EDDY_KIND_RAW ||
                    field->kind == EDDY_KIND_TAG)
                        err = ed_json_fail(ret_error, EDDY_E_FIELD_TABLE, NULL, 0, &place,
                                           "a query has no structs, maps, unions or raw values");
        }
        return err;
}

int eddy_query_check(const struct eddy_fields *fields, struct eddy_json_error *ret_error)
{
        int err = eddy_fields_check(fields, ret_error);

        return err < 0 ? err : ed_query_table_check(fields, ret_error);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Returns the decoded bytes, which are valid until the next call. */
static int decode(struct reading *reading, struct eddy_url_part part,
                  struct eddy_url_part *ret_text)
{
        char *room;
        int64_t bytes;
        int err;

        if (!reading->is_quoted) {
                *ret_text = part;
                return 0;
        }
        err = ed_buf_reserve(&reading->piece, part.bytes + 1, &room);
        if (err < 0)
                return fail_room(reading, err);
        bytes = eddy_url_unquote(part.text, part.bytes, EDDY_URL_PLUS, room, part.bytes + 1);
        if (bytes < 0)
                return FAIL(reading, (int) bytes, "a name or value cannot be decoded");
        *ret_text = (struct eddy_url_part){ room, (size_t) bytes };
        return 0;
}

/* Returns the index of the field, or the number of fields. */
static size_t find_field(struct reading *reading, struct eddy_url_part name)
{
        size_t count = reading->fields->count;

        for (size_t n = 0; n < count; n++) {
                size_t i = (reading->first + n) % count;
                const char *known = ed_field_name(&reading->fields->list[i]);

                if (strlen(known) == name.bytes && memcmp(known, name.text, name.bytes) == 0) {
                        reading->first = i + 1;
                        return i;
                }
        }
        return count;
}

static int keep(struct reading *reading, struct slot *slot, struct eddy_url_part text)
{
        struct item item = { text, NO_ITEM };
        uint32_t at = (uint32_t) (ed_buf_bytes(&reading->items) / sizeof(item));
        int err = ed_buf_append(&reading->items, &item, sizeof(item));

        if (err < 0)
                return fail_room(reading, err);
        if (slot->first == NO_ITEM)
                slot->first = at;
        else
                ((struct item *) (void *) ed_buf_data(&reading->items))[slot->last].next = at;
        slot->last = at;
        return 0;
}

static int take_pair(struct reading *reading, struct eddy_url_part name, struct eddy_url_part value)
{
        struct eddy_url_part decoded;
        size_t field;
        int err;

        if (reading->pairs++ == EDDY_QUERY_PAIRS_MAX)
                return FAIL(reading, EDDY_E_FIELD_LENGTH, "more than %d pairs",
                            EDDY_QUERY_PAIRS_MAX);
        err = decode(reading, name, &decoded);
        if (err < 0)
                return err;
        field = find_field(reading, decoded);
        if (field < reading->fields->count) {
                if (value.bytes == 0 && (reading->flags & EDDY_QUERY_SKIP_EMPTY))
                        return 0;
                return keep(reading, &reading->slots[field], value);
        }
        return reading->fields->flags & EDDY_FIELDS_STRICT
                       ? keep(reading, &reading->slots[field], name)
                       : 0;
}

/* ---- the text -------------------------------------------------------------------------------- */

static int put(struct reading *reading, const char *text, size_t bytes)
{
        int err = ed_buf_append(&reading->json, text, bytes);

        return err < 0 ? fail_room(reading, err) : 0;
}

/* Half of a surrogate pair represents bytes that are not UTF-8; the reader refuses it. */
static int put_string(struct reading *reading, struct eddy_url_part text)
{
        char *room;
        int err;

        if (!eddy_json_is_utf8(text.text, text.bytes))
                return put(reading, "\"\\udcff\"", 8);
        err = ed_buf_reserve(&reading->json, eddy_json_quoted_bytes(text.text, text.bytes), &room);
        if (err < 0)
                return fail_room(reading, err);
        ed_buf_grow(&reading->json, eddy_json_quote(text.text, text.bytes, room));
        return 0;
}

static bool is_number(struct eddy_url_part text)
{
        struct eddy_json_value value;

        return text.bytes > 0 && (*text.text == '-' || ed_char_is(*text.text, ED_CHAR_DIGIT)) &&
               eddy_json_parse(text.text, text.bytes, NULL, &value, NULL) == 0 &&
               value.bytes == text.bytes;
}

/* Returns the word of JSON for a bool, or NULL. */
static const char *bool_word(struct eddy_url_part text)
{
        static const char *const words[] = { "false", "true", "0", "1", "no", "yes", "off", "on" };

        for (size_t i = 0; i < ed_array_count(words); i++)
                if (ed_token_is(text.text, text.bytes, words[i], strlen(words[i])))
                        return words[i % 2];
        return NULL;
}

static int put_value(struct reading *reading, const struct eddy_field *field,
                     struct eddy_url_part value)
{
        struct eddy_url_part text;
        const char *word;
        int err = decode(reading, value, &text);

        if (err < 0)
                return err;
        switch (field->kind) {
        case EDDY_KIND_BOOL:
                word = bool_word(text);
                return word ? put(reading, word, strlen(word)) : put_string(reading, text);
        case EDDY_KIND_INT:
        case EDDY_KIND_UINT:
        case EDDY_KIND_DOUBLE:
                return is_number(text) ? put(reading, text.text, text.bytes)
                                       : put_string(reading, text);
        default:
                return put_string(reading, text);
        }
}

static int put_name(struct reading *reading, struct eddy_url_part name)
{
        bool is_first = ed_buf_bytes(&reading->json) == 1;
        int err = is_first ? 0 : put(reading, ",", 1);

        if (err == 0)
                err = put_string(reading, name);
        return err < 0 ? err : put(reading, ":", 1);
}

static const struct item *item_at(const struct reading *reading, uint32_t at)
{
        return at == NO_ITEM ? NULL
                             : (const struct item *) (void *) ed_buf_data(&reading->items) + at;
}

static int put_items(struct reading *reading, const struct eddy_field *field,
                     const struct item *item)
{
        int err = put(reading, "[", 1);

        for (bool is_first = true; err == 0 && item; is_first = false) {
                if (!is_first)
                        err = put(reading, ",", 1);
                if (err == 0)
                        err = put_value(reading, field, item->text);
                item = item_at(reading, item->next);
        }
        return err < 0 ? err : put(reading, "]", 1);
}

/* A field that is given twice is written twice, and refused by the reader. */
static int put_field(struct reading *reading, const struct eddy_field *field,
                     const struct item *item)
{
        const char *name = ed_field_name(field);
        int err = 0;

        for (int n = 0; err == 0 && item && n < 2; n++) {
                err = put_name(reading, (struct eddy_url_part){ name, strlen(name) });
                if (err == 0 && field->shape != EDDY_SHAPE_ONE)
                        return put_items(reading, field, item);
                if (err == 0)
                        err = put_value(reading, field, item->text);
                item = item_at(reading, item->next);
        }
        return err;
}

static int put_unknown(struct reading *reading, const struct item *item)
{
        int err = 0;

        for (; err == 0 && item; item = item_at(reading, item->next)) {
                struct eddy_url_part name;

                err = decode(reading, item->text, &name);
                if (err == 0)
                        err = put_name(reading, name);
                if (err == 0)
                        err = put(reading, "null", 4);
        }
        return err;
}

static int put_all(struct reading *reading)
{
        const struct eddy_fields *fields = reading->fields;
        int err = put(reading, "{", 1);

        for (size_t i = 0; err == 0 && i < fields->count; i++)
                err = put_field(reading, &fields->list[i],
                                item_at(reading, reading->slots[i].first));
        if (err == 0)
                err = put_unknown(reading, item_at(reading, reading->slots[fields->count].first));
        return err < 0 ? err : put(reading, "}", 1);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int begin(struct reading *reading)
{
        size_t slots = reading->fields->count + 1;

        ed_buf_init(&reading->items, EDDY_QUERY_PAIRS_MAX * sizeof(struct item));
        ed_buf_init(&reading->piece, EDDY_JSON_WRITTEN_MAX);
        ed_buf_init(&reading->json, EDDY_JSON_WRITTEN_MAX);
        reading->slots = ed_alloc(slots * sizeof(*reading->slots));
        if (!reading->slots)
                return fail_room(reading, -ENOMEM);
        for (size_t i = 0; i < slots; i++)
                reading->slots[i] = (struct slot){ NO_ITEM, NO_ITEM };
        return 0;
}

/* Add an error that was found before any field was read to the list, if there is one. */
static int report(const struct reading *reading, int err)
{
        const struct eddy_json_error *error = reading->error;

        if (!reading->errors || err == -ENOMEM || err == -EINVAL)
                return err;
        return ed_field_errors_add(reading->errors, err, error->offset, NULL, error->text);
}

/* Read what was taken, unless taking failed, and free everything. */
static int end(struct reading *reading, int err, void *out)
{
        if (err == 0)
                err = put_all(reading);
        if (err < 0)
                err = report(reading, err);
        else
                err = ed_json_read_texts(reading->fields, ed_buf_data(&reading->json),
                                         ed_buf_bytes(&reading->json), out, reading->errors,
                                         reading->errors ? NULL : reading->error);
        ed_buf_fini(&reading->items);
        ed_buf_fini(&reading->piece);
        ed_buf_fini(&reading->json);
        ed_free(reading->slots);
        return err;
}

/* Fails at the first '%' without two digits. */
static int check_quoted(struct eddy_json_error *ret_error, const char *query, size_t bytes)
{
        for (size_t at = 0; at < bytes;) {
                size_t begin = at;
                int err;

                if (ed_url_byte(query, bytes, &at) >= 0)
                        continue;
                err = ed_json_fail(ret_error, EDDY_E_URL_INVALID, NULL, 0, NULL,
                                   "byte %zu: '%%' without two hexadecimal digits", begin + 1);
                if (ret_error)
                        ret_error->offset = begin;
                return err;
        }
        return 0;
}

static int check_call(const struct reading *reading)
{
        if (reading->flags & ~(unsigned) EDDY_QUERY_SKIP_EMPTY)
                return FAIL(reading, -EINVAL, "an unknown flag");
        if (reading->errors && reading->errors->max > EDDY_FIELD_ERRORS_MAX)
                return FAIL(reading, -EINVAL, "the maximum of errors is too large");
        return ed_query_table_check(reading->fields, reading->error);
}

static int read_query(struct reading *reading, const char *query, size_t bytes, void *out)
{
        struct eddy_url_part left = { query, bytes };
        struct ed_url_pair pair;
        int err = check_call(reading);

        reading->is_quoted = true;
        if (err == 0)
                err = check_quoted(reading->error, query, bytes);
        if (err < 0)
                return report(reading, err);
        err = begin(reading);
        while (err == 0 && ed_url_pair_take(&left, &pair))
                err = take_pair(reading, pair.name, pair.value);
        return end(reading, err, out);
}

static int read_pairs(struct reading *reading, const struct eddy_url_pair *pairs, size_t count,
                      void *out)
{
        int err = check_call(reading);

        if (err < 0)
                return report(reading, err);
        err = begin(reading);
        for (size_t i = 0; err == 0 && i < count; i++) {
                const struct eddy_url_pair *pair = &pairs[i];

                if (!pair->name || !pair->value)
                        err = FAIL(reading, -EINVAL, "pair %zu has no name or no value", i + 1);
                else
                        err = take_pair(reading,
                                        (struct eddy_url_part){ pair->name, strlen(pair->name) },
                                        (struct eddy_url_part){ pair->value, strlen(pair->value) });
        }
        return end(reading, err, out);
}

int eddy_query_read(const struct eddy_fields *fields, const char *query, size_t bytes,
                    unsigned flags, void *out, struct eddy_json_error *ret_error)
{
        struct reading reading = { .fields = fields, .error = ret_error, .flags = flags };

        return read_query(&reading, query, bytes, out);
}

int eddy_query_read_all(const struct eddy_fields *fields, const char *query, size_t bytes,
                        unsigned flags, void *out, struct eddy_field_errors *errors)
{
        struct eddy_json_error error;
        struct reading reading = {
                .fields = fields, .errors = errors, .error = &error, .flags = flags
        };

        return read_query(&reading, query, bytes, out);
}

int eddy_query_read_pairs(const struct eddy_fields *fields, const struct eddy_url_pair *pairs,
                          size_t count, unsigned flags, void *out,
                          struct eddy_json_error *ret_error)
{
        struct reading reading = { .fields = fields, .error = ret_error, .flags = flags };

        return read_pairs(&reading, pairs, count, out);
}

int eddy_query_read_pairs_all(const struct eddy_fields *fields, const struct eddy_url_pair *pairs,
                              size_t count, unsigned flags, void *out,
                              struct eddy_field_errors *errors)
{
        struct eddy_json_error error;
        struct reading reading = {
                .fields = fields, .errors = errors, .error = &error, .flags = flags
        };

        return read_pairs(&reading, pairs, count, out);
}
