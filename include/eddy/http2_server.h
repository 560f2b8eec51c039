/*
 * eddy/http2_server.h - the limits of a server's connections by HTTP/2, and their counters.  Servers
 * speak HTTP/2 by default (eddy/http_server.h), and most need none of these options.
 *
 *     static struct eddy_http2_server_stats stats;
 *     const struct eddy_http2_server_opts http2 = { .streams_max = 64, .stats = &stats };
 *     const struct eddy_http_server_opts opts = { .http2 = &http2 };
 *
 *     eddy_http_serve(listener, &opts, handler, NULL);
 */
#ifndef EDDY_HTTP2_SERVER_H
#define EDDY_HTTP2_SERVER_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/*
 * Counters of a server's connections by HTTP/2.  Each member that ends in "_ends" counts
 * connections that the server has ended for the reason in the table of struct eddy_http2_server_opts.
 *
 * Threads: any. Servers may share the counters, on several threads too, as with eddy_http_run().
 *          While one of them runs, read a member with __atomic_load_n().
 */
struct eddy_http2_server_stats {
        uint64_t connections; /* begun */
        uint64_t open;        /* now */
        uint64_t streams;     /* requests begun */
        uint64_t refused;     /* requests that were not begun: too many at once, or no memory */
        uint64_t resets;    /* requests that the client has reset, or whose connection has ended */
        uint64_t malformed; /* requests that are not valid */
        uint64_t slow;      /* responses that ended because the client took them too slowly */
        uint64_t resets_ends, faults_ends, settings_ends, pings_ends, others_ends, empty_ends,
                updates_ends, continuations_ends, head_ends;
        uint64_t late_ends;   /* a head or a frame took longer than 'head_timeout_ns' */
        uint64_t faulty_ends; /* the client has broken the rules of the protocol */
        uint64_t reserved[8];
};

/*
 * The limits of a connection by HTTP/2, in addition to those of struct eddy_http_server_opts.  Frames
 * that cost a client nothing are limited by buckets.  The option is the size of the bucket: each frame
 * takes one, and an empty bucket is full again after 30 seconds.  A frame that finds the bucket empty
 * ends the connection with GOAWAY (ENHANCE_YOUR_CALM).  UINT32_MAX means no limit.
 *
 *     streams at once          streams_max        until the client has acknowledged the limit
 *                                                 RST_STREAM (REFUSED_STREAM): the client may repeat
 *                                                 it; then GOAWAY, counted in faulty_ends
 *     the same, with handlers  streams_max        RST_STREAM (REFUSED_STREAM)
 *     of streams that ended
 *     frames RST_STREAM        resets_max         GOAWAY
 *     frames of a client that  faults_max         GOAWAY
 *     make the server reset
 *     frames that the client   1,024, and 8 for   GOAWAY, counted in faults_ends
 *     does not read            each stream
 *     frames SETTINGS          settings_max       GOAWAY
 *     frames PING              pings_max          GOAWAY
 *     frames PRIORITY and      others_max         GOAWAY
 *     GOAWAY, and unknown ones
 *     frames HEADERS, and      others_max         GOAWAY, counted in others_ends
 *     DATA of less than 128
 *     bytes, for streams that
 *     have ended
 *     frames DATA without      empty_max          GOAWAY
 *     bytes
 *     frames WINDOW_UPDATE     updates_max, and   GOAWAY
 *                              4 for each frame DATA that is sent, unless
 *                              the window allowed less than 128 bytes
 *     frames CONTINUATION      continuations_max  GOAWAY
 *     of a head
 *     decoded bytes of a head  head_bytes_max     431; above 4 times the limit GOAWAY
 *     heads and trailers of    256 KiB            RST_STREAM (REFUSED_STREAM; ENHANCE_YOUR_CALM
 *     all streams                                 after trailers)
 *     unread bodies            64 KiB a stream,   the client has no window
 *                              768 KiB in all
 *     unsent responses         64 KiB a stream,   the handler waits
 *                              96 KiB in all
 *     time for a head or a     head_timeout_ns    GOAWAY
 *     frame
 *     time without requests    idle_timeout_ns    GOAWAY (NO_ERROR)
 *     speed of a response      download_rate_min  RST_STREAM (CANCEL)
 */
struct eddy_http2_server_opts {
        uint32_t streams_max EDDY_UNSET;       /* 0: 128 */
        uint32_t resets_max EDDY_UNSET;        /* 0: 1,000 */
        uint32_t faults_max EDDY_UNSET;        /* 0: 500 */
        uint32_t settings_max EDDY_UNSET;      /* 0: 100 */
        uint32_t pings_max EDDY_UNSET;         /* 0: 1,000 */
        uint32_t others_max EDDY_UNSET;        /* 0: 1,000 */
        uint32_t empty_max EDDY_UNSET;         /* 0: 100 */
        uint32_t updates_max EDDY_UNSET;       /* 0: 1,000 */
        uint32_t continuations_max EDDY_UNSET; /* 0: 8 */
        uint32_t reserved32 EDDY_UNSET;        /* zero */
        /* counts of the server; borrowed; NULL: none */
        struct eddy_http2_server_stats *stats EDDY_UNSET;
        uintptr_t reserved[7] EDDY_UNSET; /* zero */
};

EDDY_END_DECLS

#endif
