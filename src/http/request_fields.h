/*
 * http/request_fields.h - a request's method, target and headers: checked, with the default ones,
 * and not yet written in the way of a protocol. The caller may add more before it is sent.
 */
#ifndef ED_HTTP_REQUEST_FIELDS_H
#define ED_HTTP_REQUEST_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/http_client.h"
#include "wire/url.h"

enum {
        ED_HTTP_REQUEST_HEAD_MAX = 256 << 10, /* bytes of a request's head, as text of HTTP/1 */
        ED_HTTP_NUMBER_ROOM = 20,             /* digits of 64 bits */
};

/* Neither text needs a NUL. The value has no white space around it. */
struct ed_http_field {
        const char *name;
        const char *value;
        size_t name_bytes;
        size_t value_bytes;
        char *memory; /* owned: holds the value, or both; NULL: borrowed */
        size_t memory_bytes;
};

/* All zero: empty. Borrows the request and what the request borrows, from set() until clear(). */
struct ed_http_request_fields {
        struct ed_url url; /* the caller fills it before set() */
        const char *method;
        size_t method_bytes;
        bool to_proxy;     /* the target is absolute */
        bool chunked;      /* the body's length is unknown */
        bool closing;      /* the connection is closed after the answer */
        bool upgrading;    /* the server may answer 101 */
        bool refused;      /* a part is not valid */
        bool has_host;     /* the caller gave Host; otherwise it is the URL's and not in the list */
        size_t host_at;    /* its place in the list */
        int64_t expect_ns; /* time to wait for "100 Continue" before the body; 0: not expected */
        size_t expect_at;  /* place of Expect in the list, if so */
        bool expects;      /* set() put Expect in the list; it may have been removed since */
        struct ed_http_field *list; /* owned */
        size_t count;
        size_t added; /* of these, at the end, were added after set() */
        size_t room;
        size_t bytes; /* of the head, as text of HTTP/1, or some more */
        char length[ED_HTTP_NUMBER_ROOM];
};

/*
 * Check a request to the URL that 'fields' has, and fill 'fields', which must be empty. clear() is
 * due after an error too.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST, EDDY_E_URL_CREDENTIALS, -ENOMEM
 */
EDDY_MUST_USE int ed_http_request_fields_set(struct ed_http_request_fields *fields,
                                             const eddy_http_client *client,
                                             const struct eddy_http_request *request);

/* Returns true if the text is the number of bytes of a body. */
bool ed_http_request_is_length(const char *value, uint64_t bytes);

/* Returns true if a header with the value NULL removes one that the client would add. */
bool ed_http_request_can_remove(const eddy_http_client *client, const char *name);

/* Returns true if the host of the caller's header is not that of the URL: a proxy gets both. */
bool ed_http_request_hosts_differ(const struct ed_http_request_fields *fields);

/*
 * Add a copy of a header, which must be valid. An Expect of "100-continue" beside the one of set()
 * adds nothing.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST  the head would be too large, or Expect is another one
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_http_request_fields_add(struct ed_http_request_fields *fields,
                                             const char *name, const char *value);

/* Remove the headers that were added after set(). */
void ed_http_request_fields_drop_added(struct ed_http_request_fields *fields);

/* Remove Expect; the body is then sent without a wait. */
void ed_http_request_fields_drop_expect(struct ed_http_request_fields *fields);

/* Remove all, and keep some memory for the next request. */
void ed_http_request_fields_clear(struct ed_http_request_fields *fields);

void ed_http_request_fields_fini(struct ed_http_request_fields *fields);

#endif
