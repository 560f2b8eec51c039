/*
 * http/h2_fields.h - the list of fields that a message of HTTP/2 is sent with.
 *
 *     err = ed_h2_fields_begin(h2);
 *     ed_h2_fields_add(h2, ":status", 7, "200", 3, 0), ...
 *     ed_h2_stream_respond(stream, ...);
 *
 * The connection has one list, which no call keeps. Names are sent in lower case. Fields that belong to
 * a connection of HTTP/1 are left out (RFC 9113, 8.2.2).
 */
#ifndef ED_HTTP_H2_FIELDS_H
#define ED_HTTP_H2_FIELDS_H

#include "http/h2.h"

enum { ED_H2_SECRET = 1 << 0 }; /* the field is not kept in a table of HPACK */

struct ed_h2_fields {
        struct ed_h2 *h2;
        size_t n;
        int err; /* 0, or -ENOMEM: the list is not complete */
};

void ed_h2_fields_begin(struct ed_h2_fields *fields, struct ed_h2 *h2);

/* Append a field, whose name and value are borrowed until the message is queued. */
void ed_h2_fields_add(struct ed_h2_fields *fields, const char *name, size_t name_bytes,
                      const char *value, size_t value_bytes, unsigned flags);

/*
 * Append a field whose name is in lower case and lives as long as the program; it is not of a connection
 * of HTTP/1. The value is borrowed, and has no white space around it.
 */
void ed_h2_fields_put(struct ed_h2_fields *fields, const char *name, size_t name_bytes,
                      const char *value, size_t value_bytes);

/*
 * End the list: it is in h2->fields.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_h2_fields_end(struct ed_h2_fields *fields);

/* Returns true if a field belongs to a connection of HTTP/1: it is never sent by HTTP/2. */
bool ed_h2_is_of_connection(const char *name, size_t bytes);

#endif
