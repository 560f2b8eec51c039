/*
 * common/port.h - a port for the listeners of several loops, refused if another socket has it.
 */
#ifndef ED_CMD_COMMON_PORT_H
#define ED_CMD_COMMON_PORT_H

#include <stdint.h>

/*
 * Reserve '*port' for listeners of this process with the option reuse_port. Fails if another socket
 * has the port, which the listeners alone would share with another process of the user. Port 0
 * becomes a free port. Returns a descriptor, to be closed after the listeners.
 *
 * Errors: -EINVAL  not an address
 *         -EADDRINUSE and others of bind(2)
 */
int ed_port_reserve(const char *address, uint16_t *port);

#endif
