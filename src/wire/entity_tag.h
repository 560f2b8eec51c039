/*
 * wire/entity_tag.h - lists of entity tags in If-Match and If-None-Match (RFC 9110, 8.8.3, 13.1).
 */
#ifndef ED_WIRE_ENTITY_TAG_H
#define ED_WIRE_ENTITY_TAG_H

#include <stdbool.h>

#include "base/def.h"

/*
 * Returns true if the list has the tag, such as "\"a\"" or "W/\"a\"", or is "*". A strong
 * comparison never matches a weak tag (RFC 9110, 8.8.3.2). A list is read up to the first syntax
 * error.
 */
ED_SHARED bool ed_entity_tags_have(const char *list, const char *tag, bool is_strong);

/* Returns true if the text is one valid entity tag. */
ED_SHARED bool ed_entity_tag_is_valid(const char *tag);

#endif
