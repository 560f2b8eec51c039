/*
 * embed/embed.c - the program's own loops: run several times, run without end, or run step by step
 * inside another program's loop.
 */
#include <errno.h>

#include "base/alloc.h"
#include "scope/face.h"
#include "scope/run.h"
#include "sys/process/fork.h"

int eddy_loop_new(const struct eddy_run_opts *opts, eddy_loop **ret_loop)
{
        struct ed_run *run;
        struct ed_sys *sys;
        int err;

        err = ed_run_table(&sys);
        if (err < 0)
                return err;
        err = ed_run_open(sys, opts, &run);
        if (err < 0)
                return err;
        if (!ed_run_face(run)) {
                ed_run_close(run);
                return -ENOMEM;
        }
        *ret_loop = eddy_loop_ref(run->face);
        return 0;
}

/* Begins each kind of run.  leave() ends it. */
static int enter(eddy_loop *face, struct ed_run **ret_run)
{
        int err = ed_face_run(face, ret_run);

        if (err == 0 && ed_loop_current)
                err = EDDY_E_RUN_NESTED;
        if (err < 0)
                return err;
        face->running = true;
        return 0;
}

static void leave(eddy_loop *face)
{
        face->running = false;
}

/* Drops a stop that arrived too late for this run, so that it does not stop the next. */
static void drop_stop(eddy_loop *face)
{
        if (!ed_inbox_cancel(face->inbox, &face->stop))
                return;
        atomic_store(&face->stopping, false);
        eddy_loop_release(face);
}

static int run_begin(eddy_loop *face, struct ed_run **ret_run)
{
        int err = enter(face, ret_run);

        if (err < 0)
                return err;
        if ((*ret_run)->closing) {
                leave(face);
                return EDDY_E_LOOP_CLOSED;
        }
        ed_run_signals_join(*ret_run);
        return 0;
}

static void run_end(eddy_loop *face, struct ed_run *run)
{
        ed_run_signals_leave(run);
        drop_stop(face);
        leave(face);
}

int eddy_loop_run_named(eddy_loop *face, eddy_task_fn *main_fn, void *arg, const char *text)
{
        struct ed_run *run;
        int err = main_fn ? run_begin(face, &run) : -EINVAL;

        if (err < 0)
                return err;
        if (!run->main_fn)
                run->main_text = text;
        err = ed_run_main(run, main_fn, arg);
        run_end(face, run);
        return err;
}

#undef eddy_loop_run
int eddy_loop_run(eddy_loop *face, eddy_task_fn *main_fn, void *arg)
{
        return eddy_loop_run_named(face, main_fn, arg, NULL);
}

int eddy_loop_run_forever(eddy_loop *face)
{
        struct ed_run *run;
        int err = run_begin(face, &run);

        if (err < 0)
                return err;
        ed_run_forever(run);
        run_end(face, run);
        return 0;
}

int eddy_loop_step(eddy_loop *face)
{
        struct ed_run *run;
        int err = enter(face, &run), more;

        if (err < 0)
                return err;
        more = ed_run_step(run);
        leave(face);
        return more;
}

int eddy_loop_fd(eddy_loop *face)
{
        struct ed_run *run;
        struct ed_sys *sys;
        int err = ed_face_run(face, &run);

        if (err < 0)
                return err;
        sys = run->loop.sys;
        return sys->embed ? sys->embed->pollable(sys) : -ENOTSUP;
}

void eddy_loop_stop(eddy_loop *face)
{
        if (!face || ed_sys_forked_since(face->forks) || atomic_exchange(&face->stopping, true))
                return;
        eddy_loop_ref(face);
        if (ed_inbox_post(face->inbox, &face->stop) < 0) {
                atomic_store(&face->stopping, false);
                eddy_loop_release(face);
        }
}

/*
 * Checks whether the loop can be closed, for each kind of close.  Returns EDDY_E_LOOP_CLOSED if the
 * loop is closed already.
 */
static int closing(eddy_loop *face, struct ed_run **ret_run)
{
        int err = ed_face_run(face, ret_run);

        if (err < 0)
                return err;
        if (face->running)
                return -EBUSY;
        return ed_loop_current ? EDDY_E_RUN_NESTED : 0;
}

static void closed(eddy_loop *face, struct ed_run *run)
{
        ed_run_close(run);
        eddy_loop_release(face); /* the reference of eddy_loop_new() */
}

int eddy_loop_close(eddy_loop *face)
{
        struct ed_run *run;
        int err;

        if (!face)
                return 0;
        err = closing(face, &run);
        if (err < 0)
                return err == EDDY_E_LOOP_CLOSED ? 0 : err;
        closed(face, run);
        return 0;
}

int eddy_loop_try_close(eddy_loop *face)
{
        struct ed_run *run;
        int err;

        if (!face)
                return 0;
        err = closing(face, &run);
        if (err < 0)
                return err == EDDY_E_LOOP_CLOSED ? 0 : err;
        ed_run_order_end(run);
        if (!run->ended)
                return -EAGAIN;
        closed(face, run);
        return 0;
}
