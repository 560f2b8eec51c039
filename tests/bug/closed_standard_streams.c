/*
 * No descriptor of the library, and no file, has the number of a standard stream that the program
 * has closed. They had: a report was then written to the user's file.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sys/process/shared.h"
#include "test.h"

enum { STREAMS = STDERR_FILENO + 1 };

static int saved[STREAMS];

static void close_streams(void)
{
        for (int i = 0; i < STREAMS; i++) {
                saved[i] = fcntl(i, F_DUPFD_CLOEXEC, STREAMS);
                close(i);
        }
}

static bool are_closed(void)
{
        for (int i = 0; i < STREAMS; i++)
                if (fcntl(i, F_GETFD) >= 0)
                        return false;
        return true;
}

static void restore_streams(void)
{
        for (int i = 0; i < STREAMS; i++) {
                if (saved[i] < 0)
                        continue;
                (void) dup2(saved[i], i);
                close(saved[i]);
        }
}

static int use_files(void)
{
        eddy_file *file, *temporary;
        eddy_folder *folder;
        bool above;
        int err = eddy_file_open("/dev/null", EDDY_FILE_WRITE, 0, &file);

        if (err < 0)
                return err;
        err = eddy_file_temporary(NULL, &temporary);
        if (err == 0)
                err = eddy_folder_open("/", &folder);
        if (err < 0)
                return err;
        above = are_closed() && fcntl(eddy_file_fd(file), F_GETFD) & FD_CLOEXEC;
        eddy_folder_close(folder);
        eddy_file_close(temporary);
        eddy_file_close(file);
        return above ? 0 : -EBADF;
}

static int use_notify(void)
{
        eddy_notify *notify;
        int err = eddy_notify_open(NULL, &notify);
        bool above = are_closed();

        if (err == 0)
                eddy_notify_close(notify);
        return err < 0 || above ? err : -EBADF;
}

static int use_buffer(void)
{
        eddy_process_buffer *buffer;
        int err = eddy_process_buffer_new(1, &buffer);
        bool above = are_closed();

        if (err == 0)
                eddy_process_buffer_free(buffer);
        return err < 0 || above ? err : -EBADF;
}

/* Receive the end of a pipe that was above the streams. */
static int use_passed(void)
{
        const char *name = "@eddy-closed-standard-streams";
        struct eddy_unix_fds fds = { .count = 0 };
        eddy_listener *listener;
        eddy_stream *a, *b;
        char byte;
        int err = eddy_unix_listen(name, NULL, &listener);

        if (err == 0)
                err = eddy_unix_connect(name, NULL, &a);
        if (err == 0)
                err = eddy_listener_accept(listener, &b);
        if (err == 0)
                err = (int) eddy_unix_send_fds(a, "x", 1, &saved[0], 1);
        if (err == 1)
                err = (int) eddy_unix_receive_fds(b, &byte, 1, &fds);
        if (err != 1 || fds.count != 1)
                return err < 0 ? err : -EPROTO;
        err = are_closed() && fcntl(fds.fds[0], F_GETFD) & FD_CLOEXEC ? 0 : -EBADF;
        close(fds.fds[0]);
        eddy_stream_close(a);
        eddy_stream_close(b);
        eddy_listener_close(listener);
        return err;
}

static int use_all(void *arg)
{
        int err = are_closed() ? 0 : -EBADF; /* the loop's own */

        (void) arg;
        if (err == 0)
                err = use_files();
        if (err == 0)
                err = use_notify();
        if (err == 0)
                err = use_buffer();
        return err < 0 ? err : use_passed();
}

TEST(nothing_gets_the_number_of_a_closed_standard_stream)
{
        int err;

        close_streams();
        err = eddy_run(use_all, NULL, NULL);
        restore_streams();
        CHECK_EQ(err, 0);
}

/* The descriptor of the loop is asked for, so the loop has a timer. */
TEST(a_loop_inside_another_gets_no_number_of_a_closed_standard_stream)
{
        eddy_loop *loop;
        int err, fd = -1;
        bool above;

        close_streams();
        err = eddy_loop_new(NULL, &loop);
        if (err == 0)
                fd = eddy_loop_fd(loop);
        above = are_closed();
        eddy_loop_close(loop);
        restore_streams();
        CHECK_EQ(err, 0);
        CHECK(fd >= STREAMS);
        CHECK(above);
}
