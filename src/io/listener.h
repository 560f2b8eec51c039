/*
 * io/listener.h - parts of a listener for other files and floors.
 */
#ifndef ED_IO_LISTENER_H
#define ED_IO_LISTENER_H

#include "eddy/listener.h"
#include "io/shortage.h"
#include "sys/sys.h"

/* Listen at an endpoint. Errors: those of eddy_tcp_listen() and eddy_unix_listen(). */
EDDY_MUST_USE int ed_listener_new(const struct eddy_endpoint *at, const struct ed_listen_opts *opts,
                                  eddy_listener **ret_listener);

/* Returns the listener's record of shortages, so that its caller's belong to the same episodes. */
ED_SHARED struct ed_shortage *ed_listener_shortage(eddy_listener *listener);

#endif
