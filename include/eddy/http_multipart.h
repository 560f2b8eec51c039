/*
 * eddy/http_multipart.h - forms with files: a body of type multipart/form-data (RFC 7578).
 *
 *     const struct eddy_http_part parts[] = {
 *             { .name = "model", .data = "small", .data_bytes = 5 },
 *             { .name = "file", .path = "speech.mp3", .type = "audio/mpeg" },
 *     };
 *     const struct eddy_http_multipart form = { .parts = parts, .parts_count = 2 };
 *
 *     err = eddy_http_client_send(client, &(struct eddy_http_request){ .url = url, .multipart = &form },
 *                                 &response);
 *
 * Files are read while the body is sent, and only one file is open at a time.  Names are
 * written as browsers do: UTF-8, with %22, %0D and %0A for a quote, a CR and an LF.  The boundary has
 * 122 random bits, so no part contains it.  A server reads such a body with
 * eddy/http_multipart_reader.h.
 */
#ifndef EDDY_HTTP_MULTIPART_H
#define EDDY_HTTP_MULTIPART_H

#include "eddy/def.h"
#include "eddy/http_header.h"
#include "eddy/http_request.h"

EDDY_BEGIN_DECLS

/*
 * A part of a form.  Its contents are 'data', a file, or a source; at most one of these is
 * set, and none is an empty part.
 */
struct eddy_http_part {
        const char *name EDDY_UNSET; /* of the form's field; not NULL */
        /* NULL: the last component of 'path'; without 'path' none, so the part is not a file */
        const char *filename EDDY_UNSET;
        /* Content-Type; NULL: application/octet-stream if the part has a file name, else none */
        const char *type EDDY_UNSET;
        /* further headers; not Content-Disposition, -Type, -Length or -Transfer-Encoding */
        const struct eddy_http_header *headers EDDY_UNSET;
        size_t headers_count EDDY_UNSET;
        const void *data EDDY_UNSET;
        size_t data_bytes EDDY_UNSET;
        const char *path EDDY_UNSET; /* of a regular file */
        /* if its length is not known, that of the body is not known */
        const struct eddy_http_body_source *source EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

struct eddy_http_multipart {
        const struct eddy_http_part *parts EDDY_UNSET; /* sent in this order */
        size_t parts_count EDDY_UNSET;
        uintptr_t reserved[2] EDDY_UNSET; /* zero */
};

/* A form as a body.  eddy_http_client_send() makes it from the request's 'multipart'. */
typedef struct eddy_http_multipart_body eddy_http_multipart_body;

/*
 * Check a form, and look up the sizes of its files.  'ret_fault', which may be NULL, gets the
 * part and the reason in 'text' on failure.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_INVALID_REQUEST  a part has no name, a text that cannot be sent, two kinds of
 *                                      contents, or a path that is not a regular file
 *         EDDY_E_HTTP_TOO_LARGE        the names and headers have more than 64 MiB in all
 *         those of eddy_path_stat(); -ENOMEM, -ECANCELED
 *         -EINVAL                      'multipart', its 'parts' or 'ret_body' is NULL
 * Owns: borrows the form and what it refers to until the body is closed; returns (owned) '*ret_body',
 *       to be closed by eddy_http_multipart_close().
 */
EDDY_API EDDY_MUST_USE int eddy_http_multipart_open(const struct eddy_http_multipart *multipart,
                                                    struct eddy_http_fault *ret_fault,
                                                    eddy_http_multipart_body **ret_body);

/*
 * Return the value of Content-Type for the body; the body as the source of a request, with its exact
 * length if the lengths of all parts are known; and the part and the reason of the error that
 * its last read returned, or "" if there was none.  The source can be rewound if the sources of all
 * parts can be.  A file that has become shorter is EDDY_E_HTTP_BODY_LENGTH; bytes that were added to
 * a file are not sent.  A source is read by one task at a time.
 *
 * Suspends: no.
 * Owns: valid until the body is closed.
 */
EDDY_API const char *eddy_http_multipart_type(const eddy_http_multipart_body *body);
EDDY_API const struct eddy_http_body_source *eddy_http_multipart_source(
        const eddy_http_multipart_body *body);
EDDY_API const char *eddy_http_multipart_fault(const eddy_http_multipart_body *body);

/* Free the body, and close its file.  No task may read the body.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_http_multipart_close(eddy_http_multipart_body *body);

static inline void eddy_http_multipart_body_auto_release(eddy_http_multipart_body **body)
{
        eddy_http_multipart_close(*body);
}

EDDY_END_DECLS

#endif
