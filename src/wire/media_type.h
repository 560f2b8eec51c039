/*
 * wire/media_type.h - the media types of files, by the endings of their names.
 */
#ifndef ED_WIRE_MEDIA_TYPE_H
#define ED_WIRE_MEDIA_TYPE_H

#include "base/def.h"

/* Returns the media type, with a charset for texts, or "application/octet-stream" if unknown. */
ED_SHARED const char *ed_media_type_of(const char *name);

#endif
