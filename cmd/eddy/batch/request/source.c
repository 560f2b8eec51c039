/*
 * batch/request/source.c - unpacks and splits an input.
 */
#include "batch/request/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "batch/request/shard_range.h"
#include "common/exit.h"
#include "common/read_some.h"
#include "common/reading.h"
#include "eddy/alloc.h"
#include "eddy/error.h"

int ed_source_open(const struct ed_say *say, const char *path, struct stat *ret_st, int *ret_fd)
{
        bool is_stdin = strcmp(path, "-") == 0;
        int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        int err = fd < 0 || fstat(fd, ret_st) < 0 ? errno : 0;

        *ret_fd = -1;
        if (err == 0 && S_ISDIR(ret_st->st_mode))
                err = EISDIR;
        if (err != 0) {
                ed_say(say, "%s: %s%s", path, strerror(err), err == EISDIR ? "; name a file" : "");
                if (fd > STDIN_FILENO)
                        close(fd);
                return ED_EXIT_INPUT;
        }
        *ret_fd = fd;
        return 0;
}

bool ed_source_is_csv(const char *path)
{
        static const char *const ends[] = { ".csv", ".csv.gz", ".csv.zst", ".tsv" };
        size_t bytes = strlen(path);

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
                if (bytes >= strlen(ends[i]) &&
                    strcasecmp(path + bytes - strlen(ends[i]), ends[i]) == 0)
                        return true;
        return false;
}

int ed_source_init(struct ed_source *source, const struct ed_source_opts *opts)
{
        *source = (struct ed_source){ .opts = *opts };
        ed_unpack_init(&source->unpack);
        ed_lines_init(&source->lines, opts->line_bytes_max, opts->csv);
        if (opts->range.at > 0) {
                source->unpack.kind = ED_UNPACK_PLAIN;
                ed_lines_begin_at(&source->lines, opts->range.at, opts->range.lines);
        }
        source->buf = eddy_malloc(ED_SOURCE_READ_BYTES);
        return source->buf ? 0 : -ENOMEM;
}

void ed_source_fini(struct ed_source *source)
{
        ed_unpack_fini(&source->unpack);
        ed_lines_fini(&source->lines);
        eddy_free(source->buf);
        source->buf = NULL;
}

size_t ed_source_room(const struct ed_source *source)
{
        uint64_t left = source->opts.range.bytes - source->bytes;

        if (source->opts.range.is_empty)
                return 0;
        if (source->opts.range.bytes == 0 || left > ED_SOURCE_READ_BYTES)
                return ED_SOURCE_READ_BYTES;
        return (size_t) left;
}

static bool is_blank(const struct ed_line *line)
{
        size_t at = 0;

        while (at < line->bytes && strchr(" \t\r\n", line->data[at]) && line->data[at])
                at++;
        return at == line->bytes;
}

/* Take the row that names the columns. */
static int names_take(const struct ed_source_opts *opts, const struct ed_line *line)
{
        const char *id = opts->rules->id_column;
        char error[ED_FAULT_BYTES];
        int err;

        if (*opts->columns)
                return 0;
        err = ed_columns_new(line->data, line->bytes, opts->columns, error);
        opts->rules->columns = *opts->columns;
        if (err == 0)
                err = ed_templates_check(&opts->rules->templates, *opts->columns, id, error);
        if (err == -EINVAL)
                ed_say(opts->say, "%s: row %" PRIu64 ": %s", opts->path, line->number, error);
        if (err == 0 && opts->rules->url && !ed_templates_have_places(&opts->rules->templates))
                ed_say(opts->say,
                       "%s: --url, --body and -H use no column, so all requests are the same: "
                       "write a column as {{name}}",
                       opts->path);
        if (err == 0 && !id && !ed_columns_has(*opts->columns, "custom_id"))
                ed_say(opts->say,
                       "%s: no column custom_id: ids are line-N; to take them from a "
                       "column, give --id-column NAME",
                       opts->path);
        return err;
}

/* Take the whole lines that have arrived. */
static int lines_take(struct ed_source *source, bool at_end)
{
        struct ed_line line;
        int err = 0;

        while (err == 0 && ed_lines_next(&source->lines, at_end, &line)) {
                if (!source->opts.csv || source->has_names) {
                        err = source->opts.take(source->opts.arg, &line);
                } else if (!is_blank(&line)) {
                        source->has_names = true;
                        err = names_take(&source->opts, &line);
                }
        }
        return err;
}

int ed_source_take(struct ed_source *source, const char *data, size_t bytes)
{
        bool at_end = bytes == 0;

        source->bytes += bytes;
        for (;;) {
                size_t room_bytes, taken;
                char *room = ed_lines_room(&source->lines, &room_bytes);
                int64_t n;
                int err;

                if (!room)
                        return -ENOMEM;
                n = ed_unpack_some(&source->unpack, at_end ? NULL : data, bytes, &taken, room,
                                   room_bytes);
                if (n < 0)
                        return n == -EINVAL ? -EBADMSG : (int) n;
                data += taken;
                bytes -= taken;
                ed_lines_grow(&source->lines, (size_t) n);
                err = lines_take(source, at_end && n == 0);
                if (err < 0)
                        return err;
                if (n == 0 && bytes == 0)
                        return 0;
        }
}

int ed_source_read(struct ed_source *source, int fd, off_t at)
{
        uint64_t total = source->opts.range.bytes;
        struct ed_reading reading;
        struct stat st;
        ssize_t n = 1;
        int err = 0;

        if (total == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
                total = (uint64_t) st.st_size;
        ed_reading_begin(&reading, source->opts.path, total);
        while (err == 0 && n > 0) {
                size_t room = ed_source_room(source);

                n = room > 0 ? ed_read_some(fd, source->buf, room, at) : 0;
                err = n < 0 ? (int) n : ed_source_take(source, source->buf, (size_t) n);
                if (at >= 0 && n > 0)
                        at += n;
                ed_reading_at(&reading, source->bytes);
        }
        ed_reading_end();
        return err;
}

int ed_source_fault(const struct ed_say *say, const char *path, int err)
{
        if (err == -EBADMSG)
                ed_say(say, "%s: the compressed data are damaged or end early: make the file again",
                       path);
        else if (err != -EINVAL) /* which was reported */
                ed_say(say, "%s: %s", path, eddy_error_text(err));
        return err == -ENOMEM ? ED_EXIT_FAILED : ED_EXIT_INPUT;
}

int ed_source_walk(const struct ed_source_opts *opts, enum ed_unpack_kind *ret_kind)
{
        struct ed_source_opts own = *opts;
        bool is_shard = own.shard.count > 0;
        struct ed_source source;
        struct stat st;
        int fd, err, exit_code = ed_source_open(own.say, own.path, &st, &fd);

        if (exit_code == 0 && is_shard)
                exit_code = ed_shard_range_find(own.say, own.path, fd, &st, own.shard, &own.range);
        if (exit_code) {
                if (fd > STDIN_FILENO)
                        close(fd);
                return exit_code;
        }
        err = ed_source_init(&source, &own);
        if (err == 0)
                err = ed_source_read(&source, fd, is_shard ? (off_t) own.range.at : -1);
        *ret_kind = source.unpack.kind;
        ed_source_fini(&source);
        if (fd != STDIN_FILENO)
                close(fd);
        if (err == 0 || err == -ECANCELED)
                return err;
        return ed_source_fault(opts->say, opts->path, err);
}
