/*
 * wire/query.h - queries by tables of fields: what the reader and the writer share.
 */
#ifndef ED_WIRE_QUERY_H
#define ED_WIRE_QUERY_H

#include "base/def.h"
#include "eddy/query.h"

/* Check that the table is usable, and has only fields that a query can hold. */
EDDY_MUST_USE int ed_query_table_check(const struct eddy_fields *fields,
                                       struct eddy_json_error *ret_error);

#endif
