/*
 * io/file_whole.c - whole files: reading, writing, replacing.
 */
#include "eddy/file_whole.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/folder.h"
#include "eddy/path.h"
#include "eddy/scope.h"
#include "io/file.h"
#include "io/file_op.h"
#include "loop/loop.h"

/* --- reading --- */

enum { PART_BYTES = 64 * 1024 };

/* The contents so far; 'size' bytes are allocated, one of them for the NUL. */
struct contents {
        char *data;
        size_t bytes, size;
};

/* Make room for at least one more byte. Errors: EDDY_E_FILE_TOO_LARGE, -ENOMEM. */
static int grow(struct contents *contents, size_t bytes_max)
{
        size_t size = contents->size < PART_BYTES ? PART_BYTES : 2 * contents->size;
        char *data;

        if (contents->bytes > bytes_max)
                return EDDY_E_FILE_TOO_LARGE;
        if (contents->bytes + 1 < contents->size)
                return 0;
        /* A byte more than the limit shows that the file is too large. */
        if (size - 2 > bytes_max)
                size = bytes_max + 2;
        data = ed_realloc(contents->data, size);
        if (!data)
                return -ENOMEM;
        contents->data = data;
        contents->size = size;
        return 0;
}

/* Allocate what the file's size says, so that most files are read by one call. */
static int reserve(eddy_file *file, struct contents *contents, size_t bytes_max)
{
        struct eddy_file_info info;
        int err = eddy_file_stat(file, &info);

        if (err < 0)
                return err;
        if (info.kind == EDDY_FILE_REGULAR && (uint64_t) info.bytes > bytes_max)
                return EDDY_E_FILE_TOO_LARGE;
        if (info.kind != EDDY_FILE_REGULAR || info.bytes == 0)
                return 0;
        contents->size = (size_t) info.bytes + 2;
        contents->data = ed_alloc(contents->size);
        return contents->data ? 0 : -ENOMEM;
}

static int read_all(eddy_file *file, struct contents *contents, size_t bytes_max)
{
        int64_t n = 1;
        int err = reserve(file, contents, bytes_max);

        while (err == 0 && n > 0) {
                err = grow(contents, bytes_max);
                if (err < 0)
                        return err;
                n = eddy_file_read(file, contents->data + contents->bytes,
                                   contents->size - 1 - contents->bytes);
                err = n < 0 ? (int) n : 0;
                contents->bytes += n > 0 ? (size_t) n : 0;
        }
        return err;
}

int eddy_file_read_whole(const char *path, size_t bytes_max, char **ret_data, size_t *ret_bytes)
{
        struct contents contents = { 0 };
        eddy_file *file;
        int err;

        if (bytes_max > PTRDIFF_MAX - 2)
                bytes_max = PTRDIFF_MAX - 2;
        err = eddy_file_open(path, EDDY_FILE_READ, 0, &file);
        if (err < 0)
                return err;
        err = read_all(file, &contents, bytes_max);
        eddy_file_close(file);
        if (err < 0) {
                ed_free(contents.data);
                return err;
        }
        contents.data[contents.bytes] = '\0';
        *ret_data = contents.data;
        *ret_bytes = contents.bytes;
        return 0;
}

/* --- writing --- */

int eddy_file_write_whole(const char *path, const void *data, size_t bytes, uint32_t mode)
{
        const unsigned flags = EDDY_FILE_WRITE | EDDY_FILE_CREATE | EDDY_FILE_TRUNCATE;
        eddy_file *file;
        int err = eddy_file_open(path, flags, mode, &file);

        if (err < 0)
                return err;
        err = eddy_file_write(file, data, bytes);
        eddy_file_close(file);
        return err;
}

/* --- replacing --- */

/* The folder of the file, or ".", and the path of a temporary file in it; allocated in one. */
struct names {
        const char *folder;
        char *temporary;
};

enum { RANDOM_BYTES = 8, NAME_BYTES = sizeof(".eddy-") + 2 * RANDOM_BYTES };

static int names_init(struct names *names, const char *path)
{
        struct ed_sys *sys = ed_loop_current->sys;
        const char *slash = strrchr(path, '/');
        size_t bytes = slash ? (size_t) (slash - path) + 1 : 0;
        uint64_t number;
        char *folder = ed_alloc(2 * bytes + 1 + NAME_BYTES);

        if (!folder)
                return -ENOMEM;
        sys->poll->random(sys, &number, sizeof(number));
        memcpy(folder, path, bytes);
        folder[bytes] = '\0';
        names->temporary = folder + bytes + 1;
        memcpy(names->temporary, path, bytes);
        snprintf(names->temporary + bytes, NAME_BYTES, ".eddy-%016llx",
                 (unsigned long long) number);
        names->folder = folder;
        return 0;
}

static void names_fini(struct names *names)
{
        ed_free((char *) names->folder);
}

/* Permissions; not 'is_set': those of any new file. */
struct permissions {
        bool is_set;
        uint32_t mode;
};

/* Take the permissions of the file at 'path', if it exists. */
static int take_permissions(const char *path, struct permissions *permissions)
{
        struct eddy_file_info info;
        int err = eddy_path_stat(path, EDDY_PATH_NO_FOLLOW, &info);

        if (err < 0)
                return err == -ENOENT ? 0 : err;
        permissions->is_set = info.kind == EDDY_FILE_REGULAR;
        permissions->mode = permissions->is_set ? info.mode : 0;
        return 0;
}

/* The temporary file never has more permissions than the new file, except for its owner. */
static int open_temporary(const char *path, const struct permissions *permissions,
                          eddy_file **ret_file)
{
        uint32_t mode = permissions->mode;

        if (permissions->is_set && mode == 0)
                mode = 0600; /* 0 would be the default */
        return eddy_file_open(path, EDDY_FILE_WRITE | EDDY_FILE_NEW, mode, ret_file);
}

/* A write removes the set-user-ID and set-group-ID bits, so the permissions are set after it. */
static int write_temporary(eddy_file *file, const void *data, size_t bytes,
                           const struct permissions *permissions)
{
        int err = eddy_file_write(file, data, bytes);

        if (err == 0 && permissions->is_set)
                err = eddy_file_chmod(file, permissions->mode);
        if (err == 0)
                err = eddy_file_sync(file, 0);
        eddy_file_close(file);
        return err;
}

static void begin_shield(eddy_scope *shield)
{
        eddy_scope_begin(shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
}

/* Also in a cancelled task. If no thread can be had, the loop removes the file. */
static void remove_temporary(const struct names *names)
{
        struct ed_file_op op = { .call = ED_FILE_REMOVE, .path = names->temporary };
        struct ed_sys *sys = ed_loop_current->sys;
        eddy_scope shield;
        int64_t err;

        begin_shield(&shield);
        err = ed_file_do(&op);
        (void) eddy_scope_end(&shield);
        if (err == -ECANCELED || err == -EAGAIN || err == -ENOMEM)
                sys->file->run(sys, &op);
        /* The caller reports the first error. */
}

static int replace_by(const char *path, const struct names *names, const void *data, size_t bytes,
                      struct permissions permissions)
{
        eddy_file *file;
        int err = permissions.is_set ? 0 : take_permissions(path, &permissions);

        if (err == 0)
                err = open_temporary(names->temporary, &permissions, &file);
        if (err < 0)
                return err;
        err = write_temporary(file, data, bytes, &permissions);
        if (err == 0)
                err = eddy_path_rename(names->temporary, path, 0);
        if (err < 0)
                remove_temporary(names);
        return err;
}

/* -ECANCELED would mean that the file is unchanged, so a cancelled task syncs too. */
static int sync_folder(const struct names *names)
{
        const char *folder = *names->folder ? names->folder : ".";
        eddy_scope shield;
        int err = eddy_folder_sync(folder);

        if (err != -ECANCELED)
                return err;
        begin_shield(&shield);
        err = eddy_folder_sync(folder);
        (void) eddy_scope_end(&shield);
        return err == -ECANCELED ? -EAGAIN : err;
}

int eddy_file_replace(const char *path, const void *data, size_t bytes, uint32_t mode)
{
        struct names names;
        int err;

        if (!path || !*path)
                return -EINVAL;
        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        err = names_init(&names, path);
        if (err < 0)
                return err;
        err = replace_by(path, &names, data, bytes, (struct permissions){ mode != 0, mode });
        if (err == 0)
                err = sync_folder(&names);
        names_fini(&names);
        return err;
}
