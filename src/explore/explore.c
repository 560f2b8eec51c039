/*
 * explore/explore.c - the library that `eddy explore` loads into a program before libeddy.  The
 * program then calls the eddy_run() of this library.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/loop.h"
#include "eddy/run.h"
#include "eddy/run_many.h"
#include "test/program.h"

/* Programs that this one starts are not explored. */
static void preload_remove(void)
{
        const char *list = getenv("LD_PRELOAD"), *rest = list ? strchr(list, ':') : NULL;

        if (rest)
                (void) setenv("LD_PRELOAD", rest + 1, 1);
        else
                (void) unsetenv("LD_PRELOAD");
}

static __attribute__((constructor)) void at_start(void)
{
        ed_test_program_begin();
        preload_remove();
}

static __attribute__((destructor)) void at_exit(void)
{
        ed_test_program_end();
}

int eddy_run_named(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts,
                   const char *text)
{
        return ed_test_program_run(main_fn, arg, opts, text);
}

#undef eddy_run
int eddy_run(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts)
{
        return ed_test_program_run(main_fn, arg, opts, NULL);
}

/* Other loops would be real, and send real requests. */

int eddy_run_many(uint32_t n, eddy_task_fn *main_fn, void *arg)
{
        ed_test_program_refuse("eddy_run_many() has several loops, which cannot be explored");
}

int eddy_run_many_with(uint32_t n, eddy_task_fn *main_fn, void *arg,
                       const struct eddy_run_opts *opts)
{
        ed_test_program_refuse("eddy_run_many_with() has several loops, which cannot be explored");
}

int eddy_loop_new(const struct eddy_run_opts *opts, eddy_loop **ret_loop)
{
        ed_test_program_refuse("eddy_loop_new() makes a loop that the program turns itself, which "
                               "cannot be explored");
}
