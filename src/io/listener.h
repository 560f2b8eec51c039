/*
 * io/listener.h - parts of a listener for other files and floors.
 */
#ifndef ED_IO_LISTENER_H
#define ED_IO_LISTENER_H

#include "eddy/listener.h"
#include "io/shortage.h"
#include "sys/sys.h"

/*
 * Listen at an endpoint. The caller, which the program calls, records the listener with
 * ed_debug_made(). Errors: those of eddy_tcp_listen() and eddy_unix_listen().
 */
EDDY_MUST_USE int ed_listener_new(const struct eddy_endpoint *at, const struct ed_listen_opts *opts,
                                  eddy_listener **ret_listener);

/*
 * Keep the listener's memory, also after it is closed: accepting then returns -ECANCELED. Each ref
 * needs an unref.
 */
void ed_listener_ref(eddy_listener *listener);
void ed_listener_unref(eddy_listener *listener);

/*
 * eddy_listener_accept() with the caller's record of shortages instead of the listener's. The
 * caller records the stream.
 */
EDDY_MUST_USE int ed_listener_accept(eddy_listener *listener, struct ed_shortage *shortage,
                                     eddy_stream **ret_stream);

#endif
