/*
 * wire/schema_defs.c - the definitions of a document: each table once, with a name of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fields.h"
#include "wire/chars.h"
#include "wire/json.h"
#include "wire/schema.h"

void ed_schemas_init(struct ed_schemas *schemas, const char *prefix)
{
        schemas->prefix = prefix ? prefix : "#/$defs/";
        ed_buf_init(&schemas->defs, EDDY_SCHEMA_DEFS_MAX * sizeof(struct ed_schema_def));
}

void ed_schemas_fini(struct ed_schemas *schemas)
{
        ed_buf_fini(&schemas->defs);
}

const struct ed_schema_def *ed_schemas_find(const struct ed_schemas *schemas,
                                            const struct eddy_fields *fields, size_t chosen)
{
        for (size_t i = 0; i < ed_schemas_count(schemas); i++) {
                const struct ed_schema_def *def = ed_schemas_at(schemas, i);

                if (def->fields == fields && def->chosen == chosen)
                        return def;
        }
        return NULL;
}

static bool is_name_used(const struct ed_schemas *schemas, const char *name)
{
        for (size_t i = 0; i < ed_schemas_count(schemas); i++)
                if (strcmp(ed_schemas_at(schemas, i)->name, name) == 0)
                        return true;
        return false;
}

/* The type without "struct", and for a struct that a tag chooses the name of the tag. */
static void make_name(const struct ed_schemas *schemas, struct ed_schema_def *def)
{
        static const char *const keywords[] = { "struct ", "union ", "class " };
        enum { SUFFIX_BYTES = 8 };
        const char *type = def->fields->name ? def->fields->name : "table";
        char base[EDDY_SCHEMA_NAME_BYTES_MAX + 1 - SUFFIX_BYTES];

        for (size_t i = 0; i < ed_array_count(keywords); i++)
                if (strncmp(type, keywords[i], strlen(keywords[i])) == 0)
                        type += strlen(keywords[i]);
        snprintf(base, sizeof(base), "%s%s%s", *type ? type : "table", def->chosen ? "_" : "",
                 def->chosen ? def->fields->list[0].names[def->chosen - 1] : "");
        for (char *c = base; *c; c++)
                if (!ed_char_is(*c, ED_CHAR_HOST))
                        *c = '_';
        snprintf(def->name, sizeof(def->name), "%s", base);
        for (unsigned n = 2; is_name_used(schemas, def->name); n++)
                snprintf(def->name, sizeof(def->name), "%s_%u", base, n);
}

static int add_def(struct ed_schemas *schemas, const struct eddy_fields *fields, size_t chosen,
                   struct eddy_json_error *ret_error)
{
        struct ed_schema_def def = { .fields = fields, .chosen = chosen };
        int err;

        if (ed_schemas_find(schemas, fields, chosen))
                return 0;
        make_name(schemas, &def);
        err = ed_buf_append(&schemas->defs, &def, sizeof(def));
        if (err < 0)
                return ed_json_fail(ret_error, err, NULL, 0, NULL, "%s",
                                    err == -EMSGSIZE ? "more than EDDY_SCHEMA_DEFS_MAX definitions"
                                                     : "out of memory");
        return 0;
}

int ed_schemas_add(struct ed_schemas *schemas, const struct eddy_fields *fields,
                   struct eddy_json_error *ret_error)
{
        int err = eddy_fields_check(fields, ret_error);

        return err < 0 ? err : add_def(schemas, fields, 0, ret_error);
}

/* The entries of a map have no definition, but their values may have one. */
static int add_field(struct ed_schemas *schemas, const struct eddy_field *field,
                     struct eddy_json_error *ret_error)
{
        while (field->shape == EDDY_SHAPE_MAP)
                field = &field->fields->list[1];
        return field->kind == EDDY_KIND_STRUCT ? add_def(schemas, field->fields, 0, ret_error) : 0;
}

int ed_schemas_add_inner(struct ed_schemas *schemas, struct eddy_json_error *ret_error)
{
        int err = 0;

        for (size_t n = 0; err == 0 && n < ed_schemas_count(schemas); n++) {
                /* Adding may move the definitions. */
                const struct ed_schema_def *def = ed_schemas_at(schemas, n);
                const struct eddy_fields *fields = ed_schema_fields(def);
                bool is_union = !def->chosen && ed_fields_are_union(fields);

                for (size_t i = is_union ? 1 : 0; err == 0 && i < fields->count; i++)
                        err = is_union ? add_def(schemas, fields, i, ret_error)
                                       : add_field(schemas, &fields->list[i], ret_error);
        }
        return err;
}

void ed_schema_put_ref(const struct ed_schemas *schemas, const struct eddy_fields *fields,
                       struct ed_json_out *out)
{
        ed_json_out_open(out, '{');
        ed_json_out_name(out, "$ref");
        ed_json_out_joined(out, schemas->prefix, ed_schemas_find(schemas, fields, 0)->name);
        ed_json_out_close(out, '}');
}
