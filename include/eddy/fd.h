/*
 * eddy/fd.h - waiting for a descriptor that another library owns.
 *
 * Libraries with a non-blocking interface, such as libpq, give their caller a
 * descriptor and the events to wait for.  The library may close, replace or reopen
 * its descriptor between two waits.
 *
 *     while (PQisBusy(conn)) {
 *             int ready = eddy_fd_wait(PQsocket(conn), EDDY_FD_READABLE);
 *
 *             if (ready < 0)
 *                     return ready;
 *             if (!PQconsumeInput(conn))
 *                     return -EIO;
 *     }
 *
 * For the program's own descriptors, see eddy_stream_from_fd(); for a callback
 * instead of a task, eddy_loop_watch().
 */
#ifndef EDDY_FD_H
#define EDDY_FD_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_FD_READABLE = 1 << 0, /* a read would not wait: bytes, the end, or an error */
        EDDY_FD_WRITABLE = 1 << 1, /* a write would not wait */
};

/*
 * Wait until 'fd' is ready for one of 'events' (EDDY_FD_*), and return the events
 * that it is ready for, at least one.  After an error or a hang-up it is ready for
 * all events.  Regular files are always ready.
 *
 * Between calls eddy remembers nothing about the descriptor.  Several tasks may wait
 * for the same descriptor.  During a wait, eddy holds a duplicate (F_DUPFD_CLOEXEC),
 * which keeps the file open.  If the library closes or replaces its descriptor during
 * a wait, the wait continues for the former file; so cancel the wait first.
 *
 * Suspends: yes.
 * Errors: -EBADF      'fd' is not open
 *         -EINVAL     'events' is 0 or has unknown bits
 *         -ECANCELED
 *         -EMFILE, -ENOMEM, -ENOSPC  the system cannot watch another descriptor
 *         -EEXIST     in a simulated run only: the descriptor is watched already
 */
EDDY_API EDDY_MUST_USE int eddy_fd_wait(int fd, unsigned events);

EDDY_END_DECLS

#endif
