/*
 * sys/socket/unix_fds.h - descriptors and credentials over Unix sockets of the kernel.
 */
#ifndef ED_SYS_SOCKET_UNIX_FDS_H
#define ED_SYS_SOCKET_UNIX_FDS_H

#include "sys/sys.h"

/* Send at least one byte of 'data', with 'n' descriptors, at most EDDY_UNIX_FDS_MAX. */
int64_t ed_unix_fds_send(struct ed_sys *sys, int fd, const struct eddy_slice *data, const int *fds,
                         size_t n);

/*
 * Errors: -EMFILE  descriptors were lost: those that came are closed, and the bytes are lost
 *         those of recvmsg(2)
 */
int64_t ed_unix_fds_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes,
                         struct eddy_unix_fds *ret_fds);

int ed_unix_fds_credentials(struct ed_sys *sys, int fd, struct eddy_unix_credentials *ret_peer);

#endif
