/*
 * sys/kit/capture.c - redirects descriptor 1 to a file in memory.
 */
#include "sys/kit/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/above_stdio.h"

static struct {
        bool active;
        int file;
        int kept; /* a copy of the former descriptor 1; -1: it was closed */
} capture;

/* Returns true if descriptor 1 is the former one again. */
static bool restore(void)
{
        bool restored = capture.kept >= 0 && dup2(capture.kept, STDOUT_FILENO) >= 0;

        capture.active = false;
        (void) close(capture.kept >= 0 ? capture.kept : STDOUT_FILENO);
        return restored;
}

int ed_sys_capture_begin(void)
{
        int err;

        (void) fflush(stdout);
        capture.kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (capture.kept < 0 && errno != EBADF)
                return -errno;
        capture.file = ed_fd_above_stdio(memfd_create("eddy_test", MFD_CLOEXEC));
        if (capture.file < 0) {
                err = capture.file;
                goto fail_kept;
        }
        if (dup2(capture.file, STDOUT_FILENO) < 0) {
                err = -errno;
                goto fail_file;
        }
        capture.active = true;
        return 0;

fail_file:
        (void) close(capture.file);
fail_kept:
        if (capture.kept >= 0)
                (void) close(capture.kept);
        return err;
}

/* Read the file from its beginning. Returns the number of bytes. */
static size_t read_begin(char *buf, size_t bytes)
{
        size_t got = 0;
        ssize_t n;

        while (got < bytes) {
                n = pread(capture.file, buf + got, bytes - got, (off_t) got);
                if (n == 0 || (n < 0 && errno != EINTR))
                        break;
                got += n > 0 ? (size_t) n : 0;
        }
        return got;
}

int64_t ed_sys_capture_end(char *buf, size_t bytes)
{
        size_t got;
        off_t all;

        (void) fflush(stdout);
        got = read_begin(buf, bytes);
        all = lseek(capture.file, 0, SEEK_END);
        (void) restore();
        (void) close(capture.file);
        return all < (off_t) got ? (int64_t) got : all;
}

void ed_sys_capture_give_up(void)
{
        char buf[512];
        bool restored;
        off_t at = 0;
        ssize_t n;

        if (!capture.active)
                return;
        /* A lock that the run holds would not become free. */
        if (ftrylockfile(stdout) == 0) {
                (void) fflush(stdout);
                funlockfile(stdout);
        }
        restored = restore();
        while (restored && (n = pread(capture.file, buf, sizeof(buf), at)) > 0) {
                at += n;
                if (write(STDOUT_FILENO, buf, (size_t) n) < 0)
                        break;
        }
        (void) close(capture.file);
}
