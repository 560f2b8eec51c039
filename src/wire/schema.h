/*
 * wire/schema.h - schemas of tables inside a document, which has the definitions in one place.
 */
#ifndef ED_WIRE_SCHEMA_H
#define ED_WIRE_SCHEMA_H

#include "eddy/schema.h"
#include "wire/json_out.h"

/* A table, or a struct that the tag of a union chooses. */
struct ed_schema_def {
        const struct eddy_fields *fields;
        size_t chosen; /* the field of the struct; 0: the table */
        char name[EDDY_SCHEMA_NAME_BYTES_MAX + 1];
};

/* Its fields: those of a table, or of the struct that a tag chooses. */
static inline const struct eddy_fields *ed_schema_fields(const struct ed_schema_def *def)
{
        return def->chosen ? def->fields->list[def->chosen].fields : def->fields;
}

struct ed_schemas {
        const char *prefix; /* before a name in a "$ref" */
        struct ed_buf defs; /* struct ed_schema_def */
};

ED_SHARED void ed_schemas_init(struct ed_schemas *schemas, const char *prefix);
ED_SHARED void ed_schemas_fini(struct ed_schemas *schemas);

/*
 * Check a table, and add its definition, unless it is there.
 *
 * Errors: EDDY_E_FIELD_TABLE
 *         -EMSGSIZE           more than EDDY_SCHEMA_DEFS_MAX
 *         -ENOMEM
 */
EDDY_MUST_USE ED_SHARED int ed_schemas_add(struct ed_schemas *schemas,
                                           const struct eddy_fields *fields,
                                           struct eddy_json_error *ret_error);

/* Add the tables that are in those that were added, after the last of these. Errors as above. */
EDDY_MUST_USE ED_SHARED int ed_schemas_add_inner(struct ed_schemas *schemas,
                                                 struct eddy_json_error *ret_error);

static inline size_t ed_schemas_count(const struct ed_schemas *schemas)
{
        return ed_buf_bytes(&schemas->defs) / sizeof(struct ed_schema_def);
}

static inline const struct ed_schema_def *ed_schemas_at(const struct ed_schemas *schemas, size_t i)
{
        return (const struct ed_schema_def *) (void *) ed_buf_data(&schemas->defs) + i;
}

/* The definition of a table that was added, or of the struct in it that a tag chooses. */
ED_SHARED const struct ed_schema_def *ed_schemas_find(const struct ed_schemas *schemas,
                                                      const struct eddy_fields *fields,
                                                      size_t chosen);

/* Put the members of the schema of a definition into the object that is open. */
ED_SHARED void ed_schema_put_def(const struct ed_schemas *schemas, const struct ed_schema_def *def,
                                 struct ed_json_out *out);

/* Put an object with the definitions from 'first' on. */
ED_SHARED void ed_schema_put_defs(const struct ed_schemas *schemas, size_t first,
                                  struct ed_json_out *out);

/* Put {"$ref":"..."} for a table that was added. */
ED_SHARED void ed_schema_put_ref(const struct ed_schemas *schemas, const struct eddy_fields *fields,
                                 struct ed_json_out *out);

/* Returns true if a document may have null for the field. */
static inline bool ed_schema_may_be_null(const struct eddy_field *field)
{
        return field->kind != EDDY_KIND_RAW && (!field->required || field->null_flag);
}

/* Put the schema of a field, whose value may be null or not. */
ED_SHARED void ed_schema_put_field(const struct ed_schemas *schemas, const struct eddy_field *field,
                                   bool may_be_null, struct ed_json_out *out);

#endif
