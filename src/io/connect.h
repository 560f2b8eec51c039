/*
 * io/connect.h - connecting to addresses that are already known.
 */
#ifndef ED_IO_CONNECT_H
#define ED_IO_CONNECT_H

#include "base/def.h"
#include "eddy/dns.h"
#include "eddy/tcp.h"

/*
 * eddy_tcp_connect() without the lookup: to one of 'n' (at least 1) addresses, in their order.
 * Changes 'addresses'.
 *
 * Suspends: yes.
 */
ED_SHARED EDDY_MUST_USE int ed_tcp_connect_addresses(struct eddy_address *addresses, int n,
                                                     uint16_t port,
                                                     const struct eddy_tcp_connect_opts *opts,
                                                     eddy_stream **ret_stream);

#endif
