/*
 * sys/file/path_lock.c - a lock for a path among processes.
 *
 * The system releases the lock of a process that dies. Its file remains, and the next holder
 * removes the file.
 */
#include "sys/file/path_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eddy/endpoint.h"

enum { NAME_ROOM = EDDY_ENDPOINT_PATH_MAX + sizeof(ED_PATH_LOCK_END), TRIES = 100 };

static void name_write(const char *path, char out[NAME_ROOM])
{
        snprintf(out, NAME_ROOM, "%s" ED_PATH_LOCK_END, path);
}

/* Returns true if the path names the open file: a former holder has not removed the file. */
static bool is_file(const char *name, int fd)
{
        struct stat here = { 0 }, open_file = { 0 };

        return lstat(name, &here) == 0 && fstat(fd, &open_file) == 0 &&
               here.st_dev == open_file.st_dev && here.st_ino == open_file.st_ino;
}

/* Reading suffices for flock(2), so a file that another user left can be locked too. */
static int lock_once(const char *name)
{
        int fd, result;

        do
                fd = open(name, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0444);
        while (fd < 0 && errno == EINTR);
        if (fd < 0)
                return -errno;
        do
                result = flock(fd, LOCK_EX | LOCK_NB);
        while (result < 0 && errno == EINTR);
        if (result == 0 && is_file(name, fd))
                return fd;
        result = result == 0 ? -EAGAIN : errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
        close(fd);
        return result;
}

int ed_path_lock(const char *path)
{
        char name[NAME_ROOM];
        int fd = -EAGAIN;

        name_write(path, name);
        for (int i = 0; i < TRIES && fd == -EAGAIN; i++)
                fd = lock_once(name);
        return fd == -EAGAIN ? -EADDRINUSE : fd;
}

void ed_path_unlock(const char *path, int fd)
{
        char name[NAME_ROOM];

        name_write(path, name);
        /* In this order: later holders make a new file, and no one waits for this one. */
        (void) unlink(name);
        close(fd);
}
