/*
 * test_null.c - calls on a NULL stream, listener, signal or process, as a program makes after a connect, a
 * listen or an open that failed: each returns -EINVAL or does nothing.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "test.h"

static void on_idle(void *arg)
{
        (void) arg;
}

static int moves_bytes(void *arg)
{
        struct eddy_slice slice = { "x", 1 };
        char byte;

        (void) arg;
        CHECK_EQ(eddy_stream_read(NULL, &byte, 1), -EINVAL);
        CHECK_EQ(eddy_stream_try_read(NULL, &byte, 1), -EINVAL);
        CHECK_EQ(eddy_stream_write(NULL, "x", 1), -EINVAL);
        CHECK_EQ(eddy_stream_writev(NULL, &slice, 1), -EINVAL);
        CHECK_EQ(eddy_stream_write_some(NULL, &slice, 1), -EINVAL);
        CHECK_EQ(eddy_stream_try_writev(NULL, &slice, 1), -EINVAL);
        CHECK_EQ(eddy_stream_wait(NULL, EDDY_STREAM_READING), -EINVAL);
        CHECK_EQ(eddy_stream_wait(NULL, EDDY_STREAM_WRITING), -EINVAL);
        CHECK_EQ(eddy_stream_shutdown(NULL), -EINVAL);
        return 0;
}

static int asks_and_closes(void *arg)
{
        struct eddy_stream_sent sent = { 1, 1 };
        struct eddy_endpoint end;

        (void) arg;
        CHECK_EQ(eddy_stream_is_readable(NULL), -EINVAL);
        CHECK_EQ(eddy_stream_watch_idle(NULL, on_idle, NULL), -EINVAL);
        CHECK_EQ(eddy_stream_local(NULL, &end), -EINVAL);
        CHECK_EQ(eddy_stream_peer(NULL, &end), -EINVAL);
        CHECK_EQ(eddy_stream_fd(NULL), -1);
        CHECK_STR(eddy_stream_kind(NULL), "");
        eddy_stream_sent(NULL, &sent);
        CHECK_EQ(sent.acknowledged + sent.pending, 0);
        eddy_stream_close(NULL);
        eddy_stream_close_now(NULL);
        eddy_stream_abort(NULL);
        return 0;
}

TEST(calls_on_a_null_stream_return_einval)
{
        CHECK_EQ(eddy_run(moves_bytes, NULL, NULL), 0);
        CHECK_EQ(eddy_run(asks_and_closes, NULL, NULL), 0);
}

static int waits(void *arg)
{
        eddy_stream *stream = NULL;

        (void) arg;
        CHECK_EQ(eddy_listener_accept(NULL, &stream), -EINVAL);
        CHECK(stream == NULL);
        CHECK_EQ(eddy_listener_port(NULL), 0);
        (void) eddy_listener_endpoint(NULL);
        eddy_listener_close(NULL);
        CHECK_EQ(eddy_signal_wait(NULL), -EINVAL);
        eddy_signal_close(NULL);
        return 0;
}

TEST(waits_on_a_null_listener_or_signal_return_einval)
{
        CHECK_EQ(eddy_run(waits, NULL, NULL), 0);
}

static int asks_no_process(void *arg)
{
        struct eddy_process_output output;

        (void) arg;
        CHECK_EQ(eddy_process_wait(NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_process_try_wait(NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_process_signal(NULL, 0), -EINVAL);
        CHECK_EQ(eddy_process_signal_group(NULL, 0), -EINVAL);
        CHECK_EQ(eddy_process_communicate(NULL, NULL, &output), -EINVAL);
        CHECK_EQ(eddy_process_output(NULL, &output), -EINVAL);
        CHECK_EQ(eddy_process_pid(NULL), -1);
        CHECK(!eddy_process_stdin(NULL) && !eddy_process_stdout(NULL));
        CHECK(!eddy_process_stderr(NULL));
        eddy_process_close(NULL);
        return 0;
}

TEST(calls_on_a_null_process_return_einval)
{
        CHECK_EQ(eddy_run(asks_no_process, NULL, NULL), 0);
}
