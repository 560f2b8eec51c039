/*
 * batch/request/shard_range.c - see shard_range.h.
 */
#include "batch/request/shard_range.h"

#include "batch/request/source.h"
#include "common/exit.h"
#include "common/read_some.h"
#include "common/shell_word.h"
#include "common/unpack.h"

enum { HEAD_BYTES = 4 };

static enum ed_unpack_kind kind_of(int fd)
{
        char head[HEAD_BYTES], room[HEAD_BYTES];
        ssize_t bytes = ed_read_some(fd, head, sizeof(head), 0);
        enum ed_unpack_kind kind;
        struct ed_unpack unpack;
        size_t taken;

        ed_unpack_init(&unpack);
        /* Four bytes of compressed data cannot be wrong yet, and what is wrong was recognised. */
        if (bytes > 0)
                (void) !ed_unpack_some(&unpack, head, (size_t) bytes, &taken, room, sizeof(room));
        kind = unpack.kind;
        ed_unpack_fini(&unpack);
        return kind;
}

/* Refuse a file that cannot be read from the middle. */
static int file_check(const struct ed_say *say, const char *path, int fd, const struct stat *st)
{
        struct ed_draft files = { 0 };
        enum ed_unpack_kind kind;

        if (!S_ISREG(st->st_mode)) {
                ed_say(say,
                       "%s: --shard needs a regular file, because a shard begins in the middle; "
                       "write "
                       "the lines to a file first",
                       path);
                return ED_EXIT_INPUT;
        }
        kind = kind_of(fd);
        if (kind != ED_UNPACK_GZIP && kind != ED_UNPACK_ZSTD)
                return 0;
        ed_shell_copy_add(&files, path, "plain");
        ed_draft_add(&files, "", 1);
        ed_say(say,
               "%s: --shard cannot begin in the middle of compressed data; decompress the file "
               "first: %s -dc %s",
               path, kind == ED_UNPACK_GZIP ? "gzip" : "zstd",
               ed_draft_is_whole(&files) ? files.data : "<IN >NEW.jsonl");
        ed_draft_fini(&files);
        return ED_EXIT_INPUT;
}

int ed_shard_range_find(const struct ed_say *say, const char *path, int fd, const struct stat *st,
                        struct ed_shard shard, struct ed_range *ret_range)
{
        struct ed_shard_bytes bytes;
        int err = file_check(say, path, fd, st);

        if (err)
                return err;
        err = ed_shard_find(shard, fd, (uint64_t) st->st_size, &bytes);
        if (err < 0)
                return ed_source_fault(say, path, err);
        *ret_range = (struct ed_range){ .at = bytes.at,
                                        .bytes = bytes.end - bytes.at,
                                        .is_empty = bytes.at == bytes.end };
        return 0;
}
