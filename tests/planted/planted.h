/*
 * planted.h - small programs that each have a fault, and are to be found out.
 *
 * A program is compiled twice: with FAULT 1, and repaired.  The comment at its
 * top says what the first prints and how it ends, in lines that `run` reads:
 *
 *     Environment: NAME=VALUE      for both
 *     Ends: N, signal NAME, or     the one with the fault; else with 1.  The
 *           failed                 repaired one ends with 0
 *     Says: PATTERN                a line of its stderr; the repaired one says
 *                                  none of them
 *
 * Where the kit says how to have the run again, `run` asks for that, and wants
 * the same report.
 */
#ifndef PLANTED_H
#define PLANTED_H

#include <eddy/eddy.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Start a task by a name; a failure is the scope's. */
static inline void start(eddy_scope *scope, const char *name, eddy_task_fn *fn, void *arg)
{
        (void) eddy_scope_start_task(scope, fn, arg, &(struct eddy_task_opts){ .name = name },
                                     NULL);
}

/* How a program ends whose main was swept, or run. */
static inline int end(int result)
{
        if (result < 0)
                fprintf(stderr, "ended with %s\n", eddy_error_name(result));
        return result < 0 ? 1 : 0;
}

#endif
