/*
 * sys/uring.c - operations on files by the kernel's io_uring.
 *
 * Two queues in memory that the kernel shares: entries for the kernel, and completions for us. An
 * operation is identified by its address, and remains in its task's frame until its completion has
 * arrived, also if it is cancelled: until then the kernel may write to the caller's buffer.
 *
 * No queue can overflow. Each operation reserves a second entry, for its cancel, and the entries in
 * use and reserved are at most ENTRIES; the queue of completions is twice as long. Operations above
 * that number go to threads.
 */
#include "sys/uring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "eddy/path.h"
#include "sys/above_stdio.h"
#include "sys/fork.h"

enum { ENTRIES = 512 };

/* How soon entries are offered again that the kernel did not take, for lack of memory. */
enum { AGAIN_NS = 1000000 };

/* The operations that the kernel may do; opcode 0: always on a thread of ours. */
#define LACKS(name) "the kernel's io_uring lacks " name ", and perhaps others: threads do these"

static const struct {
        uint8_t opcode;
        const char *lacks;
} operations[ED_FILE_CALLS] = {
        [ED_FILE_OPEN] = { IORING_OP_OPENAT, LACKS("open") },
        [ED_FILE_READ] = { IORING_OP_READV, LACKS("read") },
        [ED_FILE_WRITE] = { IORING_OP_WRITEV, LACKS("write") },
        [ED_FILE_SYNC] = { IORING_OP_FSYNC, LACKS("sync") },
        [ED_FILE_STAT] = { IORING_OP_STATX, LACKS("stat") },
        [ED_FILE_STAT_PATH] = { IORING_OP_STATX, LACKS("stat") },
        [ED_FILE_RENAME] = { IORING_OP_RENAMEAT, LACKS("rename") },
};

struct ed_uring {
        int fd;
        uint32_t calls;      /* those that the kernel does: bits by enum ed_file_call */
        const char *lacks;   /* a sentence about others; NULL: there are none */
        unsigned forks;      /* ed_sys_forks() when the ring was made */
        bool is_refused;     /* the kernel takes no more entries */
        uint32_t unfinished; /* entries without a completion so far */
        uint32_t reserved;   /* entries kept for cancels */
        uint32_t tail;       /* number of entries ever made */
        uint32_t given;      /* those of them that the kernel has taken */
        void *memory;        /* of both queues */
        size_t memory_bytes;
        struct io_uring_sqe *entries;
        size_t entries_bytes;
        _Atomic uint32_t *entries_tail;
        _Atomic uint32_t *done_head, *done_tail;
        struct io_uring_cqe *done;
        uint32_t done_mask;
};

/* --- entries --- */

/* Returns the next entry, zeroed. There is room: see the top of the file. */
static struct io_uring_sqe *entry_new(struct ed_uring *ring)
{
        struct io_uring_sqe *entry = &ring->entries[ring->tail++ % ENTRIES];

        ring->unfinished++;
        memset(entry, 0, sizeof(*entry));
        return entry;
}

/* Give the entries to the kernel. Those that it does not take remain for the next call. */
static int enter(struct ed_uring *ring, unsigned wait_for)
{
        uint32_t n = ring->tail - ring->given;
        long taken;

        atomic_store_explicit(ring->entries_tail, ring->tail, memory_order_release);
        taken = syscall(SYS_io_uring_enter, ring->fd, n, wait_for, IORING_ENTER_GETEVENTS, NULL, 0);
        if (taken < 0)
                return -errno;
        ring->given += (uint32_t) taken;
        return 0;
}

/* Returns true after an error that is not a shortage: the program may have set a filter of calls. */
static bool is_refusal(int err)
{
        return err < 0 && err != -EINTR && err != -EAGAIN && err != -EBUSY && err != -ENOMEM;
}

/* As fstat(2), stat(2) and lstat(2). */
static void prepare_stat(struct io_uring_sqe *entry, const struct ed_file_op *op)
{
        bool by_path = op->call == ED_FILE_STAT_PATH;

        if (by_path)
                entry->fd = AT_FDCWD;
        entry->addr = (uintptr_t) (by_path ? op->path : "");
        entry->len = STATX_BASIC_STATS;
        entry->off = (uintptr_t) op->found;
        entry->statx_flags = AT_NO_AUTOMOUNT | (by_path ? 0 : AT_EMPTY_PATH) |
                             (op->flags & EDDY_PATH_NO_FOLLOW ? AT_SYMLINK_NOFOLLOW : 0);
}

/*
 * Always on a thread of the kernel (IOSQE_ASYNC). If the kernel first tries the operation on our
 * thread, a write may raise SIGPIPE or SIGXFSZ, the open of a FIFO does not wait for its other end,
 * and a read from the disk takes longer.
 */
static void prepare(struct ed_uring *ring, struct ed_file_op *op)
{
        struct io_uring_sqe *entry;

        op->end_ns = ring->tail;
        op->begun = false;
        entry = entry_new(ring);
        entry->user_data = (uintptr_t) op;
        entry->fd = op->fd;
        entry->flags = IOSQE_ASYNC;
        entry->opcode = operations[op->call].opcode;
        switch (op->call) {
        case ED_FILE_READ:
                entry->addr = (uintptr_t) op->spaces;
                entry->len = (uint32_t) op->n;
                entry->off = (uint64_t) op->offset;
                break;
        case ED_FILE_WRITE:
                entry->addr = (uintptr_t) op->slices;
                entry->len = (uint32_t) op->n;
                entry->off = (uint64_t) op->offset;
                break;
        case ED_FILE_SYNC:
                entry->fsync_flags = op->flags & EDDY_FILE_DATA_ONLY ? IORING_FSYNC_DATASYNC : 0;
                break;
        case ED_FILE_STAT:
        case ED_FILE_STAT_PATH:
                prepare_stat(entry, op);
                break;
        case ED_FILE_RENAME:
                entry->fd = AT_FDCWD;
                entry->addr = (uintptr_t) op->path;
                entry->len = (uint32_t) AT_FDCWD;
                entry->off = (uintptr_t) op->to;
                entry->rename_flags = op->flags & EDDY_PATH_KEEP ? RENAME_NOREPLACE : 0;
                break;
        default: /* ED_FILE_OPEN */
                entry->fd = AT_FDCWD;
                entry->addr = (uintptr_t) op->path;
                entry->len = op->mode;
                entry->open_flags = (uint32_t) ed_file_open_flags(op->flags);
                break;
        }
}

/*
 * Not at the file's position: after a short read or write, which the kernel then continues, it does
 * not move the position if that ends with an error.
 */
static bool is_ours(const struct ed_uring *ring, const struct ed_file_op *op)
{
        bool moves = op->call == ED_FILE_READ || op->call == ED_FILE_WRITE;

        return ring->calls & 1U << op->call && !(moves && op->offset < 0);
}

int ed_uring_submit(struct ed_uring *ring, struct ed_file_op *op)
{
        if (!is_ours(ring, op) || ring->unfinished + ring->reserved + 2 > ENTRIES ||
            ring->is_refused || ed_sys_forked_since(ring->forks))
                return -EAGAIN;
        ring->reserved++;
        prepare(ring, op);
        return 0;
}

/*
 * A sync that has begun is not cancelled: whether it has lost an error of the disk would be
 * unknown. Neither is a rename, which may have happened.
 */
bool ed_uring_cancel(struct ed_uring *ring, struct ed_file_op *op)
{
        uint32_t place = (uint32_t) op->end_ns;
        struct io_uring_sqe *entry;

        if (op->begun || ed_sys_forked_since(ring->forks))
                return false;
        if (place - ring->given < ring->tail - ring->given) {
                entry = &ring->entries[place % ENTRIES];
                *entry = (struct io_uring_sqe){ .opcode = IORING_OP_NOP };
                ring->reserved--;
                return true;
        }
        if (op->call == ED_FILE_SYNC || op->call == ED_FILE_RENAME)
                return false;
        op->begun = true;
        ring->reserved--;
        entry = entry_new(ring);
        entry->opcode = IORING_OP_ASYNC_CANCEL;
        entry->fd = -1;
        entry->addr = (uintptr_t) op;
        return false;
}

/* --- completions --- */

bool ed_uring_have_done(const struct ed_uring *ring)
{
        if (ed_sys_forked_since(ring->forks))
                return false;
        return (ring->is_refused && ring->tail != ring->given) ||
               atomic_load_explicit(ring->done_head, memory_order_relaxed) !=
                       atomic_load_explicit(ring->done_tail, memory_order_acquire);
}

int64_t ed_uring_begin(struct ed_uring *ring, int64_t timeout_ns)
{
        if (ring->tail != ring->given && !ring->is_refused && !ed_sys_forked_since(ring->forks))
                ring->is_refused = is_refusal(enter(ring, 0));
        if (ed_uring_have_done(ring))
                return 0;
        if (ring->tail != ring->given && (timeout_ns < 0 || timeout_ns > AGAIN_NS))
                return AGAIN_NS;
        return timeout_ns;
}

/*
 * A cancel interrupts the kernel's thread. Linux then returns the codes by which it repeats its own
 * calls (ERESTARTSYS and others) as they are.
 */
static bool is_interrupted(int result)
{
        enum { RESTART_FIRST = 512, RESTART_LAST = 516 };

        return result == -EINTR || (result <= -RESTART_FIRST && result >= -RESTART_LAST);
}

/* Returns true if the operation has its result; else it begins again. */
static bool finish(struct ed_uring *ring, struct ed_file_op *op, int result)
{
        if (is_interrupted(result) && !op->begun) {
                prepare(ring, op);
                return false;
        }
        /* Without a cancel: the kernel could not make a thread for the operation, so use ours. */
        if (result == -ECANCELED && !op->begun)
                result = -EAGAIN;
        if (!op->begun)
                ring->reserved--;
        op->result = is_interrupted(result) ? -ECANCELED : result;
        if (op->call == ED_FILE_OPEN && op->result >= 0)
                op->result = ed_fd_above_stdio(result);
        ed_file_stored(op);
        return true;
}

/* The operations of entries that the kernel refuses end with -EAGAIN, and go to threads. */
static int give_back(struct ed_uring *ring, struct ed_event *events, int max)
{
        int n = 0;

        while (n < max && ring->is_refused && ring->given != ring->tail) {
                const struct io_uring_sqe *entry = &ring->entries[ring->given++ % ENTRIES];
                struct ed_file_op *op = (struct ed_file_op *) (uintptr_t) entry->user_data;

                ring->unfinished--;
                if (op && finish(ring, op, -EAGAIN))
                        events[n++] = (struct ed_event){ .target = &op->done };
        }
        return n;
}

int ed_uring_collect(struct ed_uring *ring, struct ed_event *events, int max)
{
        uint32_t head;
        int n;

        if (ed_sys_forked_since(ring->forks))
                return 0;
        n = give_back(ring, events, max);
        head = atomic_load_explicit(ring->done_head, memory_order_relaxed);
        while (n < max && head != atomic_load_explicit(ring->done_tail, memory_order_acquire)) {
                struct io_uring_cqe done = ring->done[head++ & ring->done_mask];
                struct ed_file_op *op = (struct ed_file_op *) (uintptr_t) done.user_data;

                ring->unfinished--;
                if (op && finish(ring, op, done.res))
                        events[n++] = (struct ed_event){ .target = &op->done };
        }
        atomic_store_explicit(ring->done_head, head, memory_order_release);
        return n;
}

/* --- the ring's life --- */

static void *map(const struct ed_uring *ring, size_t bytes, off_t offset)
{
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                            ring->fd, offset);

        if (memory == MAP_FAILED)
                return NULL;
        /* A child of fork() must not touch its parent's queues. */
        (void) madvise(memory, bytes, MADV_DONTFORK);
        return memory;
}

static void *at(void *memory, uint32_t offset)
{
        return (char *) memory + offset;
}

static int map_queues(struct ed_uring *ring, const struct io_uring_params *params)
{
        size_t done_bytes = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
        uint32_t *order;
        void *memory;

        ring->memory_bytes = params->sq_off.array + params->sq_entries * sizeof(uint32_t);
        if (ring->memory_bytes < done_bytes)
                ring->memory_bytes = done_bytes;
        ring->entries_bytes = params->sq_entries * sizeof(struct io_uring_sqe);
        memory = map(ring, ring->memory_bytes, IORING_OFF_SQ_RING);
        ring->memory = memory;
        ring->entries = map(ring, ring->entries_bytes, IORING_OFF_SQES);
        if (!ring->memory || !ring->entries)
                return -ENOMEM;
        ring->entries_tail = at(memory, params->sq_off.tail);
        ring->done_head = at(memory, params->cq_off.head);
        ring->done_tail = at(memory, params->cq_off.tail);
        ring->done = at(memory, params->cq_off.cqes);
        ring->done_mask = params->cq_entries - 1;
        order = at(memory, params->sq_off.array);
        for (uint32_t i = 0; i < ENTRIES; i++)
                order[i] = i;
        return 0;
}

/* Note the operations that the kernel has. */
static void sort_operations(struct ed_uring *ring, const bool *has)
{
        for (int call = 0; call < ED_FILE_CALLS; call++) {
                if (!operations[call].opcode)
                        continue;
                if (has[operations[call].opcode])
                        ring->calls |= 1U << call;
                else if (!ring->lacks)
                        ring->lacks = operations[call].lacks;
        }
}

/* Ask the kernel which operations it has. Errors: -ENOTSUP: too few. */
static int check_operations(struct ed_uring *ring)
{
        uint64_t room[(sizeof(struct io_uring_probe) +
                       IORING_OP_LAST * sizeof(struct io_uring_probe_op)) /
                              sizeof(uint64_t) +
                      1] = { 0 };
        struct io_uring_probe *probe = (void *) room;
        bool has[IORING_OP_LAST];

        if (syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_PROBE, probe, IORING_OP_LAST) <
            0)
                return -errno;
        for (int i = 0; i < IORING_OP_LAST; i++)
                has[i] = i <= probe->last_op && probe->ops[i].flags & IO_URING_OP_SUPPORTED;
        sort_operations(ring, has);
        return has[IORING_OP_NOP] && has[IORING_OP_ASYNC_CANCEL] && ring->calls ? 0 : -ENOTSUP;
}

/* Let the kernel do nothing once: a filter of system calls may allow only the setup. */
static int check_enter(struct ed_uring *ring)
{
        struct ed_event none;
        int err;

        entry_new(ring)->opcode = IORING_OP_NOP;
        do
                err = enter(ring, 1);
        while (err == -EINTR);
        (void) ed_uring_collect(ring, &none, 1);
        return err < 0 ? err : ring->unfinished ? -ENOTSUP : 0;
}

static int ring_open(struct ed_uring *ring)
{
        struct io_uring_params params = { .flags = IORING_SETUP_SUBMIT_ALL };
        int err;

        ring->forks = ed_sys_forks();
        ring->fd = ed_fd_above_stdio((int) syscall(SYS_io_uring_setup, ENTRIES, &params));
        if (ring->fd < 0)
                return ring->fd == -ENOMEM ? -ENOBUFS : ring->fd;
        if (!(params.features & IORING_FEAT_SINGLE_MMAP))
                return -EINVAL;
        err = map_queues(ring, &params);
        if (err == 0)
                err = check_operations(ring);
        return err < 0 ? err : check_enter(ring);
}

/* Returns why the system refuses a ring, or NULL: it is short of memory or descriptors. */
static const char *reason_of(int err)
{
        switch (err) {
        case -EMFILE:
        case -ENFILE:
        case -ENOMEM:
                return NULL;
        case -ENOSYS:
                return "the kernel, or a filter of system calls, has no io_uring (ENOSYS)";
        case -EPERM:
        case -EACCES:
                return "kernel.io_uring_disabled or a filter of system calls forbids io_uring";
        case -EINVAL:
                return "io_uring needs Linux 5.18 or later (EINVAL)";
        case -ENOBUFS:
                return "io_uring_setup(2) got no memory: the limit of locked memory (ulimit -l) "
                       "may be "
                       "too low";
        case -ENOTSUP:
                return "the kernel's io_uring lacks an operation that eddy needs";
        default:
                return "io_uring_setup(2), or another call of io_uring, failed";
        }
}

int ed_uring_new(struct ed_uring **ret_ring, const char **ret_reason)
{
        struct ed_uring *ring = ed_alloc_zero(sizeof(*ring));
        int err = -ENOMEM;

        if (ring)
                err = ring_open(ring);
        if (err < 0) {
                ed_uring_free(ring);
                *ret_reason = reason_of(err);
                return err;
        }
        *ret_reason = ring->lacks;
        *ret_ring = ring;
        return 0;
}

void ed_uring_free(struct ed_uring *ring)
{
        bool forked;

        if (!ring)
                return;
        /* A child has no such mappings; others may be at the addresses. */
        forked = ed_sys_forked_since(ring->forks);
        if (ring->entries && !forked)
                (void) munmap(ring->entries, ring->entries_bytes);
        if (ring->memory && !forked)
                (void) munmap(ring->memory, ring->memory_bytes);
        if (ring->fd >= 0)
                (void) close(ring->fd);
        ed_free(ring);
}

int ed_uring_fd(const struct ed_uring *ring)
{
        return ring->fd;
}
