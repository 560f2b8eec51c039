/*
 * batch/request/request.c - reads lines of the input as requests.
 *
 * A line is first taken apart into borrowed pieces; then one allocation receives what they say.
 */
#include "batch/request/request.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "batch/request/filling.h"
#include "batch/request/mistake.h"
#include "batch/request/target.h"
#include "batch/request/upload.h"
#include "common/excerpt.h"
#include "common/nearest.h"
#include "common/url_shown.h"
#include "eddy/alloc.h"
#include "eddy/base64.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/json.h"

enum {
        TIMEOUT_SECONDS_MAX = 24 * 60 * 60,
        LINE_ID_BYTES_MAX = 32,
        NAME_BYTES_MAX = 32,
        NAME_SHORT_BYTES = 4, /* shorter words are near to too many others */
        NAME_LONG_BYTES = 7,  /* such words may have two mistakes */
};

/* The members that make an object a request. */
enum {
        CUSTOM_ID,
        METHOD,
        URL,
        BODY,
        HEADERS,
        HEADER,
        METADATA,
        TIMEOUT,
        FILES, /* in place of a body; from here on names are not guessed in lines with one */
        FORM,
        MEMBERS_COUNT
};
static const char *const member_names[MEMBERS_COUNT] = {
        "custom_id", "method",   "url",     "body",  "headers",
        "header",    "metadata", "timeout", "files", "form",
};

/* The members of a line. */
struct parts {
        const struct ed_request_rules *rules;
        char *error;
        struct eddy_json_value object;
        struct eddy_json_value members[MEMBERS_COUNT]; /* EDDY_JSON_NONE: not there, or null */
        struct eddy_json_value other;                  /* the name of the first other member */
        struct ed_vendor_line vendor;
        const struct ed_vendor_form *form; /* of the request; NULL: its own */
        const char *id_start, *id_end;     /* the member "custom_id", with a comma */
        char id[ED_REQUEST_ID_BYTES_MAX + 1];
        size_t id_bytes;   /* 0: none of its own */
        bool has_empty_id; /* the row has an empty field for it */
        bool is_empty;     /* a row of empty fields */
        const char *url;   /* of a list of URLs, or --url; NULL: that of the object */
        size_t url_bytes;
        struct ed_draft filled;        /* a body that is not as in the line */
        struct ed_draft filled_url;    /* of --url */
        struct ed_draft filled_values; /* of the headers of -H that have places, each with a NUL */
        const char *body;              /* NULL: none */
        size_t body_bytes;
        bool is_base64; /* the body is a JSON string with base64 */
        bool has_files; /* the body is a form: the members "form" and "files" */
};

/* The rest of an allocation. */
struct blob {
        char *at;
};

static EDDY_PRINTF(2, 3) int request_fault(const struct parts *parts, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(parts->error, ED_REQUEST_ERROR_BYTES, format, args);
        va_end(args);
        return -EINVAL;
}

static bool is_given(const struct parts *parts, int member)
{
        return parts->members[member].kind != EDDY_JSON_NONE;
}

/* Report a member that has a value of a wrong type. */
static int member_fault(const struct parts *parts, int member, const char *remedy)
{
        const struct eddy_json_value *value = &parts->members[member];
        char shown[ED_EXCERPT_BYTES];

        return request_fault(parts, "\"%s\" is %s: %s", member_names[member],
                             ed_excerpt(shown, value->text, value->bytes), remedy);
}

static int surrogate_fault(const struct parts *parts, const char *name)
{
        return request_fault(parts,
                             "\"%s\" has half of a surrogate pair: write both halves, such "
                             "as \\ud83c\\udf0a, or the character",
                             name);
}

/* ---- ids ------------------------------------------------------------------------------------- */

static int id_set(struct parts *parts, const char *name, const char *id, size_t bytes)
{
        if (bytes > ED_REQUEST_ID_BYTES_MAX)
                return request_fault(parts, "%s is %zu bytes long; at most %d are possible", name,
                                     bytes, (int) ED_REQUEST_ID_BYTES_MAX);
        memcpy(parts->id, id, bytes);
        parts->id[bytes] = '\0';
        parts->id_bytes = bytes;
        return 0;
}

static int id_read_string(struct parts *parts, const char *name,
                          const struct eddy_json_value *value)
{
        int64_t bytes = eddy_json_string(value, NULL, 0);

        if (bytes < 0)
                return surrogate_fault(parts, name);
        if (bytes == 0)
                return request_fault(parts, "\"%s\" is empty: write a text, or leave it out", name);
        if (bytes > ED_REQUEST_ID_BYTES_MAX)
                return id_set(parts, name, "", (size_t) bytes);
        if (eddy_json_string(value, parts->id, sizeof(parts->id)) < 0)
                return -EINVAL;
        if (memchr(parts->id, '\0', (size_t) bytes))
                return request_fault(parts, "\"%s\" has \\u0000 in it: remove it", name);
        parts->id_bytes = (size_t) bytes;
        return 0;
}

/* Read the id in a member, which 'name' names. */
static int id_read(struct parts *parts, const char *name, const struct eddy_json_value *value)
{
        char shown[ED_EXCERPT_BYTES];

        if (value->kind == EDDY_JSON_NONE)
                return 0;
        if (value->kind == EDDY_JSON_STRING)
                return id_read_string(parts, name, value);
        if (value->kind != EDDY_JSON_NUMBER || memchr(value->text, '.', value->bytes) ||
            memchr(value->text, 'e', value->bytes) || memchr(value->text, 'E', value->bytes))
                return request_fault(parts, "\"%s\" is %s: write a string or an integer", name,
                                     ed_excerpt(shown, value->text, value->bytes));
        return id_set(parts, name, value->text, value->bytes);
}

/* ---- taking lines apart ---------------------------------------------------------------------- */

/*
 * Take a member of the object. 'before' is where the text before the member ends: the bytes from
 * there are removed with "custom_id".
 */
static int member_take(struct parts *parts, const struct eddy_json_value *name,
                       const struct eddy_json_value *value, const char *before)
{
        int m = 0;

        while (m < MEMBERS_COUNT && !eddy_json_is(name, member_names[m]))
                m++;
        if (m == MEMBERS_COUNT) {
                if (parts->other.kind == EDDY_JSON_NONE)
                        parts->other = *name;
                ed_vendor_line_take(&parts->vendor, name, value);
                return 0;
        }
        if (is_given(parts, m))
                return request_fault(parts, "\"%s\" occurs twice: remove one of them",
                                     member_names[m]);
        if (value->kind == EDDY_JSON_NULL)
                return 0;
        parts->members[m] = *value;
        if (m != CUSTOM_ID)
                return 0;
        parts->id_start = before;
        parts->id_end = value->text + value->bytes;
        return id_read(parts, member_names[m], value);
}

/* Find the members of the object, and the place of "custom_id" in it. */
static int object_split(struct parts *parts)
{
        const char *first = NULL, *before = NULL;
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;
        int err = eddy_json_walk(&parts->object, &cursor);

        while (err == 0 && eddy_json_next(&cursor, &name, &value)) {
                if (!first)
                        first = name.text;
                /* The first member is removed with the comma after it, others with the comma before. */
                else if (parts->id_start == first && parts->id_end == before)
                        parts->id_end = name.text;
                err = member_take(parts, &name, &value, before ? before : first);
                before = value.text + value.bytes;
        }
        return err;
}

/* Returns true if the line is an answer of `eddy batch`. */
static bool is_answer(const struct parts *parts)
{
        struct eddy_json_value value;

        return eddy_json_get(&parts->object, "response", &value) == 0 &&
               eddy_json_get(&parts->object, "error", &value) == 0;
}

/* Set the URL of --url. */
static int url_of_rules(struct parts *parts, const char *line, size_t bytes)
{
        const struct ed_template *template = parts->rules->templates.url;
        int err;

        if (!parts->rules->url && !parts->rules->columns && is_answer(parts))
                return request_fault(parts, "%s",
                                     "the line is an answer, not a request: name the file of "
                                     "requests");
        if (!parts->rules->url)
                return request_fault(parts, "%s",
                                     parts->rules->columns
                                             ? "rows of CSV have no URL: give --url"
                                             : "\"url\" is missing: add it to the line, or give "
                                               "--url");
        parts->url = parts->rules->url;
        parts->url_bytes = strlen(parts->url);
        if (!template)
                return 0;
        err = ed_template_fill(template, parts->rules->columns, line, bytes, &parts->filled_url,
                               parts->error);
        parts->url = parts->filled_url.data;
        parts->url_bytes = parts->filled_url.bytes;
        return err;
}

/* Fill in --body, if it is given. */
static int body_fill(struct parts *parts, const char *line, size_t bytes)
{
        int err;

        if (!parts->rules->templates.body)
                return 1;
        err = ed_template_fill(parts->rules->templates.body, parts->rules->columns, line, bytes,
                               &parts->filled, parts->error);

        parts->body = parts->filled.data;
        parts->body_bytes = parts->filled.bytes;
        return err < 0 ? err : 1;
}

/* Forget all members but the id: they are data. */
static void members_forget(struct parts *parts)
{
        for (int m = 0; m < MEMBERS_COUNT; m++)
                if (m != CUSTOM_ID)
                        parts->members[m] = (struct eddy_json_value){ 0 };
}

/* The line is a body, except that its custom_id is not sent. */
static int bare_split(struct parts *parts)
{
        const struct eddy_json_value *object = &parts->object;
        const char *end = object->text + object->bytes;

        members_forget(parts);
        parts->body = object->text;
        parts->body_bytes = object->bytes;
        if (parts->id_start) {
                ed_draft_add(&parts->filled, object->text,
                             (size_t) (parts->id_start - object->text));
                ed_draft_add(&parts->filled, parts->id_end, (size_t) (end - parts->id_end));
                if (!ed_draft_is_whole(&parts->filled))
                        return -ENOMEM;
                parts->body = parts->filled.data;
                parts->body_bytes = parts->filled.bytes;
        }
        return url_of_rules(parts, object->text, object->bytes) < 0 ? -EINVAL : 1;
}

/*
 * Returns true for an object that is a body, not a request with members "url", "body" ...: there is
 * --url, and the object has members of its own and not both a URL and a body, files or a method.
 */
static bool is_bare(const struct parts *parts)
{
        bool has_request =
                is_given(parts, BODY) || is_given(parts, METHOD) || is_given(parts, FILES);

        if (!parts->rules->url)
                return false;
        if (parts->other.kind != EDDY_JSON_NONE)
                return !(has_request && is_given(parts, URL));
        return !has_request && !is_given(parts, URL);
}

/* The line has a form with files. */
static int files_split(struct parts *parts)
{
        if (is_given(parts, BODY))
                return request_fault(parts, "%s",
                                     "the line has \"body\" and \"files\": write the fields of the "
                                     "form in \"form\" instead of \"body\"");
        if (is_given(parts, HEADER))
                return request_fault(parts, "%s",
                                     "the line has \"header\" and \"files\": write \"headers\"");
        parts->has_files = true;
        return 0;
}

static int body_split(struct parts *parts)
{
        const struct eddy_json_value *body = &parts->members[BODY];
        char shown[ED_EXCERPT_BYTES];

        if (is_given(parts, FILES))
                return files_split(parts);
        if (body->kind == EDDY_JSON_NONE && is_given(parts, FORM))
                return request_fault(parts, "%s",
                                     "\"form\" is sent with \"files\" only: add \"files\", or "
                                     "write the values in \"body\"");
        if (body->kind == EDDY_JSON_NONE && parts->other.kind != EDDY_JSON_NONE &&
            !is_given(parts, HEADER))
                return request_fault(
                        parts,
                        "%s is not a member of a request: write it in \"body\", or give "
                        "--url if lines are bodies",
                        ed_excerpt(shown, parts->other.text, parts->other.bytes));
        if (body->kind == EDDY_JSON_NONE)
                return 0;
        parts->body = body->text;
        parts->body_bytes = body->bytes;
        parts->is_base64 = is_given(parts, HEADER);
        if (!parts->is_base64 && body->kind == EDDY_JSON_STRING && body->text[1] == '{')
                return member_fault(parts, BODY,
                                    "this is a string with an object in it; write the object");
        if (parts->is_base64 && body->kind != EDDY_JSON_STRING)
                return member_fault(
                        parts, BODY,
                        "a line with \"header\" has base64 there; write \"headers\" for "
                        "a body of JSON");
        return 0;
}

/* Returns true if the object has none of the members that make it a request of its own form. */
static bool has_no_request(const struct parts *parts)
{
        return !is_given(parts, URL) && !is_given(parts, BODY) && !is_given(parts, METHOD) &&
               !is_given(parts, HEADER);
}

/* Returns true if two words differ in capitals, - and _ only. */
static bool is_same_word(const char *a, const char *b)
{
        for (;; a++, b++) {
                while (*a == '_' || *a == '-')
                        a++;
                while (*b == '_' || *b == '-')
                        b++;
                if (tolower((unsigned char) *a) != tolower((unsigned char) *b))
                        return false;
                if (!*a)
                        return true;
        }
}

/* Returns the member that a name such as customId, time-out or metdata means, of the first 'count';
 * NULL: none. */
static const char *member_meant(const struct eddy_json_value *name, size_t count)
{
        char word[NAME_BYTES_MAX + 1];
        size_t bytes = 0;
        const char *meant;

        if (name->bytes > NAME_BYTES_MAX)
                return NULL;
        for (size_t i = 1; i + 1 < name->bytes; i++) /* without the quotes */
                word[bytes++] = name->text[i];
        word[bytes] = '\0';
        for (size_t m = 0; m < count; m++)
                if (is_same_word(word, member_names[m]))
                        return member_names[m];
        meant = ed_nearest_within(word, member_names, count, bytes < NAME_LONG_BYTES ? 1 : 2);
        return bytes < NAME_SHORT_BYTES ? NULL : meant;
}

/* Refuse a misspelt member: it would be ignored. A member that is there is not meant. */
static int names_check(const struct parts *parts)
{
        char shown[ED_EXCERPT_BYTES];
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;
        bool has_body = is_given(parts, BODY) || is_given(parts, HEADER) || parts->vendor.form;
        size_t count = has_body ? FILES : MEMBERS_COUNT;

        if (parts->other.kind == EDDY_JSON_NONE || eddy_json_walk(&parts->object, &cursor) < 0)
                return 0;
        while (eddy_json_next(&cursor, &name, &value)) {
                const char *meant = member_meant(&name, count);
                int m = 0;

                while (meant && member_names[m] != meant)
                        m++;
                if (meant && !eddy_json_is(&name, meant) && !is_given(parts, m))
                        return request_fault(parts, "%s is not a member of a request: write \"%s\"",
                                             ed_excerpt(shown, name.text, name.bytes), meant);
        }
        return 0;
}

/* The line is one of another vendor's batch file. */
static int vendor_split(struct parts *parts)
{
        const struct ed_vendor_line *line = &parts->vendor;
        const struct ed_vendor_form *form = line->form;
        int err = 0;

        if (form->id && parts->id_bytes == 0)
                err = id_read(parts, form->id, &line->id);
        if (err == 0 && line->twice)
                err = request_fault(parts, "\"%s\" occurs twice: remove one of them", line->twice);
        if (err == 0)
                err = names_check(parts);
        if (err == 0 && is_given(parts, FILES))
                err = request_fault(parts,
                                    "a line of %s has no \"files\": write a request with "
                                    "\"url\", \"form\" and \"files\"",
                                    form->files);
        if (err == 0 && !parts->rules->url && !form->path)
                err = request_fault(parts, "the line has no URL, like all of %s: give --url %s",
                                    form->files, form->url);
        if (err < 0)
                return err;
        parts->form = form;
        parts->body = line->body.text;
        parts->body_bytes = line->body.bytes;
        parts->url = parts->rules->url ? parts->rules->url : form->path;
        parts->url_bytes = strlen(parts->url);
        return 1;
}

/* The line is one of another vendor's batch file, except that its body is not. */
static int vendor_fault(const struct parts *parts)
{
        const struct ed_vendor_form *form = parts->vendor.half;

        return request_fault(parts,
                             "\"%s\" is not an object with \"%s\", as in %s: write the line in "
                             "this form, or as a request with \"url\" and \"body\"",
                             form->member, form->marks[0], form->files);
}

static int request_split(struct parts *parts, const char *line, size_t bytes)
{
        int err = parts->rules->templates.body ? 0 : names_check(parts);

        if (err == 0 && parts->vendor.half && has_no_request(parts) && !parts->rules->url)
                err = vendor_fault(parts);
        if (err < 0)
                return err;
        if (is_given(parts, HEADER) && is_given(parts, HEADERS))
                return request_fault(parts, "the line has \"header\" and \"headers\": write all in "
                                            "\"headers\"");
        if (!is_given(parts, URL) && (err = url_of_rules(parts, line, bytes)) < 0)
                return err;
        if (parts->rules->templates.body)
                return body_fill(parts, line, bytes);
        err = body_split(parts);
        return err < 0 ? err : 1;
}

static int object_parts(struct parts *parts, const char *line, size_t bytes)
{
        struct eddy_json_error fault;
        int err;

        if (eddy_json_parse(line, bytes, NULL, &parts->object, &fault) < 0) {
                ed_mistake_of_json(line, bytes, &fault, parts->error, ED_REQUEST_ERROR_BYTES);
                return -EINVAL;
        }
        err = object_split(parts);
        if (err < 0)
                return err;
        if (parts->rules->url && (parts->rules->templates.body || parts->rules->templates.url)) {
                members_forget(parts);
                err = url_of_rules(parts, line, bytes);
                return err < 0 ? err : body_fill(parts, line, bytes);
        }
        if (parts->vendor.form && has_no_request(parts) && !parts->rules->templates.body)
                return vendor_split(parts);
        return is_bare(parts) ? bare_split(parts) : request_split(parts, line, bytes);
}

/* Returns true for a URL or a path. */
static bool has_url_start(const char *text, size_t bytes)
{
        return (bytes > 0 && text[0] == '/') ||
               (bytes >= 7 && strncasecmp(text, "http://", 7) == 0) ||
               (bytes >= 8 && strncasecmp(text, "https://", 8) == 0);
}

static int url_parts(struct parts *parts, const char *line, size_t bytes)
{
        if (!has_url_start(line, bytes) || (bytes > 1 && line[0] == '/' && line[1] == '/'))
                return request_fault(parts, "%s", ed_mistake_of_text(line, bytes));
        if (parts->rules->templates.url)
                return request_fault(parts,
                                     "the line is a URL, and --url has fields: write an object "
                                     "such as {\"name\":\"value\"}, or omit --url");
        parts->url = line;
        parts->url_bytes = bytes;
        return body_fill(parts, line, bytes);
}

static int row_parts(struct parts *parts, const char *line, size_t bytes)
{
        const char *column = parts->rules->id_column ? parts->rules->id_column : "custom_id";
        struct ed_draft id = { 0 };
        int err = ed_columns_field(parts->rules->columns, line, bytes, column, &id);

        if (err == 0 && id.bytes > 0) {
                if (memchr(id.data, '\0', id.bytes) || !eddy_json_is_utf8(id.data, id.bytes))
                        err = request_fault(parts, "%s is not UTF-8 text: " ED_FAULT_UTF8, column);
                else
                        err = id_set(parts, column, id.data, id.bytes);
                if (err < 0) {
                        ed_draft_fini(&id);
                        return err;
                }
        }
        ed_draft_fini(&id);
        if (err == -ENOMEM)
                return err;
        parts->has_empty_id = err == 0 && parts->id_bytes == 0;
        parts->is_empty = parts->id_bytes == 0 && ed_columns_row_is_empty(line, bytes);
        if (parts->is_empty)
                return 0;
        /* Other faults of the row are reported when the template is filled. */
        err = url_of_rules(parts, line, bytes);
        return err < 0 ? err : body_fill(parts, line, bytes);
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r';
}

/* Fill in the headers of -H that have places. */
static int values_fill(struct parts *parts, const char *line, size_t bytes)
{
        const struct ed_templates *templates = &parts->rules->templates;
        int err = 0;

        for (size_t i = 0; err == 0 && i < templates->headers_count; i++) {
                err = ed_template_fill(templates->headers[i].value, parts->rules->columns, line,
                                       bytes, &parts->filled_values, parts->error);
                ed_draft_add(&parts->filled_values, "", 1);
        }
        return err < 0 || ed_draft_is_whole(&parts->filled_values) ? err : -ENOMEM;
}

/* Take a line apart. Returns 1, or 0 for a line to skip. */
static int line_parts(struct parts *parts, const char *line, size_t bytes)
{
        const char *at = line, *end = line + bytes;

        while (at < end && is_blank(*at))
                at++;
        while (at < end && is_blank(end[-1]))
                end--;
        if (at == end)
                return 0;
        if (parts->rules->columns)
                return row_parts(parts, line, bytes);
        if (*at == '#')
                return 0;
        return *at == '{' ? object_parts(parts, at, (size_t) (end - at))
                          : url_parts(parts, at, (size_t) (end - at));
}

/* ---- building requests ----------------------------------------------------------------------- */

static char *blob_text(struct blob *blob, const char *text, size_t bytes)
{
        char *to = blob->at;

        if (bytes > 0)
                memcpy(to, text, bytes);
        to[bytes] = '\0';
        blob->at += bytes + 1;
        return to;
}

/* Convert a string. Returns NULL for half of a surrogate pair. */
static char *blob_string(struct blob *blob, const struct eddy_json_value *value, size_t *ret_bytes)
{
        int64_t bytes = eddy_json_string(value, blob->at, value->bytes);
        char *to = blob->at;

        if (bytes < 0)
                return NULL;
        *ret_bytes = (size_t) bytes;
        blob->at += bytes + 1;
        return to;
}

static bool header_is_ours(const char *name)
{
        static const char *const names[] = { "Content-Length", "Transfer-Encoding", "Connection" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcasecmp(name, names[i]) == 0)
                        return true;
        return false;
}

/* Add a header whose strings are given. Values are never shown: they may be secret. */
static int header_build(const struct parts *parts, const struct eddy_json_value *name,
                        const struct eddy_json_value *value, struct ed_request *request,
                        struct blob *blob)
{
        struct eddy_http_header *header = &request->headers[request->headers_count];
        char shown[ED_EXCERPT_BYTES];
        size_t bytes;
        char *text;

        ed_excerpt(shown, name->text, name->bytes);
        text = blob_string(blob, name, &bytes);
        if (!text || !eddy_http_is_token(text, bytes))
                return request_fault(parts,
                                     "header %s: the name of a header has only letters, digits and "
                                     "characters such as -: write \"Content-Type\"",
                                     shown);
        if (header_is_ours(text) || (parts->has_files && strcasecmp(text, "Content-Type") == 0))
                return request_fault(
                        parts, "header %s is set by the program: remove it from the line", shown);
        header->name = text;
        text = blob_string(blob, value, &bytes);
        if (!text || !eddy_http_is_value(text, bytes))
                return request_fault(parts,
                                     "header %s: its value has a control character or half of a "
                                     "surrogate pair: remove it",
                                     shown);
        header->value = text;
        request->headers_count++;
        return 0;
}

/* Count a header, and add the room that it needs, or build it if there is a request. */
static int header_take(const struct parts *parts, const struct eddy_json_value *name,
                       const struct eddy_json_value *value, struct ed_request *request,
                       struct blob *blob, size_t *count, size_t *room)
{
        char shown[ED_EXCERPT_BYTES];

        if (request)
                return header_build(parts, name, value, request, blob);
        if (value->kind != EDDY_JSON_STRING)
                return request_fault(parts,
                                     "header %s: the value is not a string: write a string "
                                     "such as \"text/plain\"",
                                     ed_excerpt(shown, name->text, name->bytes));
        if (++*count > ED_REQUEST_HEADERS_MAX)
                return request_fault(parts,
                                     "the line has more than %d headers; at most %d are "
                                     "possible",
                                     (int) ED_REQUEST_HEADERS_MAX, (int) ED_REQUEST_HEADERS_MAX);
        *room += name->bytes + value->bytes;
        return 0;
}

/* Walk over the headers: each value is a string, or an array of strings. */
static int headers_take(const struct parts *parts, struct ed_request *request, struct blob *blob,
                        size_t *count, size_t *room)
{
        int member = is_given(parts, HEADER) ? HEADER : HEADERS, err = 0;
        struct eddy_json_cursor headers, items;
        struct eddy_json_value name, value, item;

        if (!is_given(parts, member))
                return 0;
        if (parts->members[member].kind != EDDY_JSON_OBJECT ||
            eddy_json_walk(&parts->members[member], &headers) < 0)
                /* The value may be a secret. */
                return request_fault(parts, "\"%s\" is not an object: write {\"X-Name\":\"value\"}",
                                     member_names[member]);
        while (err == 0 && eddy_json_next(&headers, &name, &value)) {
                if (value.kind != EDDY_JSON_ARRAY)
                        err = header_take(parts, &name, &value, request, blob, count, room);
                else if (eddy_json_walk(&value, &items) == 0)
                        while (err == 0 && eddy_json_next(&items, NULL, &item))
                                err = header_take(parts, &name, &item, request, blob, count, room);
        }
        return err;
}

static bool has_header(const struct ed_request *request, const char *name)
{
        for (size_t i = 0; i < request->headers_count; i++)
                if (strcasecmp(request->headers[i].name, name) == 0)
                        return true;
        return false;
}

/* Add the headers of -H that were filled in. A header of the line replaces them. */
static void values_take(const struct parts *parts, struct ed_request *request, struct blob *blob)
{
        const struct ed_templates *templates = &parts->rules->templates;
        const char *value = parts->filled_values.data;

        for (size_t i = 0; i < templates->headers_count; i++) {
                const char *name = templates->headers[i].name;

                if (!has_header(request, name))
                        request->headers[request->headers_count++] = (struct eddy_http_header){
                                .name = blob_text(blob, name, strlen(name)),
                                .value = blob_text(blob, value, strlen(value)),
                        };
                value += strlen(value) + 1;
        }
}

static int method_build(const struct parts *parts, struct ed_request *request, struct blob *blob)
{
        const struct eddy_json_value *value = &parts->members[METHOD];
        const char *method = parts->rules->method;
        size_t bytes;

        if (value->kind == EDDY_JSON_NONE) {
                if (!method)
                        method = parts->body || parts->has_files ? "POST" : "GET";
                request->method = blob_text(blob, method, strlen(method));
                return 0;
        }
        if (value->kind != EDDY_JSON_STRING)
                return member_fault(parts, METHOD, "write a string such as \"POST\"");
        request->method = blob_string(blob, value, &bytes);
        if (!request->method || !eddy_http_is_token(request->method, bytes))
                return member_fault(parts, METHOD, "write a method such as \"POST\"");
        for (size_t i = 0; i < bytes; i++)
                if (request->method[i] >= 'a' && request->method[i] <= 'z')
                        return member_fault(parts, METHOD, "write it in capitals");
        return 0;
}

static __attribute__((noinline)) int url_build(const struct parts *parts,
                                               struct ed_request *request, struct blob *blob)
{
        const struct eddy_json_value *value = &parts->members[URL];
        size_t bytes = parts->url_bytes;
        char shown[ED_EXCERPT_BYTES], whole[ED_URL_SHOWN_BYTES], text[ED_TARGET_FAULT_BYTES];
        int err;

        if (parts->url) {
                request->url = blob_text(blob, parts->url, bytes);
        } else {
                if (value->kind != EDDY_JSON_STRING)
                        return member_fault(parts, URL,
                                            "write a string such as \"/v1/embeddings\"");
                request->url = blob_string(blob, value, &bytes);
                if (!request->url)
                        return surrogate_fault(parts, "url");
        }
        if (!has_url_start(request->url, bytes)) {
                ed_url_shown(whole, request->url, bytes);
                return request_fault(parts,
                                     "the URL \"%s\" does not begin with http://, https:// or /: "
                                     "write a URL such as \"/v1/embeddings\"",
                                     ed_excerpt(shown, whole, strlen(whole)));
        }
        for (size_t i = 0; i < bytes; i++) {
                unsigned char c = (unsigned char) request->url[i];

                if (c <= 0x20 || c == 0x7f)
                        return request_fault(parts, "the URL has the byte %d in it%s: write %%%02X",
                                             c, c == ' ' ? ", a space" : "", c);
        }
        if (parts->url && parts->url == parts->rules->url)
                return 0; /* was checked before */
        err = ed_target_check(request->url, text);
        return err == -EINVAL ? request_fault(parts, "%s", text) : err;
}

static int timeout_build(const struct parts *parts, struct ed_request *request)
{
        double seconds;

        if (!is_given(parts, TIMEOUT))
                return 0;
        if (eddy_json_double(&parts->members[TIMEOUT], &seconds) < 0 || !(seconds > 0) ||
            seconds > TIMEOUT_SECONDS_MAX)
                return member_fault(parts, TIMEOUT,
                                    "write seconds, above 0 and at most 86400, such as 30");
        request->timeout_ns = (int64_t) (seconds * 1e9);
        if (request->timeout_ns == 0)
                request->timeout_ns = 1;
        return 0;
}

static int base64_build(const struct parts *parts, struct ed_request *request, struct blob *blob)
{
        size_t chars;
        char *text = blob_string(blob, &parts->members[BODY], &chars);
        int64_t bytes = text ? eddy_base64_decode(text, chars, text) : -EINVAL;

        if (bytes < 0)
                return member_fault(
                        parts, BODY,
                        "this is not base64; write \"headers\" instead of \"header\" for "
                        "a body of JSON");
        request->body = bytes > 0 ? text : NULL;
        request->body_bytes = (size_t) bytes;
        return 0;
}

/* Count the parts of the form, and the bytes of their texts. */
static int files_measure(const struct parts *parts, struct ed_upload *upload)
{
        int err;

        *upload = (struct ed_upload){ .form = &parts->members[FORM],
                                      .files = &parts->members[FILES],
                                      .error = parts->error };
        err = parts->has_files ? ed_upload_take(upload) : 0;
        if (err == 0 && parts->has_files && upload->count == 0)
                err = request_fault(parts, "%s", "\"files\" is empty: write {\"file\":\"PATH\"}");
        return err;
}

/* Make the parts of the form, in room that files_measure() has counted. */
static int files_build(const struct parts *parts, struct ed_request *request, struct blob *blob)
{
        struct ed_upload upload = { .form = &parts->members[FORM],
                                    .files = &parts->members[FILES],
                                    .error = parts->error,
                                    .parts = request->parts,
                                    .at = blob->at };
        int err = ed_upload_take(&upload);

        blob->at = upload.at;
        request->parts_count = upload.count;
        return err;
}

/* ---- the body's content ---------------------------------------------------------------------- */

static uint64_t hash_add(uint64_t hash, const char *data, size_t bytes)
{
        return XXH3_64bits_withSeed(data, bytes, hash);
}

/* Returns the number of prompts: texts, or lists of tokens. */
static uint64_t prompts_count(const struct eddy_json_value *prompt)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;
        uint64_t count = 0;

        if (prompt->kind != EDDY_JSON_ARRAY || eddy_json_walk(prompt, &cursor) < 0)
                return 1;
        while (eddy_json_next(&cursor, NULL, &item))
                if (item.kind != EDDY_JSON_NUMBER)
                        count++;
        return count > 0 ? count : 1;
}

/* Returns true if the answer to a URL is a stream unless the body has "stream": Gemini's method for
 * streams, and the paths of Ollama. */
static bool url_streams(const char *url)
{
        static const char *const ends[] = { "/api/chat", "/api/generate" };
        size_t bytes = strcspn(url, "?#");

        if (memmem(url, bytes, ":streamGenerateContent", 22))
                return true;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                size_t end_bytes = strlen(ends[i]);

                if (bytes >= end_bytes && memcmp(url + bytes - end_bytes, ends[i], end_bytes) == 0)
                        return true;
        }
        return false;
}

/* Read a number that may have either name, as in Gemini's JSON. Returns 0 if it is not given. */
static uint64_t number_of(const struct eddy_json_value *object, const char *name,
                          const char *other_name)
{
        struct eddy_json_value value;
        uint64_t number;

        return (eddy_json_get(object, name, &value) == 0 ||
                eddy_json_get(object, other_name, &value) == 0) &&
                               eddy_json_uint64(&value, &number) == 0
                       ? number
                       : 0;
}

/* Read what Gemini's configuration says about the answer. */
static void config_study(const struct eddy_json_value *config, uint64_t *tokens, uint64_t *choices)
{
        uint64_t number = number_of(config, "candidateCount", "candidate_count");

        if (number > 0)
                *choices = number;
        number = number_of(config, "maxOutputTokens", "max_output_tokens");
        if (number > *tokens)
                *tokens = number;
}

/* Find what the body says about the answer. */
static void body_study(struct ed_request *request, const struct eddy_json_value *body)
{
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;
        uint64_t tokens = 0, number, n = 1, prompts = 1;
        int err;

        if (eddy_json_walk(body, &cursor) < 0)
                return;
        /* "input" is that of embeddings, except here. */
        request->generates = strstr(request->url, "/responses");
        request->streams = url_streams(request->url);
        while (eddy_json_next(&cursor, &name, &value)) {
                if (eddy_json_is(&name, "generationConfig") ||
                    eddy_json_is(&name, "generation_config"))
                        config_study(&value, &tokens, &n);
                if (eddy_json_is(&name, "messages") || eddy_json_is(&name, "prompt") ||
                    eddy_json_is(&name, "contents"))
                        request->generates = true;
                if (eddy_json_is(&name, "prompt"))
                        prompts = prompts_count(&value);
                if (eddy_json_is(&name, "stream"))
                        request->streams = value.kind == EDDY_JSON_BOOL && value.text[0] == 't';
                if (value.kind != EDDY_JSON_NUMBER)
                        continue;
                err = eddy_json_uint64(&value, &number);
                if (err == EDDY_E_FIELD_RANGE && value.text[0] != '-')
                        number = UINT64_MAX;
                else if (err < 0)
                        continue;
                if (eddy_json_is(&name, "n") && number > 0)
                        n = number;
                else if ((eddy_json_is(&name, "max_tokens") ||
                          eddy_json_is(&name, "max_completion_tokens") ||
                          eddy_json_is(&name, "max_output_tokens")) &&
                         number > tokens)
                        tokens = number;
        }
        request->output_tokens_max = tokens > UINT64_MAX / n ? UINT64_MAX : tokens * n;
        request->choices = prompts > UINT64_MAX / n ? UINT64_MAX : prompts * n;
}

/* Add a body of JSON to the hash, without white space between tokens. */
static int body_hash(const struct parts *parts, struct ed_request *request, uint64_t *hash)
{
        struct eddy_json_error fault;
        struct eddy_json_value body = { .kind = EDDY_JSON_OBJECT };
        char *compact = eddy_malloc(request->body_bytes);
        int64_t bytes;
        int err = 0;

        if (!compact)
                return -ENOMEM;
        bytes = eddy_json_compact(request->body, request->body_bytes, compact, NULL, &fault);
        if (bytes < 0) {
                err = request_fault(parts, "the filled template is not JSON: %s", fault.text);
        } else {
                *hash = hash_add(*hash, compact, (size_t) bytes);
                body.text = compact;
                body.bytes = (size_t) bytes;
                if (compact[0] == '{')
                        body_study(request, &body);
        }
        eddy_free(compact);
        return err;
}

/* Add a form to the hash: the paths of its files count, not what is in them. */
static int files_hash(const struct parts *parts, uint64_t *hash)
{
        for (int m = FILES; m <= FORM; m++) {
                const struct eddy_json_value *member = &parts->members[m];
                char *compact;
                int64_t bytes;

                *hash = hash_add(*hash, member_names[m], strlen(member_names[m]));
                if (!is_given(parts, m))
                        continue;
                compact = eddy_malloc(member->bytes);
                if (!compact)
                        return -ENOMEM;
                bytes = eddy_json_compact(member->text, member->bytes, compact, NULL, NULL);
                if (bytes > 0)
                        *hash = hash_add(*hash, compact, (size_t) bytes);
                eddy_free(compact);
        }
        return 0;
}

static int request_hash(const struct parts *parts, struct ed_request *request)
{
        uint64_t hash = hash_add(0, request->method, strlen(request->method));
        int err = 0;

        hash = hash_add(hash, request->url, strlen(request->url));
        for (size_t i = 0; i < request->headers_count; i++) {
                const struct eddy_http_header *header = &request->headers[i];

                hash = hash_add(hash, header->name, strlen(header->name));
                hash = hash_add(hash, header->value, strlen(header->value));
        }
        if (request->body && parts->is_base64)
                hash = hash_add(hash, request->body, request->body_bytes);
        else if (request->body)
                err = body_hash(parts, request, &hash);
        else if (parts->has_files)
                err = files_hash(parts, &hash);
        request->hash = hash ? hash : 1; /* 0 means unknown */
        return err;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int parts_build(const struct parts *parts, struct ed_request *request, struct blob *blob)
{
        const struct eddy_json_value *metadata = &parts->members[METADATA];
        int err = method_build(parts, request, blob);

        if (err == 0)
                err = url_build(parts, request, blob);
        if (err == 0)
                err = timeout_build(parts, request);
        if (err == 0)
                err = headers_take(parts, request, blob, NULL, NULL);
        if (err < 0)
                return err;
        values_take(parts, request, blob);
        if (metadata->kind != EDDY_JSON_NONE) {
                request->metadata = blob_text(blob, metadata->text, metadata->bytes);
                request->metadata_bytes = metadata->bytes;
        }
        if (parts->is_base64) {
                err = base64_build(parts, request, blob);
        } else if (parts->has_files) {
                err = files_build(parts, request, blob);
        } else if (parts->body) {
                request->body = blob_text(blob, parts->body, parts->body_bytes);
                request->body_bytes = parts->body_bytes;
                request->body_is_json = true;
        }
        request->is_url =
                parts->object.kind == EDDY_JSON_NONE && !parts->rules->columns && !parts->body;
        request->vendor = parts->form;
        request->has_empty_id = parts->has_empty_id;
        return err < 0 ? err : request_hash(parts, request);
}

/* Returns a request that has only an id and a number, and room for more. */
static struct ed_request *request_new(const struct parts *parts, uint64_t number,
                                      size_t headers_count, size_t parts_count, size_t room,
                                      struct blob *ret_blob)
{
        size_t headers_bytes = headers_count * sizeof(struct eddy_http_header);
        size_t parts_bytes = parts_count * sizeof(struct eddy_http_part);
        size_t bytes = sizeof(struct ed_request) + headers_bytes + parts_bytes + parts->id_bytes +
                       LINE_ID_BYTES_MAX + room;
        struct ed_request *request = eddy_malloc(bytes);
        char id[LINE_ID_BYTES_MAX];

        if (!request)
                return NULL;
        *request = (struct ed_request){ .number = number, .memory = bytes };
        request->headers = (struct eddy_http_header *) (request + 1);
        request->parts = (struct eddy_http_part *) (request->headers + headers_count);
        ret_blob->at = (char *) (request + 1) + headers_bytes + parts_bytes;
        if (parts->id_bytes > 0) {
                request->id = blob_text(ret_blob, parts->id, parts->id_bytes);
                request->id_bytes = parts->id_bytes;
        } else {
                int n = snprintf(id, sizeof(id), "line-%llu", (unsigned long long) number);

                request->id_bytes = (size_t) n;
                request->id = blob_text(ret_blob, id, request->id_bytes);
                request->lacks_id = true;
        }
        return request;
}

static int request_build(const struct parts *parts, uint64_t number,
                         struct ed_request **ret_request)
{
        const char *method = parts->rules->method;
        size_t count = 0, room = 0;
        struct ed_request *request;
        struct ed_upload upload;
        struct blob blob;
        int err = headers_take(parts, NULL, NULL, &count, &room);

        if (err == 0)
                err = files_measure(parts, &upload);
        if (err < 0)
                return err;
        room += upload.bytes;
        count += parts->rules->templates.headers_count;
        for (size_t i = 0; i < parts->rules->templates.headers_count; i++)
                room += strlen(parts->rules->templates.headers[i].name) + 1;
        room += parts->filled_values.bytes;
        room += (method ? strlen(method) : 0) + sizeof("POST");
        room += parts->members[METHOD].bytes + parts->members[URL].bytes + parts->url_bytes + 1;
        room += parts->members[METADATA].bytes + 1 + parts->body_bytes + 1;
        request = request_new(parts, number, count, upload.count, room, &blob);
        if (!request)
                return -ENOMEM;
        err = parts_build(parts, request, &blob);
        if (err < 0) {
                eddy_free(request);
                return err;
        }
        *ret_request = request;
        return 1;
}

/* Make the request of a line that was taken apart. Not inlined: the caller's frame is large. */
static __attribute__((noinline)) int request_make(struct parts *parts, const char *line,
                                                  size_t bytes, uint64_t number,
                                                  struct ed_request **ret_request)
{
        int err = values_fill(parts, line, bytes);

        return err < 0 ? err : request_build(parts, number, ret_request);
}

int ed_request_read(const struct ed_request_rules *rules, const char *line, size_t bytes,
                    uint64_t number, struct ed_request **ret_request,
                    char error[ED_REQUEST_ERROR_BYTES])
{
        struct parts parts = { .rules = rules, .error = error };
        struct blob blob;
        int result, blank = 0;

        *ret_request = NULL;
        if (rules->skip_empty)
                blank = ed_templates_are_blank(&rules->templates, rules->columns, line, bytes);
        result = blank < 0 ? blank : line_parts(&parts, line, bytes);
        if (blank > 0 && (result > 0 || result == -EINVAL || parts.is_empty))
                result = ED_REQUEST_EMPTY;
        else if (result > 0)
                result = request_make(&parts, line, bytes, number, ret_request);
        if (result == ED_REQUEST_EMPTY || (result == -EINVAL && parts.id_bytes > 0)) {
                *ret_request = request_new(&parts, number, 0, 0, 0, &blob);
                if (!*ret_request)
                        result = -ENOMEM;
                else
                        (*ret_request)->is_empty = result == ED_REQUEST_EMPTY;
        }
        ed_draft_fini(&parts.filled);
        ed_draft_fini(&parts.filled_url);
        ed_draft_fini(&parts.filled_values);
        return result;
}

void ed_request_free(struct ed_request *request)
{
        eddy_free(request);
}

static const char *space_skip(const char *at, const char *end)
{
        while (at < end && (*at == ' ' || *at == '\t'))
                at++;
        return at;
}

bool ed_request_peek_id(const char *line, size_t bytes, const char **ret_id, size_t *ret_bytes)
{
        static const char name[] = "\"custom_id\"";
        const char *end = line + bytes, *at = space_skip(line, end), *id;

        if (at == end || *at != '{')
                return false;
        at = space_skip(at + 1, end);
        if ((size_t) (end - at) < strlen(name) || memcmp(at, name, strlen(name)) != 0)
                return false;
        at = space_skip(at + strlen(name), end);
        if (at == end || *at != ':')
                return false;
        at = space_skip(at + 1, end);
        if (at == end || *at != '"')
                return false;
        id = ++at;
        while (at < end && *at != '"' && *at != '\\' && *at >= ' ' && *at <= '~')
                at++;
        if (at == end || *at != '"' || at == id || at - id > ED_REQUEST_ID_BYTES_MAX)
                return false;
        *ret_id = id;
        *ret_bytes = (size_t) (at - id);
        return true;
}

uint64_t ed_request_key(const struct ed_request *request)
{
        return XXH3_64bits_withSeed(request->id, request->id_bytes, request->hash);
}
