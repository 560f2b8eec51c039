/*
 * fuzz_websocket.c - any bytes as the frames of a WebSocket.
 *
 * A head that is cut is not judged differently from the whole head; a valid head is written as it was
 * read; text that is cut anywhere is judged as the whole text; a mask twice is nothing. The first byte
 * chooses the side.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "wire/utf8_check.h"
#include "wire/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

/* Read the head, and each of its parts. */
static int read_head(const uint8_t *data, size_t bytes, bool by_server, uint8_t opcode,
                     struct ed_websocket_head *ret_head)
{
        const char *why = NULL;
        int n = ed_websocket_head_read(data, bytes, by_server, opcode, ret_head, &why);
        size_t most = n > 0                           ? (size_t) n
                      : bytes < ED_WEBSOCKET_HEAD_MAX ? bytes
                                                      : ED_WEBSOCKET_HEAD_MAX;
        bool is_refused = false;

        require(n < 0 ? n == EDDY_E_WEBSOCKET_PROTOCOL && why : (size_t) n <= bytes);
        for (size_t cut = 0; cut < most; cut++) {
                struct ed_websocket_head head;
                int part = ed_websocket_head_read(data, cut, by_server, opcode, &head, &why);

                require(part == 0 || (n < 0 && part == n));
                require(!is_refused || part < 0);
                is_refused = part < 0;
        }
        return n;
}

static void check_written(const struct ed_websocket_head *head, const uint8_t *data, size_t n)
{
        unsigned char out[ED_WEBSOCKET_HEAD_MAX];

        require(ed_websocket_head_write(head, out) == n && memcmp(out, data, n) == 0);
}

static void check_text(const uint8_t *text, size_t bytes)
{
        int64_t whole = ed_utf8_check(text, bytes);
        size_t done = 0;

        for (size_t n = 0; n <= bytes; n++) {
                int64_t more = ed_utf8_check(text + done, n - done);

                if (more < 0) {
                        require(whole < 0);
                        return;
                }
                done += (size_t) more;
        }
        require(whole == (int64_t) done);
}

static void check_mask(const uint8_t *data, size_t bytes, const unsigned char mask[4])
{
        unsigned char *masked = malloc(bytes + 1);

        require(masked != NULL);
        ed_websocket_mask(masked, data, bytes, mask, 0);
        for (size_t i = 0; i < bytes; i++)
                require(masked[i] == (data[i] ^ mask[i % 4]));
        ed_websocket_mask(masked, masked, bytes / 3, mask, 0);
        ed_websocket_mask(masked + bytes / 3, masked + bytes / 3, bytes - bytes / 3, mask,
                          bytes / 3);
        require(memcmp(masked, data, bytes) == 0);
        free(masked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        bool by_server = bytes > 0 && data[0] & 1;
        struct ed_websocket_head head;
        uint8_t opcode = 0;
        size_t at = 1;

        while (at < bytes) {
                int n = read_head(data + at, bytes - at, by_server, opcode, &head);
                size_t payload;
                const char *why;
                unsigned code = 0;

                if (n <= 0)
                        break;
                check_written(&head, data + at, (size_t) n);
                at += (size_t) n;
                payload = head.bytes < bytes - at ? (size_t) head.bytes : bytes - at;
                check_mask(data + at, payload, head.mask);
                check_text(data + at, payload);
                if (head.opcode == ED_WEBSOCKET_CLOSE && payload == head.bytes &&
                    ed_websocket_close_read(data + at, payload, &code, &why) == 0)
                        require(code == 1005 || ed_websocket_code_is_valid(code));
                if (!ed_websocket_is_control(head.opcode))
                        opcode = head.is_last ? 0 : opcode ? opcode : head.opcode;
                at += payload;
        }
        return 0;
}
