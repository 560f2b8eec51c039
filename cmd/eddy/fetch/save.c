/*
 * fetch/save.c - saving bodies to files.
 */
#include "fetch/save.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "common/console.h"
#include "common/url_parts.h"
#include "common/write_all.h"
#include "eddy/scope.h"
#include "eddy/thread.h"
#include "eddy/url.h"

/* Enough for the longest name, all of whose bytes are encoded. */
enum { TEXT_BYTES = 3 * ED_SAVE_NAME_BYTES + 1 };

int ed_save_open(struct ed_save *save, const char *command, const char *path, bool force,
                 bool resumes)
{
        const struct ed_say say = ed_console_voice(command);

        save->err = 0;
        if (!force && !resumes && !ed_save_dir_is_empty(path)) {
                ed_console_say(command,
                               "--save %s: the folder is not empty; name a new one (--force "
                               "replaces files of the same names), or continue a run: give -o with "
                               "its results",
                               path);
                return ED_EXIT_USAGE;
        }
        return ed_save_dir_open(&save->dir, &say, path,
                                force ? ED_SAVE_DIR_REPLACES : ED_SAVE_DIR_CONTINUES);
}

void ed_save_close(struct ed_save *save)
{
        ed_save_dir_close(&save->dir);
}

static int save_fail(struct ed_save *save, int err)
{
        if (save->err == 0)
                save->err = err;
        return err;
}

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

int ed_save_file_begin(struct ed_save *save, const char *url, uint64_t index, const char *type,
                       struct ed_save_dir_file *file)
{
        struct ed_url_parts parts = ed_url_parts(url);
        char text[TEXT_BYTES];
        size_t bytes = text_of(&parts, text);
        int err;

        ed_save_dir_name(file, &save->dir, tag_of(url, index), ED_SAVE_URL, text, bytes, type);
        err = ed_save_dir_begin(file);
        return err < 0 ? save_fail(save, err) : 0;
}

void ed_save_file_name(struct ed_save_dir_file *file, const char *url, const char *type)
{
        struct ed_url_parts parts = ed_url_parts(url);
        char text[TEXT_BYTES];
        size_t bytes = text_of(&parts, text);

        ed_save_dir_set_names(file, ED_SAVE_URL, text, bytes, type);
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
        return err < 0 ? save_fail(save, err) : 0;
}
