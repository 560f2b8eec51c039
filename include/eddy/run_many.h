/*
 * eddy/run_many.h - several loops on several threads: one program on all cores.
 *
 *     static int serve(void *arg)
 *     {
 *             struct eddy_tcp_listen_opts opts = { .reuse_port = true };
 *             EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
 *             int err = eddy_tcp_listen("0.0.0.0", 8080, &opts, &listener);
 *
 *             return err < 0 ? err : eddy_serve(listener, NULL, answer, arg);
 *     }
 *
 *     int main(void)
 *     {
 *             int err = eddy_run_many(0, serve, NULL);
 *
 *             if (err == -ECANCELED && eddy_run_signal() != 0)
 *                     return 0;
 *             if (err < 0)
 *                     fprintf(stderr, "server: %s\n", eddy_error_text(err));
 *             return err < 0;
 *     }
 *
 * A task stays on the loop that started it.  Objects of a loop, such as streams,
 * locks and queues, belong to that loop.  Loops exchange messages through an
 * eddy_channel (eddy/channel.h), and start tasks on each other by
 * eddy_loop_start_threadsafe() (eddy/remote.h).
 */
#ifndef EDDY_RUN_MANY_H
#define EDDY_RUN_MANY_H

#include "eddy/def.h"
#include "eddy/run.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

enum { EDDY_RUN_MANY_MAX = 1024 };

/*
 * Run 'n' loops (0: eddy_cpu_count()): the first on this thread, each of the others
 * on a thread of its own.  Each loop runs main_fn(arg) as its main task, as eddy_run()
 * does.  All loops and threads are made before the first main task starts.  Returns
 * when the last loop has ended.
 *
 * The first failure of a main task cancels the main tasks of the other loops.  A
 * failure is a negative result, but not -ECANCELED of a main task that was
 * cancelled.  The first SIGINT or SIGTERM cancels all main tasks; the second ends
 * the process at once.  A loop whose main task has ended drains its background
 * tasks while the other loops continue.
 *
 * Returns the first failure; else -ECANCELED if a main task was cancelled and
 * returned that; else the result of the first loop's main task.  Afterwards
 * eddy_run_signal() returns the signal that stopped the loops, or 0.
 *
 * The new threads have the signal mask of this one.  To let listeners of several
 * loops share a port, set the option reuse_port of each (eddy/tcp.h) and a port
 * other than 0, which would select another port for each loop.  When a listener is
 * closed, the kernel resets the connections that this listener has not yet accepted.
 *
 * Errors: EDDY_E_RUN_NESTED   this thread already runs a loop
 *         EDDY_E_LOOP_CLOSED  a main task ended its thread (pthread_exit())
 *         -EINVAL             'n' is above EDDY_RUN_MANY_MAX, or 'main_fn' is NULL
 *         -EAGAIN, -ENOMEM, -EMFILE  a loop or a thread could not be made; no main
 *                             task has run
 *         and those of eddy_run()
 * Threads: any; main_fn(arg) runs on several threads at the same time.
 */
EDDY_API int eddy_run_many(uint32_t n, eddy_task_fn *main_fn, void *arg);

/*
 * eddy_run_many() with options for each loop; 'opts' may be NULL.  The function
 * 'report' may be called on several threads at the same time.
 *
 * Errors: as above
 */
EDDY_API int eddy_run_many_with(uint32_t n, eddy_task_fn *main_fn, void *arg,
                                const struct eddy_run_opts *opts);

/*
 * Return the index of this thread's loop among the loops of eddy_run_many(), from
 * 0, and the number of these loops.  In any other run, and outside a run, the index
 * is 0 and the number is 1.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API uint32_t eddy_run_index(void);
EDDY_API uint32_t eddy_run_count(void);

EDDY_END_DECLS

#endif
