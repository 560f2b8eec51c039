/*
 * io/fd_watch.h - waiting again and again for a descriptor that another library owns: it is watched
 * from the first wait that parks until the watch or the loop ends, which saves the system calls of
 * eddy_fd_wait() that begin and end each wait.
 *
 * A duplicate is watched, so the file remains open until ed_fd_watch_end(), also if the library
 * closes its descriptor.  The library must not replace the file before that.
 */
#ifndef ED_IO_FD_WATCH_H
#define ED_IO_FD_WATCH_H

#include "base/list.h"
#include "eddy/fd.h"
#include "loop/loop.h"

/* Zero: not watched. */
struct ed_fd_watch {
        struct ed_target target;
        struct ed_loop_local local; /* of 'loop', whose end ends the watch */
        struct ed_loop *loop;       /* NULL: not watched */
        struct ed_list waits;
        unsigned unseen; /* events that no wait has returned */
        unsigned events; /* that are reported */
        int watched;     /* of watch_foreign() */
};

/* As eddy_fd_wait(). */
ED_SHARED EDDY_MUST_USE int ed_fd_watch_wait(struct ed_fd_watch *watch, int fd, unsigned events);

/*
 * The same for what can only come after this call, such as the answer to a request that was just
 * sent: the descriptor is not asked whether it is ready already, which saves a system call.
 */
ED_SHARED EDDY_MUST_USE int ed_fd_watch_wait_next(struct ed_fd_watch *watch, int fd,
                                                  unsigned events);

/* No task may be in a wait that was not cancelled.  Can be repeated.  Suspends: no. */
ED_SHARED void ed_fd_watch_end(struct ed_fd_watch *watch);

#endif
