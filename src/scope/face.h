/*
 * scope/face.h - eddy_loop: the part of a loop that other threads may hold and that remains after
 * the loop is closed.
 */
#ifndef ED_SCOPE_FACE_H
#define ED_SCOPE_FACE_H

#include <stdatomic.h>

#include "eddy/loop.h"
#include "loop/inbox.h"
#include "scope/run_state.h"

struct eddy_loop {
        _Atomic uint32_t refs;
        struct ed_inbox *inbox; /* a reference; refuses posts after the loop is closed */
        unsigned forks;         /* ed_sys_forks() when it was made */
        struct ed_run *run;     /* NULL: closed; only for the loop's thread */
        bool running;           /* only for the loop's thread */
        struct ed_post stop;
        _Atomic bool stopping; /* 'stop' is posted */
};

/*
 * Returns the run of a loop, for the loop's own thread.
 * Errors: EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED; EDDY_E_RUN_NOT_RUNNING: another thread
 *         -EINVAL  'loop' is NULL
 */
int ed_face_run(const eddy_loop *loop, struct ed_run **ret_run);

/*
 * Begins a call from any thread: if '*loop' is NULL, sets it to the current loop.
 * Errors: EDDY_E_LOOP_FORKED; -ENOMEM; EDDY_E_RUN_NOT_RUNNING: this thread has no current loop
 */
int ed_face_find(eddy_loop **loop);

/* The face that other threads may hold, made at first use.  Returns NULL if memory runs out. */
eddy_loop *ed_run_face(struct ed_run *run);

/* Detaches the face from a run that is about to be freed. */
void ed_face_close(eddy_loop *loop);

#endif
