/*
 * Where a sandbox forbids epoll_pwait2(2), older container runtimes do, the
 * loop waits in another way.  It took the refusal for an interrupted wait, and
 * spun without ever hearing of an event.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "eddy/run.h"
#include "eddy/scope.h"
#include "eddy/stream.h"
#include "eddy/time.h"
#include "refuse.h"
#include "test.h"

static int read_late(void *arg)
{
        char byte = 0;
        int64_t n = eddy_stream_read(arg, &byte, 1);

        return n == 1 && byte == 'x' ? 0 : -EIO;
}

static int write_after_a_while(void *arg)
{
        int *pipes = arg;
        eddy_stream *stream;
        eddy_scope scope;
        int64_t begun = eddy_now();
        struct eddy_run_info info;
        int err;

        CHECK_EQ(eddy_stream_from_fd(pipes[0], 0, &stream), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(20) });
        CHECK_EQ(eddy_scope_start(&scope, read_late, stream), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(3)), 0);
        CHECK(eddy_now() - begun >= EDDY_MS(3));
        CHECK_EQ(write(pipes[1], "x", 1), 1);
        err = eddy_scope_end(&scope);
        eddy_stream_close(stream);
        CHECK_EQ(eddy_run_info(&info), 0);
        CHECK(info.polls < 1000); /* it slept, and did not spin */
        return err;
}

TEST(events_are_heard_of_where_the_exact_wait_is_forbidden)
{
        int pipes[2];

        CHECK_EQ(pipe(pipes), 0);
        if (!refuse(SYS_epoll_pwait2, EPERM))
                test_skip("no filter of system calls can be installed here");
        CHECK_EQ(eddy_run(write_after_a_while, pipes, NULL), 0);
}
