/*
 * batch/request/template_parts.h - what a template consists of, for those that read and fill it.
 */
#ifndef ED_CMD_BATCH_REQUEST_TEMPLATE_PARTS_H
#define ED_CMD_BATCH_REQUEST_TEMPLATE_PARTS_H

#include <stddef.h>

#include "batch/request/template.h"

enum ed_place_kind {
        ED_PLACE_WHOLE,  /* of JSON: replaces a string, with its quotes */
        ED_PLACE_JSON,   /* the same, with the field's text as JSON */
        ED_PLACE_INSIDE, /* within a string */
        ED_PLACE_PATH,   /* of a URL */
        ED_PLACE_QUERY,
        ED_PLACE_HEADER,
};

enum ed_template_kind { ED_TEMPLATE_JSON, ED_TEMPLATE_URL, ED_TEMPLATE_HEADER };

/* A place of the template: from 'start' to 'end', replaced by the field 'name'. */
struct ed_place {
        size_t start, end;
        const char *name;
        enum ed_place_kind kind;
};

struct ed_template {
        enum ed_template_kind kind;
        size_t bytes;
        size_t places_count;
        struct ed_place places[ED_TEMPLATE_FIELDS_MAX];
        char *names; /* after the text; room for 'bytes' */
        size_t names_bytes;
        char text[];
};

/* Returns the name of a template in messages, such as "the URL". */
const char *ed_template_what(const struct ed_template *template);

#endif
