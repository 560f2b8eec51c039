/*
 * 66-event - three workers that wait until a fourth task has loaded the settings.
 *
 * An event is a flag that tasks wait for.  eddy_event_set() makes all of its
 * waiters ready, in the order in which they began to wait.  From then on a wait
 * returns at once, so a worker that starts late does not miss the signal.  The
 * flag carries no value: the port is in the struct beside it.
 *
 * If load() failed, the scope would cancel the workers, and their waits would
 * return -ECANCELED.
 *
 * Run: 66-event
 * Time: virtual 3 s
 * Output:
 *     worker 1 waits
 *     worker 2 waits
 *     worker 3 waits
 *     the settings are loaded
 *     worker 1 uses port 8080
 *     worker 2 uses port 8080
 *     worker 3 uses port 8080
 *     worker 4 is late
 *     worker 4 uses port 8080
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct settings {
        eddy_event loaded; /* ready to use when zero */
        int port;
};

struct worker {
        int number;
        struct settings *settings;
};

static int load(void *arg)
{
        struct settings *settings = arg;
        int err = eddy_sleep(EDDY_SEC(2)); /* as long as reading them would take */

        if (err < 0)
                return err;
        settings->port = 8080;
        puts("the settings are loaded");
        return eddy_event_set(&settings->loaded);
}

static int use_settings(const struct worker *worker)
{
        int err = eddy_event_wait(&worker->settings->loaded);

        if (err == 0)
                printf("worker %d uses port %d\n", worker->number, worker->settings->port);
        return err;
}

static int work(void *arg)
{
        const struct worker *worker = arg;

        printf("worker %d waits\n", worker->number);
        return use_settings(worker);
}

static int work_late(void *arg)
{
        const struct worker *worker = arg;
        int err = eddy_sleep(EDDY_SEC(3));

        if (err < 0)
                return err;
        printf("worker %d is late\n", worker->number);
        return use_settings(worker);
}

static int run(void *arg)
{
        struct settings settings = { .port = 0 };
        struct worker workers[4];
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++) {
                workers[i] = (struct worker){ .number = i + 1, .settings = &settings };
                eddy_scope_start(&scope, i < 3 ? work : work_late, &workers[i]);
        }
        eddy_scope_start(&scope, load, &settings);
        return eddy_scope_end(&scope);
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "66-event: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
