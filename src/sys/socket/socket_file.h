/*
 * sys/socket/socket_file.h - the files of listening Unix sockets.
 */
#ifndef ED_SYS_SOCKET_SOCKET_FILE_H
#define ED_SYS_SOCKET_SOCKET_FILE_H

#include "sys/sys.h"

/*
 * Bind 'fd' to the path of 'at', and listen with opts->backlog as it is. Sets the mode of the new
 * file, and stores its identity. Errors: those of bind(2), stat(2), chmod(2), listen(2) and
 * ed_path_lock(); the file is removed then.
 */
int ed_socket_file_listen(int fd, const struct eddy_endpoint *at, const struct ed_listen_opts *opts,
                          struct ed_socket_file *ret_file);

/* Remove the file at the path of 'at' if it is 'file'. */
void ed_socket_file_remove(const struct eddy_endpoint *at, const struct ed_socket_file *file);

#endif
