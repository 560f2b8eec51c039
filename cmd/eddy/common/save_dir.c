/*
 * common/save_dir.c - see save_dir.h.
 */
#include "common/save_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/write_all.h"

#define TEMP_BEGIN ".eddy-"
#define PART_END   ".part"
#define NOTE_END   ".note"

enum {
        END_AT = sizeof(TEMP_BEGIN) - 1 + ED_SAVE_TAG_DIGITS,
        TEMP_BYTES = END_AT + sizeof(PART_END), /* both ends have the same length */
};

/* ---- temporary names ------------------------------------------------------------------------- */

static void temp_name(uint64_t tag, const char *end, char name[TEMP_BYTES])
{
        snprintf(name, TEMP_BYTES, TEMP_BEGIN "%016llx%s", (unsigned long long) tag, end);
}

static bool is_temp(const char *name, const char *end)
{
        size_t begin = strlen(TEMP_BEGIN);

        return strncmp(name, TEMP_BEGIN, begin) == 0 &&
               strspn(name + begin, "0123456789abcdef") == ED_SAVE_TAG_DIGITS &&
               strcmp(name + END_AT, end) == 0;
}

/* Returns true for the temporary name of a file. */
static bool is_part(const char *name)
{
        return is_temp(name, PART_END);
}

/* Copy a temporary name with another end. */
static const char *twin_of(const char *name, const char *end, char twin[TEMP_BYTES])
{
        snprintf(twin, TEMP_BYTES, "%.*s%s", END_AT, name, end);
        return twin;
}

/* Store what is known about a regular file of the folder. Returns false if it is none. */
static bool file_stat(const struct ed_save_dir *dir, const char *name, struct stat *ret_st)
{
        return fstatat(dir->fd, name, ret_st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(ret_st->st_mode);
}

/*
 * Clean up a temporary name: of a note without its file, or of a file. 'all' also removes files that
 * have another name, and 'keeps_notes' keeps incomplete files that have notes. Returns true for such
 * a file.
 */
static bool temp_clean(const struct ed_save_dir *dir, const char *name, bool all, bool keeps_notes)
{
        char twin[TEMP_BYTES];
        struct stat st, note;
        bool has_note;

        if (is_temp(name, NOTE_END) && file_stat(dir, name, &note) &&
            !file_stat(dir, twin_of(name, PART_END, twin), &st))
                unlinkat(dir->fd, name, 0);
        if (!is_part(name) || !file_stat(dir, name, &st))
                return false;
        has_note = file_stat(dir, twin_of(name, NOTE_END, twin), &note);
        if (has_note && keeps_notes && st.st_nlink == 1)
                return true;
        if (has_note) /* first, because a file without a note is not continued */
                unlinkat(dir->fd, twin, 0);
        if (all || st.st_nlink == 1)
                unlinkat(dir->fd, name, 0);
        return false;
}

/* Clean up all temporary names. Returns true if incomplete files with notes were kept. */
static bool temps_clean(const struct ed_save_dir *dir, bool all, bool keeps_notes)
{
        int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *entries = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;
        bool kept = false;

        if (!entries && fd >= 0)
                close(fd);
        while (entries && (entry = readdir(entries)))
                kept |= temp_clean(dir, entry->d_name, all, keeps_notes);
        if (entries)
                closedir(entries);
        return kept;
}

/* ---- the folder ------------------------------------------------------------------------------ */

int ed_save_dir_open(struct ed_save_dir *dir, const struct ed_say *say, const char *path,
                     unsigned flags)
{
        *dir = (struct ed_save_dir){ .path = path, .fd = -1, .flags = flags };
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
        dir->has_notes = temps_clean(dir, false, flags & ED_SAVE_DIR_CONTINUES);
        /* The clock of the times of files. */
        clock_gettime(CLOCK_REALTIME_COARSE, &dir->opened);
        return 0;
}

void ed_save_dir_look(struct ed_save_dir *dir, const char *path)
{
        *dir = (struct ed_save_dir){ .path = path };
        dir->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

/* Returns true for an entry that a killed run has left. */
static bool is_leftover(DIR *dir, const char *name, DIR *parts, const char *record)
{
        struct stat st;

        if (is_part(name) || is_temp(name, NOTE_END))
                return true;
        if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
                return false;
        if (record && strcmp(name, record) == 0)
                return st.st_size == 0;
        return st.st_nlink > 1 && has_part(parts, &st);
}

bool ed_save_dir_is_empty(const char *path, const char *record)
{
        DIR *dir = opendir(path), *parts = opendir(path);
        struct dirent *entry;
        bool empty = true;

        while (dir && parts && empty && (entry = readdir(dir)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        empty = is_leftover(dir, entry->d_name, parts, record);
        if (dir)
                closedir(dir);
        if (parts)
                closedir(parts);
        return empty;
}

bool ed_save_dir_has(const struct ed_save_dir *dir, const char *name, uint64_t bytes)
{
        struct stat st;

        return !strchr(name, '/') && file_stat(dir, name, &st) && (uint64_t) st.st_size == bytes;
}

void ed_save_dir_clean(const struct ed_save_dir *dir, bool keeps_notes)
{
        if (dir->path && dir->fd >= 0)
                temps_clean(dir, true, keeps_notes);
}

void ed_save_dir_close(struct ed_save_dir *dir)
{
        if (dir->path && dir->fd >= 0)
                close(dir->fd);
        dir->fd = -1;
}

/* ---- a file ---------------------------------------------------------------------------------- */

static void file_init(struct ed_save_dir_file *file, const struct ed_save_dir *dir, uint64_t tag)
{
        file->dir = dir;
        file->tag = tag;
        file->fd = -1;
        file->has_part = file->has_note = false;
        file->name = NULL;
}

void ed_save_dir_name(struct ed_save_dir_file *file, const struct ed_save_dir *dir, uint64_t tag,
                      enum ed_save_origin origin, const char *text, size_t bytes, const char *type)
{
        file_init(file, dir, tag);
        ed_save_dir_set_names(file, origin, text, bytes, type);
}

void ed_save_dir_set_names(struct ed_save_dir_file *file, enum ed_save_origin origin,
                           const char *text, size_t bytes, const char *type)
{
        for (int i = 0; i < 2; i++)
                ed_save_name(origin, text, bytes, type, file->tag, i == 1, file->names[i]);
        file->name = file->names[0];
}

/* Returns name number 'i': without a tag, with the file's own one, or with one of the next tags. */
static const char *name_at(struct ed_save_dir_file *file, int i)
{
        if (i == 0)
                return file->names[0];
        ed_save_name_set_tag(file->names[1], file->tag + (uint64_t) i - 1);
        return file->names[1];
}

/*
 * Remove what a killed run has left of the file: its temporary name, its note, and a name that was
 * not recorded.
 */
static void leftover_remove(struct ed_save_dir_file *file, const char *part)
{
        int fd = file->dir->fd;
        char note[TEMP_BYTES];
        struct stat left, named;
        bool found = false;

        if (fstatat(fd, part, &left, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        for (int i = 0; i < ED_SAVE_DIR_NAMES_MAX && left.st_nlink > 1 && !found; i++) {
                const char *name = name_at(file, i);

                found = fstatat(fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                        named.st_dev == left.st_dev && named.st_ino == left.st_ino;
                if (found)
                        unlinkat(fd, name, 0);
        }
        if (file->dir->has_notes)
                unlinkat(fd, twin_of(part, NOTE_END, note), 0);
        unlinkat(fd, part, 0);
}

int ed_save_dir_begin(struct ed_save_dir_file *file)
{
        char part[TEMP_BYTES];

        temp_name(file->tag, PART_END, part);
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
        /* Two threads must not find the same name before either renames. */
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        int fd = file->dir->fd, err = 0;
        struct stat st;

        pthread_mutex_lock(&lock);
        if (fstatat(fd, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            (!replaces || !S_ISREG(st.st_mode) || !is_old(file->dir, &st)))
                err = -EEXIST;
        else if (renameat(fd, part, fd, file->name) < 0)
                err = -errno;
        else
                file->has_part = false;
        pthread_mutex_unlock(&lock);
        return err;
}

static int part_link(struct ed_save_dir_file *file, const char *part)
{
        bool replaces = file->dir->flags & ED_SAVE_DIR_REPLACES;
        int fd = file->dir->fd, err = -EEXIST;

        for (int i = 0; i < ED_SAVE_DIR_NAMES_MAX && err == -EEXIST; i++) {
                file->name = name_at(file, i);
                err = linkat(fd, part, fd, file->name, 0) < 0 ? -errno : 0;
                if (err == -EPERM || err == -EOPNOTSUPP || err == -ENOSYS || err == -EMLINK)
                        err = part_rename(file, part, replaces); /* it has no links */
                else if (err == -EEXIST && replaces)
                        err = part_rename(file, part, true);
        }
        return err;
}

int ed_save_dir_keep(struct ed_save_dir_file *file)
{
        int fd = file->fd, err = 0;
        char part[TEMP_BYTES];

        temp_name(file->tag, PART_END, part);
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
        ed_save_dir_pause(file);
        ed_save_dir_recorded(file);
}

void ed_save_dir_recorded(struct ed_save_dir_file *file)
{
        char name[TEMP_BYTES];

        if (file->has_note) {
                temp_name(file->tag, NOTE_END, name);
                unlinkat(file->dir->fd, name, 0);
                file->has_note = false;
        }
        if (!file->has_part)
                return;
        temp_name(file->tag, PART_END, name);
        unlinkat(file->dir->fd, name, 0);
        file->has_part = false;
}

/* ---- files that are not complete ------------------------------------------------------------- */

int ed_save_dir_note(struct ed_save_dir_file *file, const void *data, size_t bytes)
{
        int dir = file->dir->fd, fd, err;
        char name[TEMP_BYTES];

        temp_name(file->tag, NOTE_END, name);
        fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0)
                return -errno;
        err = ed_write_all(fd, data, bytes);
        if (close(fd) < 0 && err == 0)
                err = -errno;
        if (err < 0)
                unlinkat(dir, name, 0);
        file->has_note = err == 0;
        return err;
}

/* Read a note. Returns false if it is missing or too long. */
static bool note_read(const struct ed_save_dir *dir, const char *name,
                      char note[ED_SAVE_DIR_NOTE_BYTES])
{
        int fd = openat(dir->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, note, ED_SAVE_DIR_NOTE_BYTES);

        if (fd >= 0)
                close(fd);
        if (n < 0 || n == ED_SAVE_DIR_NOTE_BYTES)
                return false;
        note[n] = '\0';
        return true;
}

/*
 * Returns true for a file of this user with one name; a second one is that of a file that is complete.
 * In a folder that all users can write to, the file of another user could have any contents.
 */
static bool is_incomplete(const struct stat *st)
{
        return S_ISREG(st->st_mode) && st->st_nlink == 1 && st->st_uid == geteuid();
}

int64_t ed_save_dir_find(struct ed_save_dir_file *file, const struct ed_save_dir *dir, uint64_t tag,
                         char note[ED_SAVE_DIR_NOTE_BYTES])
{
        char part[TEMP_BYTES], twin[TEMP_BYTES];
        struct stat st;

        file_init(file, dir, tag);
        temp_name(tag, PART_END, part);
        if (!dir->has_notes || !note_read(dir, twin_of(part, NOTE_END, twin), note) ||
            !file_stat(dir, part, &st) || !is_incomplete(&st))
                return -ENOENT;
        file->has_part = file->has_note = true;
        return st.st_size;
}

void ed_save_dir_pause(struct ed_save_dir_file *file)
{
        if (file->fd >= 0)
                close(file->fd);
        file->fd = -1;
}

int ed_save_dir_reopen(struct ed_save_dir_file *file, uint64_t bytes, uint64_t kept)
{
        char part[TEMP_BYTES];
        struct stat st;
        int err = 0;

        temp_name(file->tag, PART_END, part);
        file->fd = openat(file->dir->fd, part, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file->fd < 0 || fstat(file->fd, &st) < 0)
                err = -errno;
        else if (!is_incomplete(&st) || (uint64_t) st.st_size != bytes || kept > bytes)
                err = -ESTALE;
        else if (ftruncate(file->fd, (off_t) kept) < 0 || lseek(file->fd, 0, SEEK_END) < 0)
                err = -errno;
        if (err < 0)
                ed_save_dir_pause(file);
        return err;
}

void ed_save_dir_leave(struct ed_save_dir_file *file)
{
        if (!file->has_note) {
                ed_save_dir_drop(file);
                return;
        }
        ed_save_dir_pause(file);
        file->has_part = file->has_note = false;
}
