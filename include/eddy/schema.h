/*
 * eddy/schema.h - JSON Schema (draft 2020-12) from tables of fields.
 *
 *     char *text;
 *     size_t bytes;
 *
 *     if (eddy_schema_write(&user_fields, NULL, &text, &bytes, &error) < 0)
 *             return reject(error.text);
 *     // {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",...}
 *     eddy_free(text);
 *
 * The schema accepts the documents that eddy_json_read() accepts with the table (eddy/fields.h), with
 * the exceptions below.
 *
 *     table                             schema
 *     bool, integers, float, double     "boolean", "integer", "number", with exact limits
 *     char [N], char *                  "string" with the lengths of the table
 *     raw                               {}: any value
 *     enum                              "enum"
 *     struct                            "$ref" to a definition, which is written once
 *     array, list                       "array" with "items", and "uniqueItems"
 *     map                               "object" with "additionalProperties", and "propertyNames"
 *     tagged union                      "oneOf" definitions in which the tag is "const"; "discriminator"
 *     not required                      may be missing, and the type has "null"
 *     format                            "format"; "ip" is "ipv4" or "ipv6"
 *     EDDY_FIELDS_STRICT                "additionalProperties": false
 *     read-only, write-only             "readOnly", "writeOnly"
 *     description, example, default     "description", "examples", "default"
 *
 * JSON Schema judges otherwise than eddy_json_read() in these cases:
 *
 *   - 1.0 is an integer there
 *   - lengths are characters there, and bytes in a table: a text that is not ASCII may be too long
 *     only for the table, or too short only for the schema; the length of a raw value is not in the
 *     schema
 *   - a format is only checked if the validator is asked to, and it may check differently; a
 *     program's own format is only a name
 *   - \u0000 and half of a surrogate pair are valid there; a name that is given twice is not seen
 *   - a number that is too large for a double may be valid
 *   - a read-only field is required in each document, and eddy_json_read() does not require it in a
 *     request
 *
 * No function here suspends.  Threads: any.
 */
#ifndef EDDY_SCHEMA_H
#define EDDY_SCHEMA_H

#include "eddy/def.h"
#include "eddy/fields.h"
#include "eddy/json.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_SCHEMA_DEFS_MAX = 1024,     /* definitions of one text */
        EDDY_SCHEMA_NAME_BYTES_MAX = 127 /* of the name of a definition; a longer one is cut */
};

/* Zero is the default of each option. */
struct eddy_schema_opts {
        const char *ref_prefix EDDY_UNSET; /* before the name in each "$ref"; NULL: "#/$defs/" */
        const char *id EDDY_UNSET;         /* "$id" */
        const char *title EDDY_UNSET;      /* "title" */
        uint32_t flags EDDY_UNSET;         /* zero */
        uintptr_t reserved[2] EDDY_UNSET;
};

/*
 * Write the schema of a table as a compact JSON text: a document with "$schema", and with the
 * definitions of the tables in the table in "$defs".  'opts' may be NULL.  Equal tables and options
 * give equal texts.
 *
 * The name of a definition is that of its type without "struct": struct address is "address".
 * Characters other than letters, digits, '_', '-' and '.' become '_'; the second of two tables that
 * have the same type is "address_2"; the definition of a union's struct is "shape_circle", by the
 * name of its tag.
 *
 * Errors: EDDY_E_FIELD_TABLE  the table is not usable; the text names the field and the reason
 *         -EMSGSIZE           more than EDDY_SCHEMA_DEFS_MAX definitions, or
 *                             EDDY_JSON_WRITTEN_MAX bytes
 *         -EINVAL             an unknown flag
 *         -ENOMEM
 * Owns: returns '*ret_text' (owned), with a NUL that '*ret_bytes' does not count, until eddy_free().
 */
EDDY_API EDDY_MUST_USE int eddy_schema_write(const struct eddy_fields *fields,
                                             const struct eddy_schema_opts *opts, char **ret_text,
                                             size_t *ret_bytes, struct eddy_json_error *ret_error);

/*
 * Write the definitions of several tables, and of all tables in them, as an object:
 * {"user":{...},"address":{...}}.  With the prefix "#/components/schemas/", the object is
 * components.schemas of an OpenAPI 3.1 document.  The tables of the list get their names before the
 * tables in them.  opts->id and opts->title are not used.
 *
 * Errors, Owns: as eddy_schema_write()
 */
EDDY_API EDDY_MUST_USE int eddy_schema_write_defs(const struct eddy_fields *const *tables,
                                                  size_t count, const struct eddy_schema_opts *opts,
                                                  char **ret_text, size_t *ret_bytes,
                                                  struct eddy_json_error *ret_error);

EDDY_END_DECLS

#endif
