/*
 * wire/websocket_head.c - heads of frames, and the payload of a close; see websocket.h.
 */
#include <string.h>

#include "eddy/error.h"
#include "wire/utf8_check.h"
#include "wire/websocket.h"

enum {
        LAST = 0x80,
        RESERVED = 0x70,
        OPCODE = 0x0f,
        MASKED = 0x80,
        LENGTH = 0x7f,
        LENGTH_2 = 126, /* the length is in the next two bytes */
        LENGTH_8 = 127,
};

/* The rules of the first byte. Returns NULL, or the rule that it violates. */
static const char *check_first(const struct ed_websocket_head *head, uint8_t reserved,
                               uint8_t opcode)
{
        if (reserved)
                return "a reserved bit is set";
        switch (head->opcode) {
        case ED_WEBSOCKET_CONTINUATION:
                return opcode ? NULL : "a continuation without a message";
        case ED_WEBSOCKET_TEXT:
        case ED_WEBSOCKET_BINARY:
                return opcode ? "a message inside another" : NULL;
        case ED_WEBSOCKET_CLOSE:
        case ED_WEBSOCKET_PING:
        case ED_WEBSOCKET_PONG:
                return head->is_last ? NULL : "a control frame in fragments";
        default:
                return "an unknown opcode";
        }
}

/* The rules of the second byte. */
static const char *check_second(const struct ed_websocket_head *head, uint8_t length,
                                bool by_server)
{
        if (head->is_masked != by_server)
                return by_server ? "a client's frame without a mask"
                                 : "a server's frame with a mask";
        if (ed_websocket_is_control(head->opcode) && length > ED_WEBSOCKET_CONTROL_MAX)
                return "a control frame of more than 125 bytes";
        return NULL;
}

static uint64_t number_at(const unsigned char *at, size_t bytes)
{
        uint64_t number = 0;

        for (size_t i = 0; i < bytes; i++)
                number = number << 8 | at[i];
        return number;
}

/* Returns the length's bytes after the second byte. */
static size_t more_bytes(uint8_t length)
{
        return length == LENGTH_8 ? 8 : length == LENGTH_2 ? 2 : 0;
}

static const char *check_length(uint64_t bytes, uint8_t length)
{
        if (bytes > INT64_MAX)
                return "a length above 2^63-1";
        if ((length == LENGTH_8 && bytes <= UINT16_MAX) || (length == LENGTH_2 && bytes < LENGTH_2))
                return "a length that is not in its shortest form";
        return NULL;
}

static int refuse(const char *why, const char **ret_why)
{
        *ret_why = why;
        return EDDY_E_WEBSOCKET_PROTOCOL;
}

int ed_websocket_head_read(const void *data, size_t bytes, bool by_server, uint8_t opcode,
                           struct ed_websocket_head *ret_head, const char **ret_why)
{
        const unsigned char *at = data;
        struct ed_websocket_head head = { .bytes = 0 };
        size_t more, mask_bytes;
        const char *why;
        uint8_t length;

        if (bytes < 1)
                return 0;
        head.opcode = at[0] & OPCODE;
        head.is_last = at[0] & LAST;
        why = check_first(&head, at[0] & RESERVED, opcode);
        if (why)
                return refuse(why, ret_why);
        if (bytes < 2)
                return 0;
        length = at[1] & LENGTH;
        head.is_masked = at[1] & MASKED;
        why = check_second(&head, length, by_server);
        if (why)
                return refuse(why, ret_why);
        more = more_bytes(length);
        if (length == LENGTH_8 && bytes > 2 && at[2] & 0x80)
                return refuse(check_length(UINT64_MAX, length), ret_why);
        if (bytes < 2 + more)
                return 0;
        head.bytes = more > 0 ? number_at(at + 2, more) : length;
        why = check_length(head.bytes, length);
        if (why)
                return refuse(why, ret_why);
        mask_bytes = head.is_masked ? ED_WEBSOCKET_MASK_BYTES : 0;
        if (bytes < 2 + more + mask_bytes)
                return 0;
        memcpy(head.mask, at + 2 + more, mask_bytes);
        *ret_head = head;
        return (int) (2 + more + mask_bytes);
}

size_t ed_websocket_head_write(const struct ed_websocket_head *head,
                               unsigned char out[ED_WEBSOCKET_HEAD_MAX])
{
        uint8_t length = head->bytes < LENGTH_2      ? (uint8_t) head->bytes
                         : head->bytes <= UINT16_MAX ? LENGTH_2
                                                     : LENGTH_8;
        size_t more = more_bytes(length), n = 2 + more;

        out[0] = (unsigned char) ((head->is_last ? LAST : 0) | head->opcode);
        out[1] = (unsigned char) ((head->is_masked ? MASKED : 0) | length);
        for (size_t i = 0; i < more; i++)
                out[2 + i] = (unsigned char) (head->bytes >> 8 * (more - 1 - i));
        if (!head->is_masked)
                return n;
        memcpy(out + n, head->mask, ED_WEBSOCKET_MASK_BYTES);
        return n + ED_WEBSOCKET_MASK_BYTES;
}

bool ed_websocket_code_is_valid(unsigned code)
{
        /* 1004 has no meaning; 1005, 1006 and 1015 are never sent. */
        if (code < 3000)
                return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
        return code <= 4999;
}

int ed_websocket_close_read(const void *data, size_t bytes, unsigned *ret_code,
                            const char **ret_why)
{
        const unsigned char *at = data;
        unsigned code;

        if (bytes == 0) {
                *ret_code = 1005;
                return 0;
        }
        if (bytes == 1)
                return refuse("a close of one byte", ret_why);
        code = (unsigned) number_at(at, 2);
        if (!ed_websocket_code_is_valid(code))
                return refuse("a code of a close that is not valid", ret_why);
        if (ed_utf8_check(at + 2, bytes - 2) != (int64_t) bytes - 2) {
                *ret_why = "a reason that is not UTF-8";
                return EDDY_E_WEBSOCKET_UTF8;
        }
        *ret_code = code;
        return 0;
}
