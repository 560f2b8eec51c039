/*
 * scope/scope.c - scopes: begin, start, end, and the deadline.
 */
#include "scope/scope.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scope/hooks.h"
#include "scope/misuse.h"
#include "scope/report.h"
#include "scope/suspend.h"

/* --- the deadline --- */

static void scope_expire(struct ed_scope *scope)
{
        scope->expired = true;
        /* Anything cancelled before this point was not cancelled because of the deadline. */
        scope->expired_first = scope->error == 0 && !(scope->node.flags & ED_NODE_OWN);
        if (ed_unlikely(scope->node.flags & ED_NODE_NOTED))
                ed_hooks()->scope_expires(scope);
        ed_node_cancel(&scope->node);
}

/* Calls that are already queued run first: they were due earlier, even if the loop is late. */
void ed_scope_on_deadline(struct ed_timer *timer)
{
        struct ed_scope *scope = ed_container_of(timer, struct ed_scope, timer);
        int64_t deadline_ns = scope->deadline_ns;

        ed_call_make_polled(scope->node.owner->loop);
        /* Those calls may have moved the deadline. */
        if (!scope->expired && scope->deadline_ns == deadline_ns)
                scope_expire(scope);
}

/* Returns the deadline of the nearest shield around a node, or INT64_MAX. */
static int64_t shield_deadline(struct ed_node *node)
{
        for (node = node->parent; node; node = node->parent)
                if (node->flags & ED_NODE_SHIELD)
                        return ed_scope_of_node(node)->deadline_ns;
        return INT64_MAX;
}

/* A deadline that has passed expires the scope at once. */
static void deadline_set(struct ed_loop *loop, struct ed_scope *scope, int64_t deadline_ns,
                         int64_t now_ns)
{
        if (scope->node.flags & ED_NODE_SHIELD) {
                int64_t limit = shield_deadline(&scope->node);

                if (deadline_ns == 0)
                        deadline_ns = now_ns + EDDY_SCOPE_SHIELD_NS;
                if (deadline_ns > limit)
                        deadline_ns = limit;
        }
        scope->deadline_ns = deadline_ns;
        if (deadline_ns > now_ns && deadline_ns != INT64_MAX) {
                ed_timer_arm(&loop->timers, &scope->timer, deadline_ns);
                return;
        }
        /* Disarm: an infinite or past deadline must not look like pending work. */
        ed_timer_cancel(&loop->timers, &scope->timer);
        if (deadline_ns != 0 && deadline_ns != INT64_MAX)
                scope_expire(scope);
}

/* A cancelled scope has no use for its timer. */
static void disarm_cancelled(struct ed_loop *loop, struct ed_scope *scope)
{
        if (scope->node.flags & ED_NODE_CANCELLED)
                ed_timer_cancel(&loop->timers, &scope->timer);
}

/* Limits the deadlines of the shields inside a shield whose deadline was moved. */
static void shields_inside_limit(struct ed_loop *loop, struct ed_scope *shield, int64_t now_ns)
{
        struct ed_node *node = &shield->node;

        while ((node = ed_node_next(&shield->node, node, false))) {
                struct ed_scope *inside;

                if (!(node->flags & ED_NODE_SHIELD))
                        continue;
                inside = ed_scope_of_node(node);
                if (inside->expired || inside->deadline_ns <= shield->deadline_ns)
                        continue;
                deadline_set(loop, inside, shield->deadline_ns, now_ns);
                disarm_cancelled(loop, inside);
        }
}

/* Sets the deadline that the options ask for.  Not inlined, to keep begin's frame small. */
static __attribute__((noinline)) void opts_set_deadline(struct ed_loop *loop,
                                                        struct ed_scope *scope,
                                                        const struct eddy_scope_opts *opts)
{
        int64_t now_ns = ed_loop_now(loop), deadline_ns = opts->deadline_ns, at;

        if (opts->timeout_ns != 0) {
                at = opts->timeout_ns < 0 ? now_ns : ed_time_after(now_ns, opts->timeout_ns);
                if (deadline_ns == 0 || at < deadline_ns)
                        deadline_ns = at;
        }
        deadline_set(loop, scope, deadline_ns, now_ns);
}

/* Same result as opts_set_deadline(), but faster if only a timeout is given. */
static inline void opts_apply(struct ed_loop *loop, struct ed_scope *scope,
                              const struct eddy_scope_opts *opts)
{
        int64_t at;

        if (ed_unlikely(opts->timeout_ns <= 0 || opts->deadline_ns ||
                        opts->flags & EDDY_SCOPE_SHIELD ||
                        __builtin_add_overflow(ed_loop_now(loop), opts->timeout_ns, &at) ||
                        at == INT64_MAX)) {
                opts_set_deadline(loop, scope, opts);
                return;
        }
        scope->deadline_ns = at;
        ed_timer_arm(&loop->timers, &scope->timer, at);
}

/* A cancelled scope's timer is disarmed, so ask the clock. */
static bool deadline_has_passed(const struct ed_scope *scope)
{
        return scope->deadline_ns != 0 &&
               scope->deadline_ns <= ed_loop_now(scope->node.owner->loop);
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
        opts_set_deadline(task->loop, scope, opts);
        disarm_cancelled(task->loop, scope);
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

        scope->expired |= deadline_has_passed(scope);
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

/* --- failures --- */

static void report_background(const struct ed_scope *scope, int error, const struct ed_task *task)
{
        char message[128];
        struct ed_text text = { message, sizeof(message) };

        ed_text_add(&text, "failed in the background");
        if (task)
                ed_report_place_add(task, &text);
        ed_report_task(scope->node.owner->loop, EDDY_REPORT_BACKGROUND, error, task, message);
}

static void errors_add(struct eddy_scope_errors *errors, int error, const struct ed_task *task)
{
        struct eddy_scope_error *entry;
        char buf[EDDY_SCOPE_ERROR_TASK_BYTES];

        errors->count++;
        if (errors->listed == EDDY_SCOPE_ERRORS_MAX)
                return;
        entry = &errors->list[errors->listed++];
        entry->result = error;
        snprintf(entry->task, sizeof(entry->task), "%s",
                 task ? ed_task_name(task, buf, sizeof(buf)) : "(not started)");
}

/* Records a failure of 'task', or a failed start if 'task' is NULL. */
static void fail(struct ed_scope *scope, int error, const struct ed_task *task)
{
        if (scope->error == 0)
                scope->error = error;
        if (scope->errors)
                errors_add(scope->errors, error, task);
        if (!(scope->flags & EDDY_SCOPE_KEEP_GOING))
                ed_node_cancel(&scope->node);
}

void ed_scope_failed(struct ed_scope *scope, int error, struct ed_task *task)
{
        if (scope->flags & ED_SCOPE_BACKGROUND)
                report_background(scope, error, task);
        if (task && scope->node.flags & ED_NODE_DEBUG)
                ed_hooks()->task_failed(scope, error, task);
        fail(scope, error, task);
}

/* --- ending --- */

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
                fail(scope, result, task);
        end = scope_end(scope, task);
        return result > 0 && end == 0 ? result : end;
}

/* --- starting tasks --- */

static bool takes_no_more(const struct ed_scope *scope)
{
        return scope->node.flags & (ED_NODE_CANCELLED | ED_NODE_ENDED);
}

static __attribute__((cold)) int start_failed(struct ed_scope *scope, int error)
{
        ed_scope_failed(scope, error, NULL);
        ed_node_cancel(&scope->node);
        return error;
}

/*
 * The start is not a failure, but it counts as a delivered cancel, so the scope's end reports it.
 */
static __attribute__((cold)) int start_refused(struct ed_scope *scope)
{
        if (!(scope->node.flags & ED_NODE_ENDED))
                ed_node_attribute(&scope->node);
        return -ECANCELED;
}

/* Returned in registers: the caller often has no memory for the task's address. */
struct started {
        struct ed_task *task; /* NULL: 'err' has the reason */
        int err;
};

static inline __attribute__((always_inline)) struct started start_in(
        struct ed_scope *scope, unsigned stack_class, eddy_task_fn *fn, const void *arg,
        size_t copy_bytes, const char *text)
{
        struct ed_task *task;

        if (ed_unlikely(scope->live >= scope->tasks_max))
                return (struct started){ NULL, start_failed(scope, -EAGAIN) };
        task = ed_task_new(scope->node.owner->loop, scope, stack_class, fn, arg, copy_bytes);
        if (ed_unlikely(!task))
                return (struct started){ NULL, start_failed(scope, -ENOMEM) };
        task->self.text = text;
        scope->live++;
        return (struct started){ task, 0 };
}

/* The task was not started: 'error' becomes a failure of the scope, unless the scope is closed. */
static __attribute__((cold)) int not_started(eddy_scope *public_scope, int error)
{
        struct ed_scope *scope = ed_scope_of(public_scope);

        if (!ed_scope_was_begun(scope))
                return ed_misuse_unbegun("eddy_scope_start");
        return takes_no_more(scope) ? start_refused(scope) : start_failed(scope, error);
}

/* Starts a task in a cancelled or ended scope (which fails), in debug mode or in a traced run. */
static __attribute__((cold, noinline)) struct started start_slowly(
        struct ed_scope *scope, unsigned stack_class, eddy_task_fn *fn, const void *arg,
        size_t copy_bytes, const char *text, const void *place)
{
        struct started started;

        if (!ed_scope_was_begun(scope))
                return (struct started){ NULL, ed_misuse_unbegun("eddy_scope_start") };
        if (takes_no_more(scope))
                return (struct started){ NULL, start_refused(scope) };
        started = start_in(scope, stack_class, fn, arg, copy_bytes, text);
        if (started.task)
                ed_task_made(started.task, place);
        return started;
}

static inline __attribute__((always_inline)) struct started start_from(
        struct ed_scope *scope, unsigned stack_class, eddy_task_fn *fn, const void *arg,
        size_t copy_bytes, const char *text, const void *place)
{
        if (ed_unlikely(scope->node.flags & (ED_NODE_CANCELLED | ED_NODE_ENDED | ED_NODE_NOTED) ||
                        !ed_scope_was_begun(scope)))
                return start_slowly(scope, stack_class, fn, arg, copy_bytes, text, place);
        return start_in(scope, stack_class, fn, arg, copy_bytes, text);
}

/* Inlined into each public function, so that the return address is the program's call. */
static inline __attribute__((always_inline)) struct started start(eddy_scope *scope,
                                                                  unsigned stack_class,
                                                                  eddy_task_fn *fn, const void *arg,
                                                                  size_t copy_bytes,
                                                                  const char *text)
{
        return start_from(ed_scope_of(scope), stack_class, fn, arg, copy_bytes, text,
                          __builtin_return_address(0));
}

int ed_scope_start(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text,
                   const void *place, struct ed_task **ret_task)
{
        struct started started =
                start_from(ed_scope_of(scope), ED_STACK_DEFAULT, fn, arg, 0, text, place);

        if (started.task)
                *ret_task = started.task;
        return started.err;
}

int ed_scope_try_start(struct ed_scope *scope, eddy_task_fn *fn, const void *arg, size_t copy_bytes,
                       const char *text, const void *place, struct ed_task **ret_task)
{
        struct ed_task *task;

        if (takes_no_more(scope))
                return start_refused(scope);
        if (scope->live >= scope->tasks_max)
                return -EAGAIN;
        task = ed_task_new(scope->node.owner->loop, scope, ED_STACK_DEFAULT, fn, arg, copy_bytes);
        if (!task)
                return -ENOMEM;
        task->self.text = text;
        if (task->loop->notes)
                ed_task_made(task, place);
        scope->live++;
        *ret_task = task;
        return 0;
}

int eddy_scope_start_named(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text)
{
        return start(scope, ED_STACK_DEFAULT, fn, arg, 0, text).err;
}

#undef eddy_scope_start
int eddy_scope_start(eddy_scope *scope, eddy_task_fn *fn, void *arg)
{
        return start(scope, ED_STACK_DEFAULT, fn, arg, 0, NULL).err;
}

int eddy_scope_start_copy_named(eddy_scope *scope, eddy_task_fn *fn, const void *arg, size_t bytes,
                                const char *text)
{
        if (bytes > EDDY_TASK_COPY_MAX)
                return not_started(scope, -EINVAL);
        return start(scope, ED_STACK_DEFAULT, fn, arg, bytes, text).err;
}

#undef eddy_scope_start_copy
int eddy_scope_start_copy(eddy_scope *scope, eddy_task_fn *fn, const void *arg, size_t bytes)
{
        if (bytes > EDDY_TASK_COPY_MAX)
                return not_started(scope, -EINVAL);
        return start(scope, ED_STACK_DEFAULT, fn, arg, bytes, NULL).err;
}

static inline __attribute__((always_inline)) int start_task(eddy_scope *scope, eddy_task_fn *fn,
                                                            void *arg,
                                                            const struct eddy_task_opts *opts,
                                                            eddy_task **ret_task, const char *text,
                                                            const void *place)
{
        unsigned class =
                opts && opts->flags & EDDY_TASK_STACK_64K ? ED_STACK_SMALL : ED_STACK_DEFAULT;
        eddy_task *face = NULL;
        struct started started;

        if (ret_task) {
                face = ed_task_face_new(fn, text, place);
                if (!face)
                        return not_started(scope, -ENOMEM);
        }
        started = start_from(ed_scope_of(scope), class, fn, arg, 0, text, place);
        if (started.err < 0) {
                ed_task_face_free(face);
                return started.err;
        }
        if (face) {
                ed_task_face_give(started.task, face);
                *ret_task = face;
        }
        if (opts && opts->name)
                ed_task_face_set_name(started.task->face, opts->name);
        return 0;
}

int eddy_scope_start_task_named(eddy_scope *scope, eddy_task_fn *fn, void *arg,
                                const struct eddy_task_opts *opts, eddy_task **ret_task,
                                const char *text)
{
        return start_task(scope, fn, arg, opts, ret_task, text, __builtin_return_address(0));
}

#undef eddy_scope_start_task
int eddy_scope_start_task(eddy_scope *scope, eddy_task_fn *fn, void *arg,
                          const struct eddy_task_opts *opts, eddy_task **ret_task)
{
        return start_task(scope, fn, arg, opts, ret_task, NULL, __builtin_return_address(0));
}

void ed_ready_wait_end(struct ed_task *task, int result)
{
        struct ed_ready_wait *wait = task->ready_wait;

        task->ready_wait = NULL;
        ed_suspend_wake(wait->starter, result);
}

static bool ready_wait_abort(void *arg)
{
        struct ed_ready_wait *wait = arg;

        wait->task->ready_wait = NULL;
        return true;
}

static int start_ready(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text,
                       const void *place)
{
        struct ed_ready_wait wait = { 0 };
        int err;

        err = ed_suspend_enter(&wait.starter);
        if (err < 0)
                return err;
        err = ed_scope_start(scope, fn, arg, text, place, &wait.task);
        if (err < 0) {
                ed_suspend_passed(wait.starter);
                return err;
        }
        wait.task->ready_wait = &wait;
        return ed_suspend_park(wait.starter, "a task to say that it is ready", ready_wait_abort,
                               &wait);
}

int eddy_scope_start_ready_named(eddy_scope *scope, eddy_task_fn *fn, void *arg, const char *text)
{
        return start_ready(scope, fn, arg, text, __builtin_return_address(0));
}

#undef eddy_scope_start_ready
int eddy_scope_start_ready(eddy_scope *scope, eddy_task_fn *fn, void *arg)
{
        return start_ready(scope, fn, arg, NULL, __builtin_return_address(0));
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
        int64_t now_ns, before_ns;
        struct ed_loop *loop;

        if (ed_unlikely(!ed_scope_was_begun(scope)))
                return ed_misuse_unbegun("eddy_scope_set_deadline");
        if (scope->expired || takes_no_more(scope))
                return -EALREADY;
        loop = scope->node.owner->loop;
        now_ns = ed_loop_now(loop);
        ed_loop_rouse(loop);
        before_ns = scope->deadline_ns;
        deadline_set(loop, scope, deadline_ns, now_ns);
        /* Shields inside had deadlines up to the old one. */
        if (scope->flags & EDDY_SCOPE_SHIELD && scope->deadline_ns < before_ns)
                shields_inside_limit(loop, scope, now_ns);
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
        return scope->expired || (is_open_and_cancelled && deadline_has_passed(scope));
}
