/*
 * 85-supervisor - restarts a child that crashes, after growing pauses; a signal ends both.
 *
 * A child that ends with an error is restarted after a pause. The pause doubles each time, up to
 * five seconds; after a child that ran for a second it is short again. A child that exits with
 * code 0 is not restarted. SIGINT (Ctrl-C) or SIGTERM cancels the main task; eddy_process_close()
 * then sends SIGTERM to the child's group and, when the child has ended or two seconds later,
 * SIGKILL, so that no descendant outlives the supervisor.
 *
 *     85-supervisor 'COMMAND'
 *
 * Run: export FILE=$(mktemp); 85-supervisor 'echo >>$FILE; n=$(wc -l <$FILE); echo run $n; [ $n -eq 3 ] || kill -9 $$'; rm $FILE
 * Time: wall 0.3 s
 * Output:
 *     run 1
 *     ended by signal 9; again in 100 ms
 *     run 2
 *     ended by signal 9; again in 200 ms
 *     run 3
 *     done
 *
 * Run: timeout --foreground -s INT 2 85-supervisor 'trap "echo stopping; exit 0" TERM; echo ready; while :; do sleep 0.05; done'
 * Exit: 124
 * Time: wall 2 s
 * Output:
 *     ready
 *     stopping
 *     cancelled
 */
#include <eddy/eddy.h>
#include <stdio.h>

enum { PAUSE_MIN_MS = 100, PAUSE_MAX_MS = 5000 };

static int run_child(const char *command, struct eddy_process_exit *ret_exit)
{
        struct eddy_process_opts opts = { .command = command,
                                          .flags = EDDY_PROCESS_GROUP,
                                          .at_close = EDDY_PROCESS_TERMINATE,
                                          .grace_ns = EDDY_SEC(2) };
        EDDY_AUTO(eddy_process) eddy_process *process = NULL;
        int err = eddy_process_start(&opts, &process);

        return err < 0 ? err : eddy_process_wait(process, ret_exit);
}

static int supervise(void *arg)
{
        int64_t pause_ms = PAUSE_MIN_MS, begun_ns;
        struct eddy_process_exit end;
        int err;

        for (;;) {
                begun_ns = eddy_now();
                err = run_child(arg, &end);
                if (err < 0)
                        return err;
                if (end.code == 0) {
                        puts("done");
                        return 0;
                }
                if (eddy_now() - begun_ns >= EDDY_SEC(1))
                        pause_ms = PAUSE_MIN_MS;
                if (end.signo)
                        printf("ended by signal %d; ", end.signo);
                else
                        printf("ended with code %d; ", end.code);
                printf("again in %lld ms\n", (long long) pause_ms);
                fflush(stdout);
                err = eddy_sleep(EDDY_MS(pause_ms));
                if (err < 0)
                        return err;
                pause_ms = pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS;
        }
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 2) {
                fputs("usage: 85-supervisor 'COMMAND'\n", stderr);
                return 2;
        }
        err = eddy_run(supervise, argv[1], NULL);
        if (err == -ECANCELED)
                puts("cancelled");
        else if (err < 0)
                fprintf(stderr, "85-supervisor: %s\n", eddy_error_text(err));
        return err < 0;
}
