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

/* Both texts of a code: "client" is this side. */
#define RESET(code)                                                                                \
        [NGHTTP2_##code] = { "the client reset the request: " #code,                               \
                             "the server reset the request: " #code }

const char *ed_h2_reset_text(uint32_t code, bool by_peer)
{
        static const char *const texts[][2] = {
                RESET(NO_ERROR),
                RESET(PROTOCOL_ERROR),
                RESET(INTERNAL_ERROR),
                RESET(FLOW_CONTROL_ERROR),
                RESET(SETTINGS_TIMEOUT),
                RESET(STREAM_CLOSED),
                RESET(FRAME_SIZE_ERROR),
                RESET(REFUSED_STREAM),
                RESET(CANCEL),
                RESET(COMPRESSION_ERROR),
                RESET(CONNECT_ERROR),
                RESET(ENHANCE_YOUR_CALM),
                RESET(INADEQUATE_SECURITY),
                RESET(HTTP_1_1_REQUIRED),
        };

        if (code >= sizeof(texts) / sizeof(texts[0]))
                return by_peer ? "the server reset the request" : "the client reset the request";
        return texts[code][by_peer];
}

void ed_h2_wake(struct ed_h2 *h2)
{
        (void) eddy_event_set(&h2->wake);
}
