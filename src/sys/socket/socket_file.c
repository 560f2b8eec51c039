/*
 * sys/socket/socket_file.c - the files of listening Unix sockets: their mode, stale ones, and
 * removal.
 *
 * A file is known by its device and inode, so that a path that another process has taken over since
 * is left alone.
 */
#include "sys/socket/socket_file.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file/path_lock.h"
#include "sys/socket/sockaddr.h"

/* Store the identity of the socket file at a path. Errors: -ENOTSOCK, -errno. */
static int file_at(const struct eddy_endpoint *at, struct ed_socket_file *ret_file)
{
        struct stat found = { 0 };

        if (lstat(at->path, &found) < 0)
                return -errno;
        if (!S_ISSOCK(found.st_mode))
                return -ENOTSOCK;
        *ret_file = (struct ed_socket_file){ found.st_dev, found.st_ino };
        return 0;
}

void ed_socket_file_remove(const struct eddy_endpoint *at, const struct ed_socket_file *file)
{
        struct ed_socket_file found = { 0 };

        if (file_at(at, &found) == 0 && found.device == file->device && found.inode == file->inode)
                (void) unlink(at->path);
}

/* Returns true if no process listens on the socket file. */
static bool is_stale(const struct eddy_endpoint *at)
{
        struct sockaddr_storage storage;
        socklen_t bytes = ed_sockaddr_of(at, &storage);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        bool refused;

        if (fd < 0)
                return false;
        do
                refused = connect(fd, (struct sockaddr *) &storage, bytes) < 0;
        while (refused && errno == EINTR);
        refused = refused && errno == ECONNREFUSED;
        close(fd);
        return refused;
}

/* Remove a stale socket file; leaves all other files. */
static void remove_stale(const struct eddy_endpoint *at)
{
        struct ed_socket_file file = { 0 };

        if (file_at(at, &file) == 0 && is_stale(at))
                ed_socket_file_remove(at, &file);
}

static int bind_and_listen(int fd, const struct eddy_endpoint *at,
                           const struct ed_listen_opts *opts, struct ed_socket_file *ret_file)
{
        int err = ed_sockaddr_bind(fd, at);

        if (err < 0)
                return err;
        err = file_at(at, ret_file);
        if (err < 0)
                return err;
        /* No client can connect before listen(2). */
        if ((opts->mode && chmod(at->path, opts->mode) < 0) ||
            listen(fd, (int) opts->backlog) < 0) {
                err = -errno;
                ed_socket_file_remove(at, ret_file);
        }
        return err;
}

int ed_socket_file_listen(int fd, const struct eddy_endpoint *at, const struct ed_listen_opts *opts,
                          struct ed_socket_file *ret_file)
{
        int lock, err;

        if (!opts->replace_stale)
                return bind_and_listen(fd, at, opts, ret_file);
        /*
         * Between bind(2) and listen(2) the file looks stale. Without the lock two processes could
         * find the same stale file, and the slower would remove the file of the faster.
         */
        lock = ed_path_lock(at->path);
        if (lock < 0)
                return lock;
        remove_stale(at);
        err = bind_and_listen(fd, at, opts, ret_file);
        ed_path_unlock(at->path, lock);
        return err;
}
