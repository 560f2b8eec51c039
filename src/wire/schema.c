/*
 * wire/schema.c - JSON Schema from tables of fields: objects and documents.
 */
#include <errno.h>
#include <string.h>

#include "base/fields.h"
#include "wire/json.h"
#include "wire/schema.h"

/* ---- objects --------------------------------------------------------------------------------- */

static void put_required(const struct eddy_fields *fields, const struct eddy_field *tag,
                         struct ed_json_out *out)
{
        bool has_any = tag;

        for (size_t i = 0; i < fields->count; i++)
                has_any = has_any || fields->list[i].required;
        if (!has_any)
                return;
        ed_json_out_name(out, "required");
        ed_json_out_open(out, '[');
        if (tag)
                ed_json_out_string(out, ed_field_name(tag));
        for (size_t i = 0; i < fields->count; i++)
                if (fields->list[i].required)
                        ed_json_out_string(out, ed_field_name(&fields->list[i]));
        ed_json_out_close(out, ']');
}

/* The object of a table; with a tag, of a struct that the tag chooses by 'word'. */
static void put_object(const struct ed_schemas *schemas, const struct eddy_fields *fields,
                       const struct eddy_field *tag, const char *word, struct ed_json_out *out)
{
        ed_json_out_member(out, "type", "object");
        ed_json_out_name(out, "properties");
        ed_json_out_open(out, '{');
        if (tag) {
                ed_json_out_name(out, ed_field_name(tag));
                ed_json_out_open(out, '{');
                ed_json_out_member(out, "const", word);
                if (tag->description)
                        ed_json_out_member(out, "description", tag->description);
                ed_json_out_close(out, '}');
        }
        for (size_t i = 0; i < fields->count; i++) {
                ed_json_out_name(out, ed_field_name(&fields->list[i]));
                ed_schema_put_field(schemas, &fields->list[i],
                                    ed_schema_may_be_null(&fields->list[i]), out);
        }
        ed_json_out_close(out, '}');
        put_required(fields, tag, out);
        if (fields->flags & EDDY_FIELDS_STRICT)
                ed_json_out_flag(out, "additionalProperties", false);
}

static void put_union(const struct ed_schemas *schemas, const struct eddy_fields *fields,
                      struct ed_json_out *out)
{
        ed_json_out_member(out, "type", "object");
        ed_json_out_name(out, "oneOf");
        ed_json_out_open(out, '[');
        for (size_t i = 1; i < fields->count; i++) {
                ed_json_out_open(out, '{');
                ed_json_out_name(out, "$ref");
                ed_json_out_joined(out, schemas->prefix, ed_schemas_find(schemas, fields, i)->name);
                ed_json_out_close(out, '}');
        }
        ed_json_out_close(out, ']');
        ed_json_out_name(out, "discriminator");
        ed_json_out_open(out, '{');
        ed_json_out_member(out, "propertyName", ed_field_name(&fields->list[0]));
        ed_json_out_name(out, "mapping");
        ed_json_out_open(out, '{');
        for (size_t i = 1; i < fields->count; i++) {
                ed_json_out_name(out, fields->list[0].names[i - 1]);
                ed_json_out_joined(out, schemas->prefix, ed_schemas_find(schemas, fields, i)->name);
        }
        ed_json_out_close(out, '}');
        ed_json_out_close(out, '}');
}

void ed_schema_put_def(const struct ed_schemas *schemas, const struct ed_schema_def *def,
                       struct ed_json_out *out)
{
        const struct eddy_field *tag = &def->fields->list[0];

        if (def->chosen)
                put_object(schemas, ed_schema_fields(def), tag, tag->names[def->chosen - 1], out);
        else if (ed_fields_are_union(def->fields))
                put_union(schemas, def->fields, out);
        else
                put_object(schemas, def->fields, NULL, NULL, out);
}

void ed_schema_put_defs(const struct ed_schemas *schemas, size_t first, struct ed_json_out *out)
{
        ed_json_out_open(out, '{');
        for (size_t i = first; i < ed_schemas_count(schemas); i++) {
                const struct ed_schema_def *def = ed_schemas_at(schemas, i);

                ed_json_out_name(out, def->name);
                ed_json_out_open(out, '{');
                ed_schema_put_def(schemas, def, out);
                ed_json_out_close(out, '}');
        }
        ed_json_out_close(out, '}');
}

/* ---- documents ------------------------------------------------------------------------------- */

static void put_document(const struct ed_schemas *schemas, const struct eddy_schema_opts *opts,
                         struct ed_json_out *out)
{
        ed_json_out_open(out, '{');
        ed_json_out_member(out, "$schema", "https://json-schema.org/draft/2020-12/schema");
        if (opts->id)
                ed_json_out_member(out, "$id", opts->id);
        if (opts->title)
                ed_json_out_member(out, "title", opts->title);
        ed_schema_put_def(schemas, ed_schemas_at(schemas, 0), out);
        if (ed_schemas_count(schemas) > 1) {
                ed_json_out_name(out, "$defs");
                ed_schema_put_defs(schemas, 1, out);
        }
        ed_json_out_close(out, '}');
}

static int end(struct ed_json_out *out, char **ret_text, size_t *ret_bytes,
               struct eddy_json_error *ret_error)
{
        int err = ed_json_out_end(out, ret_text, ret_bytes);

        if (err < 0)
                return ed_json_fail(ret_error, err, NULL, 0, NULL, "%s",
                                    err == -EMSGSIZE
                                            ? "the text exceeds EDDY_JSON_WRITTEN_MAX bytes"
                                            : "out of memory");
        return 0;
}

/* The document of the first table, or the definitions of all. */
static int write_tables(const struct eddy_fields *const *tables, size_t count, bool is_document,
                        const struct eddy_schema_opts *opts, char **ret_text, size_t *ret_bytes,
                        struct eddy_json_error *ret_error)
{
        static const struct eddy_schema_opts usual;
        struct ed_schemas schemas;
        struct ed_json_out out;
        int err = 0;

        opts = opts ? opts : &usual;
        if (opts->flags)
                return ed_json_fail(ret_error, -EINVAL, NULL, 0, NULL, "an unknown flag");
        ed_schemas_init(&schemas, opts->ref_prefix);
        for (size_t i = 0; err == 0 && i < count; i++)
                err = ed_schemas_add(&schemas, tables[i], ret_error);
        if (err == 0)
                err = ed_schemas_add_inner(&schemas, ret_error);
        if (err == 0) {
                ed_json_out_init(&out, EDDY_JSON_WRITTEN_MAX);
                if (is_document)
                        put_document(&schemas, opts, &out);
                else
                        ed_schema_put_defs(&schemas, 0, &out);
                err = end(&out, ret_text, ret_bytes, ret_error);
        }
        ed_schemas_fini(&schemas);
        return err;
}

int eddy_schema_write(const struct eddy_fields *fields, const struct eddy_schema_opts *opts,
                      char **ret_text, size_t *ret_bytes, struct eddy_json_error *ret_error)
{
        return write_tables(&fields, 1, true, opts, ret_text, ret_bytes, ret_error);
}

int eddy_schema_write_defs(const struct eddy_fields *const *tables, size_t count,
                           const struct eddy_schema_opts *opts, char **ret_text, size_t *ret_bytes,
                           struct eddy_json_error *ret_error)
{
        return write_tables(tables, count, false, opts, ret_text, ret_bytes, ret_error);
}
