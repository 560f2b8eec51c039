/*
 * common/result.c - see result.h.
 */
#include "common/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/console.h"
#include "common/inputs.h"
#include "common/write_all.h"
#include "eddy/alloc.h"
#include "eddy/error.h"

enum { RESULT_BYTES = 64 << 10 };

void ed_result_init(struct ed_result *result, const char *command)
{
        *result = (struct ed_result){ .command = command,
                                      .option = "-o",
                                      .replace = { .fd = -1, .lock_fd = -1 } };
}

int ed_result_open(struct ed_result *result, const char *path)
{
        int err = 0;

        if (path && strcmp(path, "-") != 0)
                result->path = path;
        result->buf = eddy_malloc(2 * (size_t) RESULT_BYTES);
        if (!result->buf ||
            ed_pack_init(&result->pack, result->path ? ed_pack_kind_of(path) : ED_PACK_PLAIN) < 0) {
                ed_console_say(result->command, "out of memory");
                return ED_EXIT_FAILED;
        }
        if (!result->path)
                return 0;
        err = ed_inputs_check(result->command, result->option, path);
        if (err)
                return err;
        err = ed_replace_begin(&result->replace, path);
        if (err == -EBUSY) {
                ed_console_say(result->command, "%s %s: another eddy is writing to it",
                               result->option, path);
                return ED_EXIT_BUSY;
        }
        if (err == -EEXIST)
                return ed_console_usage(result->command,
                                        "%s %s: not a regular file; name a file, or - for standard "
                                        "output",
                                        result->option, path);
        return err < 0 ? ed_result_fault(result, err) : 0;
}

bool ed_result_is(const struct ed_result *result, const char *path)
{
        struct stat st;

        return result->path && result->replace.lock_fd >= 0 && stat(path, &st) == 0 &&
               st.st_dev == result->replace.old.st_dev && st.st_ino == result->replace.old.st_ino;
}

const char *ed_result_folder(const struct ed_result *result)
{
        const char *folder = getenv("TMPDIR");

        if (result->path)
                return result->replace.folder;
        return folder && *folder ? folder : "/tmp";
}

/* Write bytes, packed; 'data' NULL: the end. */
static int result_write(struct ed_result *result, const char *data, size_t bytes)
{
        int fd = result->path ? result->replace.fd : STDOUT_FILENO, err = 0;
        char *room = result->buf + RESULT_BYTES;
        int64_t n = 1;

        if (result->pack.kind == ED_PACK_PLAIN)
                return ed_write_all(fd, data, bytes);
        while (err == 0 && n > 0) {
                size_t taken;

                n = ed_pack_some(&result->pack, data, bytes, &taken, room, RESULT_BYTES);
                if (n < 0)
                        return (int) n;
                if (data)
                        data += taken;
                bytes -= taken;
                err = ed_write_all(fd, room, (size_t) n);
        }
        return err;
}

static int result_flush(struct ed_result *result)
{
        int err = result->used > 0 ? result_write(result, result->buf, result->used) : 0;

        result->used = 0;
        return err;
}

int ed_result_add(struct ed_result *result, const char *data, size_t bytes)
{
        int err = 0;

        while (err == 0 && bytes > 0) {
                size_t piece = RESULT_BYTES - result->used;

                piece = bytes < piece ? bytes : piece;
                memcpy(result->buf + result->used, data, piece);
                result->used += piece;
                data += piece;
                bytes -= piece;
                if (result->used == RESULT_BYTES)
                        err = result_flush(result);
        }
        return err;
}

int ed_result_finish(struct ed_result *result)
{
        int err = result_flush(result);

        if (err == 0)
                err = result_write(result, NULL, 0);
        return err == 0 && result->path ? ed_replace_commit(&result->replace) : err;
}

int ed_result_remove(struct ed_result *result)
{
        return result->path ? ed_replace_remove(&result->replace) : 0;
}

int ed_result_fault(const struct ed_result *result, int err)
{
        if (err == -EPIPE && !result->path)
                return ED_EXIT_OK;
        if (err == -ENOMEM) {
                ed_console_say(result->command, "out of memory");
                return ED_EXIT_FAILED;
        }
        ed_console_say(result->command, "%s: %s", result->path ? result->path : "standard output",
                       eddy_error_text(err));
        return ED_EXIT_OUTPUT;
}

int ed_result_temporary_fault(const struct ed_result *result, int err)
{
        if (err == -ENOMEM) {
                ed_console_say(result->command, "out of memory");
                return ED_EXIT_FAILED;
        }
        ed_console_say(result->command, "a temporary file in %s: %s; %s, or raise --memory",
                       ed_result_folder(result), eddy_error_text(err),
                       result->path ? "make room there" : "set TMPDIR to another folder");
        return ED_EXIT_OUTPUT;
}

void ed_result_end(struct ed_result *result)
{
        ed_replace_end(&result->replace);
        ed_pack_fini(&result->pack);
        eddy_free(result->buf);
        result->buf = NULL;
        result->used = 0;
}
