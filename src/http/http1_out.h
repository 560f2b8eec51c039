/*
 * http/http1_out.h - the bytes of an answer of HTTP/1 on their way out.
 *
 * The head of an answer in pieces, and its small pieces, are kept, so that they leave in one write.
 * They leave when a piece does not fit, at the answer's end, at a flush, and when the handler waits
 * for anything: they have a call in the loop's queue, which the loop makes in the turn in which the
 * handler parks, yields or ends (docs/design/http_answers.md). Tasks without kept bytes pay nothing.
 *
 *     kept bytes:      'out' is not empty, 'at_wait' is queued
 *     a write:         'sending'; 'out' does not change
 *     a late rest:     'sending' and 'resting': the stream did not take all at once, and a task of
 *                      the connection writes the rest
 *     a failed write:  'out_error'; 'out' is empty
 */
#ifndef ED_HTTP_HTTP1_OUT_H
#define ED_HTTP_HTTP1_OUT_H

#include "http/http1_server.h"

/* Slices at most of one call. */
enum { ED_HTTP1_OUT_SLICES_MAX = 3 };

/* Drop what 'out' holds and an error of an earlier answer: another answer begins. */
void ed_http1_out_reset(struct ed_http1_exchange *exchange);

/*
 * Keep a copy of the slices after what 'out' holds. Returns false if they must be sent now, because
 * they are too large.
 *
 * Suspends: no.
 */
EDDY_MUST_USE bool ed_http1_out_keep(struct ed_http1_exchange *exchange,
                                     const struct eddy_slice *slices, size_t n);

/*
 * Send what 'out' holds and then the slices in one write, at the rate that the client must keep.
 *
 * Suspends: yes.
 * Errors: those of ed_http_pace_writev(), and of an earlier write of kept bytes
 *         -ECANCELED  'out' is kept if the stream has taken no byte
 */
EDDY_MUST_USE int ed_http1_out_send(struct ed_http1_exchange *exchange,
                                    const struct eddy_slice *slices, size_t n);

/*
 * Send the bytes in 'out', and then bytes of a file, as ed_stream_send_file(). The minimum rate of
 * the client applies.
 *
 * Suspends: yes.
 * Errors: those of ed_http1_out_send(); -EAGAIN and -ENOTSUP as in ed_stream_send_file()
 */
EDDY_MUST_USE int64_t ed_http1_out_send_file(struct ed_http1_exchange *exchange,
                                             const eddy_file *file, int64_t offset, size_t bytes);

/*
 * The handler has returned: send what it has left in 'out', also if its task is cancelled, as far as
 * that does not wait.
 *
 * Suspends: yes.
 */
void ed_http1_out_finish(struct ed_http1_exchange *exchange);

#endif
