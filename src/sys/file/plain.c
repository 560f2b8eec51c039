/*
 * sys/file/plain.c - see plain.h.
 */
#include "sys/file/plain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/above_stdio.h"

static int open_for_write(const char *path, int flags, unsigned mode)
{
        int fd;

        do
                fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode);
        while (fd < 0 && errno == EINTR);
        return ed_fd_above_stdio(fd);
}

int ed_file_make(const char *path, unsigned mode)
{
        return open_for_write(path, O_EXCL, mode);
}

void ed_file_append(const char *path, const char *text, size_t bytes)
{
        int fd = open_for_write(path, O_APPEND, 0600);

        if (fd < 0)
                return;
        (void) !write(fd, text, bytes);
        close(fd);
}

int ed_file_is_private(const char *path)
{
        struct stat found;

        if (stat(path, &found) < 0)
                return -errno;
        return S_ISREG(found.st_mode) && (found.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

bool ed_folder_has(const char *path, bool (*is_one_fn)(const char *name))
{
        DIR *folder = opendir(path);
        const struct dirent *entry;
        bool found = false;

        if (!folder)
                return false;
        while (!found && (entry = readdir(folder)) != NULL)
                found = is_one_fn(entry->d_name);
        closedir(folder);
        return found;
}

bool ed_user_home(char *path, size_t room)
{
        struct passwd user, *found = NULL;
        char buf[1024];

        (void) getpwuid_r(geteuid(), &user, buf, sizeof(buf), &found);
        return found && snprintf(path, room, "%s", found->pw_dir) < (int) room;
}
