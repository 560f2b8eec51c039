/*
 * batch/sort/merge_sort.c - a merge sort on a temporary file.
 *
 * The memory holds the lines from its start on, and an entry for each from its end on. When they
 * meet, the lines are written as a run, in order. A merge reads as many runs as there is memory for
 * large pieces of them; while there are more runs, groups of neighbours become one run of a new
 * file.
 */
#include "batch/sort/merge_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch/sort/pair_sort.h"
#include "eddy/alloc.h"

enum {
        HEAD_BYTES = 12, /* of a line in a run: the key, and the line's bytes */
        SIZE_BYTES = 4,  /* of a line in memory */
        PIECE_BYTES_MIN = 16 << 10,
        PIECE_BYTES_GOOD = 64 << 10,
        OUT_BYTES = 64 << 10,
};

struct sorter_run {
        uint64_t from, to; /* of the file */
};

/* A temporary file and its runs. */
struct sorter_file {
        int fd; /* -1: not made */
        uint64_t bytes;
        struct sorter_run *runs;
        size_t runs_count, runs_room;
};

struct ed_merge_sort {
        char *memory;
        size_t memory_bytes;
        size_t used; /* by lines, each after its size */
        size_t count;
        const char *folder;
        struct sorter_file file;
        char *out; /* OUT_BYTES that are not written yet */
        size_t out_used;
};

int ed_merge_sort_new(size_t memory, const char *folder, struct ed_merge_sort **ret_sorter)
{
        struct ed_merge_sort *sorter = eddy_malloc(sizeof(*sorter));

        if (!sorter)
                return -ENOMEM;
        memory -= memory % sizeof(struct ed_pair);
        *sorter = (struct ed_merge_sort){ .memory_bytes = memory, .folder = folder, .file.fd = -1 };
        sorter->memory = eddy_malloc(memory);
        sorter->out = eddy_malloc(OUT_BYTES);
        if (!sorter->memory || !sorter->out) {
                ed_merge_sort_free(sorter);
                return -ENOMEM;
        }
        *ret_sorter = sorter;
        return 0;
}

static void file_drop(struct sorter_file *file)
{
        if (file->fd >= 0)
                close(file->fd);
        eddy_free(file->runs);
        *file = (struct sorter_file){ .fd = -1 };
}

void ed_merge_sort_free(struct ed_merge_sort *sorter)
{
        if (!sorter)
                return;
        file_drop(&sorter->file);
        eddy_free(sorter->memory);
        eddy_free(sorter->out);
        eddy_free(sorter);
}

/* ---- writing runs ---------------------------------------------------------------------------- */

/* Make a file, and remove its name: for file systems that cannot make one without. */
static int named_make(const char *folder)
{
        static const char name[] = "/.eddy-sort-XXXXXX";
        size_t bytes = strlen(folder);
        char *path = eddy_malloc(bytes + sizeof(name));
        int fd;

        if (!path)
                return -ENOMEM;
        memcpy(path, folder, bytes);
        memcpy(path + bytes, name, sizeof(name));
        fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0)
                fd = -errno;
        else
                unlink(path);
        eddy_free(path);
        return fd;
}

static int file_make(struct sorter_file *file, const char *folder)
{
        int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

        if (fd < 0)
                fd = named_make(folder);
        *file = (struct sorter_file){ .fd = fd < 0 ? -1 : fd };
        return fd < 0 ? fd : 0;
}

static int file_write(struct sorter_file *file, const char *data, size_t bytes)
{
        while (bytes > 0) {
                ssize_t n = pwrite(file->fd, data, bytes, (off_t) file->bytes);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : -EIO;
                data += n;
                bytes -= (size_t) n;
                file->bytes += (uint64_t) n;
        }
        return 0;
}

static int out_flush(struct ed_merge_sort *sorter, struct sorter_file *file)
{
        int err = file_write(file, sorter->out, sorter->out_used);

        sorter->out_used = 0;
        return err;
}

/* Write to a file, in larger pieces. */
static int out_add(struct ed_merge_sort *sorter, struct sorter_file *file, const void *data,
                   size_t bytes)
{
        int err = 0;

        if (bytes > OUT_BYTES - sorter->out_used)
                err = out_flush(sorter, file);
        if (err < 0 || bytes > OUT_BYTES)
                return err < 0 ? err : file_write(file, data, bytes);
        memcpy(sorter->out + sorter->out_used, data, bytes);
        sorter->out_used += bytes;
        return 0;
}

static int head_add(struct ed_merge_sort *sorter, struct sorter_file *file, uint64_t key,
                    uint32_t bytes)
{
        char head[HEAD_BYTES];

        memcpy(head, &key, sizeof(key));
        memcpy(head + sizeof(key), &bytes, sizeof(bytes));
        return out_add(sorter, file, head, sizeof(head));
}

/* End a run that begins at 'from'. */
static int run_end(struct ed_merge_sort *sorter, struct sorter_file *file, uint64_t from)
{
        int err = out_flush(sorter, file);

        if (err < 0)
                return err;
        if (file->runs_count == file->runs_room) {
                size_t room = file->runs_room * 2 + 16;
                struct sorter_run *runs = eddy_realloc(file->runs, room * sizeof(*runs));

                if (!runs)
                        return -ENOMEM;
                file->runs = runs;
                file->runs_room = room;
        }
        file->runs[file->runs_count++] = (struct sorter_run){ from, file->bytes };
        return 0;
}

/* The entries: key, and place of the line in memory. */
static struct ed_pair *entries_of(const struct ed_merge_sort *sorter)
{
        return (struct ed_pair *) (void *) (sorter->memory + sorter->memory_bytes) - sorter->count;
}

static const char *entry_line(const struct ed_merge_sort *sorter, const struct ed_pair *entry,
                              uint32_t *ret_bytes)
{
        memcpy(ret_bytes, sorter->memory + entry->second, sizeof(*ret_bytes));
        return sorter->memory + entry->second + SIZE_BYTES;
}

/* Write the lines in memory as a run. */
static int memory_spill(struct ed_merge_sort *sorter)
{
        struct ed_pair *entries = entries_of(sorter);
        uint64_t from = sorter->file.bytes;
        int err = 0;

        if (sorter->count == 0)
                return 0;
        ed_pair_sort(entries, sorter->count);
        for (size_t i = 0; err == 0 && i < sorter->count; i++) {
                uint32_t bytes;
                const char *line = entry_line(sorter, &entries[i], &bytes);

                err = head_add(sorter, &sorter->file, entries[i].first, bytes);
                if (err == 0)
                        err = out_add(sorter, &sorter->file, line, bytes);
        }
        sorter->count = 0;
        sorter->used = 0;
        return err < 0 ? err : run_end(sorter, &sorter->file, from);
}

/* Write a line that the memory has no room for, as a run of its own. */
static int line_spill(struct ed_merge_sort *sorter, uint64_t key, const char *line, size_t bytes)
{
        uint64_t from = sorter->file.bytes;
        int err = head_add(sorter, &sorter->file, key, (uint32_t) bytes + 1);

        if (err == 0)
                err = out_add(sorter, &sorter->file, line, bytes);
        if (err == 0)
                err = out_add(sorter, &sorter->file, "\n", 1);
        return err < 0 ? err : run_end(sorter, &sorter->file, from);
}

int ed_merge_sort_add(struct ed_merge_sort *sorter, uint64_t key, const char *line, size_t bytes)
{
        size_t needed = SIZE_BYTES + bytes + 1 + sizeof(struct ed_pair);
        uint32_t size = (uint32_t) bytes + 1;
        int err = 0;

        if (bytes >= UINT32_MAX)
                return -EFBIG;
        if (needed > sorter->memory_bytes - sorter->used - sorter->count * sizeof(struct ed_pair)) {
                err = sorter->file.fd < 0 ? file_make(&sorter->file, sorter->folder) : 0;
                if (err == 0)
                        err = memory_spill(sorter);
                if (err < 0 || needed > sorter->memory_bytes)
                        return err < 0 ? err : line_spill(sorter, key, line, bytes);
        }
        memcpy(sorter->memory + sorter->used, &size, SIZE_BYTES);
        if (bytes > 0)
                memcpy(sorter->memory + sorter->used + SIZE_BYTES, line, bytes);
        sorter->memory[sorter->used + SIZE_BYTES + bytes] = '\n';
        sorter->count++;
        *entries_of(sorter) = (struct ed_pair){ key, sorter->used };
        sorter->used += SIZE_BYTES + size;
        return 0;
}

/* ---- merging --------------------------------------------------------------------------------- */

struct run_reader {
        uint64_t at, to; /* of the file: what is not in 'piece' yet */
        uint64_t key;    /* of the next line */
        uint32_t left;   /* bytes of that line that are not taken yet */
        char *piece;
        size_t start, end; /* of the bytes in 'piece' */
};

struct merge {
        struct ed_merge_sort *sorter;
        struct run_reader *readers;
        size_t *heap; /* numbers of readers, the next line on top */
        size_t count;
        size_t piece_bytes;
        struct sorter_file *to; /* NULL: fn */
        ed_merge_sort_fn *fn;
        void *arg;
        bool is_output; /* the failure is that of fn */
};

static int reader_fill(const struct merge *merge, struct run_reader *reader)
{
        uint64_t left = reader->to - reader->at;
        ssize_t n;

        reader->end -= reader->start;
        memmove(reader->piece, reader->piece + reader->start, reader->end);
        reader->start = 0;
        if (left > merge->piece_bytes - reader->end)
                left = merge->piece_bytes - reader->end;
        do
                n = pread(merge->sorter->file.fd, reader->piece + reader->end, (size_t) left,
                          (off_t) reader->at);
        while (n < 0 && errno == EINTR);
        if (n <= 0)
                return n < 0 ? -errno : -EIO;
        reader->end += (size_t) n;
        reader->at += (uint64_t) n;
        return 0;
}

/* Read the head of the next line. Returns 1, 0 at the end, or an error. */
static int reader_next(const struct merge *merge, struct run_reader *reader)
{
        int err = 0;

        if (reader->start == reader->end && reader->at == reader->to)
                return 0;
        while (err == 0 && reader->end - reader->start < HEAD_BYTES)
                err = reader_fill(merge, reader);
        if (err < 0)
                return err;
        memcpy(&reader->key, reader->piece + reader->start, sizeof(reader->key));
        memcpy(&reader->left, reader->piece + reader->start + sizeof(reader->key),
               sizeof(reader->left));
        reader->start += HEAD_BYTES;
        return 1;
}

static int text_add(struct merge *merge, uint64_t key, const char *data, size_t bytes, bool is_end)
{
        int err;

        if (merge->to)
                return out_add(merge->sorter, merge->to, data, bytes);
        err = merge->fn(merge->arg, key, data, bytes, is_end);
        merge->is_output = err < 0;
        return err;
}

static int line_copy(struct merge *merge, struct run_reader *reader)
{
        int err = merge->to ? head_add(merge->sorter, merge->to, reader->key, reader->left) : 0;

        while (err == 0 && reader->left > 0) {
                size_t bytes = reader->end - reader->start;

                if (bytes == 0) {
                        err = reader_fill(merge, reader);
                        continue;
                }
                bytes = bytes < reader->left ? bytes : reader->left;
                err = text_add(merge, reader->key, reader->piece + reader->start, bytes,
                               bytes == reader->left);
                reader->start += bytes;
                reader->left -= (uint32_t) bytes;
        }
        return err;
}

/* If keys are equal, the earlier run is first. */
static bool reader_is_before(const struct merge *merge, size_t a, size_t b)
{
        uint64_t left = merge->readers[a].key, right = merge->readers[b].key;

        return left != right ? left < right : a < b;
}

static void heap_sink(struct merge *merge, size_t at)
{
        for (;;) {
                size_t child = 2 * at + 1, number = merge->heap[at];

                if (child >= merge->count)
                        return;
                if (child + 1 < merge->count &&
                    reader_is_before(merge, merge->heap[child + 1], merge->heap[child]))
                        child++;
                if (!reader_is_before(merge, merge->heap[child], number))
                        return;
                merge->heap[at] = merge->heap[child];
                merge->heap[child] = number;
                at = child;
        }
}

/* Open readers for runs, each with its piece of the memory. */
static int readers_open(struct merge *merge, const struct sorter_run *runs, size_t count)
{
        int err = 1;

        merge->count = 0;
        merge->piece_bytes = merge->sorter->memory_bytes / count;
        for (size_t i = 0; err > 0 && i < count; i++) {
                merge->readers[i] = (struct run_reader){ .at = runs[i].from,
                                                         .to = runs[i].to,
                                                         .piece = merge->sorter->memory +
                                                                  i * merge->piece_bytes };
                err = reader_next(merge, &merge->readers[i]);
                merge->heap[merge->count++] = i;
        }
        for (size_t at = merge->count; at-- > 0;)
                heap_sink(merge, at);
        return err < 0 ? err : 0;
}

/* Merge neighbouring runs, none of which is empty. */
static int runs_merge(struct merge *merge, const struct sorter_run *runs, size_t count)
{
        int err = readers_open(merge, runs, count);

        while (err == 0 && merge->count > 0) {
                struct run_reader *reader = &merge->readers[merge->heap[0]];

                err = line_copy(merge, reader);
                if (err == 0)
                        err = reader_next(merge, reader);
                if (err == 0)
                        merge->heap[0] = merge->heap[--merge->count];
                else if (err > 0)
                        err = 0;
                heap_sink(merge, 0);
        }
        return err;
}

/* Merge groups of runs, and continue with the file of the merged ones. */
static int level_merge(struct merge *merge, size_t group)
{
        struct sorter_file *file = &merge->sorter->file, to;
        int err = file_make(&to, merge->sorter->folder);

        merge->to = &to;
        for (size_t i = 0; err == 0 && i < file->runs_count; i += group) {
                size_t left = file->runs_count - i;
                uint64_t from = to.bytes;

                err = runs_merge(merge, file->runs + i, left < group ? left : group);
                if (err == 0)
                        err = run_end(merge->sorter, &to, from);
        }
        merge->to = NULL;
        if (err < 0) {
                file_drop(&to);
                return err;
        }
        file_drop(file);
        *file = to;
        return 0;
}

static int all_merge(struct merge *merge)
{
        struct ed_merge_sort *sorter = merge->sorter;
        size_t piece =
                sorter->memory_bytes / 16 < PIECE_BYTES_GOOD ? PIECE_BYTES_MIN : PIECE_BYTES_GOOD;
        size_t group = sorter->memory_bytes / piece;
        int err = 0;

        merge->readers = eddy_malloc(group * sizeof(*merge->readers));
        merge->heap = eddy_malloc(group * sizeof(*merge->heap));
        if (!merge->readers || !merge->heap)
                err = -ENOMEM;
        while (err == 0 && sorter->file.runs_count > group)
                err = level_merge(merge, group);
        if (err == 0)
                err = runs_merge(merge, sorter->file.runs, sorter->file.runs_count);
        eddy_free(merge->readers);
        eddy_free(merge->heap);
        return err;
}

/* Output lines that are all in memory. */
static int memory_output(struct merge *merge)
{
        struct ed_merge_sort *sorter = merge->sorter;
        struct ed_pair *entries = entries_of(sorter);
        int err = 0;

        ed_pair_sort(entries, sorter->count);
        for (size_t i = 0; err == 0 && i < sorter->count; i++) {
                uint32_t bytes;
                const char *line = entry_line(sorter, &entries[i], &bytes);

                err = text_add(merge, entries[i].first, line, bytes, true);
        }
        return err;
}

int ed_merge_sort_finish(struct ed_merge_sort *sorter, ed_merge_sort_fn *fn, void *arg,
                         bool *ret_is_disk)
{
        struct merge merge = { .sorter = sorter, .fn = fn, .arg = arg };
        int err;

        if (sorter->file.fd < 0) {
                err = memory_output(&merge);
        } else {
                err = memory_spill(sorter);
                if (err == 0)
                        err = all_merge(&merge);
        }
        *ret_is_disk = err < 0 && !merge.is_output;
        return err;
}
