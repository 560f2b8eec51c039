/*
 * http/pace.h - the minimum rate at which a peer sends or takes bytes.
 *
 * Time is counted in windows, and only while a read or write waits: a window ends after 'over_ns'
 * of waiting. If fewer bytes than 'rate' requires were moved in the window, and the peer caused the
 * wait, the peer is too slow. Time in which a task computes, sleeps or blocks the loop does not
 * count against the peer.
 *
 * Bytes written count when the peer's system takes them. The stream is asked for that number only
 * at a window's end. Bytes taken between two waits count too. If the stream does not know the
 * number, bytes count when the stream takes them.
 */
#ifndef ED_HTTP_PACE_H
#define ED_HTTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/file.h"
#include "eddy/stream.h"

/* The rate of one direction of a stream. */
struct ed_http_pace {
        uint64_t window_bytes; /* minimum bytes per window; 0: no minimum */
        int64_t over_ns;       /* a window's length */
        int64_t waited_ns;     /* time waited in the current window */
        uint64_t moved;        /* bytes read in the current window */
        uint64_t left;         /* bytes that had left the stream when the window began */
        uint64_t pending;      /* those that the peer had not taken then */
        uint64_t taken;        /* bytes that the stream had taken then */
};

/* 'rate': minimum bytes per second; 0: no minimum. */
void ed_http_pace_init(struct ed_http_pace *pace, uint32_t rate, int64_t over_ns);

/* Begin another window. */
void ed_http_pace_reset(struct ed_http_pace *pace);

/*
 * eddy_stream_read() and eddy_stream_writev() with a minimum rate.
 *
 * Errors: as those, and EDDY_E_NET_TIMED_OUT  the peer is too slow
 */
EDDY_MUST_USE int64_t ed_http_pace_read(struct ed_http_pace *pace, eddy_stream *stream, void *buf,
                                        size_t bytes);
EDDY_MUST_USE int ed_http_pace_writev(struct ed_http_pace *pace, eddy_stream *stream,
                                      const struct eddy_slice *slices, size_t n);
/* eddy_stream_wait() until the stream is writable, with the minimum rate. */
EDDY_MUST_USE int ed_http_pace_wait(struct ed_http_pace *pace, eddy_stream *stream);
/* As ed_stream_send_file(), with the minimum rate. */
EDDY_MUST_USE int64_t ed_http_pace_send_file(struct ed_http_pace *pace, eddy_stream *stream,
                                             const eddy_file *file, int64_t offset, size_t bytes);

#endif
