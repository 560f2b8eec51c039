/*
 * batch/request/filling.c - see filling.h.
 */
#include "batch/request/filling.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "batch/request/template_parts.h"
#include "common/csv.h"
#include "common/excerpt.h"
#include "common/url_parts.h"
#include "eddy/alloc.h"
#include "eddy/http_text.h"
#include "eddy/json.h"
#include "eddy/url.h"

/* The kinds of fields of CSV, beside enum eddy_json_kind. */
enum { CSV_PLAIN = -1, CSV_QUOTED = -2 };

/* Where the fields of a line are, in the order of the template's places; none: EDDY_JSON_NONE. */
struct sources {
        struct eddy_json_value *values;
        size_t found;
};

static bool is_csv(const struct eddy_json_value *value)
{
        return value->kind == CSV_PLAIN || value->kind == CSV_QUOTED;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Append a string's text with escapes, but without quotes. */
static void text_add_inside(struct ed_draft *body, const char *data, size_t bytes)
{
        size_t from = body->bytes, added;

        ed_draft_add_json(body, data, bytes);
        if (!ed_draft_is_whole(body))
                return;
        added = body->bytes - from;
        memmove(body->data + from, body->data + from + 1, added - 2);
        body->bytes -= 2;
}

static int json_add(const struct ed_place *place, const char *text, size_t bytes,
                    struct ed_draft *body, char *error)
{
        char name[ED_EXCERPT_BYTES], value[ED_EXCERPT_BYTES];

        ed_excerpt(name, place->name, strlen(place->name));
        if (bytes == 0)
                return ed_fault_set(error,
                                    "\"%s\" is empty, and \"{{%s:json}}\" needs JSON: write "
                                    "JSON such as null, or omit \":json\"",
                                    name, name);
        if (eddy_json_check(text, bytes, NULL, NULL) < 0)
                return ed_fault_set(error,
                                    "\"%s\" is %s, and \"{{%s:json}}\" needs JSON: write JSON "
                                    "such as 5, or omit \":json\"",
                                    name, ed_excerpt(value, text, bytes), name);
        ed_draft_add(body, text, bytes);
        return 0;
}

static int place_fill_text(const struct ed_place *place, const char *text, size_t bytes,
                           struct ed_draft *body, char *error)
{
        char name[ED_EXCERPT_BYTES];

        if (!eddy_json_is_utf8(text, bytes))
                return ed_fault_set(error, "\"%s\" is not UTF-8 text: " ED_FAULT_UTF8,
                                    ed_excerpt(name, place->name, strlen(place->name)));
        if (place->kind == ED_PLACE_JSON)
                return json_add(place, text, bytes, body, error);
        if (place->kind == ED_PLACE_WHOLE)
                ed_draft_add_json(body, text, bytes);
        else
                text_add_inside(body, text, bytes);
        return 0;
}

static int place_fill_csv(const struct ed_place *place, const struct eddy_json_value *value,
                          struct ed_draft *body, char *error)
{
        struct ed_csv_field field = { value->text, value->bytes, value->kind == CSV_QUOTED };
        struct ed_draft text = { 0 };
        int err = -ENOMEM;

        ed_csv_add(&field, &text);
        if (ed_draft_is_whole(&text))
                err = place_fill_text(place, text.data ? text.data : "", text.bytes, body, error);
        ed_draft_fini(&text);
        return err;
}

/* Insert the text of a JSON string as JSON. */
static int place_fill_parsed(const struct ed_place *place, const struct eddy_json_value *value,
                             struct ed_draft *body, char *error)
{
        char *text = eddy_malloc(value->bytes), name[ED_EXCERPT_BYTES];
        int64_t n;
        int err;

        if (!text)
                return -ENOMEM;
        n = eddy_json_string(value, text, value->bytes);
        if (n < 0)
                err = ed_fault_set(error, "\"%s\" has half of a surrogate pair",
                                   ed_excerpt(name, place->name, strlen(place->name)));
        else
                err = json_add(place, text, (size_t) n, body, error);
        eddy_free(text);
        return err;
}

static int json_fill(const struct ed_place *place, const struct eddy_json_value *value,
                     struct ed_draft *body, char *error)
{
        bool is_string = value->kind == EDDY_JSON_STRING;

        if (is_csv(value))
                return place_fill_csv(place, value, body, error);
        if (place->kind == ED_PLACE_JSON && is_string)
                return place_fill_parsed(place, value, body, error);
        if (place->kind == ED_PLACE_INSIDE && is_string)
                ed_draft_add(body, value->text + 1, value->bytes - 2); /* with its escapes */
        else if (place->kind == ED_PLACE_INSIDE)
                text_add_inside(body, value->text, value->bytes);
        else
                ed_draft_add(body, value->text, value->bytes);
        return 0;
}

/* ---- URLs and headers ------------------------------------------------------------------------ */

/*
 * Append a field's text: that of a string, a number or a boolean, and nothing for null. Errors:
 * -EDOM  an object or an array;  -EINVAL  half of a surrogate pair;  -ENOMEM
 */
static int text_take(const struct eddy_json_value *value, struct ed_draft *text)
{
        struct ed_csv_field field = { value->text, value->bytes, value->kind == CSV_QUOTED };
        int64_t n;
        char *to;

        if (is_csv(value)) {
                ed_csv_add(&field, text);
        } else if (value->kind == EDDY_JSON_STRING) {
                to = ed_draft_room(text, value->bytes);
                n = to ? eddy_json_string(value, to, value->bytes) : 0;
                if (n < 0)
                        return -EINVAL;
                text->bytes += (size_t) n;
        } else if (value->kind == EDDY_JSON_OBJECT || value->kind == EDDY_JSON_ARRAY) {
                return -EDOM;
        } else if (value->kind != EDDY_JSON_NULL) {
                ed_draft_add(text, value->text, value->bytes);
        }
        return ed_draft_is_whole(text) ? 0 : -ENOMEM;
}

/* Report a field that cannot be inserted. */
static int text_fault(const struct ed_template *template, const struct ed_place *place, int err,
                      char *error)
{
        const char *what = ed_template_what(template);
        char name[ED_EXCERPT_BYTES];

        ed_excerpt(name, place->name, strlen(place->name));
        if (err == -EDOM)
                return ed_fault_set(error,
                                    "\"%s\" is an object or an array, and %s has {{%s}}: write a "
                                    "text or a number",
                                    name, what, name);
        if (err == -EINVAL)
                return ed_fault_set(error, "\"%s\" has half of a surrogate pair", name);
        return err;
}

/* Report a text that the place cannot have. Returns 0 for others. The text may be a secret. */
static int text_check(const struct ed_template *template, const struct ed_place *place,
                      const char *text, size_t bytes, char *error)
{
        const char *what = ed_template_what(template);
        char name[ED_EXCERPT_BYTES];

        ed_excerpt(name, place->name, strlen(place->name));
        if (bytes > ED_FILLING_TEXT_BYTES_MAX)
                return ed_fault_set(error,
                                    "\"%s\" has %zu bytes, and %s has {{%s}}: at most %d are "
                                    "possible",
                                    name, bytes, what, name, (int) ED_FILLING_TEXT_BYTES_MAX);
        if (!eddy_json_is_utf8(text, bytes))
                return ed_fault_set(error, "\"%s\" is not UTF-8 text: " ED_FAULT_UTF8, name);
        if (bytes == 0 && place->kind == ED_PLACE_PATH)
                return ed_fault_set(error,
                                    "\"%s\" is empty, and the path of the URL has {{%s}}: write a "
                                    "value, or remove the line",
                                    name, name);
        if (place->kind == ED_PLACE_HEADER && !eddy_http_is_value(text, bytes))
                return ed_fault_set(error,
                                    "\"%s\" has a line feed or another control character, and the "
                                    "header has {{%s}}: remove it",
                                    name, name);
        return 0;
}

/* Append a text that has no meaning in any part of a URL: a space becomes %20, not +. */
static void quoted_add(struct ed_draft *filled, const struct ed_draft *text)
{
        size_t room = 3 * text->bytes + 1;
        char *to = ed_draft_room(filled, room);

        if (to)
                filled->bytes += (size_t) eddy_url_quote(text->data, text->bytes, 0, to, room);
}

static int text_fill(const struct ed_template *template, const struct ed_place *place,
                     const struct eddy_json_value *value, struct ed_draft *filled, char *error)
{
        struct ed_draft text = { 0 };
        int err = text_take(value, &text);

        if (err < 0)
                err = text_fault(template, place, err, error);
        else
                err = text_check(template, place, text.data ? text.data : "", text.bytes, error);
        if (err == 0 && place->kind == ED_PLACE_HEADER)
                ed_draft_add(filled, text.data, text.bytes);
        else if (err == 0)
                quoted_add(filled, &text);
        ed_draft_fini(&text);
        return err;
}

/* Check a filled URL or header. */
static int whole_check(const struct ed_template *template, struct ed_draft *filled, size_t from,
                       char *error)
{
        size_t bytes = filled->bytes - from;

        if (bytes > ED_FILLING_TEXT_BYTES_MAX)
                return ed_fault_set(error, "%s has %zu bytes; at most %d are possible",
                                    ed_template_what(template), bytes,
                                    (int) ED_FILLING_TEXT_BYTES_MAX);
        ed_draft_add(filled, "", 1);
        if (!ed_draft_is_whole(filled))
                return -ENOMEM;
        filled->bytes--;
        if (template->kind == ED_TEMPLATE_URL && ed_url_has_dots(filled->data + from))
                return ed_fault_set(error, "a segment of the URL is \".\" or \"..\", which means "
                                           "another path: write another value");
        return 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Store a value for the places of its name, a JSON string or a C string, that have none yet. */
static void sources_offer(const struct ed_template *template, struct sources *sources,
                          const struct eddy_json_value *json_name, const char *name,
                          const struct eddy_json_value *value)
{
        for (size_t i = 0; i < template->places_count; i++) {
                const char *wanted = template->places[i].name;

                if (sources->values[i].kind != EDDY_JSON_NONE ||
                    !(name ? strcmp(name, wanted) == 0 : eddy_json_is(json_name, wanted)))
                        continue;
                sources->values[i] = *value;
                sources->found++;
        }
}

static int sources_of_row(const struct ed_template *template, const struct ed_columns *columns,
                          const char *line, size_t bytes, struct sources *sources, char *error)
{
        struct ed_csv_cursor cursor = ed_csv_walk(line, bytes);
        struct ed_csv_field field;
        size_t count = 0;
        int more;

        while ((more = ed_csv_next(&cursor, &field)) > 0) {
                struct eddy_json_value value = { field.text, field.bytes,
                                                 field.is_quoted ? CSV_QUOTED : CSV_PLAIN };

                if (count < ed_columns_count(columns))
                        sources_offer(template, sources, NULL, ed_columns_name(columns, count),
                                      &value);
                count++;
        }
        if (more < 0)
                return ed_fault_set(error,
                                    "column %zu of the row has a wrong quote: close it before the "
                                    "comma, and write a quote in a field twice",
                                    count + 1);
        if (count != ed_columns_count(columns))
                return ed_fault_set(
                        error,
                        "the row has %zu column%s, and the first row has %zu: put fields "
                        "with commas in double quotes",
                        count, count == 1 ? "" : "s", ed_columns_count(columns));
        return 0;
}

static int sources_of_object(const struct ed_template *template, const char *line, size_t bytes,
                             struct sources *sources, char *error)
{
        struct eddy_json_value object, name, value;
        struct eddy_json_cursor cursor;
        struct eddy_json_error fault;

        if (template->places_count == 0)
                return 0;
        if (eddy_json_parse(line, bytes, NULL, &object, &fault) < 0)
                return ed_fault_set(error, "the line is not JSON: %s", fault.text);
        if (object.kind != EDDY_JSON_OBJECT)
                return ed_fault_set(error,
                                    "the line is not an object, and %s has fields: write an object "
                                    "such as {\"name\":\"value\"}",
                                    ed_template_what(template));
        if (eddy_json_walk(&object, &cursor) < 0)
                return -EINVAL;
        while (sources->found < template->places_count && eddy_json_next(&cursor, &name, &value))
                sources_offer(template, sources, &name, NULL, &value);
        return 0;
}

/*
 * Find the fields of a line for the places of a template. The caller frees 'values', also after an
 * error.
 */
static int sources_find(const struct ed_template *template, const struct ed_columns *columns,
                        const char *line, size_t bytes, struct sources *sources, char *error)
{
        size_t values_bytes = (template->places_count + 1) * sizeof(*sources->values);

        *sources = (struct sources){ .values = eddy_malloc(values_bytes) };
        if (!sources->values)
                return -ENOMEM;
        memset(sources->values, 0, values_bytes);
        if (columns)
                return sources_of_row(template, columns, line, bytes, sources, error);
        return sources_of_object(template, line, bytes, sources, error);
}

/* ---- templates ------------------------------------------------------------------------------- */

/* Append the template with the values in its places. */
static int template_write(const struct ed_template *template, const struct sources *sources,
                          bool is_csv, struct ed_draft *filled, char *error)
{
        char shown[ED_EXCERPT_BYTES];
        size_t at = 0;
        int err;

        for (size_t i = 0; i < template->places_count; i++) {
                const struct ed_place *place = &template->places[i];

                if (sources->values[i].kind == EDDY_JSON_NONE)
                        return ed_fault_set(error, "%s no %s \"%s\", and %s has {{%s}}",
                                            is_csv ? "the first row has" : "the line has",
                                            is_csv ? "column" : "field",
                                            ed_excerpt(shown, place->name, strlen(place->name)),
                                            ed_template_what(template), shown);
                ed_draft_add(filled, template->text + at, place->start - at);
                if (template->kind == ED_TEMPLATE_JSON)
                        err = json_fill(place, &sources->values[i], filled, error);
                else
                        err = text_fill(template, place, &sources->values[i], filled, error);
                if (err < 0)
                        return err;
                at = place->end;
        }
        ed_draft_add(filled, template->text + at, template->bytes - at);
        return ed_draft_is_whole(filled) ? 0 : -ENOMEM;
}

int ed_template_fill(const struct ed_template *template, const struct ed_columns *columns,
                     const char *line, size_t bytes, struct ed_draft *filled,
                     char error[ED_FAULT_BYTES])
{
        struct sources sources;
        size_t from = filled->bytes;
        int err = sources_find(template, columns, line, bytes, &sources, error);

        if (err == 0)
                err = template_write(template, &sources, columns, filled, error);
        if (err == 0 && template->kind != ED_TEMPLATE_JSON)
                err = whole_check(template, filled, from, error);
        eddy_free(sources.values);
        return err;
}

/* Returns 1 if a field is null, empty, or has only white space; 0 for others. */
static int value_is_blank(const struct eddy_json_value *value)
{
        struct ed_draft text = { 0 };
        int err = value->kind == EDDY_JSON_NONE ? -EINVAL : text_take(value, &text), blank = 1;

        for (size_t i = 0; err == 0 && i < text.bytes; i++)
                blank &= isspace((unsigned char) text.data[i]) != 0;
        ed_draft_fini(&text);
        if (err == -ENOMEM)
                return err;
        return err < 0 ? 0 : blank;
}

int ed_template_is_blank(const struct ed_template *template, const struct ed_columns *columns,
                         const char *line, size_t bytes)
{
        char error[ED_FAULT_BYTES];
        struct sources sources;
        int err = sources_find(template, columns, line, bytes, &sources, error), blank = 1;

        for (size_t i = 0; err == 0 && blank == 1 && i < template->places_count; i++)
                blank = value_is_blank(&sources.values[i]);
        eddy_free(sources.values);
        if (err == -ENOMEM)
                return err;
        return err < 0 ? 0 : blank;
}

int ed_template_each_blank(const struct ed_template *template, const struct ed_columns *columns,
                           const char *line, size_t bytes, void (*fn)(void *arg, const char *name),
                           void *arg)
{
        char error[ED_FAULT_BYTES];
        struct sources sources;
        int err = sources_find(template, columns, line, bytes, &sources, error), blank = 0;

        for (size_t i = 0; err == 0 && blank >= 0 && i < template->places_count; i++) {
                blank = value_is_blank(&sources.values[i]);
                if (blank > 0)
                        fn(arg, template->places[i].name);
        }
        eddy_free(sources.values);
        return err == -ENOMEM || blank == -ENOMEM ? -ENOMEM : 0;
}
