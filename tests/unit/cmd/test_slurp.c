/*
 * test_slurp.c - standard input that another program has made non-blocking is read as any other: by
 * the function that reads small files, and by the one that reads inputs.
 */
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "batch/request/source.h"
#include "common/console.h"
#include "common/slurp.h"
#include "eddy/alloc.h"

static int ends[2], polls, lines;

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

/* The program waits for more: write it, and then close the pipe. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
        CHECK_EQ(count, 1);
        CHECK_EQ(fds->fd, STDIN_FILENO);
        CHECK_EQ(timeout_ms, -1);
        if (++polls < 3)
                CHECK_EQ(write(ends[1], "line\n", 5), 5);
        else
                close(ends[1]);
        return 1;
}

static void stdin_make(void)
{
        polls = lines = 0;
        CHECK_EQ(pipe(ends), 0);
        CHECK_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
        CHECK_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        close(ends[0]);
}

TEST(small_file_from_a_non_blocking_pipe_is_read_to_its_end)
{
        char *data;
        size_t bytes;

        stdin_make();
        CHECK_EQ(ed_slurp("test", "--data @", "-", 100, &data, &bytes), 0);
        CHECK_EQ(polls, 3);
        CHECK_STR(data, "line\nline\n");
        CHECK_EQ(bytes, 10);
        eddy_free(data);
}

static int line_take(void *arg, const struct ed_line *line)
{
        (void) arg;
        lines += line->bytes == 4;
        return 0;
}

TEST(input_from_a_non_blocking_pipe_is_read_to_its_end)
{
        const struct ed_say say = ed_console_voice("test");
        struct ed_source_opts opts = {
                .say = &say, .path = "-", .line_bytes_max = 100, .take = line_take
        };
        struct ed_source source;

        stdin_make();
        CHECK_EQ(ed_source_init(&source, &opts), 0);
        CHECK_EQ(ed_source_read(&source, STDIN_FILENO, -1), 0);
        CHECK_EQ(lines, 2);
        ed_source_fini(&source);
}
