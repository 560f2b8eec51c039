/*
 * io_test.h - what the tests of the io floor share: running a task on real
 * loopback sockets, pairs of connected streams, and a table that can be made
 * to fail.
 */
#ifndef ED_IO_TEST_H
#define ED_IO_TEST_H

#include "eddy/eddy.h"
#include "loop/loop.h"
#include "test.h"

/*
 * Run 'fn' as the main task.  It must return 0, leave no descriptor open that
 * was not open before, and leave nobody waiting and no timer armed.
 */
void io_run(eddy_task_fn *fn);

/* The same, and waits first for jobs of threads that are still under way, such as cancels. */
void io_run_and_wait(eddy_task_fn *fn);

/* How many descriptors the process has open. */
int io_open_fds(void);

/* Whether sockets of this machine may have ::1. */
bool io_has_ipv6(void);

/* Parts of a loop's table. */
struct io_tables {
        struct ed_sys_poll poll;
        struct ed_sys_socket socket;
        struct ed_sys_datagram datagram;
        struct ed_sys_file file;
        struct ed_sys_worker worker;
        struct ed_sys_zygote zygote;
};

/* Those of the loop, to be changed: copies of its own that it uses from now on. */
struct io_tables *io_tables(void);

/*
 * Let the clock of the loop's table go ahead by so much more.  From the first
 * call on, with 0 too, it goes by nothing else but by waits of the loop that
 * end because their time is over: a test that others keep from the processor
 * is not late.
 */
void io_clock_advance(int64_t ns);

struct io_pair {
        eddy_stream *a, *b;
};

/* Two ends of a connection over the loopback. */
void io_pair_open(struct io_pair *pair);
void io_pair_close(struct io_pair *pair);

/* Read exactly so many bytes. */
void io_read_all(eddy_stream *stream, void *buf, size_t bytes);

/* Let events come in and other tasks run, a few turns long. */
void io_settle(void);

/* Fail every allocation from the n-th on (0: the first); below 0: none. */
void io_fail_allocations(int n);

#endif
