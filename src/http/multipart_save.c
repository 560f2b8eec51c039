/*
 * http/multipart_save.c - a part of a form as a file.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/path.h"
#include "http/multipart_reader.h"
#include "io/new_file.h"
#include "tls/hash.h"

enum {
        FLAGS_ALL = EDDY_HTTP_MULTIPART_REPLACE | EDDY_HTTP_MULTIPART_HASH |
                    EDDY_HTTP_MULTIPART_NO_SYNC,
        MODE_DEFAULT = 0600,
        MODE_MAX = 0777,
        BUFFER_BYTES = 64 << 10,
};

_Static_assert(EDDY_HTTP_MULTIPART_HASH_DIGITS + 1 == ED_HASH_HEX_ROOM, "a hash fits");

struct saving {
        eddy_http_multipart_reader *reader;
        const struct eddy_http_multipart_save_opts *opts;
        struct eddy_http_multipart_saved *saved;
        struct ed_new_file file;
        struct ed_hashing hashing;
        char *buf;    /* data that were taken and not written */
        size_t held;  /* its bytes */
        int read_err; /* the reader's error, not the file's */
};

static bool has(const struct saving *saving, unsigned flag)
{
        return saving->opts->flags & flag;
}

/* Refuse a path that cannot be the file's, before any data are read. */
static int path_check(const struct saving *saving, const char *path)
{
        struct eddy_file_info info;
        int err = eddy_path_stat(path, EDDY_PATH_NO_FOLLOW, &info);

        if (err < 0)
                return err == -ENOENT ? 0 : err;
        if (info.kind == EDDY_FILE_FOLDER)
                return -EISDIR;
        /* A rename would replace a device, such as /dev/null. */
        return info.kind == EDDY_FILE_OTHER || !has(saving, EDDY_HTTP_MULTIPART_REPLACE) ? -EEXIST
                                                                                         : 0;
}

static int write_held(struct saving *saving)
{
        size_t bytes = saving->held;
        int err = eddy_file_write(saving->file.file, saving->buf, bytes);

        if (err < 0)
                return err;
        saving->held = 0;
        saving->saved->bytes += bytes;
        if (has(saving, EDDY_HTTP_MULTIPART_HASH))
                ed_hashing_add(&saving->hashing, saving->buf, bytes);
        if (saving->opts->progress)
                err = saving->opts->progress(saving->saved->bytes, saving->opts->arg);
        return err < 0 ? err : 0;
}

/* Write the part's data. */
static int receive(struct saving *saving)
{
        eddy_http_multipart_reader *reader = saving->reader;
        int64_t n;
        int err = 0;

        while (err == 0 && (n = ed_multipart_reader_wait(reader)) != 0) {
                size_t room = BUFFER_BYTES - saving->held;

                if (n < 0) {
                        saving->read_err = (int) n;
                        return saving->read_err;
                }
                room = (size_t) n < room ? (size_t) n : room;
                memcpy(saving->buf + saving->held, reader->data, room);
                ed_multipart_reader_take(reader, room);
                saving->held += room;
                if (saving->held == BUFFER_BYTES)
                        err = write_held(saving);
        }
        return err == 0 && saving->held > 0 ? write_held(saving) : err;
}

/* Write the temporary file, and make it the file. */
static int fill(struct saving *saving)
{
        bool is_new = !has(saving, EDDY_HTTP_MULTIPART_REPLACE);
        bool is_synced = !has(saving, EDDY_HTTP_MULTIPART_NO_SYNC);
        bool is_hashed = has(saving, EDDY_HTTP_MULTIPART_HASH);
        int err = is_hashed ? ed_hashing_begin(&saving->hashing, ED_HASH_SHA256) : 0, hash_err = 0;

        if (err < 0)
                return err;
        err = receive(saving);
        if (is_hashed)
                hash_err = ed_hashing_end(&saving->hashing, err == 0 ? saving->saved->hash : NULL);
        if (err == 0)
                err = hash_err;
        if (err == 0 && is_synced)
                err = eddy_file_sync(saving->file.file, 0);
        if (err == 0)
                err = ed_new_file_keep(&saving->file,
                                       (is_new ? ED_NEW_FILE_NEW : 0) |
                                               (is_synced ? 0 : ED_NEW_FILE_NO_SYNC));
        return err;
}

static int save(struct saving *saving, const char *path)
{
        uint32_t mode = saving->opts->mode ? saving->opts->mode : MODE_DEFAULT;
        int err = path_check(saving, path);

        if (err < 0)
                return err;
        saving->buf = ed_alloc(BUFFER_BYTES);
        if (!saving->buf)
                return -ENOMEM;
        err = ed_new_file_begin(&saving->file, path, mode);
        if (err == 0) {
                err = fill(saving);
                ed_new_file_fini(&saving->file);
        }
        ed_free(saving->buf);
        return err;
}

int eddy_http_multipart_save(eddy_http_multipart_reader *reader, const char *path,
                             const struct eddy_http_multipart_save_opts *opts,
                             struct eddy_http_multipart_saved *ret_saved)
{
        static const struct eddy_http_multipart_save_opts defaults;
        struct eddy_http_multipart_saved own, *saved = ret_saved ? ret_saved : &own;
        struct saving saving = { .reader = reader,
                                 .opts = opts ? opts : &defaults,
                                 .saved = saved };
        struct ed_task *task;
        int err;

        *saved = (struct eddy_http_multipart_saved){ .bytes = 0 };
        if (!reader || !path || !*path || saving.opts->mode > MODE_MAX ||
            saving.opts->flags & ~(unsigned) FLAGS_ALL)
                return -EINVAL;
        err = ed_multipart_reader_enter(reader, &task);
        if (err < 0)
                return err;
        err = reader->is_whole ? save(&saving, path) : -EINVAL;
        if (err < 0)
                saved->hash[0] = '\0';
        (void) ed_multipart_reader_leave(reader, task, saving.read_err);
        return err;
}
