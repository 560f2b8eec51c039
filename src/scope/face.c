/*
 * scope/face.c - eddy_loop: the handle of a loop that other threads may hold.
 */
#include "scope/face.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "sys/process/fork.h"

static void on_stop(struct ed_post *post, bool closed)
{
        eddy_loop *face = ed_container_of(post, struct eddy_loop, stop);

        atomic_store(&face->stopping, false);
        if (!closed && face->run)
                face->run->stop = true;
        eddy_loop_release(face);
}

eddy_loop *ed_run_face(struct ed_run *run)
{
        struct ed_inbox *inbox;
        eddy_loop *face;

        if (run->face)
                return run->face;
        inbox = ed_loop_inbox(&run->loop);
        face = inbox ? ed_alloc_zero(sizeof(*face)) : NULL;
        if (!face)
                return NULL;
        atomic_init(&face->refs, 1); /* the run's */
        face->inbox = ed_inbox_ref(inbox);
        face->forks = ed_sys_forks();
        face->run = run;
        face->stop.fn = on_stop;
        run->face = face;
        /* From now on another thread may wake the loop at any time. */
        run->loop.waits++;
        return face;
}

void ed_face_close(eddy_loop *face)
{
        face->run->loop.waits--;
        face->run = NULL;
        eddy_loop_release(face);
}

int ed_face_run(const eddy_loop *face, struct ed_run **ret_run)
{
        if (!face)
                return -EINVAL;
        if (ed_sys_forked_since(face->forks))
                return EDDY_E_LOOP_FORKED;
        if (!ed_inbox_is_mine(face->inbox))
                return EDDY_E_RUN_NOT_RUNNING;
        if (!face->run)
                return EDDY_E_LOOP_CLOSED;
        *ret_run = face->run;
        return 0;
}

eddy_loop *eddy_loop_current(void)
{
        struct ed_loop *loop = ed_loop_current;

        return loop ? ed_run_face(ed_run_of(loop)) : NULL;
}

int ed_face_find(eddy_loop **face)
{
        if (!*face && !ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!*face)
                *face = eddy_loop_current();
        if (!*face)
                return -ENOMEM;
        return ed_sys_forked_since((*face)->forks) ? EDDY_E_LOOP_FORKED : 0;
}

eddy_loop *eddy_loop_ref(eddy_loop *face)
{
        if (face)
                (void) atomic_fetch_add_explicit(&face->refs, 1, memory_order_relaxed);
        return face;
}

void eddy_loop_release(eddy_loop *face)
{
        if (!face || atomic_fetch_sub_explicit(&face->refs, 1, memory_order_acq_rel) != 1)
                return;
        ed_inbox_unref(face->inbox);
        ed_free(face);
}
