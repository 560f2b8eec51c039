/*
 * io/connect.h - connecting to addresses that are already known.
 */
#ifndef ED_IO_CONNECT_H
#define ED_IO_CONNECT_H

#include "base/def.h"
#include "eddy/tcp.h"
#include "io/found.h"

/*
 * eddy_tcp_connect() without the beginning of the lookup: to one of the addresses that are found
 * already, or that the lookup still finds. Ends 'found' (ed_found_end()).
 *
 * Suspends: yes.
 */
ED_SHARED EDDY_MUST_USE int ed_tcp_connect_found(struct ed_found *found, uint16_t port,
                                                 const struct eddy_tcp_connect_opts *opts,
                                                 eddy_stream **ret_stream);

#endif
