/*
 * common/output.c - writing result lines to a file or a pipe.
 *
 * A task with a line takes the turn to write, lets all other ready tasks add their lines, and
 * writes all lines together. The other tasks then find their lines written.
 */
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/write_all.h"
#include "eddy/alloc.h"
#include "eddy/time.h"

/* Room for joining lines, to need few calls. A longer line is written from its own memory. */
enum { BATCH_BYTES = 256 << 10 };

#define RESCUE_SUFFIX ".rescued"

/* A line waiting to be written, in its task's frame. */
struct ed_output_line {
        struct ed_output_line *next;
        const char *data;
        size_t bytes;
        uint64_t number;
        eddy_scope shield;
};

/* Record whether the output is a file, and the position of the first line. */
static void file_look(struct ed_output *output, const struct stat *st)
{
        int flags = fcntl(output->fd, F_GETFL);

        output->regular = S_ISREG(st->st_mode);
        if (!output->regular)
                return;
        output->named = st->st_nlink > 0;
        output->start = flags & O_APPEND ? st->st_size : lseek(output->fd, 0, SEEK_CUR);
}

/* Check and empty the opened file. Returns 0 or the exit code. */
static int file_prepare(struct ed_output *output, const struct ed_say *say, bool force)
{
        struct stat st;

        if (fstat(output->fd, &st) < 0)
                goto fail_say;
        if (S_ISDIR(st.st_mode)) {
                errno = EISDIR;
                goto fail_say;
        }
        if (!S_ISREG(st.st_mode))
                return 0;
        if (flock(output->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
                ed_say(say, "-o %s: another eddy is writing to it", output->name);
                return ED_EXIT_BUSY;
        }
        if (fstat(output->fd, &st) < 0)
                goto fail_say;
        if (st.st_size > 0 && !force) {
                ed_say(say,
                       "-o %s: the file is not empty; name a new one (--force discards its "
                       "contents)",
                       output->name);
                return ED_EXIT_USAGE;
        }
        if (st.st_size > 0 && ftruncate(output->fd, 0) < 0)
                goto fail_say;
        st.st_size = 0;
        file_look(output, &st);
        return 0;

fail_say:
        ed_say(say, "-o %s: %s", output->name, strerror(errno));
        return ED_EXIT_OUTPUT;
}

static void output_init(struct ed_output *output, int fd, const char *name)
{
        *output = (struct ed_output){ .fd = fd, .name = name };
        eddy_semaphore_init(&output->turn, 1, EDDY_SEMAPHORE_BOUNDED);
        output->last = &output->first;
}

int ed_output_open(struct ed_output *output, const struct ed_say *say, const char *path, bool force)
{
        struct stat st;
        int err;

        output_init(output, STDOUT_FILENO, "standard output");
        if (!path) {
                if (fstat(output->fd, &st) == 0)
                        file_look(output, &st);
                return 0;
        }
        output->name = path;
        output->own_fd = true;
        output->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
        if (output->fd < 0) {
                ed_say(say, "-o %s: %s", path, strerror(errno));
                return ED_EXIT_OUTPUT;
        }
        err = file_prepare(output, say, force);
        if (err) {
                close(output->fd);
                output->fd = -1;
        }
        return err;
}

int ed_output_adopt(struct ed_output *output, int fd, const char *name)
{
        int flags = fcntl(fd, F_GETFL);
        struct stat st;

        if (flags < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || !(flags & O_APPEND))
                return -EINVAL;
        output_init(output, fd, name);
        output->own_fd = true;
        file_look(output, &st);
        return 0;
}

int ed_output_begin(struct ed_output *output)
{
        output->batch = eddy_malloc(BATCH_BYTES);
        if (!output->batch)
                return -ENOMEM;
        return output->regular ? 0 : eddy_stream_from_fd(output->fd, 0, &output->stream);
}

void ed_output_end(struct ed_output *output)
{
        eddy_free(output->batch);
        output->batch = NULL;
        eddy_stream_close(output->stream);
        output->stream = NULL;
}

static void line_add(struct ed_output *output, struct ed_output_line *line)
{
        line->number = ++output->added;
        *output->last = line;
        output->last = &line->next;
        output->waiting_bytes += line->bytes;
}

static void line_remove(struct ed_output *output, struct ed_output_line *line)
{
        struct ed_output_line **at = &output->first;

        while (*at != line)
                at = &(*at)->next;
        *at = line->next;
        if (!line->next)
                output->last = at;
}

/*
 * Called after a write of which the file took 'put' bytes, of which 'whole' are whole lines. Cuts
 * off the rest, unless other programs have written to the file too, because the end may be theirs.
 */
static void torn_cut(struct ed_output *output, size_t put, size_t whole)
{
        off_t lines_end = output->start + (off_t) (output->bytes + whole);
        off_t end = lines_end + (off_t) (put - whole);
        struct stat st;

        if (put == whole)
                return;
        output->torn = true;
        if (fstat(output->fd, &st) < 0 || st.st_size != end || ftruncate(output->fd, lines_end) < 0)
                return;
        output->torn = false;
        /* Programs that share the file position continue after the last line. */
        (void) lseek(output->fd, lines_end, SEEK_SET);
}

/* Returns the size of the file, or -1. */
static off_t file_size(const struct ed_output *output)
{
        struct stat st;

        return fstat(output->fd, &st) < 0 ? -1 : st.st_size;
}

/* Returns the size that the file has if only this output writes to it. */
static off_t own_end(const struct ed_output *output)
{
        return output->start + (off_t) output->bytes;
}

/* Returns true, after taking note of both sizes, if another program has cut the file to 'size'. */
static bool file_is_cut(struct ed_output *output, off_t size)
{
        if (size < 0 || size >= own_end(output))
                return false;
        output->cut = true;
        output->cut_from = (uint64_t) own_end(output);
        output->cut_to = (uint64_t) size;
        return true;
}

/*
 * If another program has appended bytes, perhaps a line that is not whole, end it, so that the next
 * line is not joined to it.
 */
static void other_line_end(const struct ed_output *output, off_t size)
{
        char last;

        /* Not all outputs are readable. */
        if (size > own_end(output) && pread(output->fd, &last, 1, size - 1) == 1 && last != '\n')
                (void) !ed_write_all(output->fd, "\n", 1);
}

/* Open the file for lines that the output cannot take, and end a line that has no end. */
static int rescue_open(const char *name, off_t *ret_end)
{
        struct stat st;
        char last = '\n';
        int fd = open(name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);

        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
            (st.st_size == 0 || pread(fd, &last, 1, st.st_size - 1) == 1) &&
            (last == '\n' || ed_write_all(fd, "\n", 1) == 0)) {
                *ret_end = st.st_size + (last != '\n');
                return fd;
        }
        close(fd);
        return -EIO;
}

/*
 * The file was cut: continue with another file, under the same descriptor, which another thread may
 * be using.
 */
static void file_rescue(struct ed_output *output)
{
        size_t bytes = strlen(output->name) + sizeof(RESCUE_SUFFIX);
        char *name = output->own_fd ? eddy_malloc(bytes) : NULL;
        off_t end = 0;
        int fd = -ENOMEM;

        if (name) {
                snprintf(name, bytes, "%s%s", output->name, RESCUE_SUFFIX);
                fd = rescue_open(name, &end);
        }
        if (fd < 0 || dup3(fd, output->fd, O_CLOEXEC) < 0) {
                output->err = -ESTALE;
                eddy_free(name);
        } else {
                output->rescue = name;
                output->start = end - (off_t) output->bytes;
                output->cut_lines = output->lines;
        }
        if (fd >= 0)
                close(fd);
}

/* Returns the number of bytes up to the last line feed. */
static size_t lines_whole(const char *data, size_t bytes)
{
        const char *feed = memrchr(data, '\n', bytes);

        return feed ? (size_t) (feed + 1 - data) : 0;
}

/* Write to a file. Returns the bytes of whole lines; if fewer than requested, 'err' is set. */
static size_t file_write(struct ed_output *output, const char *data, size_t bytes)
{
        size_t put = 0, whole;

        while (put < bytes) {
                ssize_t n = write(output->fd, data + put, bytes - put);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        output->err = n < 0 ? -errno : -EIO;
                        break;
                }
                put += (size_t) n;
        }
        whole = lines_whole(data, put);
        torn_cut(output, put, whole);
        return whole;
}

/* Write to a pipe or similar, which may wait. Returns 'bytes', or 0 with 'err' set. */
static size_t stream_write(struct ed_output *output, const char *data, size_t bytes)
{
        int err = eddy_stream_write(output->stream, data, bytes);

        if (err == 0)
                return bytes;
        output->err = err == -ECANCELED ? -ETIMEDOUT : err;
        return 0;
}

/* Count the lines in the first 'bytes' bytes, all that a full disk took. */
static void part_count(struct ed_output *output, const struct ed_output_line *line, size_t bytes)
{
        for (; bytes > 0; line = line->next) {
                bytes -= line->bytes;
                output->number = line->number;
                output->lines++;
        }
}

/*
 * Write the first line and those after it that fit. The caller has the turn. A pipe with room for
 * PIPE_BUF bytes takes them all at once.
 */
static void batch_write(struct ed_output *output)
{
        size_t room = output->regular ? BATCH_BYTES : PIPE_BUF, bytes = 0, count = 0, put;
        const struct ed_output_line *first = output->first, *line;
        const char *data = output->batch;
        off_t size = output->regular ? file_size(output) : -1;
        uint64_t last;

        if (!output->cut && file_is_cut(output, size)) {
                file_rescue(output);
                size = file_size(output);
        }
        if (output->err < 0)
                return;
        other_line_end(output, size);
        while (first->number <= output->number)
                first = first->next; /* its task has not run since it was written */
        last = first->number;
        for (line = first; line && line->bytes <= room - bytes; line = line->next) {
                memcpy(output->batch + bytes, line->data, line->bytes);
                bytes += line->bytes;
                last = line->number;
                count++;
        }
        if (count == 0) {
                data = first->data;
                bytes = first->bytes;
                count = 1;
        }
        put = output->regular ? file_write(output, data, bytes) : stream_write(output, data, bytes);
        output->bytes += put;
        if (put < bytes) {
                part_count(output, first, put);
                return;
        }
        output->waiting_bytes -= bytes;
        output->lines += count;
        output->number = last;
}

/* Returns the first failure. After one of the disk, too, nothing more is written. */
static int failure_of(const struct ed_output *output)
{
        return output->err < 0 ? output->err : output->save_err;
}

int ed_output_line(struct ed_output *output, const char *data, size_t bytes)
{
        struct ed_output_line line = { .data = data, .bytes = bytes };
        int64_t deadline_ns = output->stop_ns ? output->stop_ns : INT64_MAX;

        if (failure_of(output) < 0)
                return failure_of(output);
        line_add(output, &line);
        /* Lines that fill a batch are written while the cache has them. */
        if (output->regular && output->waiting_bytes >= BATCH_BYTES) {
                batch_write(output);
                if (line.number <= output->number) {
                        line_remove(output, &line);
                        return 0;
                }
        }
        eddy_scope_begin(&line.shield, &(struct eddy_scope_opts){ .deadline_ns = deadline_ns,
                                                                  .flags = EDDY_SCOPE_SHIELD });
        if (eddy_semaphore_acquire(&output->turn) == 0) {
                /* Let other tasks add their lines. */
                if (line.number > output->number)
                        (void) eddy_sleep(0);
                if (line.number > output->number && failure_of(output) == 0)
                        batch_write(output);
                line_remove(output, &line);
                eddy_semaphore_release(&output->turn);
        } else {
                line_remove(output, &line);
                if (output->err == 0 && line.number > output->number)
                        output->err = -ETIMEDOUT;
        }
        eddy_scope_end(&line.shield);
        return line.number <= output->number ? 0 : failure_of(output);
}

void ed_output_stop(struct ed_output *output, int64_t deadline_ns)
{
        if (output->stop_ns && output->stop_ns <= deadline_ns)
                return;
        output->stop_ns = deadline_ns;
        for (struct ed_output_line *line = output->first; line; line = line->next)
                eddy_scope_set_deadline(&line->shield, deadline_ns);
}

/* Detect faults that no write reports: a later failure of the disk, or removal of the file. */
static void file_judge(struct ed_output *output, bool sync)
{
        struct stat st;

        output->removed = output->named && fstat(output->fd, &st) == 0 && st.st_nlink == 0;
        /* EINVAL: the file system does not support fsync. After a failure a second fsync would say
         * that all is well. */
        if (sync && output->save_err == 0 && fsync(output->fd) < 0 && errno != EINVAL)
                output->save_err = -errno;
}

void ed_output_close(struct ed_output *output, bool sync)
{
        int fd = output->fd;

        if (output->regular && fd >= 0 && !output->cut)
                (void) file_is_cut(output, file_size(output));
        if (output->regular && output->lines > 0)
                file_judge(output, sync);
        if (!output->own_fd || fd < 0)
                return;
        output->fd = -1;
        if (close(fd) < 0 && output->save_err == 0)
                output->save_err = -errno;
}

void ed_output_fini(struct ed_output *output)
{
        eddy_free(output->rescue);
        output->rescue = NULL;
}

void ed_output_say_cut(const struct ed_output *output, const struct ed_say *say)
{
        uint64_t rescued = output->rescue ? output->lines - output->cut_lines : 0;

        if (rescued > 0)
                ed_say(say,
                       "%s had %" PRIu64 " bytes and now has %" PRIu64
                       ": another program has cut it; %" PRIu64 " line%s that came after "
                       "that %s in %s: put the lost lines back, and append these",
                       output->name, output->cut_from, output->cut_to, rescued,
                       rescued == 1 ? "" : "s", rescued == 1 ? "is" : "are", output->rescue);
        else
                ed_say(say,
                       "%s had %" PRIu64 " bytes and now has %" PRIu64
                       ": another program has cut it; put the lost lines back",
                       output->name, output->cut_from, output->cut_to);
}
