/*
 * batch/request/template.c - reads templates. filling.c fills them.
 */
#include "batch/request/template.h"

#include <errno.h>
#include <string.h>

#include "batch/request/columns.h"
#include "batch/request/template_parts.h"
#include "common/excerpt.h"
#include "common/url_parts.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

enum { TEMPLATE_BYTES_MAX = 16 << 20, NAME_BYTES_MAX = 256 /* as written, with escapes */ };

/* How to write two braces that do not begin a place. */
static const char *const braces[] = {
        [ED_TEMPLATE_JSON] = "\\u007b for a brace",
        [ED_TEMPLATE_URL] = "%7B for a brace",
        [ED_TEMPLATE_HEADER] = "a header with {{ into the lines",
};

const char *ed_template_what(const struct ed_template *template)
{
        static const char *const whats[] = {
                [ED_TEMPLATE_JSON] = "the template",
                [ED_TEMPLATE_URL] = "the URL",
                [ED_TEMPLATE_HEADER] = "the header",
        };

        return whats[template->kind];
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Store the name of a field: in JSON, as in a JSON string. Returns its bytes without the NUL. */
static int64_t name_store(const struct ed_template *template, const char *from, size_t bytes,
                          char *name)
{
        char quoted[NAME_BYTES_MAX + 2];
        struct eddy_json_value value = { quoted, bytes + 2, EDDY_JSON_STRING };

        if (template->kind != ED_TEMPLATE_JSON) {
                if (!eddy_json_is_utf8(from, bytes))
                        return -EINVAL;
                memcpy(name, from, bytes);
                name[bytes] = '\0';
                return (int64_t) bytes;
        }
        quoted[0] = '"';
        memcpy(quoted + 1, from, bytes);
        quoted[bytes + 1] = '"';
        return eddy_json_string(&value, name, value.bytes);
}

/*
 * Store the name of a place, whose text is from 'from' to 'to'. Sets '*ret_json' if the text ends in
 * ":json".
 */
static int place_name(struct ed_template *template, const char *from, const char *to,
                      const char **ret_name, bool *ret_json)
{
        static const char suffix[] = ":json";
        size_t bytes = (size_t) (to - from), suffix_bytes = sizeof(suffix) - 1;
        char *name = template->names + template->names_bytes;
        int64_t n;

        from = ed_columns_trim(from, &bytes);
        *ret_json = bytes > suffix_bytes &&
                    memcmp(from + bytes - suffix_bytes, suffix, suffix_bytes) == 0;
        if (*ret_json) {
                bytes -= suffix_bytes;
                from = ed_columns_trim(from, &bytes);
        }
        if (bytes == 0 || bytes > NAME_BYTES_MAX || memchr(from, '{', bytes) ||
            memchr(from, '}', bytes))
                return -EINVAL;
        n = name_store(template, from, bytes, name);
        if (n <= 0 || memchr(name, '\0', (size_t) n))
                return -EINVAL;
        template->names_bytes += (size_t) n + 1;
        *ret_name = name;
        return 0;
}

/*
 * Add the place between the braces at 'from' and 'to'. In JSON, it is in the string from 'open' to
 * 'close', which is the name of a member if 'is_name'.
 */
static int place_add(struct ed_template *template, const char *open, const char *close,
                     const char *from, const char *to, bool is_name, char *error)
{
        struct ed_place *place = &template->places[template->places_count];
        bool is_body = template->kind == ED_TEMPLATE_JSON, is_json;
        bool is_whole = is_body && !is_name && from == open + 1 && to + 2 == close;
        const char *what = ed_template_what(template);
        char shown[ED_EXCERPT_BYTES];

        if (template->places_count == ED_TEMPLATE_FIELDS_MAX)
                return ed_fault_set(error, "%s has more than %d fields in {{}}", what,
                                    (int) ED_TEMPLATE_FIELDS_MAX);
        ed_excerpt(shown, from, (size_t) (to + 2 - from));
        if (place_name(template, from + 2, to, &place->name, &is_json) < 0)
                return ed_fault_set(error,
                                    "%s in %s is not the name of a field: write "
                                    "{{name}}, at most %d bytes, or %s",
                                    shown, what, (int) NAME_BYTES_MAX, braces[template->kind]);
        if (is_json && !is_body)
                return ed_fault_set(error, "%s in %s: \":json\" is for --body; write it without",
                                    shown, what);
        if (is_json && !is_whole)
                return ed_fault_set(error,
                                    "%s in %s is only a part of a string: write it "
                                    "alone in its string, or without \":json\"",
                                    shown, what);
        place->kind = is_json ? ED_PLACE_JSON : is_whole ? ED_PLACE_WHOLE : ED_PLACE_INSIDE;
        place->start = (size_t) ((is_whole ? open : from) - template->text);
        place->end = (size_t) ((is_whole ? close + 1 : to + 2) - template->text);
        template->places_count++;
        return 0;
}

/* Find the places of a string between two quotes, or of another text. In JSON, braces are never part
 * of an escape. */
static int string_places(struct ed_template *template, const char *open, const char *close,
                         bool is_name, char *error)
{
        const char *at = template->kind == ED_TEMPLATE_JSON ? open + 1 : open, *from, *to;
        char shown[ED_EXCERPT_BYTES];
        int err;

        while ((from = memmem(at, (size_t) (close - at), "{{", 2))) {
                to = memmem(from + 2, (size_t) (close - from - 2), "}}", 2);
                if (!to)
                        return ed_fault_set(error,
                                            "%s in %s has no }}: write it after the "
                                            "name of the field, or %s",
                                            ed_excerpt(shown, from, (size_t) (close - from)),
                                            ed_template_what(template), braces[template->kind]);
                err = place_add(template, open, close, from, to, is_name, error);
                if (err < 0)
                        return err;
                at = to + 2;
        }
        return 0;
}

/* Find the places of all strings of a valid text of JSON. */
static int json_scan(struct ed_template *template, char *error)
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

/* Find which places of a URL are in its path, and which in its query. */
static int url_places_sort(struct ed_template *template, const char *sample, char *error)
{
        struct ed_url_parts parts = ed_url_parts(sample);
        const char *fragment = sample + strcspn(sample, "#");
        char shown[ED_EXCERPT_BYTES];
        size_t removed = 0;

        for (size_t i = 0; i < template->places_count; i++) {
                struct ed_place *place = &template->places[i];
                const char *at = sample + place->start - removed;

                removed += place->end - place->start - 1;
                if (at < parts.path || (*sample != '/' && parts.path == sample))
                        return ed_fault_set(
                                error,
                                "{{%s}} is not in the path or the query: the data would choose the "
                                "host, to which the API key is sent; write the host",
                                ed_excerpt(shown, place->name, strlen(place->name)));
                if (at > fragment)
                        return ed_fault_set(error, "{{%s}} is after #, which is not sent",
                                            ed_excerpt(shown, place->name, strlen(place->name)));
                place->kind = at < parts.query ? ED_PLACE_PATH : ED_PLACE_QUERY;
        }
        return 0;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static struct ed_template *template_alloc(enum ed_template_kind kind, const char *text,
                                          size_t bytes)
{
        struct ed_template *template = eddy_malloc(sizeof(*template) + 2 * bytes);

        if (!template)
                return NULL;
        template->kind = kind;
        template->bytes = bytes;
        template->places_count = 0;
        /* A place has more bytes than its name and a NUL. */
        template->names = template->text + bytes;
        template->names_bytes = 0;
        memcpy(template->text, text, bytes);
        return template;
}

/* Refuse a template that is not JSON. The likely cause is a place without quotes. */
static int json_refuse(const char *text, size_t bytes, const struct eddy_json_error *fault,
                       char *error)
{
        size_t at = fault->offset < bytes ? (size_t) fault->offset : bytes;
        const char *from = text + (at > 0 ? at - 1 : at), *to = NULL;
        char shown[ED_EXCERPT_BYTES];

        if (bytes - at >= 2 && memcmp(from, "{{", 2) != 0)
                from = text + at;
        if (text + bytes - from >= 4 && memcmp(from, "{{", 2) == 0)
                to = memmem(from, (size_t) (text + bytes - from), "}}", 2);
        if (!to)
                return ed_fault_set(error, "the template is not JSON: %s", fault->text);
        ed_excerpt(shown, from, (size_t) (to + 2 - from));
        return ed_fault_set(error,
                            "the template is not JSON: %s: write \"%s\", in double quotes, and "
                            "\"{{name:json}}\" for a number",
                            fault->text, shown);
}

int ed_template_new(const char *text, size_t bytes, struct ed_template **ret_template,
                    char error[ED_FAULT_BYTES])
{
        struct ed_template *template;
        struct eddy_json_error fault;
        int err;

        if (bytes > TEMPLATE_BYTES_MAX)
                return ed_fault_set(error, "the template has %zu bytes; at most %d are possible",
                                    bytes, (int) TEMPLATE_BYTES_MAX);
        if (eddy_json_check(text, bytes, NULL, &fault) < 0)
                return json_refuse(text, bytes, &fault, error);
        template = template_alloc(ED_TEMPLATE_JSON, text, bytes);
        if (!template)
                return -ENOMEM;
        err = json_scan(template, error);
        if (err < 0) {
                eddy_free(template);
                return err;
        }
        *ret_template = template;
        return 0;
}

int ed_template_new_url(const char *url, struct ed_template **ret_template,
                        char error[ED_FAULT_BYTES])
{
        size_t bytes = strlen(url);
        struct ed_template *template = template_alloc(ED_TEMPLATE_URL, url, bytes);
        char *sample = eddy_malloc(bytes + 1);
        int err = template && sample ? 0 : -ENOMEM;

        if (err == 0)
                err = string_places(template, template->text, template->text + bytes, false, error);
        if (err == 0) {
                ed_template_sample(template, sample);
                err = url_places_sort(template, sample, error);
        }
        eddy_free(sample);
        if (err < 0) {
                eddy_free(template);
                return err;
        }
        *ret_template = template;
        return 0;
}

int ed_template_new_header(const char *value, struct ed_template **ret_template,
                           char error[ED_FAULT_BYTES])
{
        size_t bytes = strlen(value);
        struct ed_template *template = template_alloc(ED_TEMPLATE_HEADER, value, bytes);
        int err;

        if (!template)
                return -ENOMEM;
        err = string_places(template, template->text, template->text + bytes, false, error);
        if (err < 0) {
                eddy_free(template);
                return err;
        }
        for (size_t i = 0; i < template->places_count; i++)
                template->places[i].kind = ED_PLACE_HEADER;
        *ret_template = template;
        return 0;
}

void ed_template_free(struct ed_template *template)
{
        eddy_free(template);
}

bool ed_template_is(const char *text)
{
        return strstr(text, "{{") != NULL;
}

size_t ed_template_places(const struct ed_template *template)
{
        return template->places_count;
}

const char *ed_template_name(const struct ed_template *template, size_t index)
{
        return template->places[index].name;
}

void ed_template_sample(const struct ed_template *template, char *room)
{
        size_t at = 0;

        for (size_t i = 0; i < template->places_count; i++) {
                const struct ed_place *place = &template->places[i];

                memcpy(room, template->text + at, place->start - at);
                room += place->start - at;
                *room++ = 'x';
                at = place->end;
        }
        memcpy(room, template->text + at, template->bytes - at);
        room[template->bytes - at] = '\0';
}
