/*
 * serve/hosts.h - the hosts that `eddy serve` answers for.
 */
#ifndef ED_CMD_SERVE_HOSTS_H
#define ED_CMD_SERVE_HOSTS_H

#include <stdbool.h>

#include "serve/opts.h"

/* Returns true for a loopback address: 127.0.0.0/8 or ::1. */
bool ed_serve_is_loopback(const char *address);

/*
 * Returns true if a request with this Host ("localhost:8000") is answered: the host is empty, an IP
 * address, "localhost", a name that ends in ".localhost", or a name of --host.
 */
bool ed_serve_host_is_known(const struct ed_serve_opts *opts, const char *host);

#endif
