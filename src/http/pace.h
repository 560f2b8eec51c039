/*
 * http/pace.h - how fast a peer takes or gives bytes while it is waited for.
 *
 * Time is counted in windows, and only while a read or write waits: a window is
 * over when that has lasted 'over_ns' in all.  If fewer bytes than 'rate' allows
 * were moved in it, and it is the peer that is waited for, the peer is too slow.
 * A task that computes, sleeps or keeps the loop is not counted against the peer.
 *
 * Bytes written are counted when the peer's system takes them, which is asked of
 * the stream at a window's end only.  What it took between two waits counts too.
 */
#ifndef ED_HTTP_PACE_H
#define ED_HTTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/stream.h"

/* Of one direction of a stream. */
struct ed_http_pace {
        uint64_t window_bytes; /* enough in a window; 0: any speed will do */
        int64_t over_ns;       /* a window's length */
        int64_t waited_ns;     /* of the present window */
        uint64_t moved;        /* bytes read in it */
        uint64_t left;         /* bytes that had left the stream when it began */
};

/* 'rate': bytes per second; 0: any speed will do. */
void ed_http_pace_init(struct ed_http_pace *pace, uint32_t rate, int64_t over_ns);

/* Begin another window. */
void ed_http_pace_reset(struct ed_http_pace *pace);

/*
 * eddy_stream_read() and eddy_stream_writev() at a pace.
 *
 * Errors: as those, and EDDY_E_NET_TIMED_OUT  the peer is too slow
 */
EDDY_MUST_USE int64_t ed_http_pace_read(struct ed_http_pace *pace, eddy_stream *stream, void *buf,
                                        size_t bytes);
EDDY_MUST_USE int ed_http_pace_writev(struct ed_http_pace *pace, eddy_stream *stream,
                                      const struct eddy_slice *slices, size_t n);

#endif
