/*
 * scope/task.c - tasks: their begin, their end, and their handles.
 */
#include "scope/task.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "co/probe.h"
#include "scope/hooks.h"
#include "scope/misuse.h"
#include "scope/run_state.h"
#include "scope/scope.h"
#include "scope/suspend.h"
#include "scope/vars.h"
#include "scope/waiters.h"

static void joiners_wake(struct eddy_task *face);

/* Returns the spare handles of the run on this thread if its loop is 'loop', else NULL. */
static struct ed_faces *faces_of(const struct ed_loop *loop)
{
#ifdef ED_ASAN
        /* AddressSanitizer cannot detect the use of a reused handle. */
        (void) loop;
        return NULL;
#else
        return loop && loop == ed_loop_current ? &ed_run_of(ed_loop_current)->faces : NULL;
#endif
}

void ed_task_face_free(struct eddy_task *face)
{
        /* The handle's loop may not be running, or may be another loop. */
        if (face && ed_unlikely(ed_debug_first != NULL))
                ed_hooks()->handle_freed(face);
        ed_free(face);
}

static void face_unref(struct eddy_task *face)
{
        struct ed_faces *faces;

        if (--face->refs > 0)
                return;
        faces = faces_of(face->loop);
        if (!faces || faces->count >= ED_FACES_MAX) {
                ed_task_face_free(face);
                return;
        }
        face->joiners[0] = faces->first;
        faces->first = face;
        faces->count++;
}

void ed_faces_fini(struct ed_faces *faces)
{
        struct eddy_task *face;

        while ((face = faces->first)) {
                faces->first = face->joiners[0];
                ed_free(face);
        }
}

/*
 * Wakes a fiber that waited for a task's end.  If no other fiber is ready, the ending task switches
 * directly to this fiber, which then needs no place in the queue.
 */
static inline __attribute__((always_inline)) struct ed_fiber *heir_or_wake(struct ed_loop *loop,
                                                                           struct ed_fiber *heir,
                                                                           struct ed_fiber *fiber)
{
        if (heir || ed_unlikely(!ed_loop_wakes_next(loop))) {
                ed_fiber_wake(loop, fiber, 0);
                return heir;
        }
        ed_fiber_wake_heir(fiber, 0);
        return fiber;
}

/* Wakes the joiners of a task; a single joiner takes the fast path.  Returns the heir, or NULL. */
static inline __attribute__((always_inline)) struct ed_fiber *joiners_end_wait(
        struct eddy_task *face, struct ed_loop *loop)
{
        struct ed_waiter *joiner = ed_waiters_first(face->joiners);

        if (ed_unlikely(!ed_waiters_is_last(joiner, face->joiners) || joiner->ops)) {
                joiners_wake(face);
                return NULL;
        }
        face->joiners[0] = face->joiners[1] = NULL;
        if (joiner->item) {
                *(int *) joiner->item = face->result;
                face->looks |= ED_FACE_SEEN;
        }
        return heir_or_wake(loop, NULL, &joiner->task->fiber);
}

/* Runs last on a task's stack.  Inline: see ed_fiber_exit(). */
static inline __attribute__((always_inline, noreturn)) void task_end(struct ed_task *task,
                                                                     int result)
{
        struct ed_scope *scope = task->scope;
        struct ed_loop *loop = task->loop;
        struct eddy_task *face = task->face;
        struct ed_fiber *heir = NULL;
        bool failed = result < 0 && !(result == -ECANCELED && task->node.flags & ED_NODE_CANCELLED);

        ED_PROBE(end, 4, task, task->number, task->self.fn, result);
        if (ed_unlikely(task->node.flags & ED_NODE_TRACED))
                ed_hooks()->task_ends(task, result);
        if (ed_unlikely(task->inner != &task->node))
                ed_misuse_left_at_end(task);
        ed_list_unlink(&task->node.link);
        face->result = result;
        if (ed_unlikely(task->ready_wait)) {
                /* The starter handles a failure before the task is ready. */
                ed_ready_wait_end(task, failed ? result : EDDY_E_TASK_NOT_READY);
                failed = false;
        }
        if (ed_unlikely(failed))
                ed_scope_failed(scope, result, task);
        face->task = NULL;
        if (face->joiners[0])
                heir = joiners_end_wait(face, loop);
        if (face->refs)
                face_unref(face);
        if (ed_unlikely(task->vars != NULL)) {
                ed_vars_drop(task->vars);
                task->vars = NULL;
        }
        if (ed_scope_task_ended(scope))
                heir = heir_or_wake(loop, heir, &scope->node.owner->fiber);
        ed_stack_put(&loop->stacks, task->stack);
        if (heir)
                ed_fiber_exit_to(loop, heir);
        ed_fiber_exit(loop);
}

static __attribute__((noreturn)) void task_main(void *arg)
{
        struct ed_task *task = arg;

        task_end(task, task->fn(task->arg));
}

/*
 * Sets the fields that stay equal for all tasks on a stack, and those that each task restores
 * before it ends.
 */
static __attribute__((cold, noinline)) void task_make(struct ed_task *task, struct ed_loop *loop,
                                                      struct ed_stack *stack)
{
        *task = (struct ed_task){
                .loop = loop, .inner = &task->node, .stack = stack, .stack_low = stack->bottom
        };
        ed_fiber_init(&task->fiber);
        ed_list_init(&task->node.children);
        task->node.owner = task;
        task->self.loop = loop;
#ifdef ED_TSAN
        task->fiber.co.fiber = stack->fiber;
#endif
}

static inline void task_node_init(struct ed_task *task, struct ed_scope *scope)
{
        struct ed_node *node = &task->node;

        node->ignored = 0;
        node->attributed = 0;
        if (ed_unlikely(!scope)) {
                /* The run's supervisor. */
                node->parent = NULL;
                node->flags = 0;
                ed_list_init(&node->link);
                return;
        }
        node->parent = &scope->node;
        node->flags = scope->node.flags & (ED_NODE_NOTED | ED_NODE_CANCELLED);
        ed_list_push_back(&scope->node.children, &node->link);
}

struct ed_task *ed_task_new(struct ed_loop *loop, struct ed_scope *scope, unsigned stack_class,
                            eddy_task_fn *fn, const void *arg, size_t copy_bytes)
{
        struct ed_stack *stack = ed_stack_get(&loop->stacks, stack_class);
        struct ed_task *task;
        char *top;

        if (!stack)
                return NULL;
        task = ed_task_of_stack(stack);
        /* New stack memory is zero. */
        if (ed_unlikely(task->stack != stack))
                task_make(task, loop, stack);
        task->scope = scope;
        task->number = ++loop->fibers;
        task->fn = fn;
        task->arg = (void *) arg;
        task->fiber.ready.budget = ED_TASK_BUDGET;
        /* The run's supervisor has no scope and starts without variables. */
        if (scope)
                task->vars = ed_vars_take_on(loop);
        task->face = &task->self;
        task->self.task = task;
        task->self.refs = 0;
        task->self.fn = fn;
        task->self.is_named = false;
        ED_PROBE(start, 3, task, task->number, task->self.fn);
        task_node_init(task, scope);
        top = (char *) task;
        if (copy_bytes) {
                top -= (copy_bytes + 15) & ~(size_t) 15;
                task->arg = memcpy(top, arg, copy_bytes);
        }
        ed_co_init(&task->fiber.co, stack->bottom, top, task_main, task);
        ed_fiber_ready(loop, &task->fiber);
        return task;
}

void ed_task_made(struct ed_task *task, const void *place)
{
        ed_hooks()->task_made(task, place);
}

/* --- handles --- */

static inline void face_init(struct eddy_task *face, eddy_task_fn *fn, const char *text)
{
        /* A reference for the holder and another for the task. */
        face->refs = 2;
        face->is_named = false;
        face->looks = 0;
        face->fn = fn;
        face->text = text;
        face->joiners[0] = face->joiners[1] = NULL;
}

/* Allocates a handle.  In debug mode handles are never reused, so each comes from here. */
static __attribute__((noinline)) struct eddy_task *face_new_slowly(eddy_task_fn *fn,
                                                                   const char *text,
                                                                   const void *place)
{
        struct eddy_task *face = ed_alloc(sizeof(*face));

        if (!face)
                return NULL;
        if (ed_loop_current && ed_loop_current->debug)
                ed_hooks()->handle_made(face, place);
        face->task = NULL;
        face->result = 0;
        face_init(face, fn, text);
        return face;
}

struct eddy_task *ed_task_face_new(eddy_task_fn *fn, const char *text, const void *place)
{
        struct ed_faces *faces = faces_of(ed_loop_current);
        struct eddy_task *face = faces ? faces->first : NULL;

        if (ed_unlikely(!face))
                return face_new_slowly(fn, text, place);
        faces->first = face->joiners[0];
        faces->count--;
        face_init(face, fn, text);
        return face;
}

/* Copies the result to each joiner, since the handle may be released before the joiner runs. */
static void joiners_wake(struct eddy_task *face)
{
        struct ed_waiter *joiner;

        while ((joiner = ed_waiters_next(face->joiners))) {
                if (joiner->item) {
                        *(int *) joiner->item = face->result;
                        face->looks |= ED_FACE_SEEN;
                }
                ed_waiters_serve(joiner, 0);
        }
}

int eddy_task_join(eddy_task *face, int *ret_result)
{
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (ed_unlikely(!face)) {
                err = -EINVAL;
        } else if (ed_unlikely(face->loop != task->loop)) {
                err = EDDY_E_RUN_OTHER_LOOP;
        } else if (ed_unlikely(face->task == task)) {
                err = -EDEADLK;
        } else if (face->task) {
                struct ed_waiter joiner;

                ed_waiter_init(&joiner, task, ret_result);
                ed_waiters_push(face->joiners, &joiner);
                return ed_suspend_park_here(task, "a task to end", ed_waiters_abort, &joiner);
        } else if (ret_result) {
                *ret_result = face->result;
                face->looks |= ED_FACE_SEEN;
        }
        ed_suspend_passed(task);
        return err;
}

void eddy_task_cancel(eddy_task *face)
{
        if (face && face->task)
                ed_node_cancel(&face->task->node);
}

int eddy_task_is_done(const eddy_task *face)
{
        return face ? !face->task : -EINVAL;
}

int eddy_task_result(const eddy_task *face, int *ret_result)
{
        if (!face)
                return -EINVAL;
        if (face->task)
                return EDDY_E_TASK_NOT_DONE;
        *ret_result = face->result;
        ((eddy_task *) face)->looks |= ED_FACE_SEEN;
        return 0;
}

const char *eddy_task_name(const eddy_task *face)
{
        eddy_task *named = (eddy_task *) face;

        if (!named)
                return "";
        /* Resolved at the first request: starting a task must not cost a symbol lookup. */
        if (!named->is_named) {
                (void) ed_task_face_name(named, named->name, sizeof(named->name));
                named->is_named = true;
        }
        return named->name;
}

eddy_task *eddy_task_current(void)
{
        struct ed_task *task = ed_task_running();

        return task ? task->face : NULL;
}

void ed_ready_wait_end(struct ed_task *task, int result)
{
        struct ed_ready_wait *wait = task->ready_wait;

        task->ready_wait = NULL;
        ed_suspend_wake(wait->starter, result);
}

void eddy_task_ready(void)
{
        struct ed_task *task = ed_task_running();

        if (task && task->ready_wait)
                ed_ready_wait_end(task, 0);
}

void eddy_task_release(eddy_task *face)
{
        if (face)
                face_unref(face);
}
