/*
 * scope/debug/debug.c - debug mode: failures that were not read, and objects left at the run's end.
 */
#include "scope/debug/debug.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "scope/waiters.h"

static const char *const kind_names[ED_DEBUG_KINDS] = {
        [ED_DEBUG_STREAM] = "a stream",
        [ED_DEBUG_LISTENER] = "a listener",
        [ED_DEBUG_RESPONSE] = "an HTTP response",
        [ED_DEBUG_CLIENT] = "an HTTP client",
        [ED_DEBUG_POOL] = "a thread pool",
        [ED_DEBUG_SIGNAL] = "an open signal",
        [ED_DEBUG_FILE] = "a file",
        [ED_DEBUG_FOLDER] = "an open folder",
        [ED_DEBUG_UDP] = "a UDP socket",
        [ED_DEBUG_NOTIFY] = "an open eddy_notify",
        [ED_DEBUG_PROCESS] = "a process",
        [ED_DEBUG_PROCESS_POOL] = "a pool of processes",
        [ED_DEBUG_ITEMS] = "a pool",
};

static const char *const found_names[ED_DEBUG_FOUND] = {
        [ED_DEBUG_UNSEEN] = " failures that were never read",
        [ED_DEBUG_LOCKS] = " findings about locks",
        [ED_DEBUG_WAITS] = " waits without a deadline",
        [ED_DEBUG_CANCELS] = " tasks that did not end after a cancel",
};

int ed_debug_begin(struct ed_run *run)
{
        run->debug = ed_alloc_debug(sizeof(*run->debug));
        if (!run->debug)
                return -ENOMEM;
        run->debug->run = run;
        run->debug->next = ed_debug_first;
        ed_debug_first = run->debug;
        atomic_fetch_add_explicit(&ed_debug_runs, 1, memory_order_relaxed);
        ed_debug_late_init(run->debug);
        ed_debug_fars_init(run->debug);
        run->loop.debug = true;
        /*
         * The cache of spare handles looks full, so handles are never reused and each one is
         * recorded.
         */
        run->faces.count = ED_FACES_MAX;
        return 0;
}

void ed_debug_forsake(const struct ed_run *run)
{
        for (struct ed_debug **at = &ed_debug_first; *at; at = &(*at)->next)
                if (*at == run->debug) {
                        *at = run->debug->next;
                        atomic_fetch_sub_explicit(&ed_debug_runs, 1, memory_order_relaxed);
                        ed_debug_fars_fini(run->debug);
                        return;
                }
}

void ed_debug_drop(struct ed_run *run)
{
        if (!run->debug)
                return;
        ed_debug_forsake(run);
        ed_debug_late_fini(run->debug);
        run->loop.debug = false;
        ed_marks_fini(&run->debug->owned);
        ed_marks_fini(&run->debug->locks);
        ed_free(run->debug);
        run->debug = NULL;
}

void ed_debug_supervise(struct ed_run *run)
{
        run->supervisor->node.flags |= ED_NODE_DEBUG;
        run->supervisor->debug = (struct ed_debug_task){ 0 };
}

/* --- tasks --- */

/* The first function of every task in debug mode. */
static int run_task(void *arg)
{
        struct ed_task *task = ed_task_running();
        int result = task->debug.fn(arg);

        if (task->debug.locks > 0)
                ed_debug_locks_left(task, "ended");
        return result;
}

void ed_debug_task_made(struct ed_task *task, const void *place)
{
        task->debug = (struct ed_debug_task){ .place = place, .fn = task->fn };
        task->fn = run_task;
        task->stack_low = task->stack->top;
}

/* Returns true if the end of the scope will not report the next failure in the scope. */
static bool is_lost(const struct ed_scope *scope)
{
        bool has_result = scope->error != 0 ||
                          (scope->expired_first && scope->node.flags & ED_NODE_DELIVERED);

        return has_result && !scope->errors &&
               !(scope->flags & (ED_SCOPE_BACKGROUND | ED_SCOPE_RESULTS));
}

void ed_debug_task_failed(struct ed_scope *scope, int error, struct ed_task *task)
{
        char name[ED_TASK_CALLED_BYTES];

        if (!is_lost(scope))
                return;
        if (task->face->refs)
                task->face->looks |= ED_FACE_LOST;
        else
                ed_debug_unseen(ed_run_of(task->loop), error,
                                ed_task_name(task, name, sizeof(name)), task->debug.place);
}

static bool is_unseen(const struct eddy_task *face)
{
        return (face->looks & (ED_FACE_LOST | ED_FACE_SEEN)) == ED_FACE_LOST;
}

void ed_debug_tasks_left(struct ed_run *run, struct ed_node *top)
{
        struct ed_debug *debug = run->debug;
        char name[ED_TASK_CALLED_BYTES];

        for (struct ed_node *node = top; node; node = ed_node_next(top, node, false)) {
                const struct ed_task *task = node->owner;
                struct ed_debug_left *left;

                if (node != &task->node || task == run->supervisor ||
                    node->flags & ED_NODE_CANCELLED || debug->left_count++ >= ED_DEBUG_REPORTS_MAX)
                        continue;
                left = &debug->left[debug->left_count - 1];
                left->place = task->debug.place;
                snprintf(left->name, sizeof(left->name), "%s",
                         ed_task_name(task, name, sizeof(name)));
        }
}

/* --- owned objects --- */

void ed_debug_note(struct ed_loop *loop, const void *thing, int kind, const void *place)
{
        struct ed_debug *debug = ed_run_of(loop)->debug;
        struct ed_mark *mark;

        ed_debug_forget(thing);
        mark = ed_marks_put(&debug->owned, thing);
        if (!mark)
                return;
        mark->kind = kind;
        mark->place = place;
        debug->counts[kind]++;
}

/* Returns this thread's debug data that recorded 'thing', or NULL. */
static struct ed_debug *owner_of(const void *thing, struct ed_mark **ret_mark)
{
        for (struct ed_debug *debug = ed_debug_first; debug; debug = debug->next) {
                *ret_mark = ed_marks_find(&debug->owned, thing);
                if (*ret_mark)
                        return debug;
        }
        return NULL;
}

void ed_debug_forget(const void *thing)
{
        struct ed_mark *mark;
        struct ed_debug *debug = owner_of(thing, &mark);

        if (!debug)
                return;
        debug->counts[mark->kind]--;
        ed_marks_drop(&debug->owned, mark);
}

void ed_debug_handle_freed(const struct eddy_task *face)
{
        struct ed_mark *mark;
        struct ed_debug *debug = owner_of(face, &mark);
        char name[ED_TASK_CALLED_BYTES];

        if (!debug)
                return;
        if (is_unseen(face))
                ed_debug_unseen(debug->run, face->result,
                                ed_task_face_name(face, name, sizeof(name)), mark->place);
        ed_debug_forget(face);
}

/* --- the end --- */

static void mark_add(const struct ed_mark *mark, struct ed_text *text)
{
        const struct eddy_task *face = mark->thing;
        char name[ED_TASK_CALLED_BYTES];

        ed_text_add(text, "\n  ");
        if (mark->kind != ED_DEBUG_HANDLE) {
                ed_text_add(text, "%s", kind_names[mark->kind]);
                ed_report_symbol_add(", made at ", mark->place, text);
                return;
        }
        ed_text_add(text, "the handle of task %s", ed_task_face_name(face, name, sizeof(name)));
        ed_report_symbol_add(", started at ", mark->place, text);
        if (is_unseen(face))
                ed_debug_failure_add(face->result, text);
}

static void kind_add(const struct ed_debug *debug, int kind, struct ed_text *text)
{
        const struct ed_mark *mark = ed_marks_after(&debug->owned, kind, 0);

        for (int n = 0; mark && n < ED_DEBUG_REPORTS_MAX; n++) {
                mark_add(mark, text);
                mark = ed_marks_after(&debug->owned, kind, mark->number);
        }
        ed_debug_more_add(debug->counts[kind], "", text);
}

static void left_tasks_add(const struct ed_debug *debug, struct ed_text *text)
{
        for (uint64_t i = 0; i < debug->left_count && i < ED_DEBUG_REPORTS_MAX; i++) {
                ed_text_add(text, "\n  task %s, cancelled by the end of the run",
                            debug->left[i].name);
                ed_report_symbol_add(", started at ", debug->left[i].place, text);
        }
        ed_debug_more_add(debug->left_count, "", text);
}

static void report_left(struct ed_run *run)
{
        struct ed_debug *debug = run->debug;
        struct ed_text text = { debug->text, sizeof(debug->text) };
        const char *begin;

        ed_text_add(&text, "left when the run ended:");
        begin = text.at;
        left_tasks_add(debug, &text);
        for (int kind = 0; kind < ED_DEBUG_KINDS; kind++)
                kind_add(debug, kind, &text);
        ed_debug_fars_add(debug, true, &text);
        ed_debug_fars_add(debug, false, &text);
        for (int what = 0; what < ED_DEBUG_FOUND; what++)
                ed_debug_more_add(debug->found[what], found_names[what], &text);
        if (text.at == begin)
                return;
        /*
         * These are now reported.  If the report function frees them, they are not reported again.
         */
        ed_marks_fini(&debug->owned);
        ed_debug_fars_fini(debug);
        ed_report_run(run, EDDY_REPORT_LEFT, 0, NULL, debug->text);
}

static void report_lag(struct ed_run *run)
{
        const struct eddy_lag *lag = &run->loop.lag;
        char message[160];
        struct ed_text text = { message, sizeof(message) };

        ed_text_add(&text,
                    "%llu turns of the loop: half within %lld us, 99 %% within %lld us, the "
                    "longest %lld us",
                    (unsigned long long) lag->count,
                    (long long) (eddy_lag_percentile(lag, 50) / EDDY_US(1)),
                    (long long) (eddy_lag_percentile(lag, 99) / EDDY_US(1)),
                    (long long) (lag->max_ns / EDDY_US(1)));
        ed_report_run(run, EDDY_REPORT_LAG, 0, NULL, message);
}

void ed_debug_end(struct ed_run *run)
{
        if (!run->debug)
                return;
        report_left(run);
        report_lag(run);
        ed_debug_drop(run);
}
