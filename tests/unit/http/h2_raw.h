/*
 * h2_raw.h - a client of HTTP/2 that sends any frames, valid or not.
 */
#ifndef ED_H2_RAW_H
#define ED_H2_RAW_H

#include <nghttp2/nghttp2.h>

#include "eddy/eddy.h"

struct h2_raw {
        eddy_stream *stream;
        char in[1 << 16];
        size_t bytes;
        int goaway;     /* its code and 1; 0: none came */
        int resets;     /* frames RST_STREAM of the server */
        int reset;      /* the code of the last */
        int heads;      /* frames HEADERS */
        uint64_t data;  /* bytes of DATA */
        bool is_over;   /* the server has ended the connection */
        bool is_broken; /* a write has failed */
};

/* The only one. */
extern struct h2_raw h2_raw;

enum { H2_END_STREAM = 1, H2_END_HEADERS = 4 };

/* Send the preface, settings, and the answer to those of the server. */
void h2_raw_begin(eddy_stream *stream);
void h2_raw_end(void);

void h2_raw_send_bytes(const void *data, size_t bytes);
void h2_raw_send_frame(int type, int flags, uint32_t id, const void *payload, size_t bytes);

/* A frame whose payload is a number of 32 bits. */
void h2_raw_send_number(int type, uint32_t id, uint32_t number);

/* GET of a path, which needs no table of HPACK. Returns the bytes of the head. */
size_t h2_raw_put_head(unsigned char *head, const char *path);
void h2_raw_send_get(uint32_t id, const char *path, int flags);

/* Read what the server sends for a time, or until the end. */
void h2_raw_read_for(int64_t ns);

/* The bytes of a head. */
struct h2_raw_head {
        const char *text;
        size_t bytes;
};
#define H2_RAW_HEAD(text)                                                                          \
        {                                                                                          \
                (text), sizeof(text) - 1                                                           \
        }

/* Send each head as a request, on the streams 1, 3 and so on: each must be reset as malformed. */
void h2_raw_check_refused(const struct h2_raw_head *heads, size_t n);

#endif
