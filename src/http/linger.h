/*
 * http/linger.h - the end of a connection whose peer may still be sending.
 */
#ifndef ED_HTTP_LINGER_H
#define ED_HTTP_LINGER_H

#include "eddy/stream.h"
#include "eddy/time.h"

#define ED_HTTP_LINGER_NS         EDDY_SEC(30) /* in all */
#define ED_HTTP_LINGER_SILENCE_NS EDDY_SEC(5)  /* without a byte */

/*
 * End the sending, and drop what the peer sends until it closes, is silent for
 * ED_HTTP_LINGER_SILENCE_NS, or ED_HTTP_LINGER_NS have passed. If the connection were closed at
 * once, the system would send a reset, which can reach the peer before the peer has read our last
 * response (RFC 9112, 9.6).
 *
 * Suspends: yes, as long as described above; a cancel ends it at once.
 * Owns: borrows 'stream'; the caller closes it next.
 */
void ed_http_linger(eddy_stream *stream);

#endif
