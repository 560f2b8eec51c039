/*
 * batch/request/template.c - fills a template with the fields of a line: of a JSON object, or of a
 * row of CSV.
 */
#include "batch/request/template.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/csv.h"
#include "common/excerpt.h"
#include "eddy/alloc.h"

enum { TEMPLATE_BYTES_MAX = 16 << 20, NAME_BYTES_MAX = 256 /* as written, with escapes */ };

/* The kinds of fields of CSV, beside enum eddy_json_kind. */
enum { CSV_PLAIN = -1, CSV_QUOTED = -2 };

enum place_kind {
        PLACE_WHOLE,  /* replaces a string, with its quotes */
        PLACE_JSON,   /* the same, with the field's text as JSON */
        PLACE_INSIDE, /* within a string */
};

/* A place of the template: from 'start' to 'end', replaced by the field 'name'. */
struct place {
        size_t start, end;
        const char *name;
        enum place_kind kind;
};

struct ed_template {
        size_t bytes;
        size_t places_count;
        struct place places[ED_TEMPLATE_FIELDS_MAX];
        char *names; /* after the text; room for 'bytes' */
        size_t names_bytes;
        char text[];
};

struct ed_columns {
        size_t count;
        const char *names[];
};

/* Where the fields of a line are, in the order of the template's places; none: EDDY_JSON_NONE. */
struct sources {
        struct eddy_json_value *values;
        size_t found;
};

static EDDY_PRINTF(2, 3) int template_fault(char *error, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(error, ED_TEMPLATE_ERROR_BYTES, format, args);
        va_end(args);
        return -EINVAL;
}

/* ---- columns of CSV -------------------------------------------------------------------------- */

static bool is_space(char c)
{
        return c == ' ' || c == '\t';
}

/* Remove blanks around a name. */
static const char *name_trim(const char *name, size_t *bytes)
{
        while (*bytes > 0 && is_space(*name)) {
                name++;
                --*bytes;
        }
        while (*bytes > 0 && is_space(name[*bytes - 1]))
                --*bytes;
        return name;
}

/* Check the name of a column, and that no earlier column has it. */
static int column_check(const struct ed_columns *columns, const char *name, size_t bytes,
                        char *error)
{
        char shown[ED_EXCERPT_BYTES];

        if (memchr(name, '\0', bytes) || !eddy_json_is_utf8(name, bytes))
                return template_fault(error,
                                      "column %zu of the first row, \"%s\", is not UTF-8 text: "
                                      "convert the file to UTF-8",
                                      columns->count + 1, ed_excerpt(shown, name, bytes));
        for (size_t i = 0; bytes > 0 && i < columns->count; i++)
                if (strlen(columns->names[i]) == bytes &&
                    memcmp(columns->names[i], name, bytes) == 0)
                        return template_fault(error,
                                              "columns %zu and %zu of the first row are both "
                                              "\"%s\": give them different names",
                                              i + 1, columns->count + 1,
                                              ed_excerpt(shown, name, bytes));
        return 0;
}

/* Add the name of a column to 'columns', and its text at 'to'. Returns the bytes used. */
static int64_t column_add(struct ed_columns *columns, const struct ed_csv_field *field, char *to,
                          char *error)
{
        struct ed_draft text = { 0 };
        const char *name = to;
        size_t bytes = 0;
        int err = 0;

        ed_csv_add(field, &text);
        if (!ed_draft_is_whole(&text))
                err = -ENOMEM;
        else if (columns->count == ED_COLUMNS_MAX)
                err = template_fault(error, "the first row has more than %d columns",
                                     (int) ED_COLUMNS_MAX);
        if (err == 0 && text.bytes > 0) {
                bytes = text.bytes;
                name = name_trim(text.data, &bytes);
                err = column_check(columns, name, bytes, error);
        }
        if (err == 0) {
                if (bytes > 0)
                        memcpy(to, name, bytes);
                to[bytes] = '\0';
                columns->names[columns->count++] = to;
        }
        ed_draft_fini(&text);
        return err < 0 ? err : (int64_t) bytes + 1;
}

int ed_columns_new(const char *row, size_t bytes, struct ed_columns **ret_columns,
                   char error[ED_TEMPLATE_ERROR_BYTES])
{
        struct ed_csv_cursor cursor = ed_csv_walk(row, bytes);
        struct ed_columns *columns;
        struct ed_csv_field field;
        int64_t used;
        char *to;
        int more;

        /* A field of n bytes and its comma give a name of at most n bytes and its NUL. */
        columns = eddy_malloc(sizeof(*columns) + ED_COLUMNS_MAX * sizeof(columns->names[0]) +
                              bytes + 1);
        if (!columns)
                return -ENOMEM;
        columns->count = 0;
        to = (char *) &columns->names[ED_COLUMNS_MAX];
        while ((more = ed_csv_next(&cursor, &field)) > 0) {
                used = column_add(columns, &field, to, error);
                if (used < 0) {
                        more = (int) used;
                        goto fail_free;
                }
                to += used;
        }
        if (more < 0) {
                (void) template_fault(error,
                                      "column %zu of the first row has a wrong quote: close it "
                                      "before the comma, and double quotes within",
                                      columns->count + 1);
                goto fail_free;
        }
        *ret_columns = columns;
        return 0;

fail_free:
        eddy_free(columns);
        return more;
}

void ed_columns_free(struct ed_columns *columns)
{
        eddy_free(columns);
}

/* Returns the number of columns if none has this name. */
static size_t column_find(const struct ed_columns *columns, const char *name)
{
        size_t index = 0;

        while (index < columns->count && strcmp(columns->names[index], name) != 0)
                index++;
        return index;
}

size_t ed_columns_count(const struct ed_columns *columns)
{
        return columns->count;
}

const char *ed_columns_name(const struct ed_columns *columns, size_t index)
{
        return columns->names[index];
}

bool ed_columns_has(const struct ed_columns *columns, const char *name)
{
        return column_find(columns, name) < columns->count;
}

int ed_columns_field(const struct ed_columns *columns, const char *row, size_t bytes,
                     const char *name, struct ed_draft *value)
{
        struct ed_csv_cursor cursor = ed_csv_walk(row, bytes);
        struct ed_csv_field field = { 0 };
        size_t index = column_find(columns, name);

        if (index == columns->count)
                return -ENOENT;
        for (size_t i = 0; i <= index; i++)
                if (ed_csv_next(&cursor, &field) <= 0)
                        return -EINVAL;
        ed_csv_add(&field, value);
        return ed_draft_is_whole(value) ? 0 : -ENOMEM;
}

/* ---- templates ------------------------------------------------------------------------------- */

/*
 * Store the name of a place, whose text is from 'from' to 'to' in a JSON string. Sets '*ret_json' if
 * the text ends in ":json".
 */
static int place_name(struct ed_template *template, const char *from, const char *to,
                      const char **ret_name, bool *ret_json)
{
        static const char suffix[] = ":json";
        size_t bytes = (size_t) (to - from), suffix_bytes = sizeof(suffix) - 1;
        char *name = template->names + template->names_bytes;
        char quoted[NAME_BYTES_MAX + 2];
        struct eddy_json_value value = { quoted, 0, EDDY_JSON_STRING };
        int64_t n;

        from = name_trim(from, &bytes);
        *ret_json = bytes > suffix_bytes &&
                    memcmp(from + bytes - suffix_bytes, suffix, suffix_bytes) == 0;
        if (*ret_json) {
                bytes -= suffix_bytes;
                from = name_trim(from, &bytes);
        }
        if (bytes == 0 || bytes > NAME_BYTES_MAX || memchr(from, '{', bytes) ||
            memchr(from, '}', bytes))
                return -EINVAL;
        quoted[0] = '"';
        memcpy(quoted + 1, from, bytes);
        quoted[bytes + 1] = '"';
        value.bytes = bytes + 2;
        n = eddy_json_string(&value, name, value.bytes);
        if (n <= 0 || memchr(name, '\0', (size_t) n))
                return -EINVAL;
        template->names_bytes += (size_t) n + 1;
        *ret_name = name;
        return 0;
}

/* Add the place between the braces at 'from' and 'to' in the string from 'open' to 'close'. */
static int place_add(struct ed_template *template, const char *open, const char *close,
                     const char *from, const char *to, bool is_name, char *error)
{
        struct place *place = &template->places[template->places_count];
        bool is_whole = !is_name && from == open + 1 && to + 2 == close, is_json;
        char shown[ED_EXCERPT_BYTES];

        if (template->places_count == ED_TEMPLATE_FIELDS_MAX)
                return template_fault(error, "the template has more than %d fields in {{}}",
                                      (int) ED_TEMPLATE_FIELDS_MAX);
        ed_excerpt(shown, from, (size_t) (to + 2 - from));
        if (place_name(template, from + 2, to, &place->name, &is_json) < 0)
                return template_fault(error,
                                      "%s in the template is not the name of a field: write "
                                      "{{name}}, at most %d bytes, or \\u007b for a brace",
                                      shown, (int) NAME_BYTES_MAX);
        if (is_json && !is_whole)
                return template_fault(error,
                                      "%s in the template is only a part of a string: write it "
                                      "alone in its string, or without \":json\"",
                                      shown);
        place->kind = is_json ? PLACE_JSON : is_whole ? PLACE_WHOLE : PLACE_INSIDE;
        place->start = (size_t) ((is_whole ? open : from) - template->text);
        place->end = (size_t) ((is_whole ? close + 1 : to + 2) - template->text);
        template->places_count++;
        return 0;
}

/* Find the places of a string. Braces are never part of an escape. */
static int string_places(struct ed_template *template, const char *open, const char *close,
                         bool is_name, char *error)
{
        const char *at = open + 1, *from, *to;
        char shown[ED_EXCERPT_BYTES];
        int err;

        while ((from = memmem(at, (size_t) (close - at), "{{", 2))) {
                to = memmem(from + 2, (size_t) (close - from - 2), "}}", 2);
                if (!to)
                        return template_fault(error,
                                              "%s in the template has no }}: write it after the "
                                              "name of the field, or \\u007b for a brace",
                                              ed_excerpt(shown, from, (size_t) (close - from)));
                err = place_add(template, open, close, from, to, is_name, error);
                if (err < 0)
                        return err;
                at = to + 2;
        }
        return 0;
}

/* Find the places of all strings of a valid text. */
static int template_scan(struct ed_template *template, char *error)
{
        const char *at = template->text, *end = at + template->bytes, *close, *next;
        int err;

        while ((at = memchr(at, '"', (size_t) (end - at)))) {
                for (close = at + 1; *close != '"'; close++)
                        close += *close == '\\';
                for (next = close + 1; next < end && strchr(" \t\r\n", *next); next++)
                        continue;
                err = string_places(template, at, close, next < end && *next == ':', error);
                if (err < 0)
                        return err;
                at = close + 1;
        }
        return 0;
}

int ed_template_new(const char *text, size_t bytes, struct ed_template **ret_template,
                    char error[ED_TEMPLATE_ERROR_BYTES])
{
        struct ed_template *template;
        struct eddy_json_error fault;
        int err;

        if (bytes > TEMPLATE_BYTES_MAX)
                return template_fault(error, "the template has %zu bytes; at most %d are possible",
                                      bytes, (int) TEMPLATE_BYTES_MAX);
        if (eddy_json_check(text, bytes, NULL, &fault) < 0)
                return template_fault(error, "the template is not JSON: %s", fault.text);
        template = eddy_malloc(sizeof(*template) + 2 * bytes);
        if (!template)
                return -ENOMEM;
        template->bytes = bytes;
        template->places_count = 0;
        /* A place has more bytes than its name and a NUL. */
        template->names = template->text + bytes;
        template->names_bytes = 0;
        memcpy(template->text, text, bytes);
        err = template_scan(template, error);
        if (err < 0) {
                eddy_free(template);
                return err;
        }
        *ret_template = template;
        return 0;
}

void ed_template_free(struct ed_template *template)
{
        eddy_free(template);
}

/* ---- filling --------------------------------------------------------------------------------- */

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

static int json_add(const struct place *place, const char *text, size_t bytes,
                    struct ed_draft *body, char *error)
{
        char name[ED_EXCERPT_BYTES], value[ED_EXCERPT_BYTES];

        ed_excerpt(name, place->name, strlen(place->name));
        if (bytes == 0)
                return template_fault(error,
                                      "\"%s\" is empty, and \"{{%s:json}}\" needs JSON: write "
                                      "JSON such as null, or omit \":json\"",
                                      name, name);
        if (eddy_json_check(text, bytes, NULL, NULL) < 0)
                return template_fault(error,
                                      "\"%s\" is %s, and \"{{%s:json}}\" needs JSON: write JSON "
                                      "such as 5, or omit \":json\"",
                                      name, ed_excerpt(value, text, bytes), name);
        ed_draft_add(body, text, bytes);
        return 0;
}

static int place_fill_text(const struct place *place, const char *text, size_t bytes,
                           struct ed_draft *body, char *error)
{
        char name[ED_EXCERPT_BYTES];

        if (!eddy_json_is_utf8(text, bytes))
                return template_fault(error, "\"%s\" is not UTF-8 text: convert the input to UTF-8",
                                      ed_excerpt(name, place->name, strlen(place->name)));
        if (place->kind == PLACE_JSON)
                return json_add(place, text, bytes, body, error);
        if (place->kind == PLACE_WHOLE)
                ed_draft_add_json(body, text, bytes);
        else
                text_add_inside(body, text, bytes);
        return 0;
}

static int place_fill_csv(const struct place *place, const struct eddy_json_value *value,
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
static int place_fill_parsed(const struct place *place, const struct eddy_json_value *value,
                             struct ed_draft *body, char *error)
{
        char *text = eddy_malloc(value->bytes), name[ED_EXCERPT_BYTES];
        int64_t n;
        int err;

        if (!text)
                return -ENOMEM;
        n = eddy_json_string(value, text, value->bytes);
        if (n < 0)
                err = template_fault(error, "\"%s\" has half of a surrogate pair",
                                     ed_excerpt(name, place->name, strlen(place->name)));
        else
                err = json_add(place, text, (size_t) n, body, error);
        eddy_free(text);
        return err;
}

static int place_fill(const struct place *place, const struct eddy_json_value *value,
                      struct ed_draft *body, char *error)
{
        bool is_string = value->kind == EDDY_JSON_STRING;

        if (value->kind == CSV_PLAIN || value->kind == CSV_QUOTED)
                return place_fill_csv(place, value, body, error);
        if (place->kind == PLACE_JSON && is_string)
                return place_fill_parsed(place, value, body, error);
        if (place->kind == PLACE_INSIDE && is_string)
                ed_draft_add(body, value->text + 1, value->bytes - 2); /* with its escapes */
        else if (place->kind == PLACE_INSIDE)
                text_add_inside(body, value->text, value->bytes);
        else
                ed_draft_add(body, value->text, value->bytes);
        return 0;
}

/* Report a column that is needed and missing. */
static int column_fault(const struct ed_columns *columns, const char *name, const char *why,
                        char *error)
{
        char shown[ED_EXCERPT_BYTES], list[3 * ED_EXCERPT_BYTES] = "";
        const char *first = columns->names[0];
        char other = strchr(first, ';') ? ';' : strchr(first, '\t') ? '\t' : '\0';
        size_t at = 0, i = 0;

        ed_excerpt(shown, name, strlen(name));
        if (columns->count == 1 && other)
                return template_fault(error,
                                      "no column \"%s\": the columns are separated by %s; convert "
                                      "the file to commas",
                                      shown, other == ';' ? "\";\"" : "tabs");
        for (; i < columns->count && at < sizeof(list) - ED_EXCERPT_BYTES - 8; i++) {
                char column[ED_EXCERPT_BYTES];

                ed_excerpt(column, columns->names[i], strlen(columns->names[i]));
                at += (size_t) snprintf(list + at, sizeof(list) - at, "%s\"%s\"", i > 0 ? ", " : "",
                                        column);
        }
        return template_fault(error, "no column \"%s\", %s: the columns are %s%s", shown, why, list,
                              i < columns->count ? " ..." : "");
}

bool ed_template_has_places(const struct ed_template *template)
{
        return template->places_count > 0;
}

int ed_columns_check(const struct ed_columns *columns, const char *id,
                     const struct ed_template *template, char error[ED_TEMPLATE_ERROR_BYTES])
{
        for (size_t i = 0; template && i < template->places_count; i++)
                if (!ed_columns_has(columns, template->places[i].name))
                        return column_fault(columns, template->places[i].name, "which --body has",
                                            error);
        return id ? ed_columns_need(columns, id, "which --id-column names", error) : 0;
}

int ed_columns_need(const struct ed_columns *columns, const char *name, const char *why,
                    char error[ED_TEMPLATE_ERROR_BYTES])
{
        return ed_columns_has(columns, name) ? 0 : column_fault(columns, name, why, error);
}

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

                if (count < columns->count)
                        sources_offer(template, sources, NULL, columns->names[count], &value);
                count++;
        }
        if (more < 0)
                return template_fault(error,
                                      "column %zu of the row has a wrong quote: close it before "
                                      "the comma, and double quotes within",
                                      count + 1);
        if (count != columns->count)
                return template_fault(error,
                                      "the row has %zu column%s, and the first row %zu: put fields "
                                      "with commas in double quotes",
                                      count, count == 1 ? "" : "s", columns->count);
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
                return template_fault(error, "the line is not JSON: %s", fault.text);
        if (object.kind != EDDY_JSON_OBJECT)
                return template_fault(error, "the line is not an object, and the template has "
                                             "fields: write an object such as "
                                             "{\"name\":\"value\"}");
        if (eddy_json_walk(&object, &cursor) < 0)
                return -EINVAL;
        while (sources->found < template->places_count && eddy_json_next(&cursor, &name, &value))
                sources_offer(template, sources, &name, NULL, &value);
        return 0;
}

/* Append the template with the values in its places. */
static int template_write(const struct ed_template *template, const struct sources *sources,
                          bool is_csv, struct ed_draft *body, char *error)
{
        char shown[ED_EXCERPT_BYTES];
        size_t at = 0;
        int err;

        for (size_t i = 0; i < template->places_count; i++) {
                const struct place *place = &template->places[i];

                if (sources->values[i].kind == EDDY_JSON_NONE)
                        return template_fault(error, "%s no %s \"%s\", and the template has {{%s}}",
                                              is_csv ? "the first row has" : "the line has",
                                              is_csv ? "column" : "field",
                                              ed_excerpt(shown, place->name, strlen(place->name)),
                                              shown);
                ed_draft_add(body, template->text + at, place->start - at);
                err = place_fill(place, &sources->values[i], body, error);
                if (err < 0)
                        return err;
                at = place->end;
        }
        ed_draft_add(body, template->text + at, template->bytes - at);
        return ed_draft_is_whole(body) ? 0 : -ENOMEM;
}

int ed_template_fill(const struct ed_template *template, const struct ed_columns *columns,
                     const char *line, size_t bytes, struct ed_draft *body,
                     char error[ED_TEMPLATE_ERROR_BYTES])
{
        struct sources sources = { 0 };
        size_t values_bytes = (template->places_count + 1) * sizeof(*sources.values);
        int err;

        sources.values = eddy_malloc(values_bytes);
        if (!sources.values)
                return -ENOMEM;
        memset(sources.values, 0, values_bytes);
        if (columns)
                err = sources_of_row(template, columns, line, bytes, &sources, error);
        else
                err = sources_of_object(template, line, bytes, &sources, error);
        if (err == 0)
                err = template_write(template, &sources, columns, body, error);
        eddy_free(sources.values);
        return err;
}
