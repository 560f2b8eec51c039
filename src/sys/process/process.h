/*
 * sys/process/process.h - starting a child process, asking for its end, and signals to it.
 */
#ifndef ED_SYS_PROCESS_PROCESS_H
#define ED_SYS_PROCESS_PROCESS_H

#include <signal.h> /* SIGKILL, SIGTERM */

#include "eddy/process.h"
#include "sys/sys.h"

enum { ED_PROCESS_STREAMS = 3 };

/* A child that was not collected yet. */
struct ed_process_id {
        int pid;
        int pidfd; /* -1: the system has none, as under Valgrind */
};

/* A start. Strings and arrays belong to the caller, which waits for the result. */
struct ed_process_start {
        const char *program;    /* a path, or a name to search for */
        const char *search;     /* folders, separated by ':' */
        char *const *arguments; /* ended by NULL, as 'environment' */
        char *const *environment;
        const char *folder; /* NULL: the present one */
        struct eddy_process_io io[ED_PROCESS_STREAMS];
        unsigned flags; /* EDDY_PROCESS_* */
        uint16_t rows, columns;
        char *path; /* room for a folder of 'search', '/', 'program' and a zero byte */
        size_t path_room;

        int result; /* 0, or the error: then nothing is left open, and no process runs */
        struct ed_process_id id;
        bool is_collected;            /* it has ended already, and other code has collected it */
        int ends[ED_PROCESS_STREAMS]; /* our ends, non-blocking, or -1; a terminal: only the first */
};

/* The operations of a table that uses the kernel. May wait for a disk, on any thread. */
void ed_process_start(struct ed_sys *sys, struct ed_process_start *start);

/*
 * Collect the process if it has ended; 'keep': leave it to a later call. Errors: -EAGAIN: it runs;
 * -ECHILD: other code has collected it.
 */
int ed_process_end(struct ed_sys *sys, const struct ed_process_id *id, bool keep,
                   struct eddy_process_exit *ret_exit);

/* Send a signal to the process, or to the group that it leads. Errors: -ESRCH, -EINVAL, -EPERM. */
int ed_process_signal(struct ed_sys *sys, const struct ed_process_id *id, bool to_group, int signo);

/* Returns the environment of this process, which setenv(3) may move. */
char *const *ed_process_environment(void);

/*
 * For a process without a loop: collect it and close its pidfd. 'kill': first kill the process, and
 * its group if 'has_group', and wait at most a second for its end.
 */
void ed_process_finish(const struct ed_process_id *id, bool has_group, bool kill);

/* Only close the pidfd, if there is one. */
void ed_process_fd_close(const struct ed_process_id *id);

#endif
