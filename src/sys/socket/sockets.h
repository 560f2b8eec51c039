/*
 * sys/socket/sockets.h - stream sockets of the kernel, and descriptors that are read and written as
 * they are: functions of the table that need nothing of a poller.
 */
#ifndef ED_SYS_SOCKET_SOCKETS_H
#define ED_SYS_SOCKET_SOCKETS_H

#include "sys/sys.h"

int ed_sockets_open(struct ed_sys *sys, int family, int kind);
int ed_sockets_keepalive(struct ed_sys *sys, int fd, int seconds);
int ed_sockets_bind(struct ed_sys *sys, int fd, const struct eddy_endpoint *local);
int ed_sockets_connect(struct ed_sys *sys, int fd, const struct eddy_endpoint *to);
int ed_sockets_connect_result(struct ed_sys *sys, int fd);
int ed_sockets_listen(struct ed_sys *sys, int fd, const struct eddy_endpoint *at,
                      const struct ed_listen_opts *opts, struct ed_socket_file *ret_file);
int ed_sockets_endpoint(struct ed_sys *sys, int fd, enum eddy_stream_end end,
                        struct eddy_endpoint *ret_endpoint);
int ed_sockets_accept(struct ed_sys *sys, int fd);
int64_t ed_sockets_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes);
int64_t ed_sockets_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n);
int64_t ed_sockets_send_file(struct ed_sys *sys, int fd, int file, int64_t offset, size_t bytes);
void ed_sockets_limit_unsent(struct ed_sys *sys, int fd, bool is_limited);
uint64_t ed_sockets_unsent(struct ed_sys *sys, int fd);
int64_t ed_sockets_read(struct ed_sys *sys, int fd, void *buf, size_t bytes);
int64_t ed_sockets_write(struct ed_sys *sys, int fd, const void *data, size_t bytes,
                         bool may_signal);
int ed_sockets_shutdown(struct ed_sys *sys, int fd);
void ed_sockets_close(struct ed_sys *sys, int fd);
void ed_sockets_abort(struct ed_sys *sys, int fd);

/* Returns how many bytes have arrived at the socket and wait for a read; 0 if that is unknown. */
ED_SHARED size_t ed_sockets_arrived(int fd);

#endif
