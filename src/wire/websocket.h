/*
 * wire/websocket.h - frames of WebSocket (RFC 6455): bytes in, heads out; no I/O, no memory.
 *
 * A frame is a head of 2 to 14 bytes and its payload. A client masks each payload with four random
 * bytes, a server does not.
 */
#ifndef ED_WIRE_WEBSOCKET_H
#define ED_WIRE_WEBSOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"

enum ed_websocket_opcode {
        ED_WEBSOCKET_CONTINUATION = 0,
        ED_WEBSOCKET_TEXT = 1,
        ED_WEBSOCKET_BINARY = 2,
        ED_WEBSOCKET_CLOSE = 8,
        ED_WEBSOCKET_PING = 9,
        ED_WEBSOCKET_PONG = 10,
};

enum {
        ED_WEBSOCKET_HEAD_MAX = 14,
        ED_WEBSOCKET_MASK_BYTES = 4,
        ED_WEBSOCKET_CONTROL_MAX = 125, /* bytes of a control frame's payload */
        ED_WEBSOCKET_REASON_MAX = ED_WEBSOCKET_CONTROL_MAX - 2,
};

struct ed_websocket_head {
        uint64_t bytes; /* of the payload */
        uint8_t opcode;
        bool is_last; /* of its message */
        bool is_masked;
        unsigned char mask[ED_WEBSOCKET_MASK_BYTES]; /* zero if the frame is not masked */
};

static inline bool ed_websocket_is_control(uint8_t opcode)
{
        return opcode & 8;
}

/*
 * Read the head at 'data'. 'by_server' is the side that reads: a server requires a mask, a client
 * allows none. 'opcode' is that of the message whose earlier frames were read, or 0 between messages.
 * Returns the head's length, or 0 if more bytes are needed; a head that is wrong is refused at its
 * first wrong byte.
 *
 * Errors: EDDY_E_WEBSOCKET_PROTOCOL, with the rule in '*ret_why'
 */
EDDY_MUST_USE ED_SHARED int ed_websocket_head_read(const void *data, size_t bytes, bool by_server,
                                                   uint8_t opcode,
                                                   struct ed_websocket_head *ret_head,
                                                   const char **ret_why);

/* Write a head in its shortest form. Returns its length. */
ED_SHARED size_t ed_websocket_head_write(const struct ed_websocket_head *head,
                                         unsigned char out[ED_WEBSOCKET_HEAD_MAX]);

/*
 * Mask or unmask bytes of a payload from its byte number 'at' on. 'out' may be 'data', and does not
 * overlap it otherwise.
 */
ED_SHARED void ed_websocket_mask(void *out, const void *data, size_t bytes,
                                 const unsigned char mask[ED_WEBSOCKET_MASK_BYTES], uint64_t at);

/* Returns whether a frame may carry the code (RFC 6455, 7.4; the registry of IANA). */
ED_SHARED bool ed_websocket_code_is_valid(unsigned code);

/*
 * Read the payload of a close. '*ret_code' is 1005 if there is none; the reason is in 'data', from the
 * third byte on.
 *
 * Errors: EDDY_E_WEBSOCKET_PROTOCOL  one byte, or a code that is not valid
 *         EDDY_E_WEBSOCKET_UTF8      the reason is not UTF-8
 */
EDDY_MUST_USE ED_SHARED int ed_websocket_close_read(const void *data, size_t bytes,
                                                    unsigned *ret_code, const char **ret_why);

#endif
