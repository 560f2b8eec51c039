/*
 * io/file_whole.c - whole files: reading, writing, replacing.
 */
#include "eddy/file_whole.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/path.h"
#include "io/new_file.h"

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
static int begin(struct ed_new_file *file, const char *path, const struct permissions *permissions)
{
        uint32_t mode = permissions->mode;

        if (permissions->is_set && mode == 0)
                mode = 0600; /* 0 would be the default */
        return ed_new_file_begin(file, path, mode);
}

/* A write removes the set-user-ID and set-group-ID bits, so the permissions are set after it. */
static int fill(eddy_file *file, const void *data, size_t bytes,
                const struct permissions *permissions)
{
        int err = eddy_file_write(file, data, bytes);

        if (err == 0 && permissions->is_set)
                err = eddy_file_chmod(file, permissions->mode);
        return err < 0 ? err : eddy_file_sync(file, 0);
}

int eddy_file_replace(const char *path, const void *data, size_t bytes, uint32_t mode)
{
        struct permissions permissions = { mode != 0, mode };
        struct ed_new_file file;
        int err;

        if (!path || !*path)
                return -EINVAL;
        err = permissions.is_set ? 0 : take_permissions(path, &permissions);
        if (err == 0)
                err = begin(&file, path, &permissions);
        if (err < 0)
                return err;
        err = fill(file.file, data, bytes, &permissions);
        if (err == 0)
                err = ed_new_file_keep(&file, 0);
        ed_new_file_fini(&file);
        return err;
}
