/*
 * batch/request/source.h - decompresses an input, and splits it into lines. The row of CSV that
 * names the columns is removed.
 */
#ifndef ED_CMD_BATCH_REQUEST_SOURCE_H
#define ED_CMD_BATCH_REQUEST_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "batch/request/range.h"
#include "batch/request/request.h"
#include "common/lines.h"
#include "common/say.h"
#include "common/shard.h"
#include "common/unpack.h"
#include "eddy/def.h"

/* The fault of a command line, in each command that reads requests. */
#define ED_SOURCE_ID_COLUMN_FAULT                                                                  \
        "--id-column is for CSV: give --format csv, or write \"custom_id\" in the lines"

enum { ED_SOURCE_READ_BYTES = 64 << 10, ED_SOURCE_LINE_BYTES_MAX = 256 << 20 };

/* Called for each line. A result below 0 ends the walk. */
typedef int ed_source_fn(void *arg, const struct ed_line *line);

struct ed_source_opts {
        const struct ed_say *say;
        const char *path; /* "-": standard input */
        size_t line_bytes_max;
        bool csv;
        struct ed_range range;
        struct ed_shard
                shard; /* of ed_source_walk(), which finds its range; all zero: the whole file */
        struct ed_request_rules *rules; /* CSV: 'columns' is set */
        struct ed_columns **columns;    /* CSV: set by the first row, unless it is set already */
        ed_source_fn *take;
        void *arg;
};

struct ed_source {
        struct ed_source_opts opts;
        struct ed_unpack unpack;
        struct ed_lines lines;
        bool has_names; /* the row that names the columns was met; rows before it are blank */
        uint64_t bytes; /* taken so far */
        char *buf;      /* ED_SOURCE_READ_BYTES into which the caller may read */
};

/*
 * Open a file, or standard input. Returns 0, or the exit code, after a message, with '*ret_fd' set
 * to -1.
 */
EDDY_MUST_USE int ed_source_open(const struct ed_say *say, const char *path, struct stat *ret_st,
                                 int *ret_fd);

/*
 * Returns true if the name of a file is that of a CSV file, also in capitals. A file .tsv is one too: its
 * first row is then refused with the command that converts it.
 */
bool ed_source_is_csv(const char *path);

/* Errors: -ENOMEM; ed_source_fini() may still be called */
EDDY_MUST_USE int ed_source_init(struct ed_source *source, const struct ed_source_opts *opts);
void ed_source_fini(struct ed_source *source);

/* Returns how many bytes may be read into 'buf': 0 at the end of the range. */
size_t ed_source_room(const struct ed_source *source);

/*
 * Take bytes of the input; 0 bytes mean its end.
 *
 * Errors: -EBADMSG  the compressed data are damaged or end early
 *         -EINVAL   the names of the columns are wrong, or one is missing; this was reported
 *         -EFBIG    of ed_unpack_some();  -ENOMEM;  those of 'take'
 */
EDDY_MUST_USE int ed_source_take(struct ed_source *source, const char *data, size_t bytes);

/*
 * Read a file from 'at' to the end of the range, without moving its position. If 'at' is -1, read from the
 * position; this also works for a pipe. Blocks. Errors: those of ed_source_take() and read(2)
 */
EDDY_MUST_USE int ed_source_read(struct ed_source *source, int fd, off_t at);

/*
 * Open a file, read it to its end, and close it, with 'opts' as for ed_source_init(). Returns 0, or the
 * exit code after a message. '*ret_kind' is the compression of the file.
 *
 * Errors: -ECANCELED  'take' returned this, because it has reported an error, or the caller does
 */
EDDY_MUST_USE int ed_source_walk(const struct ed_source_opts *opts, enum ed_unpack_kind *ret_kind);

/* Report an error of the input, unless it was reported. Returns the exit code. */
int ed_source_fault(const struct ed_say *say, const char *path, int err);

#endif
