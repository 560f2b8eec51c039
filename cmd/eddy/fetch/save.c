/*
 * fetch/save.c - saving bodies to files.
 */
#include "fetch/save.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/console.h"
#include "common/disposition.h"
#include "common/url_parts.h"
#include "common/write_all.h"
#include "eddy/scope.h"
#include "eddy/thread.h"
#include "eddy/url.h"

/* Enough for the longest name, all of whose bytes are encoded. */
enum { TEXT_BYTES = 3 * ED_SAVE_NAME_BYTES + 1 };

/* ---- the folder ------------------------------------------------------------------------------ */

/* Returns true if a folder has a record with lines. */
static bool has_record(const char *path)
{
        struct ed_save_dir dir;
        struct stat st;
        bool has;

        ed_save_dir_look(&dir, path);
        has = dir.fd >= 0 && fstatat(dir.fd, ED_SAVE_RECORD, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
              S_ISREG(st.st_mode) && st.st_size > 0;
        ed_save_dir_close(&dir);
        return has;
}

/* Open the record, which the lock of the folder protects. Its lines may have secrets in their URLs. */
static int record_open(struct ed_save *save, const char *command, bool force)
{
        struct stat st;
        int fd = openat(save->dir.fd, ED_SAVE_RECORD,
                        O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        int err = fd < 0 || fstat(fd, &st) < 0 ? errno : 0;

        if (err == 0 && !S_ISREG(st.st_mode))
                err = EEXIST;
        if (err == 0 && force && ftruncate(fd, 0) < 0)
                err = errno;
        if (err && fd >= 0)
                close(fd);
        if (!err)
                save->record = fd;
        else
                ed_console_say(command, "--save %s: %s: %s", save->dir.path, ED_SAVE_RECORD,
                               strerror(err));
        return err ? ED_EXIT_OUTPUT : 0;
}

int ed_save_open(struct ed_save *save, const char *command, const struct ed_save_opts *opts)
{
        const struct ed_say say = ed_console_voice(command);
        bool takes_all = opts->force || opts->resumes || opts->remote_name ||
                         (opts->has_record && has_record(opts->path));
        int exit_code;

        *save = (struct ed_save){ .dir.fd = -1, .record = -1, .remote_name = opts->remote_name };
        if (!takes_all && !ed_save_dir_is_empty(opts->path, ED_SAVE_RECORD)) {
                ed_console_say(command,
                               "--save %s: the folder is not empty; name a new one (--remote-name "
                               "keeps its files, --force replaces those of the same names), or "
                               "continue a run: give -o with its results",
                               opts->path);
                return ED_EXIT_USAGE;
        }
        exit_code = ed_save_dir_open(
                &save->dir, &say, opts->path,
                (opts->force ? ED_SAVE_DIR_REPLACES : 0) |
                        (!opts->force || opts->remote_name ? ED_SAVE_DIR_CONTINUES : 0));
        if (exit_code == 0 && opts->has_record)
                exit_code = record_open(save, command, opts->force);
        return exit_code;
}

void ed_save_close(struct ed_save *save)
{
        struct stat st;

        if (save->record >= 0 && fstat(save->record, &st) == 0 && st.st_size == 0)
                unlinkat(save->dir.fd, ED_SAVE_RECORD, 0);
        if (save->record >= 0)
                close(save->record);
        save->record = -1;
        ed_save_dir_close(&save->dir);
}

static int save_fail(struct ed_save *save, int err)
{
        if (save->err == 0)
                save->err = err;
        return err;
}

void ed_save_sync(struct ed_save *save)
{
        if (save->record >= 0 && fsync(save->record) < 0 && errno != EINVAL)
                save_fail(save, -errno);
}

int ed_save_record(struct ed_save *save, const char *line, size_t bytes)
{
        int err;

        /* A line after an incomplete one could not be read. */
        if (save->record < 0 || save->err < 0)
                return save->err;
        err = ed_write_all(save->record, line, bytes);
        return err < 0 ? save_fail(save, err) : 0;
}

/* ---- the files ------------------------------------------------------------------------------- */

/* Copy the last part of a path, decoded. Returns its bytes. */
static size_t text_of(const struct ed_url_parts *parts, char text[TEXT_BYTES])
{
        const char *at = parts->query;
        size_t bytes;
        int64_t n;

        while (at > parts->path && at[-1] != '/')
                at--;
        bytes = (size_t) (parts->query - at);
        if (bytes >= TEXT_BYTES) {
                bytes = TEXT_BYTES - 1;
                /* Do not cut inside of an escape. */
                bytes -= at[bytes - 1] == '%' ? 1 : at[bytes - 2] == '%' ? 2 : 0;
        }
        n = eddy_url_unquote(at, bytes, 0, text, TEXT_BYTES);
        if (n > 0)
                return (size_t) n;
        memcpy(text, "index", 5);
        return 5;
}

/* Returns the tag of a file, which does not depend on credentials. */
static uint64_t tag_of(const char *url, uint64_t index)
{
        const char *host = ed_url_parts(url).host;

        return XXH3_64bits_withSeed(host, strlen(host), index);
}

int ed_save_file_begin(struct ed_save *save, const char *url, uint64_t index,
                       const struct ed_save_head *head, struct ed_save_dir_file *file)
{
        struct ed_url_parts parts = ed_url_parts(url);
        char text[TEXT_BYTES];
        size_t bytes =
                save->remote_name ? ed_disposition_name(head->disposition, text, TEXT_BYTES) : 0;
        int err;

        if (bytes == 0)
                bytes = text_of(&parts, text);
        ed_save_dir_name(file, &save->dir, tag_of(url, index), ED_SAVE_URL, text, bytes,
                         head->type);
        err = ed_save_dir_begin(file);
        return err < 0 ? save_fail(save, err) : 0;
}

void ed_save_file_name(struct ed_save_dir_file *file, const char *name)
{
        ed_save_dir_set_names(file, ED_SAVE_URL, name, strlen(name), NULL);
}

int64_t ed_save_file_find(struct ed_save *save, const char *url, uint64_t index,
                          char note[ED_SAVE_DIR_NOTE_BYTES], struct ed_save_dir_file *file)
{
        return ed_save_dir_find(file, &save->dir, tag_of(url, index), note);
}

int ed_save_file_write(struct ed_save *save, struct ed_save_dir_file *file, const void *data,
                       size_t bytes)
{
        int err = ed_write_all(file->fd, data, bytes);

        return err < 0 ? save_fail(save, err) : 0;
}

static int file_keep(void *arg)
{
        return ed_save_dir_keep(arg);
}

int ed_save_file_keep(struct ed_save *save, struct ed_save_dir_file *file)
{
        eddy_scope shield;
        int err;

        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                             .deadline_ns = INT64_MAX });
        err = eddy_to_thread(file_keep, file);
        eddy_scope_end(&shield);
        if (err == -EAGAIN)
                err = file_keep(file); /* no thread */
        save->renamed += err == 0 && file->name != file->names[0];
        return err < 0 ? save_fail(save, err) : 0;
}
