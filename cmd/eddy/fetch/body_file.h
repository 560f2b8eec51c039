/*
 * fetch/body_file.h - the file of a body, over all attempts: if an attempt is cut, the next one asks
 * for the rest (eddy/http_range.h), and also the next run (fetch/part.h).
 */
#ifndef ED_CMD_FETCH_BODY_FILE_H
#define ED_CMD_FETCH_BODY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/headers.h"
#include "eddy/http_range.h"
#include "eddy/http_response.h"
#include "fetch/save.h"

struct ed_body_file {
        struct ed_save *save;
        const char *url;
        uint64_t index;
        struct ed_save_dir_file file;
        struct eddy_http_range range;
        uint64_t bytes; /* in the file */
        uint64_t first; /* that the request has asked for; 0: the whole body */
        uint64_t
                left; /* bytes of the response that may still come; EDDY_HTTP_RANGE_UNKNOWN: any number */
        bool is_continued;  /* requests for the rest may be made */
        bool is_refused;    /* the server did not continue the body as it should */
        bool is_looked_for; /* what an earlier run has left */
        bool is_noted;      /* the note was tried to write */
};

/* Borrows the URL. */
void ed_body_file_init(struct ed_body_file *body, struct ed_save *save, const char *url,
                       uint64_t index, bool is_continued);

/* The headers of the next request. */
struct ed_body_file_request {
        const struct eddy_http_header *headers;
        size_t count;
        void *own; /* to be freed with eddy_free(), after the request */
};

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_body_file_request(struct ed_body_file *body, const struct ed_headers *headers,
                                       struct ed_body_file_request *ret_request);

/*
 * The head of a response has arrived. Open the file for its body, unless it is a failure; after a
 * failure, the file stays as it is. Returns 0, or EAGAIN if the response does not continue the file,
 * which was dropped: send the request again, for the whole body.
 *
 * Errors: those of ed_save_file_begin(); EDDY_E_HTTP_INVALID_RESPONSE  a part without a request for it
 */
EDDY_MUST_USE int ed_body_file_begin(struct ed_body_file *body, const eddy_http_response *response,
                                     int status);

/* Append bytes of the body. Returns 0, or EAGAIN as above. Errors: those of ed_save_file_write() */
EDDY_MUST_USE int ed_body_file_write(struct ed_body_file *body, const void *data, size_t bytes);

/* The end of a response was received. Errors: EDDY_E_HTTP_TRUNCATED  it is not the end of the body */
EDDY_MUST_USE int ed_body_file_end(const struct ed_body_file *body);

/* Close the file until the next attempt. If the body cannot be continued, drop the file. */
void ed_body_file_pause(struct ed_body_file *body);

#endif
