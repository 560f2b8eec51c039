/*
 * batch/request/sent.h - how a request is sent: the URL after a base URL, and the headers of the line,
 * of the command and of the program.
 */
#ifndef ED_CMD_BATCH_REQUEST_SENT_H
#define ED_CMD_BATCH_REQUEST_SENT_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/request/request.h"
#include "common/headers.h"
#include "eddy/http_response.h"

/* The headers that ed_sent_fill() adds of its own: Content-Type, and that of a vendor. */
enum { ED_SENT_OWN = 2 };

/* Headers in room of the caller, who borrows their texts. */
struct ed_sent {
        struct eddy_http_header *headers;
        size_t count;
};

/* Returns the bytes of a base URL that come before a path. */
size_t ed_sent_base_bytes(const char *base, const char *path);

bool ed_sent_has(const struct ed_sent *sent, const char *name);

/* Add a header unless it is there. */
void ed_sent_default(struct ed_sent *sent, const char *name, const char *value);

/*
 * Add the headers of the line, those of -H that the line does not have, and those of the program. There
 * must be room for all and ED_SENT_OWN. 'type' is the Content-Type of a form.
 */
void ed_sent_fill(struct ed_sent *sent, const struct ed_request *request,
                  const struct ed_headers *headers, const char *type);

#endif
