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

int ed_save_dir_open(struct ed_save_dir *dir, const struct ed_say *say, const char *path,
                     bool replaces)
{
        *dir = (struct ed_save_dir){ .path = path, .fd = -1, .replaces = replaces };
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
                ed_say(say,
                       "--save %s: another run saves to this folder; name another folder, or wait "
                       "for that run",
                       path);
                ed_save_dir_close(dir);
                return ED_EXIT_BUSY;
        }
        parts_remove(dir, false);
        /* The clock of the times of files. */
        clock_gettime(CLOCK_REALTIME_COARSE, &dir->opened);
        return 0;
}

/* Returns true if one of the temporary names is that of a file. */
static bool has_part(DIR *dir, const struct stat *file)
{
        struct dirent *entry;
        struct stat st;

        rewinddir(dir);
        while ((entry = readdir(dir)))
                if (is_part(entry->d_name) &&
                    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                    st.st_dev == file->st_dev && st.st_ino == file->st_ino)
                        return true;
        return false;
}

bool ed_save_dir_is_empty(const char *path)
{
        DIR *dir = opendir(path), *parts = opendir(path);
        struct dirent *entry;
        struct stat st;
        bool empty = true;

        while (dir && parts && empty && (entry = readdir(dir)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                    !is_part(entry->d_name))
                        empty = fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                                S_ISREG(st.st_mode) && st.st_nlink > 1 && has_part(parts, &st);
        if (dir)
                closedir(dir);
        if (parts)
                closedir(parts);
        return empty;
}

bool ed_save_dir_has(const struct ed_save_dir *dir, const char *name, uint64_t bytes)
{
        struct stat st;

        return !strchr(name, '/') && fstatat(dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
               S_ISREG(st.st_mode) && (uint64_t) st.st_size == bytes;
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

void ed_save_dir_name(struct ed_save_dir_file *file, const struct ed_save_dir *dir, uint64_t tag,
                      enum ed_save_origin origin, const char *text, size_t bytes, const char *type)
{
        file->dir = dir;
        file->tag = tag;
        file->fd = -1;
        file->has_part = false;
        for (int i = 0; i < 2; i++)
                ed_save_name(origin, text, bytes, type, tag, i == 1, file->names[i]);
        file->name = file->names[0];
}

/* Remove what a killed run has left of the file: its temporary name, and a name that was not recorded. */
static void leftover_remove(const struct ed_save_dir_file *file, const char *part)
{
        int fd = file->dir->fd;
        struct stat left, named;

        if (fstatat(fd, part, &left, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        for (int i = 0; i < 2; i++)
                if (fstatat(fd, file->names[i], &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    named.st_dev == left.st_dev && named.st_ino == left.st_ino)
                        unlinkat(fd, file->names[i], 0);
        unlinkat(fd, part, 0);
}

int ed_save_dir_begin(struct ed_save_dir_file *file)
{
        char part[PART_BYTES];

        part_name(file->tag, part);
        leftover_remove(file, part);
        file->fd = openat(file->dir->fd, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          0666);
        if (file->fd < 0)
                return -errno;
        file->has_part = true;
        return 0;
}

/* Returns true if a file was there before the folder was opened. */
static bool is_old(const struct ed_save_dir *dir, const struct stat *st)
{
        return st->st_ctim.tv_sec < dir->opened.tv_sec ||
               (st->st_ctim.tv_sec == dir->opened.tv_sec &&
                st->st_ctim.tv_nsec < dir->opened.tv_nsec);
}

/* Give the file a name by a rename, which may replace a file that was there before. */
static int part_rename(struct ed_save_dir_file *file, const char *part, bool replaces)
{
        int fd = file->dir->fd;
        struct stat st;

        if (fstatat(fd, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            (!replaces || !S_ISREG(st.st_mode) || !is_old(file->dir, &st)))
                return -EEXIST;
        if (renameat(fd, part, fd, file->name) < 0)
                return -errno;
        file->has_part = false;
        return 0;
}

static int part_link(struct ed_save_dir_file *file, const char *part)
{
        int fd = file->dir->fd, err = 0;

        for (int i = 0; i < 2; i++) {
                file->name = file->names[i];
                err = linkat(fd, part, fd, file->name, 0) < 0 ? -errno : 0;
                if (err == -EPERM || err == -EOPNOTSUPP || err == -ENOSYS || err == -EMLINK)
                        err = part_rename(file, part, file->dir->replaces); /* it has no links */
                else if (err == -EEXIST && file->dir->replaces)
                        err = part_rename(file, part, true);
                if (err != -EEXIST)
                        return err;
        }
        return err;
}

int ed_save_dir_keep(struct ed_save_dir_file *file)
{
        int fd = file->fd, err = 0;
        char part[PART_BYTES];

        part_name(file->tag, part);
        file->fd = -1;
        if (fsync(fd) < 0 && errno != EINVAL)
                err = -errno;
        if (close(fd) < 0 && err == 0)
                err = -errno;
        if (err == 0)
                err = part_link(file, part);
        if (err < 0) {
                ed_save_dir_recorded(file);
                return err;
        }
        return fsync(file->dir->fd) < 0 && errno != EINVAL ? -errno : 0;
}

void ed_save_dir_drop(struct ed_save_dir_file *file)
{
        if (file->fd < 0)
                return;
        close(file->fd);
        file->fd = -1;
        ed_save_dir_recorded(file);
}

void ed_save_dir_recorded(struct ed_save_dir_file *file)
{
        char part[PART_BYTES];

        if (!file->has_part)
                return;
        part_name(file->tag, part);
        unlinkat(file->dir->fd, part, 0);
        file->has_part = false;
}
