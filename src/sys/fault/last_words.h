/*
 * sys/fault/last_words.h - a report by a process that is about to end unexpectedly, and its open
 * descriptors.
 */
#ifndef ED_SYS_FAULT_LAST_WORDS_H
#define ED_SYS_FAULT_LAST_WORDS_H

#include <stddef.h>

#include "base/def.h"

/*
 * Call 'fn', which may only write, before an unhandled signal or a sanitizer's finding ends the
 * process; NULL: no longer. The process has two such functions: that of the test kit, for all
 * signals that end a process, and that of traced runs, for abort() only. If there are both, the
 * kit's is called.
 *
 * A sanitizer has one callback, which is replaced, because it cannot be asked for.
 */
enum ed_last_words { ED_LAST_WORDS_KIT, ED_LAST_WORDS_TRACE, ED_LAST_WORDS };
typedef void ed_last_words_fn(void);
ED_SHARED void ed_sys_last_words_set(enum ed_last_words of, ed_last_words_fn *fn);

/*
 * Call 'fn' in a copy of the process that has only this thread, and wait for its end, at most
 * 'limit_ms'. Safe in signal handlers: locks of other threads, or of the C library, may hang the
 * copy only.
 */
ED_SHARED void ed_sys_in_copy(ed_last_words_fn *fn, int limit_ms);

/*
 * Store the lowest 'max' open descriptors. Returns the number of open descriptors, which may be
 * greater.
 * Errors: -ENOSYS  the system does not list them, or has no free descriptor for the list
 */
ED_SHARED int ed_sys_fds(int *fds, int max);

/* Describe an open descriptor: "/tmp/x", "socket:[123]". */
ED_SHARED void ed_sys_fd_name(int fd, char *buf, size_t bytes);

#endif
