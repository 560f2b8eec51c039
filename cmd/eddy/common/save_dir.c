/*
 * common/save_dir.c - see save_dir.h.
 */
#include "common/save_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/write_all.h"

#define PART_BEGIN ".eddy-"
#define PART_END   ".part"

enum { PART_BYTES = sizeof(PART_BEGIN) + ED_SAVE_TAG_DIGITS + sizeof(PART_END) };

static void part_name(uint64_t tag, char name[PART_BYTES])
{
        snprintf(name, PART_BYTES, PART_BEGIN "%016llx" PART_END, (unsigned long long) tag);
}

/* Returns true for the temporary name of a file. */
static bool is_part(const char *name)
{
        size_t begin = strlen(PART_BEGIN);

        return strncmp(name, PART_BEGIN, begin) == 0 &&
               strspn(name + begin, "0123456789abcdef") == ED_SAVE_TAG_DIGITS &&
               strcmp(name + begin + ED_SAVE_TAG_DIGITS, PART_END) == 0;
}

/* Remove temporary names: all, or only those of files that have no other name. */
static void parts_remove(const struct ed_save_dir *dir, bool all)
{
        int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *entries = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;
        struct stat st;

        if (!entries && fd >= 0)
                close(fd);
        while (entries && (entry = readdir(entries)))
                if (is_part(entry->d_name) &&
                    fstatat(dir->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISREG(st.st_mode) && (all || st.st_nlink == 1))
                        unlinkat(dir->fd, entry->d_name, 0);
        if (entries)
                closedir(entries);
}

int ed_save_dir_open(struct ed_save_dir *dir, const struct ed_say *say, const char *path)
{
        *dir = (struct ed_save_dir){ .path = path, .fd = -1 };
        if (mkdir(path, 0777) < 0 && errno != EEXIST) {
                ed_say(say, "--save %s: %s", path, strerror(errno));
                return ED_EXIT_OUTPUT;
        }
        dir->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir->fd < 0) {
                ed_say(say, "--save %s: %s", path, strerror(errno));
                return ED_EXIT_OUTPUT;
        }
        if (flock(dir->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
                ed_say(say, "--save %s: another run saves to this folder; name another one", path);
                ed_save_dir_close(dir);
                return ED_EXIT_BUSY;
        }
        parts_remove(dir, false);
        return 0;
}

void ed_save_dir_clean(const struct ed_save_dir *dir)
{
        if (dir->path && dir->fd >= 0)
                parts_remove(dir, true);
}

void ed_save_dir_close(struct ed_save_dir *dir)
{
        if (dir->path && dir->fd >= 0)
                close(dir->fd);
        dir->fd = -1;
}

/* The file's name, without or with its tag. */
static void name_make(struct ed_save_dir_file *file, bool is_tagged)
{
        ed_save_name(file->text, file->text_bytes, file->type, file->tag, is_tagged, file->name);
}

/* Remove what a killed run has left of the file: its temporary name, and a name that was not recorded. */
static void leftover_remove(struct ed_save_dir_file *file, const char *part)
{
        int fd = file->dir->fd;
        struct stat left, named;

        if (fstatat(fd, part, &left, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        for (int i = 0; i < 2; i++) {
                name_make(file, i == 1);
                if (fstatat(fd, file->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    named.st_dev == left.st_dev && named.st_ino == left.st_ino)
                        unlinkat(fd, file->name, 0);
        }
        unlinkat(fd, part, 0);
}

static int part_write(const struct ed_save_dir_file *file, const char *part)
{
        int fd = openat(file->dir->fd, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        0666);
        int err;

        if (fd < 0)
                return -errno;
        err = ed_write_all(fd, file->data, file->bytes);
        if (err == 0 && fsync(fd) < 0 && errno != EINVAL)
                err = -errno;
        if (close(fd) < 0 && err == 0)
                err = -errno;
        return err;
}

/* Give the file its name, on a file system without links. */
static int part_rename(const struct ed_save_dir_file *file, const char *part)
{
        int fd = file->dir->fd;
        struct stat st;

        if (fstatat(fd, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return -EEXIST;
        return renameat(fd, part, fd, file->name) < 0 ? -errno : 0;
}

static int part_link(struct ed_save_dir_file *file, const char *part)
{
        int fd = file->dir->fd, err = 0;

        for (int i = 0; i < 2; i++) {
                name_make(file, i == 1);
                err = linkat(fd, part, fd, file->name, 0) < 0 ? -errno : 0;
                if (err == -EPERM || err == -EOPNOTSUPP || err == -ENOSYS || err == -EMLINK)
                        err = part_rename(file, part);
                if (err != -EEXIST)
                        return err;
        }
        return err;
}

int ed_save_dir_put(struct ed_save_dir_file *file)
{
        int fd = file->dir->fd, err;
        char part[PART_BYTES];

        part_name(file->tag, part);
        name_make(file, false);
        leftover_remove(file, part);
        err = part_write(file, part);
        if (err == 0)
                err = part_link(file, part);
        if (err < 0) {
                unlinkat(fd, part, 0);
                return err;
        }
        return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

void ed_save_dir_recorded(const struct ed_save_dir *dir, uint64_t tag)
{
        char part[PART_BYTES];

        part_name(tag, part);
        unlinkat(dir->fd, part, 0);
}
