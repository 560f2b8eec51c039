/*
 * scope/scope.c - scopes: begin, end, and their state.  Starting tasks: scope/start.c.
 */
#include "scope/scope.h"

#include <errno.h>

#include "scope/deadline.h"
#include "scope/hooks.h"
#include "scope/misuse.h"
#include "scope/suspend.h"

/* Same result as ed_deadline_set_by_opts(), but faster if only a timeout is given. */
static inline void opts_apply(struct ed_loop *loop, struct ed_scope *scope,
                              const struct eddy_scope_opts *opts)
{
        int64_t at;

        if (ed_unlikely(opts->timeout_ns <= 0 || opts->deadline_ns ||
                        opts->flags & EDDY_SCOPE_SHIELD ||
                        __builtin_add_overflow(ed_loop_now(loop), opts->timeout_ns, &at) ||
                        at == INT64_MAX)) {
                ed_deadline_set_by_opts(loop, scope, opts);
                return;
        }
        scope->deadline_ns = at;
        ed_timer_arm(&loop->timers, &scope->timer, at);
}

/* --- begin and end --- */

/*
 * Begins a scope inside a cancelled one.  The count of ignored cancels goes on, since a careless
 * loop may open a scope in each turn.
 */
static void begin_cancelled(struct ed_scope *scope, struct ed_task *task,
                            const struct eddy_scope_opts *opts)
{
        scope->node.ignored = task->inner->ignored;
        task->inner = &scope->node;
        ed_deadline_set_by_opts(task->loop, scope, opts);
        ed_deadline_disarm_cancelled(task->loop, scope);
}

/* Begins a scope in debug mode, in a traced run or inside a cancelled one.  Returns true if begin is complete. */
static __attribute__((cold, noinline)) bool begin_slowly(struct ed_scope *scope,
                                                         struct ed_task *task,
                                                         const struct eddy_scope_opts *opts,
                                                         const void *frame)
{
        bool is_cancelled = scope->node.flags & ED_NODE_CANCELLED;

        ed_misuse_check_left(task, task->inner, scope->outer_place, frame);
        if (scope->node.flags & ED_NODE_TRACED)
                ed_hooks()->scope_begins(scope);
        if (is_cancelled)
                begin_cancelled(scope, task, opts);
        return is_cancelled;
}

void eddy_scope_begin_at(eddy_scope *public_scope, const struct eddy_scope_opts *opts,
                         const char *place)
{
        static const struct eddy_scope_opts none;
        struct ed_scope *scope = ed_scope_of(public_scope);
        struct ed_task *task = ed_task_running();

        if (ed_unlikely(!task)) {
                ed_misuse_begun_nowhere(scope, place);
                return;
        }
        if (ed_unlikely(task->inner == &scope->node))
                ed_misuse_begun_twice(task, place);
        /* Another function may have overwritten the memory of the innermost scope. */
        if (task->inner != &task->node &&
            ed_unlikely(!ed_scope_was_begun(ed_scope_of_node(task->inner))))
                ed_misuse_left(task, task->scope_place);
        if (!opts)
                opts = &none;
        scope->deadline_ns = 0;
        scope->live = 0;
        scope->generating = 0;
        scope->generators.next = NULL;
        scope->tasks_max = opts->tasks_max ? opts->tasks_max : UINT32_MAX;
        scope->flags = opts->flags & (EDDY_SCOPE_SHIELD | EDDY_SCOPE_KEEP_GOING);
        scope->error = 0;
        scope->expired = false;
        scope->expired_first = false;
        scope->errors = opts->errors;
        if (scope->errors)
                *scope->errors = (struct eddy_scope_errors){ 0 };
        scope->place = place;
        scope->outer_place = task->scope_place;
        task->scope_place = place;
        ed_timer_init(&scope->timer, ed_scope_on_deadline);
        ed_node_init(&scope->node, task->inner, task,
                     opts->flags & EDDY_SCOPE_SHIELD ? ED_NODE_SHIELD : 0);
        if (ed_unlikely(scope->node.flags & (ED_NODE_CANCELLED | ED_NODE_NOTED)) &&
            begin_slowly(scope, task, opts, __builtin_frame_address(0)))
                return;
        task->inner = &scope->node;
        if (opts->timeout_ns || opts->deadline_ns || opts->flags & EDDY_SCOPE_SHIELD)
                opts_apply(task->loop, scope, opts);
}

#undef eddy_scope_begin
void eddy_scope_begin(eddy_scope *scope, const struct eddy_scope_opts *opts)
{
        eddy_scope_begin_at(scope, opts, NULL);
}

/* Returns the result of a cancelled scope. */
static __attribute__((noinline)) int cancelled_result(struct ed_scope *scope)
{
        bool delivered = scope->node.flags & ED_NODE_DELIVERED;

        scope->expired |= ed_deadline_has_passed(scope);
        if (scope->expired && delivered && scope->expired_first)
                return -ETIMEDOUT;
        if (scope->error)
                return scope->error;
        return scope->node.flags & ED_NODE_OUTSIDE ? -ECANCELED : 0;
}

/* Returns the result of a scope that is cancelled or traced. */
static __attribute__((cold, noinline)) int noted_result(struct ed_scope *scope)
{
        int result = scope->node.flags & ED_NODE_CANCELLED ? cancelled_result(scope) : scope->error;

        if (scope->node.flags & ED_NODE_TRACED)
                ed_hooks()->scope_ends(scope, result);
        return result;
}

static inline int scope_result(struct ed_scope *scope)
{
        return ed_likely(!(scope->node.flags & (ED_NODE_CANCELLED | ED_NODE_TRACED)))
                       ? scope->error
                       : noted_result(scope);
}

/* Closes a scope whose tasks have ended. */
static inline __attribute__((always_inline)) int scope_close(struct ed_scope *scope,
                                                             struct ed_task *task)
{
        if (ed_unlikely(scope->generators.next != NULL))
                ed_scope_close_generators(scope);
        if (ed_unlikely(scope->timer.armed))
                ed_timer_cancel(&task->loop->timers, &scope->timer);
        ed_list_unlink(&scope->node.link);
        scope->node.flags |= ED_NODE_ENDED;
        task->inner = scope->node.parent;
        task->scope_place = scope->outer_place;
        if (ed_unlikely(task->inner->flags & ED_NODE_CANCELLED) &&
            !(scope->flags & EDDY_SCOPE_SHIELD))
                task->inner->ignored = scope->node.ignored;
        return scope_result(scope);
}

/* Not inlined, since the wait must save more registers.  Called last, which saves a return. */
static __attribute__((noinline)) int scope_end_waiting(struct ed_scope *scope, struct ed_task *task)
{
        while (scope->live > 0) {
                /* Only tasks of generators are left, so no other task can ask them: close them. */
                if (ed_unlikely(scope->live == scope->generating))
                        ed_scope_close_generators(scope);
                scope->flags |= ED_SCOPE_ENDING;
                ed_suspend_park_here(task, ED_WAITS_FOR_SCOPE, NULL, NULL);
        }
        return scope_close(scope, task);
}

static inline __attribute__((always_inline)) int scope_end(struct ed_scope *scope,
                                                           struct ed_task *task)
{
        if (scope->live > 0)
                return scope_end_waiting(scope, task);
        return scope_close(scope, task);
}

int eddy_scope_end(eddy_scope *public_scope)
{
        struct ed_scope *scope = ed_scope_of(public_scope);
        struct ed_task *task = ed_task_running();

        if (ed_unlikely(!task || task->inner != &scope->node))
                return ed_misuse_ended(scope, task, __builtin_frame_address(0));
        ed_task_check_stack(task);
        return scope_end(scope, task);
}

int eddy_scope_end_with(eddy_scope *public_scope, int result)
{
        struct ed_scope *scope = ed_scope_of(public_scope);
        struct ed_task *task = ed_task_running();
        int end;

        if (ed_unlikely(!task || task->inner != &scope->node))
                return ed_misuse_ended(scope, task, __builtin_frame_address(0));
        ed_task_check_stack(task);
        /* The block reports that the cancel stopped it, even if none of its calls was refused. */
        if (result == -ECANCELED && scope->node.flags & ED_NODE_CANCELLED)
                ed_node_attribute(&scope->node);
        else if (result < 0)
                ed_scope_fail(scope, result, task);
        end = scope_end(scope, task);
        return result > 0 && end == 0 ? result : end;
}

/* --- cancel, deadline and state --- */

void eddy_scope_cancel(eddy_scope *public_scope)
{
        struct ed_scope *scope = ed_scope_of(public_scope);

        if (ed_unlikely(!ed_scope_was_begun(scope)))
                (void) ed_misuse_unbegun("eddy_scope_cancel");
        else if (!(scope->node.flags & ED_NODE_ENDED)) /* after its end, the owner may not exist */
                ed_node_cancel(&scope->node);
}

int eddy_scope_set_deadline(eddy_scope *public_scope, int64_t deadline_ns)
{
        struct ed_scope *scope = ed_scope_of(public_scope);

        if (ed_unlikely(!ed_scope_was_begun(scope)))
                return ed_misuse_unbegun("eddy_scope_set_deadline");
        if (scope->expired || ed_scope_takes_no_more(scope))
                return -EALREADY;
        ed_deadline_move(scope, deadline_ns);
        return 0;
}

int64_t eddy_scope_deadline(const eddy_scope *public_scope)
{
        const struct ed_scope *scope = ed_scope_of((eddy_scope *) public_scope);

        return ed_scope_was_begun(scope) ? scope->deadline_ns : 0;
}

int eddy_scope_is_cancelled(const eddy_scope *public_scope)
{
        const struct ed_scope *scope = ed_scope_of((eddy_scope *) public_scope);

        return ed_scope_was_begun(scope) && scope->node.flags & ED_NODE_CANCELLED;
}

int eddy_scope_expired(const eddy_scope *public_scope)
{
        const struct ed_scope *scope = ed_scope_of((eddy_scope *) public_scope);
        bool is_open_and_cancelled =
                (scope->node.flags & (ED_NODE_CANCELLED | ED_NODE_ENDED)) == ED_NODE_CANCELLED;

        if (!ed_scope_was_begun(scope))
                return 0;
        return scope->expired || (is_open_and_cancelled && ed_deadline_has_passed(scope));
}
