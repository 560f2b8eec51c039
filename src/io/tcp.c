/*
 * io/tcp.c - listening over TCP. Connecting is in connect.c.
 */
#include "eddy/tcp.h"

#include <errno.h>

#include "io/dns_name.h"
#include "io/listener.h"
#include "scope/debug/debug.h"

int eddy_tcp_listen(const char *address, uint16_t port, const struct eddy_tcp_listen_opts *opts,
                    eddy_listener **ret_listener)
{
        struct eddy_endpoint at = { .kind = EDDY_ENDPOINT_IP, .port = port };
        struct ed_listen_opts own = { 0 };
        int err;

        if (!address || ed_address_parse(address, &at.address) < 0)
                return -EINVAL;
        if (opts)
                own = (struct ed_listen_opts){ .backlog = opts->backlog,
                                               .reuse_port = opts->reuse_port,
                                               .v6_only = opts->v6_only };
        err = ed_listener_new(&at, &own, ret_listener);
        if (err == 0)
                ed_debug_made(*ret_listener, ED_DEBUG_LISTENER);
        return err;
}
