/*
 * io/process.h - a child process, for the files of io/process*.c.
 */
#ifndef ED_IO_PROCESS_H
#define ED_IO_PROCESS_H

#include "base/buf.h"
#include "base/list.h"
#include "loop/member.h"
#include "sys/process/process.h"

enum ed_process_state {
        ED_PROCESS_RUNNING,
        ED_PROCESS_ENDED,     /* 'exit' is known */
        ED_PROCESS_COLLECTED, /* ended, and 'exit' was lost to other code */
};

/* The state of eddy_process_communicate(), kept between calls. */
struct ed_process_talk {
        bool busy;
        bool is_fed; /* all input was written or refused, and standard input closed */
        size_t fed;  /* bytes of the input that were written */
        struct ed_buf outputs[2];
        bool is_read[2]; /* to its end */
};

struct eddy_process {
        struct ed_member member;
        struct ed_list link; /* in a list of struct ed_processes */
        struct ed_target target;
        struct ed_timer timer; /* only without a pidfd */
        void *waiters[2];
        unsigned forks; /* ed_sys_forks() at the start */
        struct ed_process_id id;
        bool is_held; /* not collected: the numbers are still those of the process */
        bool has_group;
        bool is_watched;
        bool is_left; /* closed while it ran */
        enum ed_process_state state;
        struct eddy_process_exit exit;
        enum eddy_process_end at_close;
        int64_t grace_ns;
        eddy_stream *streams[ED_PROCESS_STREAMS]; /* a terminal: only the first */
        bool has_terminal;
        struct ed_process_talk talk;
};

/* The processes of a loop. */
struct ed_processes {
        struct ed_loop_local local;
        struct ed_list open;
        struct ed_list left; /* closed, but not collected; without streams */
};

/* Returns those of the loop, made if necessary, or NULL without memory. */
struct ed_processes *ed_processes_of(struct ed_loop *loop);

/* Errors: -EINVAL, EDDY_E_LOOP_FORKED, EDDY_E_RUN_OTHER_LOOP. */
int ed_process_check_use(const eddy_process *process);

/* Look whether the process has ended; if so, wake its waiters. */
void ed_process_look(eddy_process *process);

void ed_process_unwatch(eddy_process *process);
/* Stop watching, and close the pidfd: the process was collected. */
void ed_process_detach(eddy_process *process);
/* Collect the leader of a group, whose number was kept, and detach it. */
void ed_process_collect(eddy_process *process);

/* Errors: as eddy_process_signal_group(). */
int ed_process_send_group(eddy_process *process, int signo);

/* Close the streams and release what eddy_process_communicate() has read. */
void ed_process_empty(eddy_process *process);
/* The process is not held. */
void ed_process_free(eddy_process *process);

/* The arguments of a shell. */
struct ed_process_shell {
        const char *arguments[4];
};

/*
 * Fill in the program, the arguments and the environment of a start, and make room for the path.
 * Strings of 'opts' are borrowed, and 'shell' too. Errors: -EINVAL, -ENOMEM.
 */
EDDY_MUST_USE int ed_process_strings_make(const struct eddy_process_opts *opts,
                                          struct ed_process_shell *shell,
                                          struct ed_process_start *start);
void ed_process_strings_free(struct ed_process_start *start);

#endif
