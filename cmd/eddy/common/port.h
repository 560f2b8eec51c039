/*
 * common/port.h - a port that the listeners of several loops share, and no other process.
 */
#ifndef ED_CMD_COMMON_PORT_H
#define ED_CMD_COMMON_PORT_H

#include <stdint.h>

/*
 * Reserve '*port' for listeners of this process that share it by the option reuse_port; that option
 * alone would let another process of the user share it too. Port 0 becomes a free one. Returns a
 * descriptor, to be closed after the listeners.
 *
 * Errors: -EINVAL  not an address
 *         -EADDRINUSE and others of bind(2)
 */
int ed_port_reserve(const char *address, uint16_t *port);

#endif
