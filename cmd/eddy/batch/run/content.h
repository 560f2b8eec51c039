/*
 * batch/run/content.h - reads the body of an answer, and unpacks gzip and zstd, which some servers
 * and proxies send although the request does not ask for them.
 */
#ifndef ED_CMD_BATCH_RUN_CONTENT_H
#define ED_CMD_BATCH_RUN_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/draft.h"
#include "common/unpack.h"
#include "eddy/def.h"
#include "eddy/http_response.h"

enum { ED_CONTENT_BYTES_MAX = 256 << 20 }; /* unpacked */

struct ed_content {
        eddy_http_response *response;
        bool is_coded; /* it has Content-Encoding; the first bytes decide whether that is true */
        bool at_end;
        struct ed_unpack unpack;
        size_t at, end; /* of the packed bytes in 'in' */
        unsigned char in[8 << 10];
};

/* Borrows the response. */
void ed_content_init(struct ed_content *content, eddy_http_response *response);
void ed_content_fini(struct ed_content *content);

/*
 * Read at least one and at most 'bytes' bytes. Returns 0 at the end. A cancelled call loses no byte.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_response_read()
 *         EDDY_E_HTTP_CODING_INVALID  the packed bytes are damaged
 *         EDDY_E_HTTP_TRUNCATED       they end early
 *         EDDY_E_HTTP_TOO_LARGE, -ENOMEM
 */
EDDY_MUST_USE int64_t ed_content_read(struct ed_content *content, void *buf, size_t bytes);

/* Append the whole of a coded body. Suspends: yes. Errors: as ed_content_read() */
EDDY_MUST_USE int ed_content_read_all(struct ed_content *content, struct ed_draft *body);

#endif
