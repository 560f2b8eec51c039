/*
 * http/h2_fault.c - the faults of a connection of HTTP/2, and the event that wakes its writing task.
 */
#include <errno.h>

#include "eddy/error.h"
#include "http/h2.h"

void ed_h2_fail(struct ed_h2 *h2, uint32_t code)
{
        if (h2->fault == 0)
                h2->fault = code;
        if (h2->waiting)
                eddy_scope_cancel(h2->waiting);
        ed_h2_wake(h2);
}

int ed_h2_error(int64_t result)
{
        switch (result) {
        case NGHTTP2_ERR_NOMEM:
                return -ENOMEM;
        case NGHTTP2_ERR_STREAM_CLOSED:
        case NGHTTP2_ERR_STREAM_CLOSING:
                return -ECONNRESET;
        default:
                return EDDY_E_HTTP_INVALID_RESPONSE;
        }
}

void ed_h2_wake(struct ed_h2 *h2)
{
        (void) eddy_event_set(&h2->wake);
}
