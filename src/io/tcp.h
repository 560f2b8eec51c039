/*
 * io/tcp.h - what servers of other floors use of a listener.
 */
#ifndef ED_IO_TCP_H
#define ED_IO_TCP_H

#include "eddy/tcp.h"
#include "io/shortage.h"

/* The shortages that a listener's accepting task has met: its caller's are part of the same episodes. */
ED_SHARED struct ed_shortage *ed_tcp_listener_shortage(eddy_tcp_listener *listener);

#endif
