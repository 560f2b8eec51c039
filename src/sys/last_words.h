/*
 * sys/last_words.h - a process that is about to end in the middle of something
 * says so, and what descriptors it has open.
 */
#ifndef ED_SYS_LAST_WORDS_H
#define ED_SYS_LAST_WORDS_H

#include <stddef.h>

#include "base/def.h"

/*
 * Call 'fn', which only writes, before the process ends by a signal that
 * nobody handles, or because a sanitizer has found something; until it is
 * taken back.  One for the process.
 */
typedef void ed_last_words_fn(void);
ED_SHARED void ed_sys_last_words_set(ed_last_words_fn *fn);
ED_SHARED void ed_sys_last_words_unset(void);

/*
 * The descriptors that are open, the lowest 'max' of them; returns how many
 * there are, which may be more.
 * Errors: -ENOSYS  the system does not say, or not even one is free
 */
ED_SHARED int ed_sys_fds(int *fds, int max);

/* What an open one is: "/tmp/x", "socket:[123]". */
ED_SHARED void ed_sys_fd_name(int fd, char *buf, size_t bytes);

#endif
