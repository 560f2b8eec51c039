/*
 * test_file.c - files, folders and paths on the real system.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/valgrind.h"
#include "cancel_at.h"
#include "eddy/test.h"
#include "io_test.h"
#include "refuse.h"
#include "sys/file/files.h"

/* A folder of the test's own; 'path' holds the last path made in it. */
static struct {
        char folder[64], path[128];
} here;

static const char *path_of(const char *name)
{
        snprintf(here.path, sizeof(here.path), "%s/%s", here.folder, name);
        return here.path;
}

static int remove_entry(const char *path, const struct stat *found, int type, struct FTW *place)
{
        (void) found;
        (void) type;
        (void) place;
        return remove(path);
}

static void run_in_folder(eddy_task_fn *fn)
{
        snprintf(here.folder, sizeof(here.folder), "/tmp/eddy-file-XXXXXX");
        CHECK(mkdtemp(here.folder) != NULL);
        io_run(fn);
        CHECK_EQ(nftw(here.folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void check_contents(const char *name, const char *text)
{
        size_t bytes;
        char *data;

        CHECK_EQ(eddy_file_read_whole(path_of(name), 1 << 20, &data, &bytes), 0);
        CHECK_STR(data, text);
        CHECK_EQ(bytes, strlen(text));
        eddy_free(data);
}

/* What the table of a test has replaced. */
static void (*run_really)(struct ed_sys *sys, struct ed_file_op *op);

static void make_file(const char *name, const char *text)
{
        CHECK_EQ(eddy_file_write_whole(path_of(name), text, strlen(text), 0), 0);
}

/* --- reading and writing --- */

static int write_and_read(void *arg)
{
        const unsigned flags = EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_NEW;
        eddy_file *file;
        char buf[16] = "";

        (void) arg;
        CHECK_EQ(eddy_file_open(path_of("a"), flags, 0600, &file), 0);
        CHECK_EQ(eddy_file_write(file, "hello, ", 7), 0);
        CHECK_EQ(eddy_file_write(file, "world", 5), 0);
        CHECK_EQ(eddy_file_read(file, buf, sizeof(buf)), 0);
        CHECK_EQ(eddy_file_read_at(file, buf, 5, 7), 5);
        CHECK_STR(buf, "world");
        CHECK_EQ(eddy_file_write_at(file, "W", 1, 7), 0);
        CHECK_EQ(eddy_file_seek(file, 5), 0);
        memset(buf, 0, sizeof(buf));
        CHECK_EQ(eddy_file_read(file, buf, sizeof(buf)), 7);
        CHECK_STR(buf, ", World");
        CHECK_EQ(eddy_file_sync(file, 0), 0);
        CHECK_EQ(eddy_file_sync(file, EDDY_FILE_DATA_ONLY), 0);
        eddy_file_close(file);
        CHECK_EQ(eddy_file_open(path_of("a"), flags, 0, &file), -EEXIST);
        check_contents("a", "hello, World");
        return 0;
}

TEST(bytes_are_written_and_read_at_the_position_and_at_offsets)
{
        run_in_folder(write_and_read);
}

static int read_pieces(void *arg)
{
        char first[3] = "", second[8] = "";
        const struct eddy_space spaces[] = { { first, 2 }, { second, 7 } };
        const struct eddy_slice slices[] = { { "ab", 2 }, { "", 0 }, { "cdef", 4 } };
        eddy_file *file;

        (void) arg;
        CHECK_EQ(eddy_file_open(path_of("v"), EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_CREATE,
                                0, &file),
                 0);
        CHECK_EQ(eddy_file_writev(file, slices, 3, -1), 0);
        CHECK_EQ(eddy_file_writev(file, slices, 3, 6), 0);
        CHECK_EQ(eddy_file_readv(file, spaces, 2, 1), 9);
        CHECK_STR(first, "bc");
        CHECK_STR(second, "defabcd");
        eddy_file_close(file);
        return 0;
}

TEST(pieces_are_written_and_read_in_order)
{
        run_in_folder(read_pieces);
}

static int write_nothing(void *arg)
{
        eddy_file *file;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_file_open(path_of("n"), EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0, &file), 0);
        CHECK_EQ(eddy_file_write(file, NULL, 0), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_file_write(file, NULL, 0), -ECANCELED);
        CHECK_EQ(eddy_file_writev(file, NULL, 0, -1), -ECANCELED);
        (void) eddy_scope_end(&scope);
        eddy_file_close(file);
        return 0;
}

TEST(a_write_of_no_bytes_notices_a_cancel)
{
        run_in_folder(write_nothing);
}

/* --- reads that do not wait --- */

/* What preadv2() returns with RWF_NOWAIT: -1 and 'error', or 0; below 0: what the kernel does. */
static int fake_error = -1;

ssize_t preadv2(int fd, const struct iovec *pieces, int n, off_t offset, int flags)
{
        if (fake_error < 0)
                return syscall(SYS_preadv2, fd, pieces, n, (long) offset, 0L, flags);
        errno = fake_error;
        return fake_error ? -1 : 0;
}

static int read_without_trying(void *arg)
{
        static const int errors[] = { 0, EPERM, ENOSYS, EOPNOTSUPP, EINTR, EAGAIN, EIO };
        eddy_file *file;
        char buf[4] = "";

        (void) arg;
        make_file("a", "abc");
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ, 0, &file), 0);
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
                fake_error = errors[i];
                CHECK_EQ(eddy_file_read_at(file, buf, 3, 0), 3);
                CHECK_STR(buf, "abc");
        }
        fake_error = -1;
        CHECK_EQ(eddy_file_read_at(file, buf, 3, 3), 0);
        eddy_file_close(file);
        return 0;
}

TEST(a_try_that_reads_nothing_is_neither_the_end_of_a_file_nor_an_error)
{
        run_in_folder(read_without_trying);
}

static int append(void *arg)
{
        eddy_file *one, *two;

        (void) arg;
        CHECK_EQ(eddy_file_open(path_of("log"), EDDY_FILE_APPEND | EDDY_FILE_CREATE, 0, &one), 0);
        CHECK_EQ(eddy_file_open(path_of("log"), EDDY_FILE_APPEND, 0, &two), 0);
        CHECK_EQ(eddy_file_write(one, "1", 1), 0);
        CHECK_EQ(eddy_file_write(two, "2", 1), 0);
        CHECK_EQ(eddy_file_write(one, "3", 1), 0);
        CHECK_EQ(eddy_file_write_at(two, "4", 1, 0), 0);
        eddy_file_close(one);
        eddy_file_close(two);
        check_contents("log", "1234");
        return 0;
}

TEST(appending_writes_at_the_end_whatever_another_has_written)
{
        run_in_folder(append);
}

static int size_and_mode(void *arg)
{
        struct eddy_file_info info;
        eddy_file *file;

        (void) arg;
        make_file("t", "0123456789");
        CHECK_EQ(eddy_file_open(path_of("t"), EDDY_FILE_WRITE, 0, &file), 0);
        CHECK_EQ(eddy_file_truncate(file, 4), 0);
        CHECK_EQ(eddy_file_stat(file, &info), 0);
        CHECK_EQ(info.bytes, 4);
        CHECK(info.kind == EDDY_FILE_REGULAR && info.links == 1 && info.modified_ns > 0);
        CHECK_EQ(eddy_file_truncate(file, 6), 0);
        CHECK_EQ(eddy_file_chmod(file, 0604), 0);
        CHECK_EQ(eddy_path_stat(here.path, 0, &info), 0);
        CHECK(info.bytes == 6 && info.mode == 0604 && info.user == getuid());
        eddy_file_close(file);
        return 0;
}

TEST(a_file_has_the_size_and_mode_that_were_set)
{
        run_in_folder(size_and_mode);
}

static void check_info(const struct eddy_file_info *info, const struct stat *expected)
{
        CHECK_EQ(info->kind, S_ISLNK(expected->st_mode) ? EDDY_FILE_LINK : EDDY_FILE_REGULAR);
        CHECK_EQ(info->mode, expected->st_mode & 07777);
        CHECK_EQ(info->user, expected->st_uid);
        CHECK_EQ(info->group, expected->st_gid);
        CHECK_EQ(info->bytes, expected->st_size);
        CHECK_EQ(info->modified_ns,
                 expected->st_mtim.tv_sec * INT64_C(1000000000) + expected->st_mtim.tv_nsec);
        CHECK_EQ(info->device, expected->st_dev);
        CHECK_EQ(info->inode, expected->st_ino);
        CHECK_EQ(info->links, expected->st_nlink);
}

static int describe(void *arg)
{
        struct stat expected = { 0 }, link = { 0 }; /* MemorySanitizer does not see fstat() */
        struct eddy_file_info info;
        eddy_file *file;

        (void) arg;
        make_file("a", "abc");
        CHECK_EQ(eddy_file_open(path_of("a"), EDDY_FILE_READ, 0, &file), 0);
        CHECK_EQ(symlink("a", path_of("link")), 0);
        CHECK_EQ(fstat(eddy_file_fd(file), &expected), 0);
        CHECK_EQ(lstat(here.path, &link), 0);
        CHECK_EQ(eddy_file_stat(file, &info), 0);
        check_info(&info, &expected);
        CHECK_EQ(eddy_path_stat(here.path, 0, &info), 0);
        check_info(&info, &expected);
        CHECK_EQ(eddy_path_stat(here.path, EDDY_PATH_NO_FOLLOW, &info), 0);
        check_info(&info, &link);
        eddy_file_close(file);
        return 0;
}

TEST(a_file_is_described_by_descriptor_and_by_path_and_a_link_as_well)
{
        run_in_folder(describe);
}

static int lock_one_file(void *arg)
{
        const unsigned lock = EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_LOCK;
        eddy_file *first, *second = NULL, *plain;

        (void) arg;
        CHECK_EQ(eddy_file_open(path_of("locked"), lock | EDDY_FILE_NEW, 0, &first), 0);
        CHECK_EQ(eddy_file_open(here.path, lock, 0, &second), -EBUSY);
        CHECK_EQ(eddy_file_open(here.path, lock | EDDY_FILE_NEW, 0, &second), -EEXIST);
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ, 0, &plain), 0);
        eddy_file_close(plain);
        /* The name of another file is not locked, and the lock ends with the file. */
        CHECK_EQ(eddy_path_remove(here.path), 0);
        CHECK_EQ(eddy_file_open(here.path, lock | EDDY_FILE_CREATE, 0, &second), 0);
        eddy_file_close(first);
        CHECK_EQ(eddy_file_open(here.path, lock, 0, &first), -EBUSY);
        eddy_file_close(second);
        CHECK_EQ(eddy_file_open(here.path, lock, 0, &first), 0);
        eddy_file_close(first);
        return 0;
}

TEST(a_locked_file_is_opened_once_with_the_lock)
{
        run_in_folder(lock_one_file);
        /* Likewise on the disk of the kit. */
        snprintf(here.folder, sizeof(here.folder), "/tmp");
        CHECK_EQ(eddy_test_run(lock_one_file, NULL, NULL, NULL), 0);
}

static int refusals(void *arg)
{
        const struct eddy_slice many[EDDY_FILE_SLICES_MAX + 1] = { { "x", 1 } };
        const struct eddy_space none = { NULL, 0 };
        struct eddy_file_info info;
        eddy_file *file = NULL;
        char byte;

        (void) arg;
        CHECK_EQ(eddy_file_open(path_of("none"), EDDY_FILE_READ, 0, &file), -ENOENT);
        CHECK_EQ(eddy_file_open(here.path, 0, 0, &file), -EINVAL);
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_CREATE, 0, &file), -EINVAL);
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ | EDDY_FILE_TRUNCATE, 0, &file), -EINVAL);
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ | 1 << 20, 0, &file), -EINVAL);
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_WRITE | EDDY_FILE_TRUNCATE | EDDY_FILE_LOCK, 0,
                                &file),
                 -EINVAL);
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_WRITE | EDDY_FILE_CREATE, 010000, &file),
                 -EINVAL);
        CHECK_EQ(eddy_file_open(here.folder, EDDY_FILE_WRITE, 0, &file), -EISDIR);
        CHECK_EQ(symlink("a", path_of("link")), 0);
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ | EDDY_FILE_NO_FOLLOW, 0, &file), -ELOOP);
        CHECK(!file);
        make_file("a", "x");
        CHECK_EQ(eddy_file_open(path_of("a"), EDDY_FILE_READ, 0, &file), 0);
        CHECK_EQ(eddy_file_write(file, "x", 1), -EBADF);
        CHECK_EQ(eddy_file_truncate(file, 0), -EINVAL);
        CHECK_EQ(eddy_file_read(file, &byte, 0), -EINVAL);
        CHECK_EQ(eddy_file_readv(file, &none, 1, 0), -EINVAL);
        CHECK_EQ(eddy_file_read_at(file, &byte, 1, -1), -EINVAL);
        CHECK_EQ(eddy_file_write_at(file, "x", 1, -1), -EINVAL);
        CHECK_EQ(eddy_file_writev(file, many, EDDY_FILE_SLICES_MAX + 1, 0), -EINVAL);
        CHECK_EQ(eddy_file_truncate(file, -1), -EINVAL);
        CHECK_EQ(eddy_file_seek(file, -1), -EINVAL);
        CHECK_EQ(eddy_file_chmod(file, 010000), -EINVAL);
        CHECK_EQ(eddy_file_sync(file, 2), -EINVAL);
        CHECK_EQ(eddy_path_stat(here.path, 2, &info), -EINVAL);
        CHECK_EQ(eddy_path_rename(here.path, "b", 2), -EINVAL);
        eddy_file_close(file);
        return 0;
}

TEST(wrong_arguments_and_files_are_refused_with_their_errors)
{
        run_in_folder(refusals);
}

static int null_handles(void *arg)
{
        struct eddy_folder_entry entry;
        struct eddy_file_info info;
        eddy_stream *stream;
        eddy_folder *folder;
        eddy_file *file;
        char byte;

        (void) arg;
        CHECK_EQ(eddy_file_open(NULL, EDDY_FILE_READ, 0, &file), -EINVAL);
        CHECK_EQ(eddy_file_read(NULL, &byte, 1), -EINVAL);
        CHECK_EQ(eddy_file_write(NULL, "x", 1), -EINVAL);
        CHECK_EQ(eddy_file_sync(NULL, 0), -EINVAL);
        CHECK_EQ(eddy_file_truncate(NULL, 0), -EINVAL);
        CHECK_EQ(eddy_file_chmod(NULL, 0600), -EINVAL);
        CHECK_EQ(eddy_file_seek(NULL, 0), -EINVAL);
        CHECK_EQ(eddy_file_stat(NULL, &info), -EINVAL);
        CHECK_EQ(eddy_file_fd(NULL), -1);
        CHECK_EQ(eddy_file_stream(NULL, 0, &stream), -EINVAL);
        CHECK_EQ(eddy_folder_open(NULL, &folder), -EINVAL);
        CHECK_EQ(eddy_folder_next(NULL, &entry), -EINVAL);
        CHECK_EQ(eddy_folder_make(NULL, 0), -EINVAL);
        CHECK_EQ(eddy_folder_remove(NULL), -EINVAL);
        CHECK_EQ(eddy_folder_sync(NULL), -EINVAL);
        CHECK_EQ(eddy_path_stat(NULL, 0, &info), -EINVAL);
        CHECK_EQ(eddy_path_rename(NULL, "a", 0), -EINVAL);
        CHECK_EQ(eddy_path_rename("a", NULL, 0), -EINVAL);
        CHECK_EQ(eddy_path_remove(NULL), -EINVAL);
        CHECK_EQ(eddy_file_replace(NULL, "", 0, 0), -EINVAL);
        eddy_file_close(NULL);
        eddy_folder_close(NULL);
        return 0;
}

TEST(null_is_refused_and_closing_null_does_nothing)
{
        run_in_folder(null_handles);
}

static int temporary(void *arg)
{
        struct eddy_file_info info;
        eddy_file *file;

        (void) arg;
        CHECK_EQ(eddy_file_temporary(here.folder, &file), 0);
        CHECK_EQ(eddy_file_write(file, "x", 1), 0);
        CHECK_EQ(eddy_file_stat(file, &info), 0);
        CHECK(info.links == 0 && info.bytes == 1 && info.mode == 0600);
        eddy_file_close(file);
        CHECK_EQ(eddy_file_temporary(NULL, &file), 0);
        eddy_file_close(file);
        CHECK_EQ(eddy_file_temporary(path_of("none"), &file), -ENOENT);
        return 0;
}

TEST(a_temporary_file_has_no_name)
{
        run_in_folder(temporary);
}

/* --- whole files --- */

static int whole_files(void *arg)
{
        size_t bytes;
        char *data;

        (void) arg;
        make_file("w", "12345");
        make_file("w", "123");
        check_contents("w", "123");
        CHECK_EQ(eddy_file_read_whole(here.path, 3, &data, &bytes), 0);
        eddy_free(data);
        CHECK_EQ(eddy_file_read_whole(here.path, 2, &data, &bytes), EDDY_E_FILE_TOO_LARGE);
        CHECK_EQ(eddy_file_read_whole(path_of("none"), 2, &data, &bytes), -ENOENT);
        make_file("empty", "");
        check_contents("empty", "");
        /* No size, and more bytes than one read returns. */
        CHECK_EQ(eddy_file_read_whole("/proc/self/maps", 1 << 24, &data, &bytes), 0);
        CHECK(bytes > 0 && data[bytes] == '\0');
        eddy_free(data);
        CHECK_EQ(eddy_file_read_whole("/proc/self/maps", 10, &data, &bytes), EDDY_E_FILE_TOO_LARGE);
        return 0;
}

TEST(a_whole_file_is_read_up_to_the_limit_also_without_a_known_size)
{
        run_in_folder(whole_files);
}

static size_t count_names(void)
{
        struct eddy_folder_entry entry;
        eddy_folder *folder;
        size_t n = 0;
        int more;

        CHECK_EQ(eddy_folder_open(here.folder, &folder), 0);
        while ((more = eddy_folder_next(folder, &entry)) > 0)
                n++;
        CHECK_EQ(more, 0);
        eddy_folder_close(folder);
        return n;
}

static int replace(void *arg)
{
        struct eddy_file_info info;

        (void) arg;
        CHECK_EQ(eddy_file_replace(path_of("r"), "new", 3, 0600), 0);
        check_contents("r", "new");
        CHECK_EQ(eddy_path_stat(here.path, 0, &info), 0);
        CHECK_EQ(info.mode, 0600);
        CHECK_EQ(eddy_file_replace(here.path, "newer", 5, 0), 0);
        check_contents("r", "newer");
        CHECK_EQ(eddy_path_stat(here.path, 0, &info), 0);
        CHECK_EQ(info.mode, 0600);
        CHECK_EQ(count_names(), 1);
        CHECK_EQ(chdir(here.folder), 0);
        CHECK_EQ(eddy_file_replace("r", "here", 4, 0), 0);
        CHECK_EQ(chdir("/"), 0);
        check_contents("r", "here");
        CHECK_EQ(eddy_folder_make(path_of("folder"), 0), 0);
        CHECK_EQ(eddy_file_replace(here.path, "x", 1, 0), -EISDIR);
        CHECK_EQ(count_names(), 2);
        return 0;
}

TEST(replacing_keeps_the_mode_and_leaves_no_temporary_file)
{
        run_in_folder(replace);
}

static uint32_t mode_of(const char *name)
{
        struct stat found;

        CHECK_EQ(stat(path_of(name), &found), 0);
        return found.st_mode & 07777;
}

static int replace_odd_modes(void *arg)
{
        (void) arg;
        make_file("none", "a");
        CHECK_EQ(chmod(here.path, 0), 0);
        CHECK_EQ(eddy_file_replace(here.path, "b", 1, 0), 0);
        CHECK_EQ(mode_of("none"), 0);
        CHECK_EQ(eddy_file_replace(path_of("read"), "a", 1, 0400), 0);
        CHECK_EQ(eddy_file_replace(path_of("read"), "b", 1, 0), 0);
        CHECK_EQ(mode_of("read"), 0400);
        CHECK_EQ(eddy_file_replace(path_of("read"), "b", 1, 010000), -EINVAL);
        return 0;
}

TEST(replacing_keeps_a_mode_without_any_permission)
{
        run_in_folder(replace_odd_modes);
}

/* As a user whose writes remove the bit. Threads that are made now inherit the user. */
static int replace_program(void *arg)
{
        enum { USER = 65534 };
        bool is_root = geteuid() == 0;

        (void) arg;
        if (is_root) {
                CHECK_EQ(chown(here.folder, USER, (gid_t) -1), 0);
                (void) setfsuid(USER);
        }
        CHECK_EQ(eddy_file_replace(path_of("program"), "a", 1, 04755), 0);
        CHECK_EQ(mode_of("program"), 04755);
        CHECK_EQ(eddy_file_replace(path_of("program"), "b", 1, 0), 0);
        CHECK_EQ(mode_of("program"), 04755);
        if (is_root)
                (void) setfsuid(0);
        return 0;
}

TEST(replacing_keeps_the_set_user_id_bit)
{
        run_in_folder(replace_program);
}

/* Memory fails from the moment when the temporary file exists. */
static void starve_after_open(struct ed_sys *sys, struct ed_file_op *op)
{
        run_really(sys, op);
        if (op->call == ED_FILE_OPEN)
                io_fail_allocations(0);
}

static int replace_starved(void *arg)
{
        int err;

        (void) arg;
        make_file("a", "a");
        run_really = io_tables()->file.run;
        io_tables()->file.run = starve_after_open;
        err = eddy_file_replace(here.path, "b", 1, 0);
        io_fail_allocations(-1);
        io_tables()->file.run = run_really;
        CHECK_EQ(err, -ENOMEM);
        CHECK_EQ(count_names(), 1);
        check_contents("a", "a");
        return 0;
}

TEST(a_temporary_file_is_removed_without_memory_for_a_thread)
{
        run_in_folder(replace_starved);
}

/* The mode of the temporary file when it is made. */
static uint32_t made_with;

static void note_mode(struct ed_sys *sys, struct ed_file_op *op)
{
        if (op->call == ED_FILE_OPEN && op->flags & EDDY_FILE_NEW)
                made_with = op->mode;
        run_really(sys, op);
}

static int replace_secret(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_file_write_whole(path_of("secret"), "a", 1, 0600), 0);
        run_really = io_tables()->file.run;
        io_tables()->file.run = note_mode;
        CHECK_EQ(eddy_file_replace(here.path, "b", 1, 0), 0);
        io_tables()->file.run = run_really;
        CHECK_EQ(made_with, 0600);
        return 0;
}

TEST(the_temporary_file_of_a_secret_is_never_readable_by_others)
{
        run_in_folder(replace_secret);
}

static void exist_already(struct ed_sys *sys, struct ed_file_op *op)
{
        run_really(sys, op);
        if (op->call == ED_FILE_OPEN && op->flags & EDDY_FILE_NEW && op->result >= 0) {
                close((int) op->result);
                op->result = -EEXIST;
        }
}

/* As if the random name belonged to another program. */
static int replace_beside(void *arg)
{
        (void) arg;
        run_really = io_tables()->file.run;
        io_tables()->file.run = exist_already;
        CHECK_EQ(eddy_file_replace(path_of("a"), "b", 1, 0), -EEXIST);
        io_tables()->file.run = run_really;
        CHECK_EQ(count_names(), 1);
        return 0;
}

TEST(a_temporary_file_of_another_program_is_not_removed)
{
        run_in_folder(replace_beside);
}

/* --- names and folders --- */

static int names(void *arg)
{
        char from[128], to[128];
        struct eddy_file_info info;

        (void) arg;
        make_file("a", "a");
        snprintf(from, sizeof(from), "%s", here.path);
        make_file("b", "b");
        snprintf(to, sizeof(to), "%s", here.path);
        CHECK_EQ(eddy_path_rename(from, to, EDDY_PATH_KEEP), -EEXIST);
        CHECK_EQ(eddy_path_rename(from, to, 0), 0);
        check_contents("b", "a");
        CHECK_EQ(eddy_path_stat(from, 0, &info), -ENOENT);
        CHECK_EQ(eddy_path_remove(to), 0);
        CHECK_EQ(eddy_path_remove(to), -ENOENT);
        CHECK_EQ(symlink("none", to), 0);
        CHECK_EQ(eddy_path_stat(to, 0, &info), -ENOENT);
        CHECK_EQ(eddy_path_stat(to, EDDY_PATH_NO_FOLLOW, &info), 0);
        CHECK_EQ(info.kind, EDDY_FILE_LINK);
        return 0;
}

/* As NFS, which knows no flag of renameat2(2). */
static int keep_without_the_flag(void *arg)
{
        char from[128], to[128], folder[128];

        (void) arg;
        make_file("a", "a");
        snprintf(from, sizeof(from), "%s", here.path);
        make_file("b", "b");
        snprintf(to, sizeof(to), "%s", here.path);
        CHECK_EQ(eddy_path_rename(from, to, EDDY_PATH_KEEP), -EEXIST);
        check_contents("a", "a");
        check_contents("b", "b");
        CHECK_EQ(eddy_path_remove(to), 0);
        CHECK_EQ(eddy_path_rename(from, to, EDDY_PATH_KEEP), 0);
        check_contents("b", "a");
        snprintf(folder, sizeof(folder), "%s", path_of("folder"));
        CHECK_EQ(mkdir(folder, 0700), 0);
        CHECK_EQ(eddy_path_rename(folder, path_of("other"), EDDY_PATH_KEEP), -EINVAL);
        return count_names() == 2 ? 0 : -EIO;
}

TEST(a_file_is_not_replaced_where_the_system_cannot_rename_without_replacing)
{
        if (ed_on_valgrind())
                test_skip("Valgrind makes system calls of its own");
        if (!refuse(SYS_renameat2, EINVAL))
                test_skip("no filter of system calls can be installed here");
        run_in_folder(keep_without_the_flag);
}

TEST(files_are_renamed_removed_and_described_by_their_names)
{
        run_in_folder(names);
}

static int folders(void *arg)
{
        struct eddy_file_info info;
        eddy_folder *folder;

        (void) arg;
        CHECK_EQ(eddy_folder_make(path_of("d"), 0700), 0);
        CHECK_EQ(eddy_folder_make(here.path, 0), -EEXIST);
        CHECK_EQ(eddy_path_stat(here.path, 0, &info), 0);
        CHECK(info.kind == EDDY_FILE_FOLDER && info.mode == 0700);
        CHECK_EQ(eddy_path_remove(here.path), -EISDIR);
        CHECK_EQ(eddy_folder_sync(here.path), 0);
        make_file("d/x", "");
        CHECK_EQ(eddy_folder_open(here.path, &folder), -ENOTDIR);
        CHECK_EQ(eddy_folder_remove(path_of("d")), -ENOTEMPTY);
        CHECK_EQ(eddy_path_remove(path_of("d/x")), 0);
        CHECK_EQ(eddy_folder_remove(path_of("d")), 0);
        CHECK_EQ(eddy_folder_open(here.path, &folder), -ENOENT);
        return 0;
}

TEST(folders_are_made_synced_and_removed_when_empty)
{
        run_in_folder(folders);
}

enum { MANY = 300 };

static void make_many(void)
{
        for (int i = 0; i < MANY; i++) {
                char name[16];

                snprintf(name, sizeof(name), "%03d", i);
                close(open(path_of(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        }
}

static int many_names(void *arg)
{
        struct eddy_folder_entry entry;
        bool seen[MANY] = { 0 };
        eddy_folder *folder;
        int n = 0, more;

        (void) arg;
        make_many();
        CHECK_EQ(eddy_folder_open(here.folder, &folder), 0);
        while ((more = eddy_folder_next(folder, &entry)) > 0) {
                int i = (int) strtol(entry.name, NULL, 10);

                CHECK(entry.kind == EDDY_FILE_REGULAR && i >= 0 && i < MANY && !seen[i]);
                seen[i] = true;
                n++;
        }
        CHECK_EQ(more, 0);
        CHECK_EQ(eddy_folder_next(folder, &entry), 0);
        CHECK_EQ(n, MANY);
        eddy_folder_close(folder);
        return 0;
}

TEST(each_name_of_a_large_folder_is_listed_once)
{
        run_in_folder(many_names);
}

struct listing {
        eddy_folder *folder;
        int count, passes;
};

static int list_with_others(void *arg)
{
        struct listing *listing = arg;
        struct eddy_folder_entry entry;
        eddy_semaphore sem;
        int more;

        eddy_semaphore_init(&sem, (uint32_t) listing->passes, 0);
        while ((more = eddy_folder_next(listing->folder, &entry)) != 0) {
                CHECK(more == 1 || more == -EBUSY);
                if (more == 1 && listing->count++ == 0)
                        for (int i = 0; i < listing->passes; i++)
                                CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
                if (more < 0)
                        CHECK_EQ(eddy_sleep(0), 0);
        }
        CHECK_EQ(listing->count, MANY);
        return 0;
}

static int listed_by_two(void *arg)
{
        struct listing listing = { 0 };
        eddy_scope scope;

        (void) arg;
        make_many();
        /* A task that passes many calls is stopped for others, once after each number of them. */
        for (int i = 0; i < 128; i++) {
                listing.count = 0;
                listing.passes = i;
                CHECK_EQ(eddy_folder_open(here.folder, &listing.folder), 0);
                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, list_with_others, &listing), 0);
                CHECK_EQ(eddy_scope_start(&scope, list_with_others, &listing), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                eddy_folder_close(listing.folder);
        }
        return 0;
}

TEST(two_tasks_that_list_a_folder_learn_of_its_end_after_the_last_name)
{
        run_in_folder(listed_by_two);
}

/* --- streams --- */

static int read_lines(void *arg)
{
        eddy_stream *stream;
        eddy_reader reader;
        char buf[64], *line;
        eddy_file *file;
        size_t bytes;

        (void) arg;
        make_file("lines", "one\ntwo\n\nlast");
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ, 0, &file), 0);
        CHECK_EQ(eddy_file_stream(file, EDDY_FILE_STREAM_OWN, &stream), 0);
        CHECK_STR(eddy_stream_kind(stream), "file");
        CHECK_EQ(eddy_stream_fd(stream), eddy_file_fd(file));
        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        CHECK(eddy_reader_line(&reader, &line, &bytes) > 0);
        CHECK_STR(line, "one");
        CHECK(eddy_reader_line(&reader, &line, &bytes) > 0);
        CHECK_STR(line, "two");
        CHECK(eddy_reader_line(&reader, &line, &bytes) > 0);
        CHECK_STR(line, "");
        CHECK(eddy_reader_line(&reader, &line, &bytes) > 0);
        CHECK_STR(line, "last");
        CHECK_EQ(eddy_reader_line(&reader, &line, &bytes), 0);
        eddy_stream_close(stream);
        return 0;
}

TEST(a_file_is_read_by_lines_through_a_reader)
{
        run_in_folder(read_lines);
}

enum { COPIED = 300000 };

static int copy_file(void *arg)
{
        eddy_stream *from, *to;
        eddy_file *in, *out;
        char *data, *copy;
        size_t bytes;

        (void) arg;
        data = eddy_malloc(COPIED);
        for (int i = 0; i < COPIED; i++)
                data[i] = (char) (i * 7 + i / 256);
        CHECK_EQ(eddy_file_write_whole(path_of("from"), data, COPIED, 0), 0);
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ, 0, &in), 0);
        CHECK_EQ(eddy_file_open(path_of("to"), EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0, &out), 0);
        CHECK_EQ(eddy_file_stream(in, EDDY_FILE_STREAM_OWN, &from), 0);
        CHECK_EQ(eddy_file_stream(out, EDDY_FILE_STREAM_OWN, &to), 0);
        CHECK_EQ(eddy_stream_copy(from, to, UINT64_MAX, NULL), 0);
        CHECK_EQ(eddy_stream_shutdown(to), 0);
        eddy_stream_close(from);
        eddy_stream_close(to);
        CHECK_EQ(eddy_file_read_whole(path_of("to"), COPIED, &copy, &bytes), 0);
        CHECK(bytes == COPIED && memcmp(copy, data, COPIED) == 0);
        eddy_free(copy);
        eddy_free(data);
        return 0;
}

TEST(a_file_is_copied_through_streams)
{
        run_in_folder(copy_file);
}

/* --- errors of the system --- */

static void run_failing(struct ed_sys *sys, struct ed_file_op *op)
{
        (void) sys;
        op->result = op->call == ED_FILE_SYNC ? -EIO : 0;
}

static int sync_fails(void *arg)
{
        void (*run)(struct ed_sys * sys, struct ed_file_op * op) = io_tables()->file.run;
        eddy_file *file;

        (void) arg;
        CHECK_EQ(eddy_file_open(path_of("s"), EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0, &file), 0);
        CHECK_EQ(eddy_file_write(file, "x", 1), 0);
        io_tables()->file.run = run_failing;
        CHECK_EQ(eddy_file_sync(file, 0), -EIO);
        io_tables()->file.run = run;
        CHECK_EQ(eddy_file_sync(file, 0), EDDY_E_FILE_SYNC);
        CHECK_EQ(eddy_file_write(file, "x", 1), EDDY_E_FILE_SYNC);
        CHECK_EQ(eddy_file_truncate(file, 0), EDDY_E_FILE_SYNC);
        eddy_file_close(file);
        return 0;
}

TEST(an_error_of_a_sync_is_final)
{
        run_in_folder(sync_fails);
}

/* --- two syncs at the same time --- */

static struct {
        eddy_file *file;
        _Atomic int syncs; /* begun */
        eddy_event first_done;
} twice;

/* The first sync fails while the second is in progress, to which the kernel reports success. */
static void run_one_failing(struct ed_sys *sys, struct ed_file_op *op)
{
        const struct timespec pause = { .tv_nsec = 1000000 };

        (void) sys;
        op->result = 0;
        if (op->call != ED_FILE_SYNC)
                return;
        if (++twice.syncs == 1)
                op->result = -EIO;
        while (twice.syncs < 2)
                nanosleep(&pause, NULL);
        if (op->result == 0)
                while (twice.syncs < 3)
                        nanosleep(&pause, NULL);
}

static int sync_one(void *arg)
{
        int err = eddy_file_sync(twice.file, 0);

        (void) arg;
        if (err == -EIO)
                twice.syncs++;
        else
                CHECK_EQ(err, EDDY_E_FILE_SYNC);
        return 0;
}

static int one_sync_fails(void *arg)
{
        void (*run)(struct ed_sys * sys, struct ed_file_op * op) = io_tables()->file.run;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_file_open(path_of("s"), EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0, &twice.file),
                 0);
        io_tables()->file.run = run_one_failing;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, sync_one, NULL), 0);
        CHECK_EQ(eddy_scope_start(&scope, sync_one, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        io_tables()->file.run = run;
        CHECK_EQ(eddy_file_write(twice.file, "x", 1), EDDY_E_FILE_SYNC);
        eddy_file_close(twice.file);
        return 0;
}

TEST(an_error_of_a_sync_is_final_although_a_later_sync_succeeds)
{
        run_in_folder(one_sync_fails);
}

static int stream_after_sync(void *arg)
{
        void (*run)(struct ed_sys * sys, struct ed_file_op * op) = io_tables()->file.run;
        eddy_stream *stream;
        eddy_file *file;

        (void) arg;
        CHECK_EQ(eddy_file_open(path_of("s"), EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0, &file), 0);
        CHECK_EQ(eddy_file_stream(file, EDDY_FILE_STREAM_OWN, &stream), 0);
        io_tables()->file.run = run_failing;
        CHECK_EQ(eddy_file_sync(file, 0), -EIO);
        io_tables()->file.run = run;
        CHECK_EQ(eddy_stream_write(stream, "x", 1), EDDY_E_FILE_SYNC);
        eddy_stream_close(stream);
        return 0;
}

TEST(a_stream_reports_that_a_sync_of_its_file_has_failed)
{
        run_in_folder(stream_after_sync);
}

/* --- times --- */

static int far_times(void *arg)
{
        struct timespec times[2] = { { 0, UTIME_OMIT }, { 0x200000000000, 5 } };
        struct eddy_file_info info;
        struct stat found;

        (void) arg;
        make_file("a", "");
        CHECK_EQ(utimensat(AT_FDCWD, here.path, times, 0), 0);
        CHECK_EQ(stat(here.path, &found), 0);
        CHECK_EQ(eddy_path_stat(here.path, 0, &info), 0);
        if (found.st_mtim.tv_sec > INT64_MAX / 1000000000)
                CHECK_EQ(info.modified_ns, INT64_MAX);
        else
                CHECK_EQ(info.modified_ns,
                         found.st_mtim.tv_sec * 1000000000LL + found.st_mtim.tv_nsec);
        return 0;
}

TEST(a_time_that_does_not_fit_is_the_last)
{
        run_in_folder(far_times);
}

/* --- a full disk --- */

static int disk_full(void *arg)
{
        struct rlimit limit, former;
        static char block[8192];
        eddy_file *file;

        (void) arg;
        CHECK_EQ(eddy_file_open("/dev/full", EDDY_FILE_WRITE, 0, &file), 0);
        CHECK_EQ(eddy_file_write(file, "x", 1), -ENOSPC);
        eddy_file_close(file);
        CHECK_EQ(getrlimit(RLIMIT_FSIZE, &former), 0);
        limit = former;
        limit.rlim_cur = 4096;
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
        signal(SIGXFSZ, SIG_IGN);
        CHECK_EQ(eddy_file_replace(path_of("f"), block, sizeof(block), 0), -EFBIG);
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &former), 0);
        CHECK_EQ(count_names(), 0);
        return 0;
}

TEST(a_full_disk_is_reported_and_a_failed_replacement_is_removed)
{
        run_in_folder(disk_full);
}

/* --- cancellation --- */

/* Twice what a pipe holds: the write ends only when somebody reads. */
static char flood[1 << 17];

static int write_flood(void *arg)
{
        eddy_file *file;

        (void) arg;
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ | EDDY_FILE_WRITE, 0, &file), 0);
        CHECK_EQ(eddy_file_write(file, flood, sizeof(flood)), 0);
        eddy_file_close(file);
        return 0;
}

static int begun_is_waited_for(void *arg)
{
        size_t taken = 0;
        int fd, inside = 0;
        eddy_scope scope;
        eddy_task *task;

        (void) arg;
        CHECK_EQ(mkfifo(path_of("fifo"), 0600), 0);
        fd = open(here.path, O_RDWR | O_CLOEXEC);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, write_flood, NULL, NULL, &task), 0);
        while (inside == 0) {
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                CHECK_EQ(ioctl(fd, FIONREAD, &inside), 0);
        }
        eddy_task_cancel(task);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK(!eddy_task_is_done(task));
        while (taken < sizeof(flood)) {
                char buf[4096];
                ssize_t n = read(fd, buf, sizeof(buf));

                CHECK(n > 0);
                taken += (size_t) n;
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
        close(fd);
        return 0;
}

TEST(an_operation_that_has_begun_is_waited_for_and_its_result_wins)
{
        run_in_folder(begun_is_waited_for);
}

/* --- files without offsets --- */

static int use_fifo_at_offset(void *arg)
{
        eddy_file *file;
        char buf[8];
        int fd;

        (void) arg;
        CHECK_EQ(mkfifo(path_of("fifo"), 0600), 0);
        fd = open(here.path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        CHECK(fd >= 0 && write(fd, "hello", 5) == 5);
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ | EDDY_FILE_WRITE, 0, &file), 0);
        CHECK_EQ(eddy_file_read_at(file, buf, 5, 100), -ESPIPE);
        CHECK_EQ(eddy_file_write_at(file, "abc", 3, 7), -ESPIPE);
        CHECK_EQ(eddy_file_read(file, buf, sizeof(buf)), 5);
        CHECK(memcmp(buf, "hello", 5) == 0);
        eddy_file_close(file);
        close(fd);
        return 0;
}

TEST(a_fifo_is_neither_read_nor_written_at_an_offset)
{
        run_in_folder(use_fifo_at_offset);
}

/* --- cancelled before a thread took the operation --- */

static struct {
        sem_t gate;
        _Atomic unsigned inside;
} jam;

static int hold_thread(void *arg)
{
        (void) arg;
        jam.inside++;
        while (sem_wait(&jam.gate) < 0)
                continue;
        return 0;
}

static int hold(void *arg)
{
        return eddy_to_thread(hold_thread, arg);
}

/* Returns the number of threads, all of them busy. */
static unsigned begin_jam(eddy_scope *scope)
{
        unsigned started = 0, before;

        CHECK_EQ(sem_init(&jam.gate, 0, 0), 0);
        jam.inside = 0;
        do {
                before = started;
                for (int i = 0; i < 16; i++, started++)
                        CHECK_EQ(eddy_scope_start(scope, hold, NULL), 0);
                CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
        } while (jam.inside > before);
        return started;
}

static int remove_file(void *arg)
{
        return eddy_path_remove(arg);
}

static int open_new(void *arg)
{
        eddy_file *file;
        int err = eddy_file_open(arg, EDDY_FILE_WRITE | EDDY_FILE_NEW, 0, &file);

        if (err == 0)
                eddy_file_close(file);
        return err;
}

static void cancel_queued(eddy_task_fn *fn, void *arg)
{
        eddy_scope scope;
        eddy_task *task;
        int result;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, fn, arg, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK(!eddy_task_is_done(task));
        eddy_task_cancel(task);
        CHECK_EQ(eddy_task_join(task, &result), 0);
        CHECK_EQ(result, -ECANCELED);
        eddy_task_release(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int read_large(void *arg)
{
        static char buf[1 << 20];
        eddy_file *file = arg;
        int64_t n = eddy_file_read_at(file, buf, sizeof(buf), 0);

        return n > 0 ? 0 : (int) n;
}

/* Cancelled while all threads are busy, and looked at after the threads have done the rest. */
static int queued_is_dropped(void *arg)
{
        char kept[128], none[128];
        struct eddy_file_info info;
        eddy_scope scope;
        eddy_file *file;
        unsigned started;

        (void) arg;
        make_file("kept", "x");
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ, 0, &file), 0);
        snprintf(kept, sizeof(kept), "%s", here.path);
        snprintf(none, sizeof(none), "%s", path_of("none"));
        eddy_scope_begin(&scope, NULL);
        started = begin_jam(&scope);
        cancel_queued(remove_file, kept);
        cancel_queued(open_new, none);
        cancel_queued(read_large, file);
        for (unsigned i = 0; i < started; i++)
                CHECK_EQ(sem_post(&jam.gate), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_path_stat(kept, 0, &info), 0);
        CHECK_EQ(eddy_path_stat(none, 0, &info), -ENOENT);
        eddy_file_close(file);
        sem_destroy(&jam.gate);
        return 0;
}

TEST(an_operation_that_is_cancelled_while_it_waits_for_a_thread_is_never_done)
{
        run_in_folder(queued_is_dropped);
}

/* --- reads that take long --- */

enum { SLOW = 8, TICKS = 50 };

static int ticks;

static int tick(void *arg)
{
        (void) arg;
        for (ticks = 0; ticks < TICKS; ticks++)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        return 0;
}

static int read_slow_fifo(void *arg)
{
        eddy_file *file;
        char byte;

        (void) arg;
        CHECK_EQ(eddy_file_open(here.path, EDDY_FILE_READ | EDDY_FILE_WRITE, 0, &file), 0);
        CHECK_EQ(eddy_file_read(file, &byte, 1), 1);
        eddy_file_close(file);
        return 0;
}

/* All reads wait while the loop does other work. */
static int slow_reads(void *arg)
{
        eddy_scope scope;
        int fd;

        (void) arg;
        CHECK_EQ(mkfifo(path_of("fifo"), 0600), 0);
        fd = open(here.path, O_RDWR | O_CLOEXEC);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < SLOW; i++)
                CHECK_EQ(eddy_scope_start(&scope, read_slow_fifo, NULL), 0);
        CHECK_EQ(tick(NULL), 0);
        CHECK_EQ(write(fd, "12345678", SLOW), SLOW);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        close(fd);
        return 0;
}

TEST(slow_reads_do_not_keep_the_loop)
{
        run_in_folder(slow_reads);
        CHECK_EQ(ticks, TICKS);
}
