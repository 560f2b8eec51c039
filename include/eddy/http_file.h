/*
 * eddy/http_file.h - a file as the body of an HTTP request or response.
 *
 *     struct eddy_http_file_body body;
 *     int err = eddy_http_file_body_init(&body, file, 0, EDDY_HTTP_FILE_REST);
 *
 *     if (err < 0)
 *             return err;
 *     err = eddy_http_client_send(client, &(struct eddy_http_request){
 *                                     .url = url, .body_source = &body.source }, &response);
 *
 * The file is read in pieces while it is sent, at offsets of its own: the file's
 * position is neither used nor changed, and the same file may be the body of several
 * requests at the same time.  Only a regular file has a length; for a pipe use
 * eddy_file_stream().
 */
#ifndef EDDY_HTTP_FILE_H
#define EDDY_HTTP_FILE_H

#include "eddy/def.h"
#include "eddy/file.h"
#include "eddy/http_client.h"
#include "eddy/http_exchange.h"

EDDY_BEGIN_DECLS

/* The length of a body that ends with the file. */
#define EDDY_HTTP_FILE_REST UINT64_MAX

/* A part of a file; give 'source' to a request.  The other fields are eddy's. */
struct eddy_http_file_body {
        struct eddy_http_body_source source;
        eddy_file *file;
        int64_t begin, at, end;
};

/*
 * Make a body of the 'bytes' bytes that begin at 'offset' in 'file'.  A request that is
 * repeated sends them again.  If the file has become shorter when it is sent, the request
 * fails with EDDY_E_HTTP_BODY_LENGTH; bytes that were added are not sent.
 *
 * Suspends: yes.
 * Errors: -EINVAL                  not a regular file, or a negative offset
 *         EDDY_E_HTTP_BODY_LENGTH  the file ends before 'offset' + 'bytes'
 *         those of eddy_file_stat()
 * Owns: borrows 'file' and '*ret_body' until the response is freed.
 */
EDDY_API EDDY_MUST_USE int eddy_http_file_body_init(struct eddy_http_file_body *ret_body,
                                                    eddy_file *file, int64_t offset,
                                                    uint64_t bytes);

/*
 * Send a complete response whose body is a part of a file, as eddy_http_exchange_respond()
 * does.  Needs 64 KiB of memory, whatever the length and the request.
 *
 * If the status is 200, the method is GET or HEAD, and 'headers' have no Content-Range, the
 * response has ETag, Last-Modified and "Accept-Ranges: bytes".  The request's conditions (If-Match,
 * If-Unmodified-Since, If-None-Match, If-Modified-Since, If-Range) and ranges are then evaluated
 * as RFC 9110, 13 and 14 require, and the status can become 206, 304, 412 or 416.  An ETag or
 * Last-Modified in 'headers' replaces that of the file, and "Accept-Ranges: none" in 'headers'
 * turns ranges off.
 *
 * Several ranges are sent as multipart/byteranges.  A request for more than 32 ranges, or for
 * ranges whose total exceeds the part, gets the whole part.  No response is therefore larger than
 * the part and the headers of 32 ranges.
 *
 * The ETag is computed from the file's modification time, size and inode number, so copies of a
 * file on two machines have different tags.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_file_body_init(); no response was begun
 *         those of eddy_http_exchange_begin() and eddy_file_read()
 *         EDDY_E_HTTP_BODY_LENGTH  the file became shorter; return a negative result
 *                                  from the handler, so that the client sees that the
 *                                  body is not whole
 *         -ENOMEM                  no response was begun
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_respond_file(eddy_http_exchange *exchange, int status,
                                                           const struct eddy_http_header *headers,
                                                           size_t headers_count, eddy_file *file,
                                                           int64_t offset, uint64_t bytes);

EDDY_END_DECLS

#endif
