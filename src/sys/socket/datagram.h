/*
 * sys/socket/datagram.h - datagram sockets of the kernel: functions of the table that need nothing
 * of a poller.
 */
#ifndef ED_SYS_SOCKET_DATAGRAM_H
#define ED_SYS_SOCKET_DATAGRAM_H

#include "sys/sys.h"

int ed_datagram_bind(struct ed_sys *sys, int fd, const struct eddy_endpoint *at);

/* An option of enum eddy_udp_option, or ED_DATAGRAM_*. Errors: -EINVAL, those of setsockopt(2). */
int ed_datagram_option(struct ed_sys *sys, int fd, int family, int option, int value);
/* Returns the value of an option of enum eddy_udp_option, except the interface of multicasts. */
int ed_datagram_option_value(struct ed_sys *sys, int fd, int family, int option);

int ed_datagram_group(struct ed_sys *sys, int fd, const struct eddy_address *group,
                      uint32_t interface_id, bool join);

/* At most EDDY_UDP_BATCH_MAX datagrams. */
int ed_datagram_send(struct ed_sys *sys, int fd, const struct eddy_udp_message *messages, size_t n);
int ed_datagram_recv(struct ed_sys *sys, int fd, struct eddy_udp_message *messages, size_t n);

/* Take an error from the socket's queue. Errors: -EAGAIN: there is none. */
int ed_datagram_error(struct ed_sys *sys, int fd, struct eddy_udp_error *ret_error);

#endif
