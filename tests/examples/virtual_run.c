/*
 * virtual_run.c - what eddy_run() is to an example whose time is virtual.
 *
 * Examples are compiled a second time with `-Deddy_run_named=virtual_run`.  The run
 * stands on the simulated table then, whose clock jumps to what comes next, and
 * at the end of the process the time that passed on it goes to stderr, for
 * examples/run to compare.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"
#include "scope/run.h"
#include "sim/sim.h"

static int64_t passed_ns;

/* The file of a run's timeline; further runs have FILE.2, FILE.3 ... */
static const char *trace_file(void)
{
        static char path[PATH_MAX];
        static int runs;
        const char *file = getenv("EDDY_TRACE");

        if (!file)
                return NULL;
        runs++;
        snprintf(path, sizeof(path), "%s", file);
        if (runs > 1)
                snprintf(path + strlen(path), sizeof(path) - strlen(path), ".%d", runs);
        return path;
}

static __attribute__((destructor)) void say_what_passed(void)
{
        fprintf(stderr, "virtual %lld ns\n", (long long) passed_ns);
}

int virtual_run(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts,
                const char *text)
{
        struct eddy_run_opts traced = opts ? *opts : (struct eddy_run_opts){ 0 };
        struct ed_sim_end end = { 0 };
        struct ed_sys *sys;
        int err = ed_sim_new(&(struct ed_sim_opts){ .end = &end }, &sys);

        (void) text;
        if (err < 0)
                return err;
        if (!traced.trace_file)
                traced.trace_file = trace_file();
        err = ed_run_on(sys, main_fn, arg, &traced, NULL);
        passed_ns += end.lasted_ns;
        return err;
}
