/*
 * h2_raw.c - see h2_raw.h.
 */
#include "h2_raw.h"

#include "test.h"

struct h2_raw h2_raw;

void h2_raw_send_bytes(const void *data, size_t bytes)
{
        if (eddy_stream_write(h2_raw.stream, data, bytes) < 0)
                h2_raw.is_broken = true;
}

void h2_raw_send_frame(int type, int flags, uint32_t id, const void *payload, size_t bytes)
{
        unsigned char frame[9 + 16384] = { (unsigned char) (bytes >> 16),
                                           (unsigned char) (bytes >> 8),
                                           (unsigned char) bytes,
                                           (unsigned char) type,
                                           (unsigned char) flags,
                                           (unsigned char) (id >> 24),
                                           (unsigned char) (id >> 16),
                                           (unsigned char) (id >> 8),
                                           (unsigned char) id };

        CHECK(bytes <= 16384);
        if (bytes > 0)
                memcpy(frame + 9, payload, bytes);
        h2_raw_send_bytes(frame, 9 + bytes);
}

void h2_raw_send_number(int type, uint32_t id, uint32_t number)
{
        unsigned char payload[4] = { (unsigned char) (number >> 24), (unsigned char) (number >> 16),
                                     (unsigned char) (number >> 8), (unsigned char) number };

        h2_raw_send_frame(type, 0, id, payload, 4);
}

size_t h2_raw_put_head(unsigned char *head, const char *path)
{
        size_t n = strlen(path);

        memcpy(head, "\x82\x86\x01\x01h\x04", 6); /* GET, http, ":authority: h", ":path" */
        head[6] = (unsigned char) n;
        memcpy(head + 7, path, n);
        return 7 + n;
}

void h2_raw_send_get(uint32_t id, const char *path, int flags)
{
        unsigned char head[64];
        size_t n = h2_raw_put_head(head, path);

        h2_raw_send_frame(NGHTTP2_HEADERS, flags, id, head, n);
}

static uint32_t number_at(const char *at)
{
        const unsigned char *bytes = (const unsigned char *) at;

        return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 |
               bytes[3];
}

static void note_frame(const char *frame, size_t payload)
{
        switch (frame[3]) {
        case NGHTTP2_GOAWAY:
                h2_raw.goaway = (int) number_at(frame + 13) + 1;
                break;
        case NGHTTP2_RST_STREAM:
                h2_raw.resets++;
                h2_raw.reset = (int) number_at(frame + 9);
                break;
        case NGHTTP2_HEADERS:
                h2_raw.heads++;
                break;
        case NGHTTP2_DATA:
                h2_raw.data += payload;
                break;
        default:
                break;
        }
}

static int read_frames(void *arg)
{
        int64_t n;

        (void) arg;
        while ((n = eddy_stream_read(h2_raw.stream, h2_raw.in + h2_raw.bytes,
                                     sizeof(h2_raw.in) - h2_raw.bytes)) > 0) {
                h2_raw.bytes += (size_t) n;
                for (;;) {
                        size_t payload = h2_raw.bytes < 9 ? 0 : number_at(h2_raw.in) >> 8;

                        if (h2_raw.bytes < 9 + payload)
                                break;
                        note_frame(h2_raw.in, payload);
                        h2_raw.bytes -= 9 + payload;
                        memmove(h2_raw.in, h2_raw.in + 9 + payload, h2_raw.bytes);
                }
        }
        h2_raw.is_over = n != -ECANCELED;
        return n < 0 ? (int) n : 0;
}

void h2_raw_read_for(int64_t ns)
{
        (void) eddy_call_timeout(read_frames, NULL, ns);
}

void h2_raw_check_refused(const struct h2_raw_head *heads, size_t n)
{
        for (uint32_t i = 0; i < n; i++) {
                h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS, 2 * i + 1,
                                  heads[i].text, heads[i].bytes);
                h2_raw_read_for(EDDY_MS(100));
                CHECK_EQ(h2_raw.resets, i + 1);
                CHECK_EQ(h2_raw.reset, NGHTTP2_PROTOCOL_ERROR);
        }
}

void h2_raw_begin(eddy_stream *stream)
{
        memset(&h2_raw, 0, sizeof(h2_raw));
        h2_raw.stream = stream;
        h2_raw_send_bytes(NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
        h2_raw_send_frame(NGHTTP2_SETTINGS, 0, 0, NULL, 0);
        h2_raw_send_frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
}

void h2_raw_end(void)
{
        eddy_stream_close(h2_raw.stream);
}
