/*
 * common/json_pointer.h - finds a value in a JSON text by its JSON Pointer (RFC 6901).
 */
#ifndef ED_CMD_COMMON_JSON_POINTER_H
#define ED_CMD_COMMON_JSON_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "eddy/def.h"
#include "eddy/json.h"

enum { ED_JSON_POINTER_BYTES_MAX = 1024 };

/*
 * Returns true if 'bytes' bytes, at most the maximum, are a JSON Pointer: empty, or "/" before each
 * name or index.
 */
bool ed_json_pointer_is_valid(const char *pointer, size_t bytes);

/*
 * Find the value of a valid pointer. If an object has a name twice, the first one is found.
 *
 * Errors: -ENOENT  the text has no such value
 */
EDDY_MUST_USE int ed_json_pointer_get(const struct eddy_json_value *value, const char *pointer,
                                      size_t bytes, struct eddy_json_value *ret_value);

#endif
