/*
 * sys/process/worker_process.c - the life of a worker process: it receives calls, runs functions,
 * and sends results.
 *
 * Nothing here suspends: the worker waits in the kernel. A worker that cannot go on ends, and its
 * end fails the call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/process_pool.h"
#include "sys/process/zygote.h"

_Static_assert((int) ED_WORKER_PACKET_FDS == (int) EDDY_PROCESS_BUFFERS_MAX,
               "all fit into a packet");

enum { REPLY_BYTES = 4096 };

struct buffer {
        void *data;
        size_t bytes;
};

struct eddy_process_work {
        int fd;
        pid_t pid;
        const char *input;
        size_t input_bytes;
        struct buffer buffers[EDDY_PROCESS_BUFFERS_MAX];
        uint32_t buffers_count;
        char *reply;
        size_t reply_bytes, reply_room;
        size_t reply_max;
        int err; /* of a reply */
};

static ed_work_at_fn *test_at_fn;

ed_work_at_fn *ed_work_test_at_set(ed_work_at_fn *fn)
{
        ed_work_at_fn *former = test_at_fn;

        test_at_fn = fn;
        return former;
}

static int at(enum ed_work_step step)
{
        return ed_unlikely(test_at_fn != NULL) ? test_at_fn(step) : 0;
}

/* --- what functions call --- */

const void *eddy_process_work_input(const eddy_process_work *work)
{
        return work->input;
}

size_t eddy_process_work_input_bytes(const eddy_process_work *work)
{
        return work->input_bytes;
}

void *eddy_process_work_buffer(const eddy_process_work *work, uint32_t i, size_t *ret_bytes)
{
        if (i >= work->buffers_count)
                return NULL;
        if (ret_bytes)
                *ret_bytes = work->buffers[i].bytes;
        return work->buffers[i].data;
}

/* Make room for 'bytes' in all. */
static int reply_grow(eddy_process_work *work, size_t bytes)
{
        size_t room = work->reply_room ? work->reply_room : REPLY_BYTES;
        char *reply;

        if (bytes <= work->reply_room)
                return 0;
        while (room < bytes)
                room *= 2;
        reply = ed_realloc(work->reply, room);
        if (!reply)
                return -ENOMEM;
        work->reply = reply;
        work->reply_room = room;
        return 0;
}

int eddy_process_work_reply(eddy_process_work *work, const void *data, size_t bytes)
{
        int err = 0;

        if (bytes > work->reply_max - work->reply_bytes)
                err = EDDY_E_PROCESS_POOL_TOO_LARGE;
        if (err == 0)
                err = reply_grow(work, work->reply_bytes + bytes);
        if (err < 0) {
                work->err = err;
                return err;
        }
        if (bytes > 0)
                memcpy(work->reply + work->reply_bytes, data, bytes);
        work->reply_bytes += bytes;
        return 0;
}

/* --- calls --- */

static int run(eddy_process_work *work, eddy_process_work_fn *fn)
{
        int result = at(ED_WORK_RUN);

        if (result == 0)
                result = fn(work);
        /* A child of the function must not answer too: the parent would take that for the next call. */
        if (getpid() != work->pid)
                _exit(EXIT_SUCCESS);
        return result >= 0 && work->err < 0 ? work->err : result;
}

/* Results of a map: the error of each item, then the bytes of each item. */
static int run_map(eddy_process_work *work, const struct ed_worker_packet *head,
                   eddy_process_work_fn *fn)
{
        size_t item_bytes = work->input_bytes / head->items, room = head->room;
        size_t errors_bytes = head->items * sizeof(int32_t);
        size_t bytes = errors_bytes + head->items * room;
        const char *items = work->input;
        int err = reply_grow(work, bytes);

        if (err < 0)
                return err;
        memset(work->reply, 0, bytes);
        for (size_t i = 0; i < head->items; i++) {
                int32_t result;

                work->input = items + i * item_bytes;
                work->input_bytes = item_bytes;
                work->reply_bytes = errors_bytes + i * room;
                work->reply_max = work->reply_bytes + room;
                work->err = 0;
                result = run(work, fn);
                if (result < 0 && !(head->flags & ED_WORKER_PACKET_KEEP_GOING))
                        return result;
                memcpy(work->reply + i * sizeof(result), &result, sizeof(result));
        }
        work->reply_bytes = bytes;
        return 0;
}

/* Send the result. The parent has gone if that fails. */
static void reply_send(eddy_process_work *work, int result)
{
        size_t bytes = result < 0 ? 0 : work->reply_bytes, sent = 0;
        struct ed_worker_packet head = { .kind = ED_WORKER_PACKET_RESULT,
                                         .result = result,
                                         .bytes = bytes };

        do {
                struct ed_worker_packet_part part = { .bytes = bytes - sent };

                if (part.bytes > 0)
                        part.data = work->reply + sent;
                if (part.bytes > ED_WORKER_PACKET_BYTES)
                        part.bytes = ED_WORKER_PACKET_BYTES;
                if (ed_worker_packet_send(NULL, work->fd, &head, &part) < 0)
                        _exit(EXIT_FAILURE);
                sent += part.bytes;
                head.kind = ED_WORKER_PACKET_DATA;
                if (at(ED_WORK_SEND) < 0)
                        _exit(EXIT_FAILURE);
        } while (sent < bytes);
}

/* --- inputs --- */

static int buffers_map(eddy_process_work *work, const struct ed_worker_packet_fds *fds)
{
        int err = fds->are_lost ? -EMFILE : 0;

        work->buffers_count = 0;
        for (unsigned i = 0; i < fds->count; i++) {
                struct buffer *buffer = &work->buffers[i];
                struct stat found = { 0 };

                if (err == 0 && fstat(fds->fds[i], &found) < 0)
                        err = -errno;
                if (err == 0) {
                        buffer->bytes = (size_t) found.st_size;
                        buffer->data = mmap(NULL, buffer->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                            fds->fds[i], 0);
                        if (buffer->data == MAP_FAILED)
                                err = -errno;
                        else
                                work->buffers_count++;
                }
                (void) close(fds->fds[i]);
        }
        return err;
}

static void buffers_unmap(eddy_process_work *work)
{
        for (uint32_t i = 0; i < work->buffers_count; i++)
                (void) munmap(work->buffers[i].data, work->buffers[i].bytes);
        work->buffers_count = 0;
}

/* The first packet, aligned for any type. */
static _Alignas(max_align_t) char first[ED_WORKER_PACKET_BYTES];

/*
 * Receive the rest of an input whose first bytes have come. Without memory it is read and dropped,
 * because the parent first sends all of it. Returns the memory to be freed, or NULL if there is
 * none, and stores the error.
 */
static char *input_recv(eddy_process_work *work, size_t bytes, size_t n, int *ret_err)
{
        char *input = bytes > n ? ed_alloc(bytes) : NULL;

        work->input = input ? input : first;
        work->input_bytes = bytes;
        if (bytes > n && !input)
                *ret_err = -ENOMEM;
        if (input)
                memcpy(input, first, n);
        while (n < bytes) {
                struct ed_worker_packet head;
                int64_t more =
                        ed_worker_packet_recv(NULL, work->fd, &head, input ? input + n : first,
                                              input ? bytes - n : sizeof(first), NULL);

                if (more <= 0 || head.kind != ED_WORKER_PACKET_DATA)
                        _exit(EXIT_FAILURE);
                n += (size_t) more;
        }
        return input;
}

static void serve(int fd, const struct ed_worker_packet *head, size_t n,
                  const struct ed_worker_packet_fds *fds)
{
        eddy_process_work work = { .fd = fd, .pid = getpid(), .reply_max = head->room };
        eddy_process_work_fn *fn = (eddy_process_work_fn *) (uintptr_t) head->fn;
        int result = 0, err = at(ED_WORK_RECEIVE);
        char *input = input_recv(&work, head->bytes, n, &result);
        int decoded = at(ED_WORK_DECODE);

        if (result == 0)
                result = err < 0 ? err : decoded;
        err = buffers_map(&work, fds);
        if (result == 0)
                result = err;
        if (result == 0)
                result = head->kind == ED_WORKER_PACKET_MAP ? run_map(&work, head, fn)
                                                            : run(&work, fn);
        buffers_unmap(&work);
        (void) fflush(NULL);
        err = at(ED_WORK_ENCODE);
        reply_send(&work, err < 0 ? err : result);
        ed_free(input);
        ed_free(work.reply);
        if (at(ED_WORK_SENT) < 0)
                _exit(EXIT_FAILURE);
}

/*
 * Count the limit from the present size: the program has mapped memory of its own. Returns false if
 * there is no file that has the size, for example after chroot(2).
 */
static bool limit_memory(uint64_t bytes_max)
{
        struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
        char line[64];
        int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

        if (fd >= 0)
                (void) close(fd);
        if (n <= 0)
                return false;
        line[n] = '\0';
        (void) getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = strtoull(line, NULL, 10) * (uint64_t) sysconf(_SC_PAGESIZE) + bytes_max;
        if (limit.rlim_cur > limit.rlim_max)
                limit.rlim_cur = limit.rlim_max;
        return setrlimit(RLIMIT_AS, &limit) == 0;
}

void ed_worker_process_run(int fd, uint64_t memory_bytes_max)
{
        static const struct ed_worker_packet_part no_part = { .data = NULL };
        struct ed_worker_packet failed = { .kind = ED_WORKER_PACKET_FAILED, .result = -ENOTSUP };

        if (memory_bytes_max && !limit_memory(memory_bytes_max)) {
                (void) ed_worker_packet_send(NULL, fd, &failed, &no_part);
                _exit(EXIT_FAILURE);
        }
        for (;;) {
                struct ed_worker_packet head;
                struct ed_worker_packet_fds fds;
                int64_t n = ed_worker_packet_recv(NULL, fd, &head, first, sizeof(first), &fds);

                if (n < 0 ||
                    (head.kind != ED_WORKER_PACKET_CALL && head.kind != ED_WORKER_PACKET_MAP))
                        _exit(n < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
                serve(fd, &head, (size_t) n, &fds);
        }
}
