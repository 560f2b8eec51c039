/*
 * batch/request/upload.c - see upload.h.
 */
#include "batch/request/upload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "batch/request/fault.h"
#include "common/excerpt.h"
#include "eddy/http_text.h"

static EDDY_PRINTF(2, 3) int upload_fault(const struct ed_upload *upload, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(upload->error, ED_FAULT_BYTES, format, args);
        va_end(args);
        return -EINVAL;
}

/* Report a value of the field 'name' of the member 'member'. */
static int value_fault(const struct ed_upload *upload, const char *member,
                       const struct eddy_json_value *name, const char *remedy)
{
        char shown[ED_EXCERPT_BYTES];

        return upload_fault(upload, "\"%s\": the value of %s %s", member,
                            ed_excerpt(shown, name->text, name->bytes), remedy);
}

/*
 * Count a text, or copy it if the parts are made. Returns NULL for a string with \u0000 or half of a
 * surrogate pair.
 */
static const char *text_take(struct ed_upload *upload, const struct eddy_json_value *value,
                             size_t *ret_bytes)
{
        char *to = upload->at;
        int64_t bytes = (int64_t) value->bytes;

        upload->bytes += value->bytes + 1;
        *ret_bytes = value->bytes;
        if (!upload->parts)
                return "";
        if (value->kind == EDDY_JSON_STRING) {
                bytes = eddy_json_string(value, to, value->bytes);
                if (bytes < 0 || memchr(to, '\0', (size_t) bytes))
                        return NULL;
        } else {
                memcpy(to, value->text, value->bytes);
        }
        to[bytes] = '\0';
        upload->at += bytes + 1;
        *ret_bytes = (size_t) bytes;
        return to;
}

/* Begin a part. Returns where to make it: '*scratch' if the parts are only counted; NULL: a fault. */
static struct eddy_http_part *part_begin(struct ed_upload *upload, const char *member,
                                         const struct eddy_json_value *name,
                                         struct eddy_http_part *scratch)
{
        struct eddy_http_part *part = upload->parts ? &upload->parts[upload->count] : scratch;
        char shown[ED_EXCERPT_BYTES];
        size_t bytes;

        if (++upload->count > ED_UPLOAD_PARTS_MAX) {
                upload_fault(upload,
                             "\"form\" and \"files\" have more than %d values in all: at most %d "
                             "are possible",
                             (int) ED_UPLOAD_PARTS_MAX, (int) ED_UPLOAD_PARTS_MAX);
                return NULL;
        }
        *part = (struct eddy_http_part){ .name = text_take(upload, name, &bytes) };
        if (part->name)
                return part;
        upload_fault(upload,
                     "\"%s\": the name %s has \\u0000 or half of a surrogate pair: remove it",
                     member, ed_excerpt(shown, name->text, name->bytes));
        return NULL;
}

/* Take a value of "form". */
static int field_take(struct ed_upload *upload, const struct eddy_json_value *name,
                      const struct eddy_json_value *value)
{
        struct eddy_http_part scratch, *part;

        if (value->kind == EDDY_JSON_NULL)
                return 0;
        if (value->kind == EDDY_JSON_OBJECT || value->kind == EDDY_JSON_ARRAY)
                return value_fault(upload, "form", name,
                                   "is an object or a nested array: write a string with its JSON");
        part = part_begin(upload, "form", name, &scratch);
        if (!part)
                return -EINVAL;
        part->data = text_take(upload, value, &part->data_bytes);
        return part->data ? 0
                          : value_fault(upload, "form", name,
                                        "has \\u0000 or half of a surrogate pair: remove it");
}

static int path_take(struct ed_upload *upload, const struct eddy_json_value *name,
                     const struct eddy_json_value *path, struct eddy_http_part *part)
{
        size_t bytes;

        if (path->kind != EDDY_JSON_STRING)
                return value_fault(upload, "files", name,
                                   "has no path: write a string such as \"speech.mp3\", or "
                                   "{\"path\":\"speech.mp3\",\"type\":\"audio/mpeg\"}");
        part->path = text_take(upload, path, &bytes);
        if (!part->path)
                return value_fault(
                        upload, "files", name,
                        "has \\u0000 or half of a surrogate pair in its path: remove it");
        if (bytes == 0 || (upload->parts && bytes > ED_UPLOAD_PATH_BYTES_MAX))
                return value_fault(upload, "files", name,
                                   "has an empty path, or one of more than 4095 bytes: write the "
                                   "path of a file");
        return 0;
}

/* Take "name" or "type" of a file. */
static int about_take(struct ed_upload *upload, const struct eddy_json_value *name,
                      const struct eddy_json_value *value, const char **ret_text)
{
        size_t bytes;

        if (value->kind == EDDY_JSON_NONE || value->kind == EDDY_JSON_NULL)
                return 0;
        *ret_text = value->kind == EDDY_JSON_STRING ? text_take(upload, value, &bytes) : NULL;
        if (!*ret_text || bytes == 0 || !eddy_http_is_value(*ret_text, strlen(*ret_text)))
                return value_fault(upload, "files", name,
                                   "has a \"name\" or a \"type\" that is empty, not a string, or "
                                   "has a control character: write a name such as "
                                   "\"speech.mp3\", and a type such as \"audio/mpeg\"");
        return 0;
}

/* Take a file that is an object. */
static int object_take(struct ed_upload *upload, const struct eddy_json_value *name,
                       const struct eddy_json_value *file, struct eddy_http_part *part)
{
        struct eddy_json_value path = { 0 }, filename = { 0 }, type = { 0 }, member, value;
        struct eddy_json_cursor cursor;
        int err = eddy_json_walk(file, &cursor);

        if (err < 0)
                return err;
        while (eddy_json_next(&cursor, &member, &value)) {
                if (eddy_json_is(&member, "path"))
                        path = value;
                else if (eddy_json_is(&member, "name"))
                        filename = value;
                else if (eddy_json_is(&member, "type"))
                        type = value;
                else
                        return value_fault(upload, "files", name,
                                           "has other members than \"path\", \"name\" and "
                                           "\"type\": remove them");
        }
        err = path_take(upload, name, &path, part);
        if (err == 0)
                err = about_take(upload, name, &filename, &part->filename);
        return err < 0 ? err : about_take(upload, name, &type, &part->type);
}

/* Take a value of "files". */
static int file_take(struct ed_upload *upload, const struct eddy_json_value *name,
                     const struct eddy_json_value *value)
{
        struct eddy_http_part scratch, *part;

        if (value->kind == EDDY_JSON_NULL)
                return 0;
        part = part_begin(upload, "files", name, &scratch);
        if (!part)
                return -EINVAL;
        return value->kind == EDDY_JSON_OBJECT ? object_take(upload, name, value, part)
                                               : path_take(upload, name, value, part);
}

/* Take all values of a member. */
static int member_take(struct ed_upload *upload, const struct eddy_json_value *member,
                       const char *remedy,
                       int (*take)(struct ed_upload *, const struct eddy_json_value *,
                                   const struct eddy_json_value *))
{
        struct eddy_json_cursor fields, items;
        struct eddy_json_value name, value, item;
        int err = 0;

        if (member->kind == EDDY_JSON_NONE)
                return 0;
        if (member->kind != EDDY_JSON_OBJECT || eddy_json_walk(member, &fields) < 0)
                return upload_fault(upload, "%s", remedy);
        while (err == 0 && eddy_json_next(&fields, &name, &value)) {
                if (value.kind != EDDY_JSON_ARRAY)
                        err = take(upload, &name, &value);
                else if (eddy_json_walk(&value, &items) == 0)
                        while (err == 0 && eddy_json_next(&items, NULL, &item))
                                err = take(upload, &name, &item);
        }
        return err;
}

int ed_upload_take(struct ed_upload *upload)
{
        int err = member_take(upload, upload->form,
                              "\"form\" is not an object: write {\"model\":\"small\"}", field_take);

        return err < 0 ? err
                       : member_take(upload, upload->files,
                                     "\"files\" is not an object: write {\"file\":\"speech.mp3\"}",
                                     file_take);
}
