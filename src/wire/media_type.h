/*
 * wire/media_type.h - media types (RFC 9110, 8.3.1): those of files, by the endings of their names,
 * and those of messages.
 */
#ifndef ED_WIRE_MEDIA_TYPE_H
#define ED_WIRE_MEDIA_TYPE_H

#include <stdbool.h>

#include "base/def.h"

/* Returns the media type, with a charset for texts, or "application/octet-stream" if unknown. */
ED_SHARED const char *ed_media_type_of(const char *name);

/*
 * Returns true if the value of a Content-Type has the type, ignoring case and parameters: one type
 * ("text/html"), all types with a suffix ("+json"), or all types of a kind ("text/"). Returns false
 * if the value is NULL, or something other than parameters follows the type.
 */
ED_SHARED bool ed_media_type_is(const char *value, const char *type);

#endif
