/*
 * wire/schema_field.c - the schema of a field.
 */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/fields.h"
#include "wire/schema.h"

static void put_type(struct ed_json_out *out, const char *type, bool may_be_null)
{
        if (!may_be_null) {
                ed_json_out_member(out, "type", type);
                return;
        }
        ed_json_out_name(out, "type");
        ed_json_out_open(out, '[');
        ed_json_out_string(out, type);
        ed_json_out_string(out, "null");
        ed_json_out_close(out, ']');
}

/* ---- scalars --------------------------------------------------------------------------------- */

static void put_integer(const struct eddy_field *field, bool may_be_null, struct ed_json_out *out)
{
        bool is_signed = field->kind == EDDY_KIND_INT;
        uint64_t positive_least, positive_most;
        int64_t least, most;
        char format[16];

        put_type(out, "integer", may_be_null);
        snprintf(format, sizeof(format), "%sint%d", is_signed ? "" : "u", 8 * (int) field->bytes);
        ed_json_out_member(out, "format", format);
        if (is_signed && ed_field_int_range(field, &least, &most)) {
                ed_json_out_name(out, "minimum");
                ed_json_out_int(out, least);
                ed_json_out_name(out, "maximum");
                ed_json_out_int(out, most);
        } else if (!is_signed && ed_field_uint_range(field, &positive_least, &positive_most)) {
                ed_json_out_name(out, "minimum");
                ed_json_out_uint(out, positive_least);
                ed_json_out_name(out, "maximum");
                ed_json_out_uint(out, positive_most);
        }
}

/* An integer is signed if the limit as a double is below 0. */
static void put_limit(const char *name, int limit, double real, uint64_t integer,
                      struct ed_json_out *out)
{
        ed_json_out_name(out, name);
        if (limit == EDDY_LIMIT_REAL)
                ed_json_out_double(out, real);
        else if (real < 0)
                ed_json_out_int(out, (int64_t) integer);
        else
                ed_json_out_uint(out, integer);
}

static bool is_finite_limit(int limit, double real)
{
        return limit != EDDY_LIMIT_NONE && __builtin_isfinite(real);
}

static void put_real(const struct eddy_field *field, bool may_be_null, struct ed_json_out *out)
{
        bool is_float = field->bytes == sizeof(float);

        put_type(out, "number", may_be_null);
        ed_json_out_member(out, "format", is_float ? "float" : "double");
        if (is_finite_limit(field->has_min, field->min))
                put_limit("minimum", field->has_min, field->min, field->min_integer, out);
        else if (is_float)
                put_limit("minimum", EDDY_LIMIT_REAL, (double) -FLT_MAX, 0, out);
        if (is_finite_limit(field->has_max, field->max))
                put_limit("maximum", field->has_max, field->max, field->max_integer, out);
        else if (is_float)
                put_limit("maximum", EDDY_LIMIT_REAL, (double) FLT_MAX, 0, out);
}

static void put_format(const struct eddy_field *field, struct ed_json_out *out)
{
        static const char *const both[] = { "ipv4", "ipv6" };

        if (field->format_fn || strcmp(field->format, "ip") != 0) {
                ed_json_out_member(out, "format", field->format);
                return;
        }
        ed_json_out_name(out, "anyOf");
        ed_json_out_open(out, '[');
        for (size_t i = 0; i < ed_array_count(both); i++) {
                ed_json_out_open(out, '{');
                ed_json_out_member(out, "format", both[i]);
                ed_json_out_close(out, '}');
        }
        ed_json_out_close(out, ']');
}

static void put_string_limits(const struct eddy_field *field, struct ed_json_out *out)
{
        size_t least, most;

        ed_field_bytes_limits(field, &least, &most);
        if (least > 0) {
                ed_json_out_name(out, "minLength");
                ed_json_out_uint(out, least);
        }
        if (most != EDDY_FIELDS_STRING_MAX) {
                ed_json_out_name(out, "maxLength");
                ed_json_out_uint(out, most);
        }
        if (field->format)
                put_format(field, out);
}

static void put_enum(const struct eddy_field *field, bool may_be_null, struct ed_json_out *out)
{
        put_type(out, "string", may_be_null);
        ed_json_out_name(out, "enum");
        ed_json_out_open(out, '[');
        for (size_t i = 0; field->names[i]; i++)
                ed_json_out_string(out, field->names[i]);
        if (may_be_null)
                ed_json_out_value(out, "null", 4);
        ed_json_out_close(out, ']');
}

static void put_struct(const struct ed_schemas *schemas, const struct eddy_field *field,
                       bool may_be_null, struct ed_json_out *out)
{
        const struct ed_schema_def *def = ed_schemas_find(schemas, field->fields, 0);

        if (!may_be_null) {
                ed_json_out_name(out, "$ref");
                ed_json_out_joined(out, schemas->prefix, def->name);
                return;
        }
        ed_json_out_name(out, "anyOf");
        ed_json_out_open(out, '[');
        ed_schema_put_ref(schemas, field->fields, out);
        ed_json_out_open(out, '{');
        ed_json_out_member(out, "type", "null");
        ed_json_out_close(out, '}');
        ed_json_out_close(out, ']');
}

/* The members that describe a value of the field, or an item. */
static void put_one(const struct ed_schemas *schemas, const struct eddy_field *field,
                    bool may_be_null, struct ed_json_out *out)
{
        switch (field->kind) {
        case EDDY_KIND_BOOL:
                put_type(out, "boolean", may_be_null);
                return;
        case EDDY_KIND_INT:
        case EDDY_KIND_UINT:
                put_integer(field, may_be_null, out);
                return;
        case EDDY_KIND_DOUBLE:
                put_real(field, may_be_null, out);
                return;
        case EDDY_KIND_CHARS:
        case EDDY_KIND_STRING:
                put_type(out, "string", may_be_null);
                put_string_limits(field, out);
                return;
        case EDDY_KIND_ENUM:
        case EDDY_KIND_TAG:
                put_enum(field, may_be_null, out);
                return;
        case EDDY_KIND_STRUCT:
                put_struct(schemas, field, may_be_null, out);
                return;
        default: /* EDDY_KIND_RAW: any value */
                return;
        }
}

/* ---- items ----------------------------------------------------------------------------------- */

static void put_items_limits(const struct eddy_field *field, const char *least_name,
                             const char *most_name, struct ed_json_out *out)
{
        size_t least, most;

        ed_field_items_limits(field, &least, &most);
        if (least > 0) {
                ed_json_out_name(out, least_name);
                ed_json_out_uint(out, least);
        }
        if (field->has_length || field->shape == EDDY_SHAPE_ARRAY) {
                ed_json_out_name(out, most_name);
                ed_json_out_uint(out, most);
        }
}

static void put_array(const struct ed_schemas *schemas, const struct eddy_field *field,
                      bool may_be_null, struct ed_json_out *out)
{
        put_type(out, "array", may_be_null);
        ed_json_out_name(out, "items");
        ed_json_out_open(out, '{');
        put_one(schemas, field, false, out);
        ed_json_out_close(out, '}');
        put_items_limits(field, "minItems", "maxItems", out);
        if (field->unique)
                ed_json_out_flag(out, "uniqueItems", true);
}

/* An entry is a name and a value. */
static void put_map(const struct ed_schemas *schemas, const struct eddy_field *field,
                    bool may_be_null, struct ed_json_out *out)
{
        const struct eddy_field *name = &field->fields->list[0], *value = &field->fields->list[1];

        put_type(out, "object", may_be_null);
        if (name->kind == EDDY_KIND_CHARS || name->has_length || name->format) {
                ed_json_out_name(out, "propertyNames");
                ed_json_out_open(out, '{');
                put_string_limits(name, out);
                ed_json_out_close(out, '}');
        }
        ed_json_out_name(out, "additionalProperties");
        ed_schema_put_field(schemas, value, ed_schema_may_be_null(value), out);
        put_items_limits(field, "minProperties", "maxProperties", out);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void put_json(const char *json, struct ed_json_out *out)
{
        ed_json_out_value(out, json, strlen(json));
}

static void put_notes(const struct eddy_field *field, struct ed_json_out *out)
{
        if (field->description)
                ed_json_out_member(out, "description", field->description);
        if (field->default_value) {
                ed_json_out_name(out, "default");
                put_json(field->default_value, out);
        }
        if (field->example) {
                ed_json_out_name(out, "examples");
                ed_json_out_open(out, '[');
                put_json(field->example, out);
                ed_json_out_close(out, ']');
        }
        if (field->read_only)
                ed_json_out_flag(out, "readOnly", true);
        if (field->write_only)
                ed_json_out_flag(out, "writeOnly", true);
}

void ed_schema_put_field(const struct ed_schemas *schemas, const struct eddy_field *field,
                         bool may_be_null, struct ed_json_out *out)
{
        ed_json_out_open(out, '{');
        if (field->shape == EDDY_SHAPE_MAP)
                put_map(schemas, field, may_be_null, out);
        else if (field->shape != EDDY_SHAPE_ONE)
                put_array(schemas, field, may_be_null, out);
        else
                put_one(schemas, field, may_be_null, out);
        put_notes(field, out);
        ed_json_out_close(out, '}');
}
