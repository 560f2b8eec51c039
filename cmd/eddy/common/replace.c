/*
 * common/replace.c - writes a file beside its name.
 */
#include "common/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/console.h"
#include "common/write_all.h"
#include "eddy/alloc.h"

#define NEW_SUFFIX ".new-XXXXXX"

enum { UNFINISHED_MAX = 2 };

/* The files that a signal removes. */
static char *volatile unfinished[UNFINISHED_MAX];

static void signal_end(int signo)
{
        for (size_t i = 0; i < UNFINISHED_MAX; i++)
                if (unfinished[i])
                        unlink(unfinished[i]);
        _exit(ED_EXIT_SIGNAL + signo);
}

/* Replace a name among the files that a signal removes; NULL: a free place. */
static void unfinished_set(char *before, char *name)
{
        for (size_t i = 0; i < UNFINISHED_MAX; i++) {
                if (unfinished[i] == before) {
                        unfinished[i] = name;
                        return;
                }
        }
}

enum { SIGNALS = 3 };

static const int signals[SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

static void signals_set(void)
{
        struct sigaction old;

        for (size_t i = 0; i < SIGNALS; i++) {
                /* A program that is run by nohup ignores SIGHUP. */
                if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
                        signal(signals[i], signal_end);
        }
}

static char *text_join(const char *head, size_t bytes, const char *tail)
{
        size_t tail_bytes = strlen(tail) + 1;
        char *text = eddy_malloc(bytes + tail_bytes);

        if (!text)
                return NULL;
        memcpy(text, head, bytes);
        memcpy(text + bytes, tail, tail_bytes);
        return text;
}

/* Open and lock the file that has the name. Another run may replace it between the two. */
static int name_lock(struct ed_replace *replace)
{
        struct stat named;

        if (stat(replace->real, &named) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (!S_ISREG(named.st_mode))
                return -EEXIST;
        replace->lock_fd = open(replace->real, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (replace->lock_fd < 0 || fstat(replace->lock_fd, &replace->old) < 0)
                return -errno;
        if (flock(replace->lock_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
                return -EBUSY;
        if (stat(replace->real, &named) < 0 || named.st_dev != replace->old.st_dev ||
            named.st_ino != replace->old.st_ino)
                return -EBUSY;
        return 0;
}

static int names_set(struct ed_replace *replace, const char *path)
{
        char *real = realpath(path, NULL);
        const char *slash;

        replace->real = text_join(real ? real : path, strlen(real ? real : path), "");
        free(real);
        if (!replace->real)
                return -ENOMEM;
        slash = strrchr(replace->real, '/');
        replace->folder =
                slash ? text_join(replace->real,
                                  slash == replace->real ? 1 : (size_t) (slash - replace->real), "")
                      : text_join(".", 1, "");
        replace->temp = text_join(replace->real, strlen(replace->real), NEW_SUFFIX);
        return replace->folder && replace->temp ? 0 : -ENOMEM;
}

/* No signal comes between the file and the note that it is to be removed. */
static int temp_make(struct ed_replace *replace)
{
        sigset_t all, before;
        int err = 0;

        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, &before);
        replace->fd = mkostemp(replace->temp, O_CLOEXEC);
        if (replace->fd < 0)
                err = -errno;
        else
                unfinished_set(NULL, replace->temp);
        sigprocmask(SIG_SETMASK, &before, NULL);
        return err;
}

static int new_make(struct ed_replace *replace)
{
        mode_t mask = umask(0);
        int err;

        umask(mask);
        err = temp_make(replace);
        if (err < 0)
                return err;
        if (replace->lock_fd < 0)
                return fchmod(replace->fd, 0666 & ~mask) < 0 ? -errno : 0;
        /* Only the administrator may give a file to others. */
        if (fchown(replace->fd, replace->old.st_uid, replace->old.st_gid) < 0 && errno != EPERM)
                return -errno;
        return fchmod(replace->fd, replace->old.st_mode & 0777) < 0 ? -errno : 0;
}

int ed_replace_begin(struct ed_replace *replace, const char *path)
{
        int err;

        *replace = (struct ed_replace){ .fd = -1, .lock_fd = -1 };
        err = names_set(replace, path);
        if (err == 0)
                err = name_lock(replace);
        if (err == 0) {
                signals_set();
                err = new_make(replace);
        }
        if (err < 0)
                ed_replace_end(replace);
        return err;
}

static void temp_forget(struct ed_replace *replace)
{
        if (replace->temp)
                unfinished_set(replace->temp, NULL);
}

/* A file system may lack fsync; the disk has not failed then. */
static int disk_sync(int fd)
{
        return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

static int folder_sync(const struct ed_replace *replace)
{
        int fd = open(replace->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

        if (fd < 0)
                return errno == EACCES ? 0 : -errno; /* a folder that may be written only */
        err = disk_sync(fd);
        close(fd);
        return err;
}

int ed_replace_commit(struct ed_replace *replace)
{
        int err = disk_sync(replace->fd);

        if (err < 0)
                return err;
        if (rename(replace->temp, replace->real) < 0)
                return -errno;
        temp_forget(replace);
        close(replace->fd);
        replace->fd = -1;
        return folder_sync(replace);
}

int ed_replace_remove(struct ed_replace *replace)
{
        if (replace->lock_fd < 0)
                return 0;
        if (unlink(replace->real) < 0 && errno != ENOENT)
                return -errno;
        return folder_sync(replace);
}

void ed_replace_end(struct ed_replace *replace)
{
        if (replace->fd >= 0) {
                unlink(replace->temp);
                close(replace->fd);
        }
        temp_forget(replace);
        if (replace->lock_fd >= 0)
                close(replace->lock_fd);
        eddy_free(replace->real);
        eddy_free(replace->temp);
        eddy_free(replace->folder);
        *replace = (struct ed_replace){ .fd = -1, .lock_fd = -1 };
}

static int through_write(const char *path, const void *data, size_t bytes)
{
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), err;

        if (fd < 0)
                return -errno;
        err = ed_write_all(fd, data, bytes);
        if (close(fd) < 0 && err == 0)
                err = -errno;
        return err;
}

int ed_replace_whole(const char *path, const void *data, size_t bytes)
{
        struct ed_replace replace;
        struct stat st;
        int err;

        if (strcmp(path, "-") == 0)
                return ed_write_all(STDOUT_FILENO, data, bytes);
        if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
                return through_write(path, data, bytes);
        err = ed_replace_begin(&replace, path);
        if (err < 0)
                return err;
        err = ed_write_all(replace.fd, data, bytes);
        if (err == 0)
                err = ed_replace_commit(&replace);
        ed_replace_end(&replace);
        return err;
}

int ed_replace_short(const char *path, const void *data, size_t bytes)
{
        struct sigaction before[SIGNALS];
        sigset_t held, old;
        int err;

        sigemptyset(&held);
        for (size_t i = 0; i < SIGNALS; i++)
                sigaddset(&held, signals[i]);
        sigprocmask(SIG_BLOCK, &held, &old);
        for (size_t i = 0; i < SIGNALS; i++)
                sigaction(signals[i], NULL, &before[i]);
        err = ed_replace_whole(path, data, bytes);
        for (size_t i = 0; i < SIGNALS; i++)
                sigaction(signals[i], &before[i], NULL);
        sigprocmask(SIG_SETMASK, &old, NULL);
        return err;
}
