/*
 * fetch/save.c - saving bodies to files.
 */
#include "fetch/save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/console.h"
#include "common/write_all.h"

enum { NAME_BYTES = 32 };

static bool folder_is_empty(const char *path)
{
        DIR *dir = opendir(path);
        struct dirent *entry;
        bool empty = true;

        while (dir && empty && (entry = readdir(dir)))
                empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (dir)
                closedir(dir);
        return empty;
}

int ed_save_open(struct ed_save *save, const char *command, const char *path, bool force)
{
        *save = (struct ed_save){ .path = path, .dir_fd = -1 };
        if (mkdir(path, 0777) < 0 && errno != EEXIST) {
                ed_console_say(command, "--save %s: %s", path, strerror(errno));
                return ED_EXIT_OUTPUT;
        }
        save->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (save->dir_fd < 0) {
                ed_console_say(command, "--save %s: %s", path, strerror(errno));
                return ED_EXIT_OUTPUT;
        }
        if (!force && !folder_is_empty(path)) {
                ed_console_say(
                        command,
                        "--save %s: the folder is not empty; name a new one, because indexes "
                        "begin at 0 again (--force replaces its files)",
                        path);
                ed_save_close(save);
                return ED_EXIT_USAGE;
        }
        return 0;
}

void ed_save_close(struct ed_save *save)
{
        if (save->dir_fd >= 0)
                close(save->dir_fd);
        save->dir_fd = -1;
}

static void name_print(uint64_t index, const char *suffix, char name[NAME_BYTES])
{
        snprintf(name, NAME_BYTES, "%" PRIu64 "%s", index, suffix);
}

static int save_fail(struct ed_save *save, int err)
{
        if (save->err == 0)
                save->err = err;
        return err;
}

int ed_save_file_begin(struct ed_save *save, uint64_t index, struct ed_save_file *ret_file)
{
        char name[NAME_BYTES];
        int fd;

        name_print(index, ".part", name);
        fd = openat(save->dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                    0666);
        if (fd < 0)
                return save_fail(save, -errno);
        *ret_file = (struct ed_save_file){ .index = index, .fd = fd };
        return 0;
}

int ed_save_file_write(struct ed_save *save, struct ed_save_file *file, const void *data,
                       size_t bytes)
{
        int err = ed_write_all(file->fd, data, bytes);

        return err < 0 ? save_fail(save, err) : 0;
}

int ed_save_file_keep(struct ed_save *save, struct ed_save_file *file)
{
        char part[NAME_BYTES], name[NAME_BYTES];
        int fd = file->fd;

        file->fd = -1;
        name_print(file->index, ".part", part);
        name_print(file->index, "", name);
        if (close(fd) == 0 && renameat(save->dir_fd, part, save->dir_fd, name) == 0)
                return 0;
        save_fail(save, -errno);
        unlinkat(save->dir_fd, part, 0);
        return save->err;
}

void ed_save_file_drop(struct ed_save *save, struct ed_save_file *file)
{
        char part[NAME_BYTES];

        if (file->fd < 0)
                return;
        close(file->fd);
        file->fd = -1;
        name_print(file->index, ".part", part);
        unlinkat(save->dir_fd, part, 0);
}
