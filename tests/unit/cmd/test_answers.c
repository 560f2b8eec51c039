/*
 * test_answers.c - the file of answers: what a killed run, a damaged disk or another program did to
 * it costs no line that is whole; two runs never write to it; rewriting it leaves the old file or
 * the new one, whichever call of the system fails or is the last.
 *
 * The program is linked so that its calls of the system come here first.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/answers_file.h"
#include "common/console.h"
#include "common/output.h"
#include "eddy/alloc.h"
#include "eddy/run.h"

enum { FILE_BYTES_MAX = 8 << 20, LINES = 20, NOBODY = 65534 };

/* --- the calls of the system --- */

static long calls_left = -1;     /* before the one that is different; -1: none is */
static int call_errno;           /* what it fails with; 0: it kills the process, not done */
static bool call_is_short;       /* a write takes half of the bytes */
static void (*fsync_hook)(void); /* called by the next fsync() */

ssize_t __real_write(int fd, const void *data, size_t bytes);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
ssize_t __real_pread64(int fd, void *data, size_t bytes, off_t offset);
ssize_t __wrap_pread64(int fd, void *data, size_t bytes, off_t offset);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_ftruncate64(int fd, off_t bytes);
int __wrap_ftruncate64(int fd, off_t bytes);
int __real_unlink(const char *name);
int __wrap_unlink(const char *name);

/* Returns true if the call is to fail. */
static bool call_fails(void)
{
        if (calls_left < 0 || calls_left-- > 0)
                return false;
        if (!call_errno)
                kill(getpid(), SIGKILL);
        errno = call_errno;
        return true;
}

ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
        /* Messages do not count. */
        if (fd == STDERR_FILENO)
                return __real_write(fd, data, bytes);
        /* Part of the bytes may be in the file before it fails. */
        if (calls_left == 0 && call_errno != EINTR && bytes > 1)
                CHECK(__real_write(fd, data, bytes / 2) > 0);
        if (call_fails())
                return -1;
        return __real_write(fd, data, call_is_short ? (bytes + 1) / 2 : bytes);
}

ssize_t __wrap_pread64(int fd, void *data, size_t bytes, off_t offset)
{
        if (call_fails())
                return -1;
        return __real_pread64(fd, data, call_is_short ? (bytes + 1) / 2 : bytes, offset);
}

int __wrap_fsync(int fd)
{
        void (*hook)(void) = fsync_hook;

        (void) fd;
        fsync_hook = NULL;
        if (hook)
                hook();
        return call_fails() ? -1 : 0; /* the tests need no disk */
}

int __wrap_rename(const char *from, const char *to)
{
        return call_fails() ? -1 : __real_rename(from, to);
}

int __wrap_ftruncate64(int fd, off_t bytes)
{
        return call_fails() ? -1 : __real_ftruncate64(fd, bytes);
}

int __wrap_unlink(const char *name)
{
        return call_fails() ? -1 : __real_unlink(name);
}

/* --- files --- */

static char folder[] = "/dev/shm/eddy-answers-XXXXXX";
static char path[64], to_path[64], temp_path[64], rejected_path[64], link_path[64],
        messages_path[64];
static struct ed_answers_file answers;
static struct ed_answers_file_found found;
TEST_ROOM(char, data, FILE_BYTES_MAX);
TEST_ROOM(char, more, FILE_BYTES_MAX);
static size_t data_bytes;

static void folder_remove(void)
{
        if (geteuid() != getuid())
                CHECK_EQ(seteuid(getuid()), 0);
        chmod(folder, 0700);
        __real_unlink(path);
        __real_unlink(to_path);
        __real_unlink(temp_path);
        rmdir(temp_path);
        __real_unlink(rejected_path);
        __real_unlink(link_path);
        __real_unlink(messages_path);
        rmdir(folder);
}

/* Returns the number that an id is, -1 for others. */
static int number_of(const char *id)
{
        char *end;
        long number = strtol(id, &end, 10);

        return *id && !*end && number >= 0 && number < 1000000 ? (int) number : -1;
}

/* Disks are slow at replacing files, memory is small. */
static void folder_make_at(bool on_disk)
{
        if (on_disk || !mkdtemp(folder)) {
                memcpy(folder, "/tmp/eddy-answers-XXXXXX", sizeof("/tmp/eddy-answers-XXXXXX"));
                CHECK(mkdtemp(folder) != NULL);
        }
        snprintf(path, sizeof(path), "%s/out", folder);
        snprintf(to_path, sizeof(to_path), "%s/to", folder);
        snprintf(temp_path, sizeof(temp_path), "%s/out.rewrite", folder);
        snprintf(rejected_path, sizeof(rejected_path), "%s/out.rejected", folder);
        snprintf(link_path, sizeof(link_path), "%s/link", folder);
        snprintf(messages_path, sizeof(messages_path), "%s/messages", folder);
        atexit(folder_remove);
}

static void folder_make(void)
{
        folder_make_at(false);
}

static void file_put(const char *name, const char *text, size_t bytes)
{
        int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        CHECK(fd >= 0);
        while (bytes > 0) {
                ssize_t n = __real_write(fd, text, bytes);

                CHECK(n > 0);
                text += n;
                bytes -= (size_t) n;
        }
        close(fd);
}

/* Returns the bytes in 'more'; a file that is not there is empty. */
static size_t file_get(const char *name)
{
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        size_t bytes = 0;
        ssize_t n = 1;

        for (; fd >= 0 && n > 0; bytes += (size_t) n) {
                n = read(fd, more + bytes, FILE_BYTES_MAX - bytes);
                CHECK(n >= 0);
        }
        close(fd);
        return bytes;
}

static void check_file(const char *name, const char *text, size_t bytes)
{
        CHECK_EQ(file_get(name), bytes);
        CHECK(memcmp(more, text, bytes) == 0);
}

static bool is_there(const char *name)
{
        return access(name, F_OK) == 0;
}

/* Messages go to a file, to be checked or not. */
static void messages_catch(void)
{
        int fd = open(messages_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

        CHECK(fd >= 0);
        CHECK(dup2(fd, STDERR_FILENO) == STDERR_FILENO);
        close(fd);
}

static void check_message(const char *expected)
{
        more[file_get(messages_path)] = '\0';
        CHECK_STR(more, expected);
        CHECK_EQ(truncate(messages_path, 0), 0);
}

/* --- lines --- */

static size_t line_ends[LINES + 1]; /* in 'data' */

static void line_put(int number, size_t body_bytes)
{
        struct ed_draft line = { 0 };
        char id[16];
        char *body = malloc(body_bytes + 1);
        struct ed_answer answer = { .id = id, .hash = 1, .status = 200, .body = body };

        answer.id_bytes = (size_t) snprintf(id, sizeof(id), "%d", number);
        memset(body, 'x', body_bytes);
        answer.body_bytes = body_bytes;
        ed_answer_write(&answer, 0, &line);
        memcpy(data + data_bytes, line.data, line.bytes);
        data_bytes += line.bytes;
        ed_draft_fini(&line);
        free(body);
}

static void lines_put(int count)
{
        data_bytes = 0;
        for (int i = 0; i < count; i++) {
                line_put(i, (size_t) i * 3);
                line_ends[i + 1] = data_bytes;
        }
}

/* A digest of answers in their order. */
struct digest {
        uint64_t count, sum;
};

static void digest_add(void *arg, const struct ed_answer_seen *answer)
{
        struct digest *digest = arg;

        digest->count++;
        for (size_t i = 0; i < answer->id_bytes; i++)
                digest->sum = (digest->sum ^ (uint8_t) answer->id[i]) * 0x100000001b3;
        digest->sum = (digest->sum ^ answer->mark ^ (uint64_t) answer->status) * 0x100000001b3;
}

static int digest_add_line(void *arg, const char *line, size_t bytes)
{
        char id_room[ED_ANSWER_ID_ROOM];
        struct ed_answer_seen answer;

        if (ed_answer_read(line, bytes, id_room, &answer) == 0)
                digest_add(arg, &answer);
        return 0;
}

/* Opens a file, of which calls may fail. */
static int answers_try(const char *name, struct digest *taken)
{
        const struct ed_say say = ed_console_voice("test");

        found = (struct ed_answers_file_found){ 0 };
        return ed_answers_file_open(&answers, &say, "-o", name, &found, digest_add, taken);
}

/* Opens a file: the answers that are taken are those that it has then. */
static int answers_open(const char *name)
{
        struct digest taken = { 0 }, read = { 0 };
        int exit_code = answers_try(name, &taken);

        if (exit_code == 0) {
                CHECK_EQ(ed_answers_file_each(&answers, digest_add_line, &read), 0);
                CHECK_EQ(taken.count, read.count);
                CHECK_EQ(taken.sum, read.sum);
        }
        return exit_code;
}

/* --- reading --- */

static struct seen {
        int lines;
        bool numbers[LINES];
} seen;

static int line_see(void *arg, const char *line, size_t bytes)
{
        char id_room[ED_ANSWER_ID_ROOM];
        struct ed_answer_seen answer;
        int number;

        (void) arg;
        CHECK_EQ(ed_answer_read(line, bytes, id_room, &answer), 0);
        seen.lines++;
        number = number_of(answer.id);
        if (number >= 0 && number < LINES)
                seen.numbers[number] = true;
        return 0;
}

static void answers_see(void)
{
        seen = (struct seen){ 0 };
        CHECK_EQ(ed_answers_file_each(&answers, line_see, NULL), 0);
}

TEST(file_cut_at_any_byte_keeps_whole_lines_and_moves_the_line_that_was_cut)
{
        int whole = 0;

        folder_make();
        lines_put(LINES);
        for (size_t cut = 0, torn; cut <= data_bytes; cut++) {
                if (whole < LINES && cut == line_ends[whole + 1])
                        whole++;
                file_put(path, data, cut);
                __real_unlink(rejected_path);
                CHECK_EQ(answers_open(path), 0);
                /* Only the line feed is missing. */
                if (whole < LINES && cut == line_ends[whole + 1] - 1) {
                        CHECK(found.ended);
                        whole++;
                        cut++;
                }
                torn = cut - line_ends[whole];
                CHECK_EQ(found.torn, torn);
                CHECK_EQ(found.rejected, 0);
                CHECK_EQ(answers.bytes, line_ends[whole]);
                answers_see();
                CHECK_EQ(seen.lines, whole);
                /* The next line is written after the last whole one. */
                CHECK_EQ(write(answers.fd, "next\n", 5), 5);
                ed_answers_file_close(&answers);
                CHECK_EQ(file_get(path), line_ends[whole] + 5);
                CHECK(memcmp(more, data, line_ends[whole]) == 0);
                CHECK_EQ(is_there(rejected_path), torn > 0);
                CHECK_EQ(file_get(rejected_path), torn > 0 ? torn + 1 : 0);
                CHECK(memcmp(more, data + line_ends[whole], torn) == 0);
        }
}

/* Flips each bit of the file in turn. */
static void bits_flip(int lines)
{
        for (size_t bit = 0; bit < data_bytes * 8; bit++) {
                int in = 0;

                while (line_ends[in + 1] <= bit / 8)
                        in++;
                data[bit / 8] ^= (char) (1 << bit % 8);
                file_put(path, data, data_bytes);
                __real_unlink(rejected_path);
                CHECK_EQ(answers_open(path), 0);
                answers_see();
                for (int i = 0; i < lines; i++)
                        /* A line feed that is gone joins two lines. */
                        if (!seen.numbers[i] && i != in &&
                            !(i == in + 1 && bit / 8 == line_ends[i] - 1))
                                test_fail(__FILE__, __LINE__, "bit %zu: line %d is lost", bit, i);
                /* Nothing disappears; a torn end gets a line feed. */
                CHECK_EQ(answers.bytes + file_get(rejected_path), data_bytes + (found.torn > 0));
                CHECK_EQ(found.rejected + found.torn > 0, is_there(rejected_path));
                ed_answers_file_close(&answers);
                data[bit / 8] ^= (char) (1 << bit % 8);
        }
}

TEST(flipped_bit_damages_its_line_only)
{
        folder_make();
        lines_put(5);
        bits_flip(5);
}

TEST(damaged_lines_are_moved_in_order_and_whole)
{
        static const char bad[] = "x\n{}\nnot an answer\nNUL \0 here\n{\"custom_id\":\"a\"}\n[]\n";
        size_t bytes = sizeof(bad) - 1;

        folder_make();
        lines_put(3);
        /* Before, between and after the lines; and a torn end. */
        memcpy(more, bad, bytes);
        memcpy(more + bytes, data, line_ends[1]);
        memcpy(more + bytes + line_ends[1], bad, bytes);
        memcpy(more + 2 * bytes + line_ends[1], data + line_ends[1], data_bytes - line_ends[1]);
        memcpy(more + 2 * bytes + data_bytes, bad, bytes);
        memcpy(more + 3 * bytes + data_bytes, "{\"id", 4);
        file_put(path, more, 3 * bytes + data_bytes + 4);
        CHECK_EQ(chmod(path, 0640), 0);
        /* A killed run left a line without its end. */
        file_put(rejected_path, "before", 6);
        file_put(temp_path, "left from a killed run", 22);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(found.rejected, 18);
        CHECK_EQ(found.torn, 4);
        CHECK_EQ(answers.bytes, data_bytes);
        check_file(path, data, data_bytes);
        CHECK(!is_there(temp_path));
        CHECK_EQ(file_get(rejected_path), 7 + 3 * bytes + 5);
        CHECK(memcmp(more + 7 + 3 * bytes, "{\"id\n", 5) == 0);
        CHECK(memcmp(more, "before\n", 7) == 0);
        for (int i = 0; i < 3; i++)
                CHECK(memcmp(more + 7 + (size_t) i * bytes, bad, bytes) == 0);
        ed_answers_file_close(&answers);
}

TEST(last_line_without_its_line_feed_gets_one_and_blank_lines_stay)
{
        static const char before[] = "\xef\xbb\xbf\r\n\n \t\r\n", bad[] = "bad\n", blank[] = "  ";
        size_t before_bytes = sizeof(before) - 1;

        folder_make();
        lines_put(2);
        for (int with_bad = 0; with_bad < 2; with_bad++)
                for (int is_blank = 0; is_blank < 2; is_blank++) {
                        size_t bytes = before_bytes, bad_bytes = with_bad ? 4 : 0;

                        __real_unlink(rejected_path);
                        memcpy(more, before, bytes);
                        memcpy(more + bytes, bad, bad_bytes);
                        memcpy(more + bytes + bad_bytes, data, data_bytes);
                        bytes += bad_bytes + data_bytes;
                        if (is_blank)
                                memcpy(more + bytes, blank, 2);
                        file_put(path, more, is_blank ? bytes + 2 : bytes - 1);
                        CHECK_EQ(answers_open(path), 0);
                        CHECK(found.ended);
                        CHECK_EQ(found.torn, 0);
                        CHECK_EQ(found.rejected, with_bad);
                        bytes += is_blank ? 3 : 0;
                        CHECK_EQ(answers.bytes, bytes - bad_bytes);
                        CHECK_EQ(file_get(path), bytes - bad_bytes);
                        CHECK(memcmp(more, before, before_bytes) == 0);
                        CHECK(memcmp(more + before_bytes, data, data_bytes) == 0);
                        CHECK(!is_blank ||
                              memcmp(more + before_bytes + data_bytes, "  \n", 3) == 0);
                        CHECK_EQ(file_get(rejected_path), bad_bytes);
                        ed_answers_file_close(&answers);
                }
        /* A file of that line only, whose form is not eddy's. */
        file_put(path, "{\"custom_id\":\"0\",\"error\":\"e\"}", 29);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(answers.bytes, 30);
        ed_answers_file_close(&answers);
}

static void other_writes(void)
{
        int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

        CHECK_EQ(__real_write(fd, "theirs\n", 7), 7);
        close(fd);
}

static bool keep_last(void *arg, const char *line, size_t bytes)
{
        int *left = arg;

        (void) line, (void) bytes;
        return --*left < 0;
}

TEST(lines_that_another_program_adds_while_the_file_is_rewritten_are_kept)
{
        uint64_t removed;
        int left = 2;

        folder_make();
        lines_put(3);
        file_put(path, data, data_bytes);
        CHECK_EQ(answers_open(path), 0);
        fsync_hook = other_writes;
        CHECK_EQ(ed_answers_file_prune(&answers, keep_last, &left, &removed), 0);
        CHECK_EQ(removed, 2);
        CHECK_EQ(answers.bytes, data_bytes - line_ends[2] + 7);
        CHECK_EQ(file_get(path), answers.bytes);
        CHECK(memcmp(more, data + line_ends[2], answers.bytes - 7) == 0);
        CHECK(memcmp(more + answers.bytes - 7, "theirs\n", 7) == 0);
        /* A part of a line, too. */
        left = 1;
        CHECK_EQ(write(answers.fd, "part", 4), 4);
        CHECK_EQ(ed_answers_file_prune(&answers, keep_last, &left, &removed), 0);
        check_file(path, "theirs\npart", 11);
        ed_answers_file_close(&answers);
}

TEST(rewritten_file_keeps_its_mode_and_the_link_to_it)
{
        struct stat st;

        folder_make();
        lines_put(2);
        file_put(path, "bad\n", 4);
        CHECK_EQ(symlink("out", link_path), 0);
        CHECK_EQ(chmod(path, 0640), 0);
        memmove(data + 4, data, data_bytes);
        memcpy(data, "bad\n", 4);
        data_bytes += 4;
        file_put(path, data, data_bytes);
        CHECK_EQ(answers_open(link_path), 0);
        CHECK_EQ(lstat(link_path, &st), 0);
        CHECK(S_ISLNK(st.st_mode));
        CHECK_EQ(lstat(path, &st), 0);
        CHECK(S_ISREG(st.st_mode));
        CHECK_EQ(st.st_mode & 07777, 0640);
        check_file(path, data + 4, data_bytes - 4);
        CHECK_EQ(fcntl(answers.fd, F_GETFL) & (O_APPEND | O_ACCMODE), O_APPEND | O_RDWR);
        CHECK_EQ(fcntl(answers.fd, F_GETFD), FD_CLOEXEC);
        ed_answers_file_close(&answers);
        snprintf(rejected_path, sizeof(rejected_path), "%s/link.rejected", folder);
        check_file(rejected_path, "bad\n", 4);
}

TEST(long_lines_are_kept_and_moved_like_short_ones)
{
        size_t long_bytes, first;

        folder_make();
        data_bytes = 0;
        line_put(0, 1 << 20);
        first = data_bytes;
        memset(data + data_bytes, '\0', 3 << 20);
        data_bytes += 3 << 20;
        data[data_bytes++] = '\n';
        long_bytes = data_bytes - first;
        line_put(1, (2 << 20) + 12345);
        file_put(path, data, data_bytes);
        call_is_short = true;
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(found.rejected, 1);
        answers_see();
        CHECK_EQ(seen.lines, 2);
        call_is_short = false;
        CHECK_EQ(answers.bytes, data_bytes - long_bytes);
        CHECK_EQ(file_get(path), data_bytes - long_bytes);
        CHECK(memcmp(more, data, first) == 0);
        CHECK(memcmp(more + first, data + first + long_bytes, data_bytes - first - long_bytes) ==
              0);
        check_file(rejected_path, data + first, long_bytes);
        ed_answers_file_close(&answers);
}

TEST(line_above_the_maximum_is_moved_without_being_read_whole)
{
        off_t hole = (off_t) ED_DRAFT_BYTES_MAX + 5;
        struct stat st;
        int fd;

        if (!getenv("EDDY_TEST_FULL"))
                test_skip("it needs 512 MiB: EDDY_TEST_FULL");
        folder_make_at(true);
        lines_put(2);
        file_put(path, data, line_ends[1]);
        fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        CHECK_EQ(ftruncate(fd, (off_t) line_ends[1] + hole), 0);
        CHECK_EQ(write(fd, "\n", 1), 1);
        CHECK(write(fd, data + line_ends[1], data_bytes - line_ends[1]) > 0);
        close(fd);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(found.rejected, 1);
        check_file(path, data, data_bytes);
        CHECK_EQ(stat(rejected_path, &st), 0);
        CHECK_EQ(st.st_size, hole + 1);
        ed_answers_file_close(&answers);
}

/* --- what is refused --- */

static void check_refused(const char *name, int code, const char *reason)
{
        char expected[400];

        CHECK_EQ(answers_open(name), code);
        CHECK_EQ(answers.fd, -1);
        snprintf(expected, sizeof(expected), "eddy test: -o %s: %s\n", name, reason);
        check_message(expected);
}

TEST(only_a_regular_file_can_be_a_checkpoint)
{
        const char *reason = "-o needs a regular file, because it is the checkpoint";

        folder_make();
        messages_catch();
        check_refused("/dev/null", ED_EXIT_USAGE, reason);
        check_refused(folder, ED_EXIT_USAGE, reason);
        CHECK_EQ(mkfifo(path, 0600), 0);
        check_refused(path, ED_EXIT_USAGE, reason);
        CHECK_EQ(symlink("out", link_path), 0);
        check_refused(link_path, ED_EXIT_USAGE, reason);
        check_refused("/nowhere/out", ED_EXIT_OUTPUT, strerror(ENOENT));
}

TEST(file_of_something_else_is_refused_and_not_changed)
{
        static const char *const others[] = { "notes", "notes\n", "\n\nnotes\nnotes",
                                              "{\"custom_id\":\"a\",\"method\":\"POST\"}\n",
                                              "{\"id\":\"a\",\"text\":\"b\"}" };
        static const char *const ours[] = {
                "", "\n", "{", "{\"id\":\"batch_req_0", "{\"id\":\"batch_req_0\"}\n", " \r\n\n"
        };

        folder_make();
        messages_catch();
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
                file_put(path, others[i], strlen(others[i]));
                check_refused(path, ED_EXIT_USAGE,
                              "the file has no answer, but other contents; name another file, or "
                              "remove it");
                check_file(path, others[i], strlen(others[i]));
        }
        CHECK(!is_there(rejected_path));
        for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
                file_put(path, ours[i], strlen(ours[i]));
                CHECK_EQ(answers_open(path), 0);
                CHECK_EQ(answers.bytes, strspn(ours[i], " \r\n"));
                ed_answers_file_close(&answers);
        }
}

TEST(zeros_that_a_crash_left_at_the_start_are_repaired_and_other_binary_files_refused)
{
        folder_make();
        messages_catch();
        /* All of the file. */
        file_put(path, data, 5000);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(found.torn, 5000);
        ed_answers_file_close(&answers);
        /* The first line, and the first sector of one. */
        memcpy(data + 300, "{\"id\":\"batch_req_0\"\n", 20);
        file_put(path, data, 320);
        CHECK_EQ(answers_open(path), 0);
        ed_answers_file_close(&answers);
        memset(data, '\0', 512);
        memcpy(data + 512, "\":1},\"error\":null}\n", 20);
        file_put(path, data, 532);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(found.rejected, 1);
        ed_answers_file_close(&answers);
        /* An image of a disk, and text of two bytes a character. */
        data[520] = '\1';
        file_put(path, data, 532);
        CHECK_EQ(answers_open(path), ED_EXIT_USAGE);
        check_file(path, data, 532);
        file_put(path, "\0n\0o\0t\0e\0\n", 10);
        CHECK_EQ(answers_open(path), ED_EXIT_USAGE);
        CHECK_EQ(file_get(path), 10);
}

/* Returns the code of opening the file in another process. */
static int open_elsewhere(void)
{
        int status;
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0)
                _exit(answers_open(path));
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static bool keep_none(void *arg, const char *line, size_t bytes)
{
        (void) arg, (void) line, (void) bytes;
        return false;
}

TEST(file_is_locked_also_after_it_was_rewritten)
{
        char expected[200];
        uint64_t removed;

        folder_make();
        messages_catch();
        lines_put(3);
        memcpy(data + data_bytes, "bad\n", 4);
        file_put(path, data, data_bytes + 4);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(found.rejected, 1);
        CHECK_EQ(open_elsewhere(), ED_EXIT_BUSY);
        snprintf(expected, sizeof(expected), "eddy test: -o %s: another eddy is writing to it\n",
                 path);
        check_message(expected);
        CHECK_EQ(ed_answers_file_prune(&answers, keep_none, NULL, &removed), 0);
        CHECK_EQ(open_elsewhere(), ED_EXIT_BUSY);
        CHECK_EQ(truncate(messages_path, 0), 0);
        ed_answers_file_close(&answers);
        ed_answers_file_close(&answers);
        CHECK_EQ(open_elsewhere(), 0);
}

/* Waits for the lock of a file that is replaced meanwhile. */
TEST(lock_on_a_file_that_lost_its_name_does_not_count)
{
        struct stat st, named;
        int fd;

        folder_make();
        lines_put(1);
        file_put(path, data, data_bytes);
        fd = open(path, O_RDWR | O_CLOEXEC);
        CHECK_EQ(flock(fd, LOCK_EX), 0);
        file_put(temp_path, data, data_bytes);
        CHECK_EQ(rename(temp_path, path), 0);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(fstat(answers.fd, &st), 0);
        CHECK_EQ(stat(path, &named), 0);
        CHECK_EQ(st.st_ino, named.st_ino);
        ed_answers_file_close(&answers);
        close(fd);
}

TEST(folder_that_cannot_be_written_is_reported_if_a_line_is_damaged)
{
        char expected[400];

        folder_make();
        messages_catch();
        lines_put(2);
        file_put(path, data, data_bytes);
        CHECK_EQ(chmod(path, 0666), 0);
        CHECK_EQ(chmod(folder, 0555), 0);
        if (geteuid() == 0)
                CHECK_EQ(seteuid(NOBODY), 0);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(write(answers.fd, "bad\n", 4), 4);
        ed_answers_file_close(&answers);
        CHECK_EQ(answers_open(path), ED_EXIT_OUTPUT);
        if (geteuid() != getuid())
                CHECK_EQ(seteuid(getuid()), 0);
        snprintf(expected, sizeof(expected),
                 "eddy test: -o %s: line 3 is not an answer, and a file without it cannot be "
                 "written beside it: Permission denied; make the folder writable, or move the file "
                 "to another one\n",
                 path);
        check_message(expected);
        CHECK_EQ(file_get(path), data_bytes + 4);
        /* A folder has the name of the damaged lines. */
        CHECK_EQ(chmod(folder, 0755), 0);
        CHECK_EQ(mkdir(rejected_path, 0700), 0);
        CHECK_EQ(answers_open(path), ED_EXIT_OUTPUT);
        CHECK_EQ(rmdir(rejected_path), 0);
        snprintf(expected, sizeof(expected),
                 "eddy test: -o %s: line 3 is not an answer, and cannot be moved to %s: Is a "
                 "directory\n",
                 path, rejected_path);
        check_message(expected);
        CHECK_EQ(file_get(path), data_bytes + 4);
        CHECK(!is_there(temp_path));
}

/* --- pruning --- */

static uint32_t kept_lines; /* a bit for each */
static int asked;

static bool keep_some(void *arg, const char *line, size_t bytes)
{
        struct ed_answer_seen answer;
        char id_room[ED_ANSWER_ID_ROOM];

        (void) arg;
        CHECK_EQ(ed_answer_read(line, bytes, id_room, &answer), 0);
        CHECK_EQ(number_of(answer.id), asked++);
        return kept_lines >> number_of(answer.id) & 1;
}

/* Writes the lines to keep to 'data' after all lines. Returns the bytes. */
static size_t kept_put(int lines)
{
        size_t bytes = 0;

        for (int i = 0; i < lines; i++) {
                size_t line_bytes = line_ends[i + 1] - line_ends[i];

                if (!(kept_lines >> i & 1))
                        continue;
                memcpy(data + data_bytes + bytes, data + line_ends[i], line_bytes);
                bytes += line_bytes;
        }
        return bytes;
}

TEST(prune_keeps_exactly_the_lines_to_keep)
{
        enum { COUNT = 8 };
        struct stat before, after;
        uint64_t removed;

        folder_make();
        lines_put(COUNT);
        for (kept_lines = 0; kept_lines < 1 << COUNT; kept_lines++) {
                size_t bytes = kept_put(COUNT);

                file_put(path, data, data_bytes);
                CHECK_EQ(answers_open(path), 0);
                CHECK_EQ(fstat(answers.fd, &before), 0);
                asked = 0;
                CHECK_EQ(ed_answers_file_prune(&answers, keep_some, NULL, &removed), 0);
                CHECK_EQ(asked, COUNT);
                CHECK_EQ(removed, COUNT - __builtin_popcount(kept_lines));
                CHECK_EQ(answers.bytes, bytes);
                check_file(path, data + data_bytes, bytes);
                CHECK_EQ(stat(path, &after), 0);
                /* Nothing is written if all are kept, and lines at the end are cut off. */
                CHECK_EQ(before.st_ino == after.st_ino, (kept_lines & (kept_lines + 1)) == 0);
                CHECK(!is_there(temp_path));
                answers_see();
                CHECK_EQ(seen.lines, COUNT - removed);
                /* The new file is the one that is written to. */
                CHECK_EQ(write(answers.fd, "x\n", 2), 2);
                CHECK_EQ(file_get(path), bytes + 2);
                ed_answers_file_close(&answers);
        }
}

TEST(last_lines_are_removed_on_a_full_disk_too)
{
        uint64_t removed;

        folder_make();
        messages_catch();
        lines_put(3);
        file_put(path, data, data_bytes);
        CHECK_EQ(answers_open(path), 0);
        calls_left = 3; /* reading, cutting, syncing; nothing is written */
        call_errno = ENOSPC;
        asked = 0;
        kept_lines = 1;
        CHECK_EQ(ed_answers_file_prune(&answers, keep_some, NULL, &removed), 0);
        CHECK_EQ(removed, 2);
        check_file(path, data, line_ends[1]);
        ed_answers_file_close(&answers);
}

TEST(prune_does_not_replace_a_file_that_another_program_put_there)
{
        uint64_t removed = 99;

        folder_make();
        lines_put(3);
        file_put(path, data, data_bytes);
        CHECK_EQ(answers_open(path), 0);
        file_put(temp_path, "theirs", 6);
        CHECK_EQ(rename(temp_path, path), 0);
        CHECK_EQ(ed_answers_file_prune(&answers, keep_none, NULL, &removed), -ENOENT);
        CHECK_EQ(unlink(path), 0);
        CHECK_EQ(ed_answers_file_prune(&answers, keep_none, NULL, &removed), -ENOENT);
        CHECK_EQ(removed, 99);
        CHECK(!is_there(path));
        CHECK(!is_there(temp_path));
        answers_see();
        CHECK_EQ(seen.lines, 3);
        ed_answers_file_close(&answers);
}

static int line_stop(void *arg, const char *line, size_t bytes)
{
        int *left = arg;

        (void) line, (void) bytes;
        return --*left == 0 ? -ESTALE : 0;
}

TEST(walk_ends_with_the_first_result_that_is_not_zero)
{
        int left = 2;

        folder_make();
        lines_put(3);
        file_put(path, data, data_bytes);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(ed_answers_file_each(&answers, line_stop, &left), -ESTALE);
        CHECK_EQ(left, 0);
        ed_answers_file_close(&answers);
        CHECK_EQ(ed_answers_file_each(&answers, line_stop, &left), -EBADF);
}

/* --- failures --- */

enum { GOOD = 6 };

static size_t bad_bytes; /* of the file with two damaged lines, after 'data' */

/* Prepares a file with damaged lines and a torn end. */
static void bad_file_put(void)
{
        char *bad = data + data_bytes;
        size_t half = line_ends[3];

        memcpy(bad, data, half);
        memcpy(bad + half, "bad 1\n", 6);
        memcpy(bad + half + 6, data + half, data_bytes - half);
        memcpy(bad + data_bytes + 6, "bad 2\ntorn", 10);
        bad_bytes = data_bytes + 16;
        file_put(path, bad, bad_bytes);
        __real_unlink(rejected_path);
}

/* Opens and prunes: what a run does to the file. Returns the first failure. */
static int run_like(void)
{
        uint64_t removed;
        struct digest taken = { 0 };
        int err = answers_try(path, &taken);

        if (err)
                return err;
        asked = 0;
        err = ed_answers_file_prune(&answers, keep_some, NULL, &removed);
        ed_answers_file_close(&answers);
        return err;
}

/* The file is as before, repaired, or also pruned; the rejected lines are somewhere. */
static void check_whole(size_t kept_bytes)
{
        const char *bad = data + data_bytes, *kept = bad + bad_bytes;
        size_t bytes = file_get(path), rejected;
        bool is_before = bytes == bad_bytes && memcmp(more, bad, bytes) == 0;

        if (!is_before && !(bytes == data_bytes && memcmp(more, data, bytes) == 0) &&
            !(bytes == kept_bytes && memcmp(more, kept, bytes) == 0))
                test_fail(__FILE__, __LINE__, "neither the old nor the new file: %zu bytes", bytes);
        if (is_before)
                return;
        rejected = file_get(rejected_path);
        CHECK(rejected >= 17);
        CHECK(memcmp(more + rejected - 17, "bad 1\nbad 2\ntorn\n", 17) == 0);
}

static size_t failures_prepare(void)
{
        size_t bytes;

        folder_make();
        messages_catch();
        lines_put(GOOD);
        kept_lines = 0x2d;
        bad_file_put();
        data_bytes += bad_bytes;
        bytes = kept_put(GOOD);
        data_bytes -= bad_bytes;
        return bytes;
}

TEST(killed_rewrite_leaves_the_old_file_or_the_new_one)
{
        size_t kept_bytes = failures_prepare();
        int status = 0, kills = 0;

        for (;; kills++) {
                pid_t pid;

                bad_file_put();
                pid = fork();
                CHECK(pid >= 0);
                if (pid == 0) {
                        calls_left = kills;
                        CHECK_EQ(run_like(), 0);
                        calls_left = -1;
                        _exit(7);
                }
                CHECK_EQ(waitpid(pid, &status, 0), pid);
                CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 7);
                check_whole(kept_bytes);
                /* The next run completes it, whatever was left. */
                asked = 0;
                if (file_get(path) != kept_bytes)
                        CHECK_EQ(run_like(), 0);
                check_file(path, data + data_bytes + bad_bytes, kept_bytes);
                CHECK(!is_there(temp_path));
                if (WIFEXITED(status))
                        break;
        }
        printf("# %d calls\n", kills);
        CHECK(kills > 20);
}

TEST(failed_call_leaves_the_old_file_or_the_new_one)
{
        static const int errors[] = { ENOSPC, EIO, EINTR, EINVAL };
        size_t kept_bytes = failures_prepare();

        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
                for (long at = 0;; at++) {
                        int result;
                        bool is_done;

                        bad_file_put();
                        call_errno = errors[i];
                        calls_left = at;
                        result = run_like();
                        is_done = calls_left >= 0;
                        calls_left = -1;
                        check_whole(kept_bytes);
                        if (result == 0)
                                check_file(path, data + data_bytes + bad_bytes, kept_bytes);
                        CHECK_EQ(answers.fd, -1);
                        if (is_done) {
                                CHECK_EQ(result, 0);
                                CHECK(at > 20);
                                break;
                        }
                }
}

/* --- moving lines to another file --- */

static struct ed_answers_file to;

static bool keep_by_number(void *arg, const char *line, size_t bytes)
{
        struct ed_answer_seen answer;
        char id_room[ED_ANSWER_ID_ROOM];

        (void) arg;
        CHECK_EQ(ed_answer_read(line, bytes, id_room, &answer), 0);
        return kept_lines >> number_of(answer.id) & 1;
}

/* Moves lines from one file to the other. Returns the first failure. */
static int move_like(void)
{
        const struct ed_say say = ed_console_voice("test");
        uint64_t moved;
        struct digest taken = { 0 };
        int err = answers_try(path, &taken);

        if (!err)
                err = ed_answers_file_open(&to, &say, "--errors", to_path, &found, NULL, NULL);
        if (!err)
                err = ed_answers_file_move(&answers, &to, false, keep_by_number, NULL, &moved);
        if (!err) {
                CHECK_EQ(moved, GOOD - __builtin_popcount(kept_lines));
                CHECK_EQ(file_get(path), answers.bytes);
                CHECK_EQ(file_get(to_path), to.bytes);
        }
        ed_answers_file_close(&answers);
        ed_answers_file_close(&to);
        return err;
}

static void move_prepare(void)
{
        file_put(path, data, data_bytes);
        file_put(to_path, "{\"custom_id\":\"old\",\"error\":\"e\"}\n", 32);
        __real_unlink(rejected_path);
}

/* Returns true if a file has the whole line of that number. */
static bool has_line(const char *name, int number)
{
        size_t bytes = file_get(name);

        return memmem(more, bytes, data + line_ends[number],
                      line_ends[number + 1] - line_ends[number]) != NULL;
}

/* Each line is in a file, and those to keep are where they were. */
static void moved_check(bool is_done)
{
        for (int i = 0; i < GOOD; i++) {
                bool is_kept = kept_lines >> i & 1, is_there = has_line(path, i);

                if (is_kept ? !is_there || has_line(to_path, i)
                            : !is_there && !has_line(to_path, i))
                        test_fail(__FILE__, __LINE__, "line %d is lost", i);
                if (is_done && is_there != is_kept)
                        test_fail(__FILE__, __LINE__, "line %d was not moved", i);
        }
        file_get(to_path);
        CHECK(memcmp(more, "{\"custom_id\":\"old\"", 18) == 0);
}

/* The lines to move are in the middle, or at the end, where the file is cut. */
static const uint32_t moves[] = { 0x2d, 0x07 };

TEST(kill_while_lines_are_moved_leaves_each_line_in_a_file)
{
        folder_make();
        messages_catch();
        lines_put(GOOD);
        for (int i = 0; i < 2; i++)
                for (int kills = 0, status = 0; !WIFEXITED(status) || kills == 0; kills++) {
                        pid_t pid;

                        kept_lines = moves[i];
                        move_prepare();
                        pid = fork();
                        CHECK(pid >= 0);
                        if (pid == 0) {
                                calls_left = kills;
                                CHECK_EQ(move_like(), 0);
                                _exit(7);
                        }
                        CHECK_EQ(waitpid(pid, &status, 0), pid);
                        CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL
                                                  : WEXITSTATUS(status) == 7 && kills > 8);
                        moved_check(WIFEXITED(status));
                        if (WIFEXITED(status))
                                break;
                        /* The next run completes it, whatever was left. */
                        if (has_line(path, 4))
                                CHECK_EQ(move_like(), 0);
                        moved_check(true);
                }
}

TEST(failed_call_while_lines_are_moved_leaves_each_line_in_a_file)
{
        static const int errors[] = { ENOSPC, EIO };

        folder_make();
        messages_catch();
        lines_put(GOOD);
        for (int i = 0; i < 4; i++)
                for (long at = 0;; at++) {
                        int result;
                        bool is_done;

                        kept_lines = moves[i / 2];
                        move_prepare();
                        call_errno = errors[i % 2];
                        calls_left = at;
                        result = move_like();
                        is_done = calls_left >= 0;
                        calls_left = -1;
                        moved_check(result == 0);
                        /* Not in both, so that no failed run adds to the file. */
                        if (has_line(path, 4) && has_line(to_path, 4) && call_errno == ENOSPC)
                                test_fail(__FILE__, __LINE__, "call %ld: in both files", at);
                        if (is_done) {
                                CHECK_EQ(result, 0);
                                CHECK(at > 8);
                                break;
                        }
                }
}

static long allocations_left;

static void *allocate(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return allocations_left-- == 0 ? NULL : realloc(ptr, bytes);
}

TEST(failed_allocation_leaves_the_old_file_or_the_new_one)
{
        size_t kept_bytes = failures_prepare();
        int at, result;

        eddy_alloc_set(allocate, NULL);
        for (at = 0;; at++) {
                bad_file_put();
                allocations_left = at;
                result = run_like();
                if (allocations_left >= 0)
                        break;
                CHECK(result == ED_EXIT_OUTPUT || result == -ENOMEM);
                check_whole(kept_bytes);
                CHECK(!is_there(temp_path));
        }
        CHECK_EQ(result, 0);
        CHECK(at >= 4);
        check_file(path, data + data_bytes + bad_bytes, kept_bytes);
}

/* --- as an output --- */

static struct ed_output output;

static int line_write(void *arg)
{
        CHECK_EQ(ed_output_begin(&output), 0);
        CHECK_EQ(ed_output_line(&output, arg, strlen(arg)), 0);
        ed_output_end(&output);
        return 0;
}

TEST(output_adopts_the_file_and_continues_at_its_end)
{
        char next[] = "next\n";
        int fd;

        folder_make();
        lines_put(3);
        file_put(path, data, data_bytes);
        CHECK_EQ(answers_open(path), 0);
        CHECK_EQ(ed_output_adopt(&output, answers.fd, path), 0);
        CHECK_EQ(eddy_run(line_write, next, NULL), 0);
        CHECK_EQ(output.start, data_bytes);
        CHECK_EQ(output.lines, 1);
        ed_output_close(&output, true);
        CHECK(!output.removed);
        CHECK_EQ(output.save_err, 0);
        CHECK_EQ(file_get(path), data_bytes + 5);
        CHECK(memcmp(more + data_bytes, "next\n", 5) == 0);
        CHECK_EQ(open_elsewhere(), 0); /* not locked any more */
        /* What is not such a file is left to the caller. */
        fd = open(path, O_RDWR | O_CLOEXEC);
        CHECK_EQ(ed_output_adopt(&output, fd, path), -EINVAL);
        CHECK_EQ(close(fd), 0);
        CHECK_EQ(ed_output_adopt(&output, fd, path), -EBADF);
}
