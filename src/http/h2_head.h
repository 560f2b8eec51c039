/*
 * http/h2_head.h - the fields of a head or of trailers that HTTP/2 has decoded.
 *
 * Fields are limited while they are decoded: a few bytes of a compressed head can be megabytes of
 * fields. After a limit the rest is counted but not kept.
 */
#ifndef ED_HTTP_H2_HEAD_H
#define ED_HTTP_H2_HEAD_H

#include <stdbool.h>

#include "base/buf.h"
#include "eddy/http_header.h"

/* A field counts as its bytes and these (RFC 9113, 6.5.2). */
enum { ED_H2_FIELD_BYTES = 32 };

/* Fields that are found without a search. */
enum ed_h2_known {
        ED_H2_METHOD,
        ED_H2_PATH,
        ED_H2_AUTHORITY,
        ED_H2_STATUS,
        ED_H2_HOST,
        ED_H2_LENGTH, /* Content-Length */
        ED_H2_EXPECT,
        ED_H2_KNOWN
};

struct ed_h2_head {
        struct ed_buf text;   /* "name\0value\0" of each; names that begin with ':' come first */
        struct ed_buf cookie; /* the values of all fields Cookie, joined */
        uint32_t fields_max;
        uint32_t bytes_max;
        uint32_t count; /* of fields that were received, with pseudo-headers and each crumb */
        uint32_t kept;  /* of fields in 'text', without pseudo-headers */
        uint64_t bytes; /* of fields that were received, each with ED_H2_FIELD_BYTES */
        size_t begin;   /* in 'text': the first field that is not a pseudo-header */
        uint32_t known[ED_H2_KNOWN]; /* where in 'text' the first value is; 0: none */
        bool is_too_large;           /* above a limit: fields are missing */
};

/* Initialise an empty head with its limits. Allocates nothing. */
void ed_h2_head_init(struct ed_h2_head *head, uint32_t fields_max, uint32_t bytes_max);

void ed_h2_head_fini(struct ed_h2_head *head);

/* Drop all fields; the limits remain. */
void ed_h2_head_clear(struct ed_h2_head *head);

/*
 * Append a field.
 *
 * Errors: -EMSGSIZE  above a limit; the field is counted only
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_h2_head_add(struct ed_h2_head *head, const void *name, size_t name_bytes,
                                 const void *value, size_t value_bytes);

/* Append a field Host with the value of ':authority', which there is.  Errors: -ENOMEM. */
EDDY_MUST_USE int ed_h2_head_put_host(struct ed_h2_head *head);

/* The head is complete: append the field Cookie if there was one.  Errors: -ENOMEM. */
EDDY_MUST_USE int ed_h2_head_end(struct ed_h2_head *head);

/* Returns the first value of such a field, or NULL. */
static inline const char *ed_h2_head_known(const struct ed_h2_head *head, enum ed_h2_known which)
{
        return head->known[which] ? ed_buf_data(&head->text) + head->known[which] : NULL;
}

/* Returns the value of the first field with this name (case-insensitive), or NULL. */
const char *ed_h2_head_field(const struct ed_h2_head *head, const char *name);

/* Stores field number 'i', without pseudo-headers. Returns 0 or -ENOENT. */
int ed_h2_head_at(const struct ed_h2_head *head, size_t i, struct eddy_http_header *ret_header);

/* Returns the memory that the head has, in bytes. */
static inline size_t ed_h2_head_room(const struct ed_h2_head *head)
{
        return head->text.room + head->cookie.room;
}

#endif
