/*
 * http_item.h - a struct with a table of fields, which the worlds of HTTP send and read.
 */
#ifndef ED_HTTP_ITEM_H
#define ED_HTTP_ITEM_H

#include <stdint.h>

#include "eddy/fields.h"

struct item {
        uint32_t id;
};

static const struct eddy_field item_list[] = {
        EDDY_FIELD(struct item, id, EDDY_FIELD_REQUIRED),
};
static const struct eddy_fields item_fields = EDDY_FIELDS(struct item, item_list, 0);

#endif
