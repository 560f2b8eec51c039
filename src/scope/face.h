/*
 * scope/face.h - an eddy_loop: what other threads may hold of a loop, and
 * what stays of it when it is closed.
 */
#ifndef ED_SCOPE_FACE_H
#define ED_SCOPE_FACE_H

#include <stdatomic.h>

#include "eddy/loop.h"
#include "loop/inbox.h"
#include "scope/run.h"

struct eddy_loop {
        _Atomic uint32_t refs;
        struct ed_inbox *inbox; /* a reference; refuses posts when the loop is closed */
        unsigned forks;         /* ed_sys_forks() where it was made */
        struct ed_run *run;     /* NULL: closed; its thread only */
        bool running;           /* its thread only */
        struct ed_post stop;
        _Atomic bool stopping; /* 'stop' is posted */
};

/*
 * The run of a loop, for its own thread.
 * Errors: EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED; EDDY_E_RUN_NOT_RUNNING: another thread
 *         -EINVAL  there is none
 */
int ed_face_run(const eddy_loop *loop, struct ed_run **ret_run);

/*
 * Of a call from any thread: '*loop' NULL becomes the current one.
 * Errors: EDDY_E_LOOP_FORKED; -ENOMEM; EDDY_E_RUN_NOT_RUNNING: there is no current one
 */
int ed_face_find(eddy_loop **loop);

/* The run is about to go away. */
void ed_face_close(eddy_loop *loop);

#endif
