/*
 * eddy/process.h - child processes: starting, talking to and ending them.
 *
 *     static const char *const arguments[] = { "sort", "-n", NULL };
 *     EDDY_AUTO(eddy_process) eddy_process *process = NULL;
 *     struct eddy_process_output output;
 *     struct eddy_process_opts opts = { .arguments = arguments,
 *                                       .in = { .kind = EDDY_PROCESS_PIPE },
 *                                       .out = { .kind = EDDY_PROCESS_PIPE } };
 *     int err = eddy_process_start(&opts, &process);
 *
 *     if (err == 0)
 *             err = eddy_process_communicate(
 *                     process,
 *                     &(struct eddy_process_communicate_opts){ .input = "2\n1\n", .input_bytes = 4 },
 *                     &output);
 *     if (err == 0)
 *             fwrite(output.out, 1, output.out_bytes, stdout);
 *
 * A child has the default handling of all signals, an empty signal mask, and no
 * descriptors except its standard streams.  eddy uses a pidfd for each child: it
 * installs no SIGCHLD handler and collects only its own children.  If the program
 * ignores SIGCHLD, or waits for any child itself, the exit status is lost, and
 * eddy_process_wait() reports that.
 *
 * Only the loop that started a process may use it: other loops and threads get
 * EDDY_E_RUN_OTHER_LOOP.  In a child of fork() calls return EDDY_E_LOOP_FORKED.  Calls
 * on a NULL process return -EINVAL, unless their comment says otherwise.
 */
#ifndef EDDY_PROCESS_H
#define EDDY_PROCESS_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

typedef struct eddy_process eddy_process;

/* A standard stream of a child. */
enum eddy_process_io_kind {
        EDDY_PROCESS_INHERIT, /* the stream of this process */
        EDDY_PROCESS_NULL,    /* /dev/null */
        EDDY_PROCESS_PIPE,    /* a pipe; eddy_process_stdin() and others return this end */
        EDDY_PROCESS_FD,      /* a copy of 'fd', which need only be open during the start */
        EDDY_PROCESS_STDOUT,  /* only for 'err': goes to the child's standard output */
};

struct eddy_process_io {
        enum eddy_process_io_kind kind EDDY_UNSET;
        int fd EDDY_UNSET; /* for EDDY_PROCESS_FD */
};

enum {
        /* Make the child the leader of a new process group, or of a new session. */
        EDDY_PROCESS_GROUP = 1 << 0,
        EDDY_PROCESS_SESSION = 1 << 1,
        /*
         * Give the child a new pseudo-terminal (pty) as its standard streams and as the controlling
         * terminal of a new session.  'in', 'out' and 'err' must be zero.
         * eddy_process_stdin() and eddy_process_stdout() return the same stream, whose reads end
         * when the last process has closed the terminal.  Unless the child changes the terminal's
         * settings, what is written is also read back (echo), and lines end with "\r\n".
         */
        EDDY_PROCESS_TERMINAL = 1 << 2,
};

/* How eddy_process_close() ends a child that still runs. */
enum eddy_process_end {
        EDDY_PROCESS_KILL,      /* SIGKILL */
        EDDY_PROCESS_TERMINATE, /* SIGTERM, then SIGKILL after 'grace_ns' */
        EDDY_PROCESS_LEAVE,     /* let it run; eddy collects it if it ends before the run does */
};

/* How to start a process.  Set 'arguments' or 'command'; all other zeros are defaults. */
struct eddy_process_opts {
        const char *const *arguments EDDY_UNSET; /* ended by NULL; the first names the program */
        const char *program EDDY_UNSET;          /* the program, if it is not the first argument */
        const char *command EDDY_UNSET;          /* instead of both: run by /bin/sh -c */
        /*
         * Strings NAME=value, ended by NULL.  'environment' replaces the environment of this
         * process; NULL: inherit it.  After that 'environment_add' is applied: NAME=value sets a
         * variable, NAME removes one.
         */
        const char *const *environment EDDY_UNSET;
        const char *const *environment_add EDDY_UNSET;
        const char *folder EDDY_UNSET; /* the working folder; NULL: that of this process */
        struct eddy_process_io in EDDY_UNSET, out EDDY_UNSET, err EDDY_UNSET;
        uint32_t flags EDDY_UNSET; /* EDDY_PROCESS_* */
        enum eddy_process_end at_close EDDY_UNSET;
        int64_t grace_ns EDDY_UNSET; /* for EDDY_PROCESS_TERMINATE; 0: EDDY_PROCESS_GRACE_NS */
        uint16_t rows EDDY_UNSET, columns EDDY_UNSET; /* of the pseudo-terminal; 0: 24 and 80 */
        uintptr_t reserved[4] EDDY_UNSET;             /* zero */
};

/* The default time between SIGTERM and SIGKILL. */
#define EDDY_PROCESS_GRACE_NS ((int64_t) 1000000000)

/*
 * Start a process on a thread of the run's own pool, and return when its program has
 * been loaded.  A program without '/' is searched for in the PATH of the child's environment
 * (without PATH: /usr/local/bin:/bin:/usr/bin).  A relative path starts at 'folder'.
 *
 * If the task is cancelled before a thread has begun, nothing is started.  If the
 * thread has begun, the call waits for its result.  The strings may change after the call.
 *
 * Suspends: yes.
 * Errors: -ENOENT, -EACCES, -ENOEXEC and others of execve(2)  the program cannot be run
 *         EDDY_E_PROCESS_FOLDER     'folder' does not exist, or cannot be entered
 *         EDDY_E_PROCESS_SIMULATED  in a simulated run
 *         -EINVAL     no program, 'command' with 'arguments', a kind or flag that is not allowed
 *                     here, a variable without a name, or a negative 'grace_ns'
 *         -EBADF      a given descriptor is not open
 *         -EAGAIN     too many processes, or too many calls wait for a thread
 *         -EMFILE, -ENFILE, -ENOMEM, -ECANCELED
 * Owns: returns (owned) '*ret_process', to be closed by eddy_process_close().
 */
EDDY_API EDDY_MUST_USE int eddy_process_start(const struct eddy_process_opts *opts,
                                              eddy_process **ret_process);

/*
 * Returns the process ID, or -1 for NULL.  After the process was collected, the system may
 * give its ID to another process.
 *
 * Suspends: no.
 */
EDDY_API int eddy_process_pid(const eddy_process *process);

/*
 * Returns this end of a pipe or of the pseudo-terminal, or NULL if there is none.
 * eddy_stream_shutdown() closes the child's standard input.  With a terminal it returns
 * -ENOTSUP: write the byte 4 (Ctrl-D) at the beginning of a line instead.
 *
 * If its output is a pipe, a program often buffers some KiB before it writes them, and a
 * task that waits for an answer waits until its deadline.  Call such a program with its
 * option for unbuffered output, or give it a terminal (EDDY_PROCESS_TERMINAL).
 *
 * Suspends: no.
 * Owns: the stream is valid until eddy_process_close().  Do not close it.
 */
EDDY_API eddy_stream *eddy_process_stdin(eddy_process *process);
EDDY_API eddy_stream *eddy_process_stdout(eddy_process *process);
EDDY_API eddy_stream *eddy_process_stderr(eddy_process *process);

/* How a process ended. */
struct eddy_process_exit {
        int code;         /* the exit code, 0 to 255; -1: a signal ended the process */
        int signo;        /* that signal; 0: the process exited */
        bool core_dumped; /* the kernel wrote a core dump */
};

/*
 * Wait for the end of the process, not of its pipes, and store how it ended
 * ('ret_exit' may be NULL).  Any number of tasks may wait; all get the same result, even
 * those that call after the end.  Cancelling a wait does not end the process.
 *
 * Suspends: yes.
 * Errors: EDDY_E_PROCESS_COLLECTED  the process has ended, but other code of the program, or
 *                                   the ignored SIGCHLD, has taken its exit status
 *         -ECANCELED                also if another task closes the process
 *         -ENOMEM, -ENOSPC          the system cannot watch another descriptor
 */
EDDY_API EDDY_MUST_USE int eddy_process_wait(eddy_process *process,
                                             struct eddy_process_exit *ret_exit);

/*
 * eddy_process_wait() without the wait.
 *
 * Suspends: no.
 * Errors: -EAGAIN  the process still runs
 *         EDDY_E_PROCESS_COLLECTED
 */
EDDY_API EDDY_MUST_USE int eddy_process_try_wait(eddy_process *process,
                                                 struct eddy_process_exit *ret_exit);

/*
 * Send a signal to the process; 0 only checks.  The signal never reaches another process.
 * A signal that is sent while the process ends may be lost without an error.
 *
 * Suspends: no.
 * Errors: -ESRCH   the process has ended
 *         -EINVAL  not a signal
 *         -EPERM   the process runs as another user
 */
EDDY_API int eddy_process_signal(eddy_process *process, int signo);

/*
 * Send a signal to all processes of the child's group (EDDY_PROCESS_GROUP, _SESSION or
 * _TERMINAL), even after the end of the child itself.  For this purpose such a child is
 * collected only by eddy_process_close(): until then its ID, which is also that of the
 * group, is not used again.
 *
 * Suspends: no.
 * Errors: -ENOTSUP  the child has no group of its own
 *         -ESRCH    other code has collected the child
 *         -EINVAL, -EPERM
 */
EDDY_API int eddy_process_signal_group(eddy_process *process, int signo);

/* The input, and limits of the outputs.  All zero is the default: no input. */
struct eddy_process_communicate_opts {
        /* for the child's standard input, which must be a pipe or a terminal */
        const void *input EDDY_UNSET;
        size_t input_bytes EDDY_UNSET;
        size_t out_bytes_max EDDY_UNSET,
                err_bytes_max EDDY_UNSET; /* 0: EDDY_PROCESS_OUTPUT_BYTES */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

enum { EDDY_PROCESS_OUTPUT_BYTES = 64 * 1024 * 1024 };

/* The bytes that eddy_process_communicate() has read.  A zero byte follows both outputs. */
struct eddy_process_output {
        const char *out, *err; /* never NULL */
        size_t out_bytes, err_bytes;
        struct eddy_process_exit exit; /* code -1 and signo 0: the process has not ended */
        uintptr_t reserved[4];
};

/*
 * Write the input and close the child's standard input, read standard output and error
 * to their ends, and wait for the end of the process.  Streams that are neither pipes nor
 * the terminal are skipped; the input of a terminal is not closed.  A child that does not
 * read all its input is not an error.  'opts' and 'ret_output' may be NULL.
 *
 * After an error, including -ECANCELED, the output that was read is kept:
 * eddy_process_output() returns it, and a further call with the same input continues.
 * If a descendant of the child keeps a pipe open, the call waits for it; set a deadline.
 *
 * Suspends: yes.
 * Errors: EDDY_E_PROCESS_TOO_LARGE  an output is larger than its limit.  The process is not
 *                                   ended: close it, or call again with a larger limit.
 *         -EBUSY      another task is in this call, or reads or writes a stream
 *         -EINVAL     an input without a pipe
 *         those of eddy_process_wait(), eddy_stream_read() and eddy_stream_write()
 *         -ENOMEM, -ECANCELED
 * Owns: borrows the input until it returns; the output is valid until eddy_process_close()
 *       or the next eddy_process_communicate().
 */
EDDY_API EDDY_MUST_USE int eddy_process_communicate(
        eddy_process *process, const struct eddy_process_communicate_opts *opts,
        struct eddy_process_output *ret_output);

/*
 * Store the output that eddy_process_communicate() has read so far; after
 * EDDY_E_PROCESS_TOO_LARGE it has one byte more than the limit.
 *
 * Suspends: no.
 * Errors: -EBUSY  a task is in eddy_process_communicate()
 */
EDDY_API EDDY_MUST_USE int eddy_process_output(eddy_process *process,
                                               struct eddy_process_output *ret_output);

/*
 * End the process as 'at_close' says, close its streams and free it.  A child with a
 * group of its own is ended with the whole group: EDDY_PROCESS_TERMINATE sends SIGTERM to
 * the group and, after the end of the child or the grace, SIGKILL; EDDY_PROCESS_KILL sends
 * SIGKILL.  If the child itself has already ended, both send SIGKILL to its group.  No
 * zombie remains: a child that SIGKILL does not end within a second is collected later.
 *
 * Works in a cancelled task.  Outside a task, a running child is killed without the
 * grace.  Tasks in eddy_process_wait() get the result, or -ECANCELED; no task may be in
 * another call on the process or its streams.  In a child of fork() only memory and
 * descriptors are released.  NULL is ignored.
 *
 * Suspends: yes, for at most the grace and a second.  Not a cancellation point.
 */
EDDY_API void eddy_process_close(eddy_process *process);

static inline void eddy_process_auto_release(eddy_process **process)
{
        eddy_process_close(*process);
}

EDDY_END_DECLS

#endif
