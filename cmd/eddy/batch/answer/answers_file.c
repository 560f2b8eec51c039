/*
 * batch/answer/answers_file.c - reading a file of answers line by line, and replacing it by one
 * without some of its lines.
 *
 * A replaced file is written under another name and synced before it gets the file's name. At every
 * moment the name refers to a whole file, the old one or the new one, and to a locked one.
 */
#include "batch/answer/answers_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/answer/answer_line.h"
#include "common/draft.h"
#include "common/exit.h"
#include "common/reading.h"
#include "common/write_all.h"
#include "eddy/alloc.h"

#define TEMP_SUFFIX     ".rewrite"
#define REJECTED_SUFFIX ".rejected"

enum {
        READ_BYTES = 256 << 10,
        COPY_BYTES = 64 << 10,
        NAME_BYTES = PATH_MAX + 16,
        HEAD_BYTES = 4096,
        SECTOR_BYTES = 512,
        OPENS_MAX = 16, /* while other programs replace the file */
};

/* --- lines of a file --- */

struct line_scan {
        int fd;
        uint64_t end;    /* of the file, when the scan began */
        uint64_t offset; /* of 'data' in the file */
        uint64_t tail;   /* after the last line: where bytes without a line feed begin */
        char *data;
        size_t at; /* of the next line in 'data' */
        size_t bytes, room;
        struct ed_reading reading;
};

struct scan_line {
        const char *data; /* without the line feed; NULL: longer than ED_DRAFT_BYTES_MAX */
        size_t bytes;
        uint64_t offset;
        uint64_t next; /* after the line feed */
};

static int line_scan_begin(struct line_scan *scan, const struct ed_answers_file *answers)
{
        struct stat st;

        *scan = (struct line_scan){ .fd = answers->fd, .room = READ_BYTES };
        if (fstat(scan->fd, &st) < 0)
                return -errno;
        scan->end = (uint64_t) st.st_size;
        ed_reading_begin(&scan->reading, answers->path, scan->end);
        scan->data = eddy_malloc(scan->room);
        return scan->data ? 0 : -ENOMEM;
}

static void line_scan_end(struct line_scan *scan)
{
        ed_reading_end();
        eddy_free(scan->data);
}

/* Read more of the file, after the bytes that are not taken yet. */
static int line_scan_fill(struct line_scan *scan)
{
        uint64_t left;
        ssize_t n;

        if (scan->at > 0) {
                scan->bytes -= scan->at;
                scan->offset += scan->at;
                memmove(scan->data, scan->data + scan->at, scan->bytes);
                scan->at = 0;
        }
        if (scan->bytes == scan->room) {
                char *data = eddy_realloc(scan->data, scan->room * 2);

                if (!data)
                        return -ENOMEM;
                scan->data = data;
                scan->room *= 2;
        }
        left = scan->end - scan->offset - scan->bytes;
        if (left > scan->room - scan->bytes)
                left = scan->room - scan->bytes;
        do
                n = pread(scan->fd, scan->data + scan->bytes, (size_t) left,
                          (off_t) (scan->offset + scan->bytes));
        while (n < 0 && errno == EINTR);
        if (n <= 0)
                return n < 0 ? -errno : -EIO; /* the file became shorter */
        scan->bytes += (size_t) n;
        ed_reading_at(&scan->reading, scan->offset + scan->bytes);
        return 0;
}

/* Find the next line, which is valid until the next call. Returns 1, 0 at the end, or an error. */
static int line_scan_next(struct line_scan *scan, struct scan_line *ret_line)
{
        uint64_t start = scan->offset + scan->at;
        size_t searched = 0; /* bytes without a line feed */
        bool is_too_long = false;
        int err;

        for (;;) {
                const char *line = scan->data + scan->at;
                const char *feed = memchr(line + searched, '\n', scan->bytes - scan->at - searched);

                if (feed) {
                        scan->at = (size_t) (feed + 1 - scan->data);
                        *ret_line = (struct scan_line){ .data = is_too_long ? NULL : line,
                                                        .bytes = (size_t) (feed - line),
                                                        .offset = start,
                                                        .next = scan->offset + scan->at };
                        return 1;
                }
                searched = scan->bytes - scan->at;
                if (scan->offset + scan->bytes >= scan->end) {
                        scan->tail = start;
                        return 0;
                }
                if (searched >= ED_DRAFT_BYTES_MAX) {
                        is_too_long = true;
                        scan->at = scan->bytes;
                        searched = 0;
                }
                err = line_scan_fill(scan);
                if (err < 0)
                        return err;
        }
}

/* After the last line: find the bytes that have no line feed. Returns false if there are none. */
static bool line_scan_rest(const struct line_scan *scan, struct scan_line *ret_line)
{
        uint64_t at = scan->offset + scan->at;

        if (scan->tail == scan->end)
                return false;
        *ret_line = (struct scan_line){ .data = at == scan->tail ? scan->data + scan->at : NULL,
                                        .bytes = (size_t) (scan->end - scan->tail),
                                        .offset = scan->tail,
                                        .next = scan->end };
        return true;
}

/* --- replacing the file --- */

struct rewrite {
        struct ed_answers_file *answers;
        int fd;            /* of the new file; -1: not begun */
        bool done;         /* the new file has the name */
        uint64_t from, to; /* kept lines that are not copied yet */
        char real[PATH_MAX];
        char temp[NAME_BYTES];
        char buf[COPY_BYTES];
};

/* Append a part of one file to another. */
static int range_copy(int from_fd, uint64_t from, uint64_t to, int to_fd, char buf[COPY_BYTES])
{
        while (from < to) {
                size_t bytes = to - from < COPY_BYTES ? (size_t) (to - from) : COPY_BYTES;
                ssize_t n = pread(from_fd, buf, bytes, (off_t) from);
                int err;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : -EIO;
                err = ed_write_all(to_fd, buf, (size_t) n);
                if (err < 0)
                        return err;
                from += (uint64_t) n;
        }
        return 0;
}

/* A file system without fsync returns EINVAL; the disk has not failed then. */
static int file_sync(int fd)
{
        return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Sync the file's folder, so that its name survives a crash of the system. */
static int folder_sync(char *real)
{
        char *slash = strrchr(real, '/');
        int fd, err;

        slash[slash == real] = '\0';
        fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return errno == EACCES ? 0 : -errno; /* a folder that may be written only */
        err = file_sync(fd);
        close(fd);
        return err;
}

/* Put a file's name on the disk. */
static int name_sync(const char *path)
{
        char *real = realpath(path, NULL);
        int err;

        if (!real)
                return -errno;
        err = folder_sync(real);
        free(real);
        return err;
}

static void rewrite_init(struct rewrite *rewrite, struct ed_answers_file *answers)
{
        rewrite->answers = answers;
        rewrite->fd = -1;
        rewrite->done = false;
        rewrite->from = 0;
        rewrite->to = 0;
}

/* Find the name without symbolic links. Errors: -ENOENT  it is not that of the file any more */
static int name_find(const struct ed_answers_file *answers, char real[PATH_MAX],
                     struct stat *ret_st)
{
        struct stat named;

        if (fstat(answers->fd, ret_st) < 0 || !realpath(answers->path, real) ||
            stat(real, &named) < 0)
                return -errno;
        return is_same_file(ret_st, &named) ? 0 : -ENOENT;
}

/* Make the new file, beside the old one, and lock it. Symbolic links are followed, so they stay. */
static int rewrite_begin(struct rewrite *rewrite)
{
        struct stat old;
        int err = name_find(rewrite->answers, rewrite->real, &old);

        if (err < 0)
                return err;
        snprintf(rewrite->temp, sizeof(rewrite->temp), "%s%s", rewrite->real, TEMP_SUFFIX);
        /* The lock on the old file says that a file of this name is left from a killed run. */
        if (unlink(rewrite->temp) < 0 && errno != ENOENT)
                return -errno;
        rewrite->fd = open(rewrite->temp,
                           O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (rewrite->fd < 0)
                return -errno;
        /* Only the administrator may give a file to others. */
        if (fchown(rewrite->fd, old.st_uid, old.st_gid) < 0 && errno != EPERM)
                goto fail_remove;
        if (fchmod(rewrite->fd, old.st_mode & 0777) < 0)
                goto fail_remove;
        if (flock(rewrite->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
                goto fail_remove;
        return 0;

fail_remove:
        err = -errno;
        close(rewrite->fd);
        rewrite->fd = -1;
        unlink(rewrite->temp);
        return err;
}

static int rewrite_flush(struct rewrite *rewrite)
{
        int err = range_copy(rewrite->answers->fd, rewrite->from, rewrite->to, rewrite->fd,
                             rewrite->buf);

        rewrite->from = rewrite->to;
        return err;
}

static int rewrite_keep(struct rewrite *rewrite, const struct scan_line *line)
{
        int err = 0;

        if (rewrite->to != line->offset) {
                err = rewrite_flush(rewrite);
                rewrite->from = line->offset;
        }
        rewrite->to = line->next;
        return err;
}

static void rewrite_abandon(struct rewrite *rewrite)
{
        if (rewrite->fd < 0)
                return;
        close(rewrite->fd);
        rewrite->fd = -1;
        unlink(rewrite->temp);
}

/* Copy what other programs have appended to the file since it was read, and sync the new file. */
static int rewrite_sync(struct rewrite *rewrite, uint64_t end)
{
        struct stat st;
        int err;

        for (;;) {
                err = file_sync(rewrite->fd);
                if (err == 0 && fstat(rewrite->answers->fd, &st) < 0)
                        err = -errno;
                if (err < 0 || (uint64_t) st.st_size <= end)
                        return err;
                err = range_copy(rewrite->answers->fd, end, (uint64_t) st.st_size, rewrite->fd,
                                 rewrite->buf);
                if (err < 0)
                        return err;
                end = (uint64_t) st.st_size;
        }
}

/* Give the new file the name, and continue with it. 'end' is that of the file when it was read. */
static int rewrite_commit(struct rewrite *rewrite, uint64_t end)
{
        struct ed_answers_file *answers = rewrite->answers;
        struct stat st;
        int err = rewrite_flush(rewrite);

        if (err == 0)
                err = rewrite_sync(rewrite, end);
        if (err == 0 && (fstat(rewrite->fd, &st) < 0 || rename(rewrite->temp, rewrite->real) < 0))
                err = -errno;
        if (err < 0) {
                rewrite_abandon(rewrite);
                return err;
        }
        close(answers->fd);
        answers->fd = rewrite->fd;
        answers->bytes = (uint64_t) st.st_size;
        rewrite->fd = -1;
        rewrite->done = true;
        return folder_sync(rewrite->real);
}

/* --- moving lines that are not answers --- */

struct repair {
        struct rewrite rewrite;
        int rejected_fd;    /* -1: not open */
        off_t rejected_end; /* before the repair */
        bool moves;         /* the failure is that of the file of rejected lines */
        bool ends;          /* the last line is whole, but for its line feed */
        uint64_t lines, rejected, torn;
        ed_answers_file_take_fn *take; /* NULL: none */
        void *arg;
        char rejected_name[NAME_BYTES];
        char id_room[ED_ANSWER_ID_ROOM];
};

static bool line_is_answer(const struct scan_line *line, char id_room[ED_ANSWER_ID_ROOM])
{
        struct ed_answer_seen seen;

        return line->data && ed_answer_read(line->data, line->bytes, id_room, &seen) == 0;
}

/* Take an answer. Returns true for it, and for a line without a text, which stays too. */
static bool line_stays(struct repair *repair, const struct scan_line *line)
{
        struct ed_answer_seen seen;

        if (!line->data)
                return false;
        if (ed_answer_read(line->data, line->bytes, repair->id_room, &seen) < 0)
                return ed_answer_is_blank(line->data, line->bytes);
        if (repair->take)
                repair->take(repair->arg, &seen);
        return true;
}

/* Open the file of rejected lines, and end a line that a killed run left without its end. */
static int rejected_open(struct repair *repair)
{
        struct stat st;
        char last = '\n';

        snprintf(repair->rejected_name, sizeof(repair->rejected_name), "%s%s",
                 repair->rewrite.answers->path, REJECTED_SUFFIX);
        repair->rejected_fd =
                open(repair->rejected_name,
                     O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
        if (repair->rejected_fd < 0 || fstat(repair->rejected_fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return -EEXIST;
        repair->rejected_end = st.st_size;
        if (st.st_size > 0 && pread(repair->rejected_fd, &last, 1, st.st_size - 1) < 0)
                return -errno;
        return last == '\n' ? 0 : ed_write_all(repair->rejected_fd, "\n", 1);
}

/* Take back what was moved. */
static void rejected_restore(struct repair *repair)
{
        if (repair->rewrite.done || repair->rejected_fd < 0)
                return;
        /* After a failure here the next run moves the lines again. */
        (void) !ftruncate(repair->rejected_fd, repair->rejected_end);
}

/* Append a line to the file of rejected lines. */
static int rejected_add(struct repair *repair, const struct scan_line *line)
{
        int err = 0;

        repair->moves = true;
        if (repair->rejected_fd < 0)
                err = rejected_open(repair);
        if (err == 0)
                err = range_copy(repair->rewrite.answers->fd, line->offset, line->next,
                                 repair->rejected_fd, repair->rewrite.buf);
        if (err == 0)
                repair->moves = false;
        return err;
}

static int line_move(struct repair *repair, const struct scan_line *line)
{
        int err = repair->rewrite.fd < 0 ? rewrite_begin(&repair->rewrite) : 0;

        if (err == 0)
                err = rejected_add(repair, line);
        if (err < 0)
                return err;
        repair->rejected++;
        return rewrite_flush(&repair->rewrite);
}

/* The last line has no line feed: it gets one if it is whole, else it is moved with one. */
static int rest_repair(struct repair *repair, const struct line_scan *scan)
{
        struct scan_line rest;
        int err;

        if (!line_scan_rest(scan, &rest))
                return 0;
        repair->lines++;
        repair->ends = line_stays(repair, &rest);
        if (repair->ends)
                return rewrite_keep(&repair->rewrite, &rest);
        repair->torn = rest.bytes;
        err = rejected_add(repair, &rest);
        repair->moves = true;
        if (err == 0)
                err = ed_write_all(repair->rejected_fd, "\n", 1);
        if (err == 0)
                repair->moves = false;
        return err;
}

/* The rejected lines must be on the disk before they are removed. */
static int rejected_sync(struct repair *repair)
{
        int err = 0;

        if (repair->rejected_fd < 0)
                return 0;
        repair->moves = true;
        err = file_sync(repair->rejected_fd);
        if (err == 0)
                err = name_sync(repair->rejected_name);
        if (err == 0)
                repair->moves = false;
        return err;
}

/* Remove the rejected lines, and end the last line. */
static int repair_finish(struct repair *repair, const struct line_scan *scan)
{
        struct ed_answers_file *answers = repair->rewrite.answers;
        int err = rejected_sync(repair);

        if (err == 0 && repair->rewrite.fd >= 0) {
                err = rewrite_flush(&repair->rewrite);
                if (err == 0 && repair->ends)
                        err = ed_write_all(repair->rewrite.fd, "\n", 1);
                return err == 0 ? rewrite_commit(&repair->rewrite, scan->end) : err;
        }
        answers->bytes = repair->torn > 0 ? scan->tail : scan->end + repair->ends;
        if (err == 0 && repair->ends)
                err = ed_write_all(answers->fd, "\n", 1);
        if (err == 0 && repair->torn > 0 && ftruncate(answers->fd, (off_t) scan->tail) < 0)
                err = -errno;
        return err;
}

static int lines_repair(struct repair *repair)
{
        struct scan_line line;
        struct line_scan scan;
        int err = line_scan_begin(&scan, repair->rewrite.answers);

        if (err < 0)
                return err;
        while (err == 0 && (err = line_scan_next(&scan, &line)) > 0) {
                repair->lines++;
                err = line_stays(repair, &line) ? rewrite_keep(&repair->rewrite, &line)
                                                : line_move(repair, &line);
        }
        if (err == 0)
                err = rest_repair(repair, &scan);
        if (err == 0)
                err = repair_finish(repair, &scan);
        line_scan_end(&scan);
        return err;
}

static bool is_text(const char *data, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++)
                if ((unsigned char) data[i] < ' ' && data[i] != '\0' && data[i] != '\n')
                        return false;
        return true;
}

/*
 * Returns true if a file without an answer begins as an output does: it is blank, or begins with a
 * line of eddy. A system that crashed may leave zeros instead of the first sectors.
 */
static bool head_is_ours(const char *head, size_t bytes)
{
        static const char begin[] = "{\"id\":\"batch_req_";
        size_t zeros = 0, blank, left;

        while (zeros < bytes && head[zeros] == '\0')
                zeros++;
        blank = zeros;
        while (blank < bytes && strchr(" \t\r\n", head[blank])) /* and zeros */
                blank++;
        left = bytes - blank < sizeof(begin) - 1 ? bytes - blank : sizeof(begin) - 1;
        return memcmp(head + blank, begin, left) == 0 ||
               (zeros >= SECTOR_BYTES && is_text(head + zeros, bytes - zeros));
}

/*
 * Returns 0 if the file is not an output, as its lines are not answers: then it is not changed.
 * Returns 1 if it has an answer, or begins as an output does.
 */
static int file_is_ours(const struct ed_answers_file *answers, char id_room[ED_ANSWER_ID_ROOM])
{
        struct scan_line line;
        struct line_scan scan;
        int err = line_scan_begin(&scan, answers), ours = 1;

        if (err == 0 && scan.end > 0) {
                err = line_scan_fill(&scan);
                ours = head_is_ours(scan.data, scan.bytes < HEAD_BYTES ? scan.bytes : HEAD_BYTES);
        }
        while (err == 0 && !ours && (err = line_scan_next(&scan, &line)) > 0) {
                ours = line_is_answer(&line, id_room);
                err = 0;
        }
        if (err == 0 && !ours && line_scan_rest(&scan, &line))
                ours = line_is_answer(&line, id_room);
        line_scan_end(&scan);
        return err < 0 ? err : ours;
}

static void repair_fault_say(const struct repair *repair, const struct ed_say *say,
                             const char *option, int err)
{
        const char *path = repair->rewrite.answers->path;
        bool is_readonly = err == -EACCES || err == -EPERM || err == -EROFS;

        if (repair->moves)
                ed_say(say,
                       "%s %s: line %" PRIu64 " is not an answer, and cannot be moved to %s%s: %s",
                       option, path, repair->lines, path, REJECTED_SUFFIX, strerror(-err));
        else if (is_readonly)
                ed_say(say,
                       "%s %s: line %" PRIu64
                       " is not an answer, and a file without it cannot be written beside "
                       "it: %s; make the folder writable, or move the file to another one",
                       option, path, repair->lines, strerror(-err));
        else
                ed_say(say, "%s %s: %s", option, path, strerror(-err));
}

/* Repair the opened file. Returns 0 or the exit code. */
static int file_repair(struct ed_answers_file *answers, const struct ed_say *say,
                       const char *option, struct ed_answers_file_found *found,
                       ed_answers_file_take_fn *take, void *arg)
{
        struct repair *repair = eddy_malloc(sizeof(*repair));
        int ours, err = -ENOMEM;

        if (!repair) {
                ed_say(say, "%s %s: %s", option, answers->path, strerror(-err));
                return ED_EXIT_OUTPUT;
        }
        rewrite_init(&repair->rewrite, answers);
        repair->take = take;
        repair->arg = arg;
        repair->rejected_fd = -1;
        repair->moves = repair->ends = false;
        repair->lines = repair->rejected = repair->torn = 0;
        ours = file_is_ours(answers, repair->id_room);
        if (ours == 0) {
                ed_say(say,
                       "%s %s: the file has no answer, but other contents; name another "
                       "file, or remove it",
                       option, answers->path);
                eddy_free(repair);
                return ED_EXIT_USAGE;
        }
        err = ours < 0 ? ours : lines_repair(repair);
        /* Nothing is written before this is on the disk: the end that was cut off could come back in a
         * crash, and become a line together with a part of the next one. */
        if (err == 0)
                err = file_sync(answers->fd);
        if (err < 0) {
                repair_fault_say(repair, say, option, err);
                rejected_restore(repair);
        } else {
                found->torn += repair->torn;
                found->rejected += repair->rejected;
                found->ended |= repair->ends;
        }
        rewrite_abandon(&repair->rewrite);
        if (repair->rejected_fd >= 0)
                close(repair->rejected_fd);
        eddy_free(repair);
        return err < 0 ? ED_EXIT_OUTPUT : 0;
}

/* --- the interface --- */

enum opened { OPENED, OPENED_REPLACED, OPENED_LOCKED, OPENED_OTHER, OPENED_FAILED };

/* Open the file and lock it. Another run may replace it between the two. */
static enum opened file_lock(struct ed_answers_file *answers)
{
        struct stat st, named;
        int err;

        if (stat(answers->path, &st) == 0 && !S_ISREG(st.st_mode))
                return OPENED_OTHER;
        answers->fd = open(answers->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
        if (answers->fd < 0 || fstat(answers->fd, &st) < 0)
                return OPENED_FAILED;
        if (!S_ISREG(st.st_mode))
                return OPENED_OTHER;
        if (flock(answers->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
                return OPENED_LOCKED;
        if (stat(answers->path, &named) < 0 || !is_same_file(&st, &named))
                return OPENED_REPLACED;
        /* The name is new, or a killed run had just replaced the file. */
        err = name_sync(answers->path);
        errno = -err;
        return err < 0 ? OPENED_FAILED : OPENED;
}

int ed_answers_file_open(struct ed_answers_file *answers, const struct ed_say *say,
                         const char *option, const char *path, struct ed_answers_file_found *found,
                         ed_answers_file_take_fn *take, void *arg)
{
        enum opened opened = OPENED_REPLACED;
        int code = ED_EXIT_OUTPUT;

        *answers = (struct ed_answers_file){ .fd = -1, .path = path };
        for (int i = 0; i < OPENS_MAX && opened == OPENED_REPLACED; i++) {
                ed_answers_file_close(answers);
                opened = file_lock(answers);
        }
        switch (opened) {
        case OPENED:
                code = file_repair(answers, say, option, found, take, arg);
                break;
        case OPENED_REPLACED:
        case OPENED_LOCKED:
                ed_say(say, "%s %s: another eddy is writing to it", option, path);
                code = ED_EXIT_BUSY;
                break;
        case OPENED_OTHER:
                ed_say(say, "%s %s: %s needs a regular file, because it is the checkpoint", option,
                       path, option);
                code = ED_EXIT_USAGE;
                break;
        case OPENED_FAILED:
                ed_say(say, "%s %s: %s", option, path, strerror(errno));
                break;
        }
        if (code != 0)
                ed_answers_file_close(answers);
        return code;
}

int ed_answers_file_each(const struct ed_answers_file *answers, ed_answers_file_fn *fn, void *arg)
{
        char id_room[ED_ANSWER_ID_ROOM];
        struct scan_line line;
        struct line_scan scan;
        int err = line_scan_begin(&scan, answers);

        if (err < 0)
                return err;
        while (err == 0 && (err = line_scan_next(&scan, &line)) > 0)
                err = line.data ? fn(arg, line.data, line.bytes) : -EMSGSIZE;
        if (err == 0 && line_scan_rest(&scan, &line) && line_is_answer(&line, id_room))
                err = fn(arg, line.data, line.bytes);
        line_scan_end(&scan);
        return err;
}

/* Copy a line to keep, once there is one after a line to remove. */
static int filter_keep(struct rewrite *rewrite, const struct scan_line *line, uint64_t removed)
{
        int err = rewrite->fd < 0 && removed > 0 ? rewrite_begin(rewrite) : 0;

        return err == 0 ? rewrite_keep(rewrite, line) : err;
}

/* Copy the lines to keep, and bytes after them that another program may still be writing. */
static int lines_filter(struct rewrite *rewrite, ed_answers_file_keep_fn *keep, void *arg,
                        uint64_t *removed, uint64_t *ret_end)
{
        struct scan_line line;
        struct line_scan scan;
        int err = line_scan_begin(&scan, rewrite->answers);

        if (err < 0)
                return err;
        while (err == 0 && (err = line_scan_next(&scan, &line)) > 0) {
                err = 0;
                if (line.data && !keep(arg, line.data, line.bytes))
                        ++*removed;
                else
                        err = filter_keep(rewrite, &line, *removed);
        }
        if (err == 0 && line_scan_rest(&scan, &line))
                err = filter_keep(rewrite, &line, *removed);
        *ret_end = scan.end;
        line_scan_end(&scan);
        return err;
}

/* All lines to remove are at the end. This also works on a full disk. */
static int end_cut(struct rewrite *rewrite)
{
        struct ed_answers_file *answers = rewrite->answers;
        struct stat st;
        int err = name_find(answers, rewrite->real, &st);

        if (err < 0)
                return err;
        if (ftruncate(answers->fd, (off_t) rewrite->to) < 0)
                return -errno;
        answers->bytes = rewrite->to;
        return file_sync(answers->fd);
}

int ed_answers_file_prune(struct ed_answers_file *answers, ed_answers_file_keep_fn *keep, void *arg,
                          uint64_t *ret_removed)
{
        struct rewrite *rewrite = eddy_malloc(sizeof(*rewrite));
        uint64_t removed = 0, end;
        int err;

        if (!rewrite)
                return -ENOMEM;
        rewrite_init(rewrite, answers);
        err = lines_filter(rewrite, keep, arg, &removed, &end);
        if (err == 0 && removed > 0)
                err = rewrite->fd < 0 ? end_cut(rewrite) : rewrite_commit(rewrite, end);
        rewrite_abandon(rewrite);
        eddy_free(rewrite);
        if (err == 0 && ret_removed)
                *ret_removed = removed;
        return err;
}

/* Append a line to another file. With 'no_error', an error of it becomes null. */
static int line_append(const struct ed_answers_file *answers, const struct scan_line *line,
                       int to_fd, bool no_error, char buf[COPY_BYTES])
{
        static const char null[] = "null";
        struct ed_answer_seen seen;
        uint64_t begin;
        int err;

        /* The buffer has room for the id, which is not used. */
        if (!no_error || ed_answer_read(line->data, line->bytes, buf, &seen) < 0 || !seen.has_fault)
                return range_copy(answers->fd, line->offset, line->next, to_fd, buf);
        begin = line->offset + (uint64_t) (seen.fault.text - line->data);
        err = range_copy(answers->fd, line->offset, begin, to_fd, buf);
        if (err == 0)
                err = ed_write_all(to_fd, null, sizeof(null) - 1);
        return err < 0 ? err
                       : range_copy(answers->fd, begin + seen.fault.bytes, line->next, to_fd, buf);
}

/* Append the lines that are not kept to another file, and sync it. */
static int lines_append(const struct ed_answers_file *answers, int to_fd, bool no_error,
                        ed_answers_file_keep_fn *keep, void *arg)
{
        char *buf = eddy_malloc(COPY_BYTES);
        struct scan_line line;
        struct line_scan scan;
        int err = line_scan_begin(&scan, answers);

        if (err == 0 && !buf)
                err = -ENOMEM;
        while (err == 0 && (err = line_scan_next(&scan, &line)) > 0) {
                err = 0;
                if (line.data && !keep(arg, line.data, line.bytes))
                        err = line_append(answers, &line, to_fd, no_error, buf);
        }
        line_scan_end(&scan);
        eddy_free(buf);
        return err == 0 ? file_sync(to_fd) : err;
}

int ed_answers_file_move(struct ed_answers_file *from, struct ed_answers_file *to, bool no_error,
                         ed_answers_file_keep_fn *keep, void *arg, uint64_t *ret_moved)
{
        uint64_t from_bytes;
        struct stat before, st;
        int err;

        if (fstat(from->fd, &st) < 0 || fstat(to->fd, &before) < 0)
                return -errno;
        from_bytes = from->bytes = (uint64_t) st.st_size;
        err = lines_append(from, to->fd, no_error, keep, arg);
        if (err == 0)
                err = ed_answers_file_prune(from, keep, arg, ret_moved);
        if (err < 0 && from->bytes == from_bytes) {
                /* The lines are still in their file. After a failure here they are in both. */
                (void) !ftruncate(to->fd, before.st_size);
                return err;
        }
        if (fstat(to->fd, &st) == 0)
                to->bytes = (uint64_t) st.st_size;
        return err;
}

int ed_answers_file_sync(const struct ed_answers_file *answers)
{
        return file_sync(answers->fd);
}

enum ed_answers_file_place ed_answers_file_place(const struct ed_answers_file *answers)
{
        struct stat st, named;

        if (fstat(answers->fd, &st) < 0 || st.st_nlink == 0)
                return ED_ANSWERS_FILE_GONE;
        if (stat(answers->path, &named) == 0 && is_same_file(&st, &named))
                return ED_ANSWERS_FILE_HERE;
        return ED_ANSWERS_FILE_MOVED;
}

void ed_answers_file_close(struct ed_answers_file *answers)
{
        if (answers->fd >= 0)
                close(answers->fd);
        answers->fd = -1;
}
