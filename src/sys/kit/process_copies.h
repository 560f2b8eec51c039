/*
 * sys/kit/process_copies.h - running the rest of the program in copies of the process, one at a
 * time.
 *
 * Each copy has the program's state of before.  Its standard output and standard error go to files
 * in memory, and its standard input is empty.
 */
#ifndef ED_SYS_KIT_PROCESS_COPIES_H
#define ED_SYS_KIT_PROCESS_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/def.h"

enum { ED_SYS_COPY_BYTES_MAX = 256 << 20 }; /* of the output of a copy */

struct ed_sys_copies {
        void *shared;      /* memory of the process and all copies */
        int output, error; /* of the last copy; -1: none */
};

/* How a copy ended. */
struct ed_sys_copy_end {
        int status; /* -1: by a signal */
        int signo;
        bool is_late;  /* it was killed, because the limit had passed */
        bool is_large; /* it was killed, because its output was too large */
};

/*
 * Prepare the process, once.  From now on it ends on SIGINT, SIGTERM, SIGHUP and SIGQUIT after the
 * copy, unless these are ignored; it stops on SIGTSTP, and blocks other signals.  Copies have the
 * program's own handling.
 * Errors: those of mmap(2).
 */
EDDY_MUST_USE int ed_sys_copies_open(struct ed_sys_copies *copies, size_t shared_bytes);

/*
 * Returns 1 in a new copy, and 0 in the process after the end of that copy, which is killed after
 * 'limit_s'.  The copy's stdout has no buffer.  Open files have the offset that they had in
 * ed_sys_copies_open().
 * Errors: -EINTR  a signal asks the process to end; the copy was killed
 *         those of memfd_create(2), fork(2) and waitpid(2)
 */
EDDY_MUST_USE int ed_sys_copies_run(struct ed_sys_copies *copies, unsigned limit_s,
                                    struct ed_sys_copy_end *ret_end);

/* Store the beginning of the last copy's standard output. Returns the number of all its bytes. */
size_t ed_sys_copies_output(const struct ed_sys_copies *copies, char *buf, size_t bytes);

/* Returns a checksum of the last copy's standard output. */
uint64_t ed_sys_copies_checksum(const struct ed_sys_copies *copies);

/* Store the end of the last copy's standard error, as a string. */
void ed_sys_copies_error(const struct ed_sys_copies *copies, char *buf, size_t bytes);

/* Returns true on the thread that runs main(). Another one has no main() in a copy. */
bool ed_sys_copies_can_run(void);

/* Returns the number of threads of the process. Copies have one. */
unsigned ed_sys_copies_threads(void);

/*
 * Store the words of the command that started the process, each with its NUL.  Returns the number of
 * bytes, or 0 if they do not fit or are unknown.
 */
size_t ed_sys_command_line(char *buf, size_t bytes);

/* Returns a copy of descriptor 1, which the program may replace later, or 1. */
int ed_sys_stdout_keep(void);

/* Returns 'fd', or 1 if the program has closed it. */
int ed_sys_stdout_kept(int fd);

#endif
