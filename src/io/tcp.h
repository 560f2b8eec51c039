/*
 * io/tcp.h - parts of a listener for servers of other floors.
 */
#ifndef ED_IO_TCP_H
#define ED_IO_TCP_H

#include "eddy/tcp.h"
#include "io/shortage.h"

/* Returns the listener's record of shortages, so that its caller's belong to the same episodes. */
ED_SHARED struct ed_shortage *ed_tcp_listener_shortage(eddy_tcp_listener *listener);

#endif
