/*
 * batch/answer/schema.h - checks a JSON value by a schema with these keywords of JSON Schema: type,
 * properties, required, items, additionalProperties (true or false), enum, const, minimum, maximum,
 * minLength, maxLength, minItems, maxItems. Titles, descriptions and other notes have no effect.
 * All other keywords are refused, because a schema that is partly ignored would accept wrong
 * answers. No I/O.
 */
#ifndef ED_CMD_BATCH_ANSWER_SCHEMA_H
#define ED_CMD_BATCH_ANSWER_SCHEMA_H

#include <stddef.h>

#include "eddy/def.h"
#include "eddy/json.h"

enum { ED_SCHEMA_ERROR_BYTES = 200 };

struct ed_schema;

/*
 * Read a schema. Copies 'text'. On -EINVAL, 'error' is a sentence about the fault.
 *
 * Errors: -EINVAL, -ENOMEM
 * Owns: returns (owned) '*ret_schema'
 */
EDDY_MUST_USE int ed_schema_new(const char *text, size_t bytes, struct ed_schema **ret_schema,
                                char error[ED_SCHEMA_ERROR_BYTES]);
void ed_schema_free(struct ed_schema *schema);

/*
 * Check a value. Returns 1 if the schema accepts it; otherwise 0, and 'fault' is the keyword that does
 * not, such as "minimum of /items/age". Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_schema_check(const struct ed_schema *schema,
                                  const struct eddy_json_value *value,
                                  char fault[ED_SCHEMA_ERROR_BYTES]);

#endif
