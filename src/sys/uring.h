/*
 * sys/uring.h - operations on files by the kernel's io_uring: no thread of the program waits.
 *
 * Used by the table in sys/epoll.c, whose set has the ring's descriptor. The ring belongs to the
 * thread that made it.
 */
#ifndef ED_SYS_URING_H
#define ED_SYS_URING_H

#include "sys/files.h"

struct ed_uring;

/*
 * Make a ring, and check which operations the kernel accepts. '*ret_reason' is a sentence for
 * users, or NULL: after success about operations that the kernel lacks, after a failure why the
 * system refuses a ring. Errors: -EMFILE, -ENFILE, -ENOMEM; any other is a refusal.
 */
int ed_uring_new(struct ed_uring **ret_ring, const char **ret_reason);
/* NULL is ignored. */
void ed_uring_free(struct ed_uring *ring);
/* Readable while completions wait for ed_uring_collect(). */
int ed_uring_fd(const struct ed_uring *ring);

/* submit() and cancel() of the table. The kernel gets the operation in ed_uring_begin(). */
int ed_uring_submit(struct ed_uring *ring, struct ed_file_op *op);
bool ed_uring_cancel(struct ed_uring *ring, struct ed_file_op *op);

/* Returns true if ed_uring_collect() has something to store. */
bool ed_uring_have_done(const struct ed_uring *ring);
/*
 * Before the table sleeps: give all submitted operations to the kernel, in one call. Returns how
 * long the table may sleep, at most 'timeout_ns' (negative: no limit).
 */
int64_t ed_uring_begin(struct ed_uring *ring, int64_t timeout_ns);
/* Store an event for each completed operation, at most 'max', and return their number. */
int ed_uring_collect(struct ed_uring *ring, struct ed_event *events, int max);

#endif
