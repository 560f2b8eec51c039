/*
 * test_output.c - result lines: how many writes they take, what a disk that is
 * full at any byte leaves of them, and what is found when a file is closed.
 *
 * The program is linked so that its calls of write(), fsync() and close() come
 * here first.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/console.h"
#include "common/output.h"
#include "eddy/run.h"
#include "eddy/scope.h"
#include "eddy/stream.h"
#include "eddy/time.h"

enum { TASKS_MAX = 300, LINE_MAX_BYTES = 300 << 10, FILE_MAX_BYTES = 4 << 20 };

/* --- the calls of the system --- */

static int watched_fd = -1; /* whose writes are counted */
static int writes;
static size_t write_most;  /* the largest */
static bool write_is_torn; /* one did not end with a line feed */
static int fsync_errno, close_errno;

ssize_t __real_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_close(int fd);
int __wrap_close(int fd);

ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
        if (fd == watched_fd) {
                writes++;
                write_most = bytes > write_most ? bytes : write_most;
                write_is_torn |= ((const char *) data)[bytes - 1] != '\n';
        }
        return __real_write(fd, data, bytes);
}

int __wrap_fsync(int fd)
{
        errno = fsync_errno;
        return fsync_errno ? -1 : __real_fsync(fd);
}

int __wrap_close(int fd)
{
        int result = __real_close(fd);

        if (fd != watched_fd || !close_errno)
                return result;
        errno = close_errno;
        return -1;
}

/* --- tasks with lines --- */

static struct ed_output output;
static char folder[] = "/tmp/eddy-output-XXXXXX";
static char path[64], other_path[64];

struct writer {
        int number;
        int lines;
        size_t bytes; /* of each line */
        int written;
        int result; /* of the last line */
};

static struct writer writers[TASKS_MAX];
static int writers_count;

static void line_fill(char *line, const struct writer *writer, int number)
{
        int n = snprintf(line, 32, "%d.%d ", writer->number, number);

        memset(line + n, 'x', writer->bytes - (size_t) n - 1);
        line[writer->bytes - 1] = '\n';
}

static int write_lines(void *arg)
{
        struct writer *writer = arg;
        char *line = malloc(writer->bytes + 32);

        for (int i = 0; i < writer->lines; i++) {
                line_fill(line, writer, i);
                writer->result = ed_output_line(&output, line, writer->bytes);
                if (writer->result < 0)
                        break;
                writer->written++;
        }
        free(line);
        return 0;
}

static int write_all(void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(ed_output_begin(&output), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < writers_count; i++)
                eddy_scope_start(&scope, write_lines, &writers[i]);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        ed_output_end(&output);
        return 0;
}

static void writers_set(int count, int lines, size_t bytes)
{
        writers_count = count;
        for (int i = 0; i < count; i++)
                writers[i] = (struct writer){ .number = i, .lines = lines, .bytes = bytes };
}

static int written(void)
{
        int sum = 0;

        for (int i = 0; i < writers_count; i++)
                sum += writers[i].written;
        return sum;
}

/* --- files --- */

static void files_remove(void)
{
        unlink(path);
        unlink(other_path);
        rmdir(folder);
}

static void folder_make(void)
{
        CHECK(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/out", folder);
        snprintf(other_path, sizeof(other_path), "%s/other", folder);
        atexit(files_remove);
}

static void run(void)
{
        watched_fd = output.fd;
        writes = 0;
        write_most = 0;
        CHECK_EQ(eddy_run(write_all, NULL, NULL), 0);
}

static size_t file_read(const char *from, char *data)
{
        int fd = open(from, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, data, FILE_MAX_BYTES);

        CHECK(n >= 0 && n < FILE_MAX_BYTES);
        if (fd >= 0)
                close(fd);
        data[n] = '\0';
        return (size_t) n;
}

static int lines_in(const char *data, size_t bytes)
{
        int lines = 0;

        CHECK(bytes == 0 || data[bytes - 1] == '\n');
        for (size_t i = 0; i < bytes; i++)
                lines += data[i] == '\n';
        return lines;
}

TEST_ROOM(char, data, FILE_MAX_BYTES);

TEST(lines_of_one_turn_are_one_write)
{
        const struct ed_say say = ed_console_voice("test");
        folder_make();
        CHECK_EQ(ed_output_open(&output, &say, path, false), 0);
        writers_set(100, 3, 130);
        run();
        CHECK_EQ(writes, 3);
        ed_output_close(&output, true);
        CHECK_EQ(lines_in(data, file_read(path, data)), 300);
        CHECK_EQ(output.lines, 300);
        CHECK_EQ(output.bytes, 300 * 130);
        CHECK(!output.torn && !output.removed && output.save_err == 0);
        /* In the order in which they were handed over. */
        for (int i = 0; i < 100; i++)
                CHECK_EQ(strtol(data + i * 130, NULL, 10), i);
}

TEST(line_that_comes_alone_is_written_before_the_call_returns)
{
        const struct ed_say say = ed_console_voice("test");
        folder_make();
        CHECK_EQ(ed_output_open(&output, &say, path, false), 0);
        writers_set(1, 5, 100);
        run();
        CHECK_EQ(writes, 5);
        CHECK_EQ(lines_in(data, file_read(path, data)), 5);
        ed_output_close(&output, false);
}

TEST(lines_without_end_need_bounded_memory)
{
        const struct ed_say say = ed_console_voice("test");
        folder_make();
        CHECK_EQ(ed_output_open(&output, &say, path, false), 0);
        writers_set(200, 2, 5000);
        writers[7].bytes = LINE_MAX_BYTES;
        run();
        CHECK(!write_is_torn);
        CHECK_EQ(write_most, LINE_MAX_BYTES);
        CHECK(writes >= 2 * 199 * 5000 / (256 << 10) && writes < 50);
        CHECK_EQ(lines_in(data, file_read(path, data)), 400);
        ed_output_close(&output, false);
}

/* --- pipes --- */

static int pipe_fds[2];

static void pipe_make(void)
{
        const struct ed_say say = ed_console_voice("test");
        CHECK_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
        CHECK_EQ(ed_output_open(&output, &say, NULL, false), 0);
        output.fd = pipe_fds[1];
        output.regular = false;
}

TEST(pipe_gets_whole_lines_of_at_most_pipe_buf_bytes)
{
        pipe_make();
        writers_set(100, 3, 130);
        run();
        CHECK(!write_is_torn);
        CHECK(write_most <= PIPE_BUF && write_most > PIPE_BUF - 130);
        CHECK(writes <= 3 * 100 * 130 / (PIPE_BUF - 130) + 3);
        CHECK_EQ(written(), 300);
        close(pipe_fds[1]);
        CHECK_EQ(lines_in(data, (size_t) read(pipe_fds[0], data, FILE_MAX_BYTES)), 300);
}

static int64_t stop_ns;

/* Stops 'stop_ns' after the first line is written, however slow the machine is. */
static int stop_soon(void *arg)
{
        (void) arg;
        while (output.lines == 0)
                if (eddy_sleep(0) < 0)
                        return 0;
        if (eddy_sleep(stop_ns) == 0)
                ed_output_stop(&output, eddy_now() + EDDY_MS(1));
        return 0;
}

static int write_and_stop(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, stop_soon, NULL);
        CHECK_EQ(write_all(arg), 0);
        eddy_scope_cancel(&scope);
        eddy_scope_end(&scope);
        return 0;
}

TEST(lines_that_a_full_pipe_does_not_take_are_counted_exactly)
{
        static char got[FILE_MAX_BYTES];
        int lines;

        for (int i = 0; i < 40; i++) {
                pipe_make();
                writers_set(20 + 7 * i, 50, 100 + (size_t) i);
                watched_fd = output.fd;
                stop_ns = EDDY_US(100) * i;
                CHECK_EQ(eddy_run(write_and_stop, NULL, NULL), 0);
                close(pipe_fds[1]);
                lines = lines_in(got, (size_t) read(pipe_fds[0], got, sizeof(got)));
                CHECK(lines > 0);
                CHECK_EQ(lines, written());
                CHECK_EQ(lines, output.lines);
                CHECK_EQ(output.err, written() < writers_count * 50 ? -ETIMEDOUT : 0);
                close(pipe_fds[0]);
        }
}

/* --- full disks --- */

enum { BEFORE_BYTES = 7 };

/* How the shell gives a file: `-o FILE`, `> FILE`, `>> FILE` after "before\n". */
enum mode { MODE_OPTION, MODE_NEW, MODE_APPEND, MODES };

static void output_give(enum mode mode)
{
        const struct ed_say say = ed_console_voice("test");
        int flags = O_WRONLY | O_CREAT | O_CLOEXEC, fd;

        unlink(path);
        if (mode == MODE_OPTION) {
                CHECK_EQ(ed_output_open(&output, &say, path, false), 0);
                return;
        }
        fd = open(path, flags, 0600);
        CHECK(fd >= 0);
        if (mode == MODE_APPEND) {
                CHECK_EQ(write(fd, "before\n", BEFORE_BYTES), BEFORE_BYTES);
                close(fd);
                fd = open(path, flags | O_APPEND, 0600);
                CHECK(fd >= 0);
        }
        CHECK_EQ(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
        close(fd);
        CHECK_EQ(ed_output_open(&output, &say, NULL, false), 0);
}

static void disk_limit(size_t bytes)
{
        struct rlimit limit;

        CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = bytes;
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(disk_that_is_full_at_any_byte_keeps_whole_lines)
{
        static const size_t sizes[] = { 40, 57, 33, 120, 10 };
        size_t whole = 2 * (40 + 57 + 33 + 120 + 10), bytes;

        folder_make();
        CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
        for (enum mode mode = 0; mode < MODES; mode++)
                for (size_t limit = BEFORE_BYTES; limit <= whole + BEFORE_BYTES; limit++) {
                        size_t before = mode == MODE_APPEND ? BEFORE_BYTES : 0;

                        writers_set(5, 2, 0);
                        for (int i = 0; i < 5; i++)
                                writers[i].bytes = sizes[i];
                        disk_limit(RLIM_INFINITY);
                        output_give(mode);
                        disk_limit(limit);
                        run();
                        ed_output_close(&output, false);
                        disk_limit(RLIM_INFINITY);
                        bytes = file_read(path, data);
                        CHECK_EQ(bytes, before + output.bytes);
                        CHECK_EQ(lines_in(data, bytes), (before > 0) + written());
                        CHECK_EQ(written(), output.lines);
                        CHECK(bytes <= limit && bytes + 120 >= (limit < whole ? limit : whole));
                        CHECK_EQ(output.err, before + whole <= limit ? 0 : -EFBIG);
                        CHECK(!output.torn);
                        if (mode == MODE_OPTION)
                                continue;
                        /* A later writer continues after the lines, without a hole. */
                        CHECK_EQ(write(STDOUT_FILENO, "after\n", 6), 6);
                        CHECK_EQ(file_read(path, data), bytes + 6);
                }
}

TEST(end_of_a_file_that_others_write_to_is_not_cut)
{
        folder_make();
        CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
        output_give(MODE_APPEND);
        writers_set(1, 1, 50);
        CHECK_EQ(write(STDOUT_FILENO, "another's\n", 10), 10);
        disk_limit(40);
        run();
        ed_output_close(&output, false);
        disk_limit(RLIM_INFINITY);
        CHECK_EQ(output.err, -EFBIG);
        CHECK(output.torn);
        CHECK_EQ(output.lines, 0);
        CHECK_EQ(file_read(path, data), 40);
        CHECK(memcmp(data, "before\nanother's\n0.0 xxx", 24) == 0);
        /* After the place where this program writes. */
        output_give(MODE_NEW);
        CHECK_EQ(pwrite(STDOUT_FILENO, "another's\n", 10, 60), 10);
        disk_limit(40);
        run();
        disk_limit(RLIM_INFINITY);
        CHECK(output.torn);
        CHECK_EQ(file_read(path, data), 70);
}

/* --- a file that another program cuts --- */

TEST(lines_after_a_cut_go_to_another_file)
{
        char rescue[80];

        folder_make();
        snprintf(rescue, sizeof(rescue), "%s.rescued", path);
        for (int to = 0; to < 60; to += 7) {
                int fd = open(rescue, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

                /* Of an earlier run, without its end. */
                CHECK_EQ(write(fd, "earlier", 7), 7);
                close(fd);
                output_give(MODE_OPTION);
                writers_set(3, 1, 20);
                run();
                CHECK(!output.cut && !output.rescue);
                CHECK_EQ(truncate(path, to), 0);
                /* Together, and in batches of their own. */
                writers_set(3, 2, to % 2 ? 20 : 70 << 10);
                run();
                CHECK_EQ(written(), 6);
                CHECK(output.cut);
                CHECK_EQ(output.cut_from, 60);
                CHECK_EQ(output.cut_to, to);
                CHECK_EQ(output.lines - output.cut_lines, 6);
                CHECK_STR(output.rescue, rescue);
                ed_output_close(&output, true);
                CHECK_EQ(output.err, 0);
                CHECK(!output.removed);
                ed_output_fini(&output);
                CHECK_EQ(file_read(path, data), to);
                CHECK_EQ(lines_in(data, file_read(rescue, data)), 7);
                CHECK(memcmp(data, "earlier\n", 8) == 0);
                CHECK_EQ(unlink(path), 0);
        }
        CHECK_EQ(unlink(rescue), 0);
}

TEST(nothing_is_written_after_a_cut_if_no_other_file_can_be)
{
        char rescue[80];

        folder_make();
        snprintf(rescue, sizeof(rescue), "%s.rescued", path);
        CHECK_EQ(mkdir(rescue, 0700), 0);
        for (enum mode mode = 0; mode < MODES; mode++) {
                output_give(mode);
                writers_set(3, 1, 20);
                run();
                CHECK_EQ(ftruncate(output.fd, 10), 0);
                writers_set(3, 2, 20);
                run();
                CHECK_EQ(written(), 0);
                CHECK(output.cut && !output.rescue);
                CHECK_EQ(output.err, -ESTALE);
                CHECK_EQ(writers[2].result, -ESTALE);
                ed_output_close(&output, true);
                CHECK_EQ(file_read(path, data), 10);
                CHECK_EQ(unlink(path), 0);
        }
        CHECK_EQ(rmdir(rescue), 0);
}

TEST(cut_after_the_last_line_is_found_at_the_end)
{
        folder_make();
        output_give(MODE_OPTION);
        writers_set(3, 1, 20);
        run();
        CHECK_EQ(truncate(path, 59), 0);
        ed_output_close(&output, true);
        CHECK(output.cut && output.cut_from == 60 && output.cut_to == 59);
}

/* --- the end --- */

static void write_some(void)
{
        writers_set(3, 1, 20);
        run();
}

TEST(file_without_its_name_at_the_end_is_reported)
{
        int fd;

        folder_make();
        for (enum mode mode = 0; mode < MODES; mode++)
                for (int replaced = 0; replaced < 2; replaced++) {
                        output_give(mode);
                        write_some();
                        if (replaced) {
                                fd = open(other_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
                                close(fd);
                                CHECK_EQ(rename(other_path, path), 0);
                        } else {
                                CHECK_EQ(unlink(path), 0);
                        }
                        ed_output_close(&output, true);
                        CHECK(output.removed);
                }
        /* Under another name nothing is lost. */
        output_give(MODE_OPTION);
        write_some();
        CHECK_EQ(rename(path, other_path), 0);
        ed_output_close(&output, true);
        CHECK(!output.removed);
        CHECK_EQ(file_read(other_path, data), 60);
}

TEST(file_that_never_had_a_name_is_fine)
{
        const struct ed_say say = ed_console_voice("test");
        int fd;

        folder_make();
        fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        CHECK(fd >= 0);
        CHECK_EQ(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
        CHECK_EQ(ed_output_open(&output, &say, NULL, false), 0);
        write_some();
        ed_output_close(&output, true);
        CHECK(!output.removed);
        CHECK_EQ(output.save_err, 0);
        CHECK_EQ(lseek(fd, 0, SEEK_END), 60);
}

TEST(nothing_is_written_or_synced_again_after_a_sync_has_failed)
{
        folder_make();
        output_give(MODE_OPTION);
        write_some();
        output.save_err = -EIO;
        write_some();
        CHECK_EQ(written(), 0);
        ed_output_close(&output, true);
        CHECK_EQ(output.save_err, -EIO);
        CHECK_EQ(file_read(path, data), 60);
}

TEST(disk_that_fails_after_the_writes_is_reported)
{
        folder_make();
        for (enum mode mode = 0; mode < MODES; mode++) {
                output_give(mode);
                write_some();
                fsync_errno = EIO;
                ed_output_close(&output, true);
                CHECK_EQ(output.save_err, -EIO);
                output_give(mode);
                write_some();
                fsync_errno = EINVAL; /* a file system without it */
                ed_output_close(&output, true);
                CHECK_EQ(output.save_err, 0);
                fsync_errno = 0;
        }
        output_give(MODE_OPTION);
        write_some();
        close_errno = ENOSPC;
        ed_output_close(&output, false);
        CHECK_EQ(output.save_err, -ENOSPC);
}
