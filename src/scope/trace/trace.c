/*
 * scope/trace/trace.c - recording: what happens becomes a record in the ring, the oldest of which
 * is overwritten.
 */
#include "scope/trace/trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/trace.h"
#include "sys/thread.h"

/* --- which file --- */

static struct ed_mutex file_lock = ED_MUTEX_INIT;
static char *file_path; /* of eddy_trace_file() */
static _Atomic unsigned files;

static char *copy_of(const char *text)
{
        size_t bytes = strlen(text) + 1;
        char *copy = ed_alloc_debug(bytes);

        return copy ? memcpy(copy, text, bytes) : NULL;
}

int eddy_trace_file(const char *path)
{
        char *copy = NULL, *before;

        if (path && !*path)
                return -EINVAL;
        if (path && !(copy = copy_of(path)))
                return -ENOMEM;
        ed_mutex_lock(&file_lock);
        before = file_path;
        file_path = copy;
        ed_mutex_unlock(&file_lock);
        ed_free(before);
        return 0;
}

/* The first run of the process has the file itself; others have FILE.2, FILE.3 ... */
static char *path_numbered(const char *path)
{
        unsigned number = atomic_fetch_add_explicit(&files, 1, memory_order_relaxed) + 1;
        size_t bytes = strlen(path) + 16;
        char *copy = ed_alloc_debug(bytes);

        if (copy && number == 1)
                snprintf(copy, bytes, "%s", path);
        else if (copy)
                snprintf(copy, bytes, "%s.%u", path, number);
        return copy;
}

/* Returns false if the run is not traced. '*ret_path' is NULL if there is no memory. */
static bool path_take(const struct ed_run *run, char **ret_path)
{
        const char *path = run->opts.trace_file;
        bool is_wanted = true;

        if (path) {
                *ret_path = copy_of(path);
                return true;
        }
        ed_mutex_lock(&file_lock);
        /* Runs of the test kit are many: without the option, only the one that is repeated is traced. */
        if (run->loop.sys->ops->choose && !getenv("EDDY_TEST_REPLAY"))
                is_wanted = false;
        else if (file_path)
                *ret_path = path_numbered(file_path);
        else if ((path = secure_getenv("EDDY_TRACE")) && *path)
                *ret_path = path_numbered(path);
        else
                is_wanted = false;
        ed_mutex_unlock(&file_lock);
        return is_wanted;
}

static size_t ring_size(void)
{
        const char *text = getenv("EDDY_TRACE_EVENTS");
        unsigned long size = text ? strtoul(text, NULL, 10) : ED_TRACE_EVENTS;

        if (size < ED_TRACE_EVENTS_MIN)
                return ED_TRACE_EVENTS_MIN;
        return size > ED_TRACE_EVENTS_MAX ? ED_TRACE_EVENTS_MAX : size;
}

/* --- records --- */

static struct ed_trace *trace_of(const struct ed_loop *loop)
{
        return ed_container_of(loop->trace, struct ed_trace, hooks);
}

struct ed_trace_record *ed_trace_add(struct ed_trace *trace, enum ed_trace_kind kind, uint64_t task)
{
        struct ed_trace_record *record = &trace->ring[trace->count++ % trace->size];

        record->at_ns = ed_loop_now(&trace->run->loop) - trace->begin_ns;
        record->task = task;
        record->kind = (uint8_t) kind;
        record->number = 0;
        record->text = NULL;
        record->by = 0;
        record->scope = NULL;
        record->place = NULL;
        return record;
}

static struct ed_trace_record *add(struct ed_loop *loop, enum ed_trace_kind kind, uint64_t task)
{
        return ed_trace_add(trace_of(loop), kind, task);
}

/* The task that runs now, or 0. */
static uint64_t running(const struct ed_loop *loop)
{
        return loop->current ? ed_container_of(loop->current, struct ed_task, fiber)->number : 0;
}

static void on_ready(struct ed_loop *loop, struct ed_fiber *fiber)
{
        struct ed_task *task = ed_container_of(fiber, struct ed_task, fiber);
        struct ed_trace_record *record = add(loop, ED_TRACE_READY, task->number);

        record->number = fiber->ready.result;
        record->by = running(loop);
}

static void on_run(struct ed_loop *loop, struct ed_fiber *fiber)
{
        (void) add(loop, ED_TRACE_RUN, ed_container_of(fiber, struct ed_task, fiber)->number);
}

void ed_trace_start(struct ed_task *task, const void *place)
{
        struct ed_trace_record *record = add(task->loop, ED_TRACE_START, task->number);

        record->thing = (const void *) task->self.fn;
        record->text = task->self.text;
        record->scope = task->scope;
        record->place = place;
}

void ed_trace_park(struct ed_task *task, const char *waits_for)
{
        add(task->loop, ED_TRACE_PARK, task->number)->text = waits_for;
}

void ed_trace_task_end(struct ed_task *task, int result)
{
        if (task->face->is_named)
                memcpy(add(task->loop, ED_TRACE_NAME, task->number)->name, task->face->name,
                       ED_TASK_NAME_BYTES);
        add(task->loop, ED_TRACE_END, task->number)->number = result;
}

void ed_trace_scope_begin(struct ed_scope *scope)
{
        struct ed_task *task = scope->node.owner;
        struct ed_trace_record *record = add(task->loop, ED_TRACE_SCOPE, task->number);

        record->scope = scope;
        record->text = scope->place;
        record->number = (scope->flags & EDDY_SCOPE_SHIELD) != 0;
}

void ed_trace_scope_end(struct ed_scope *scope, int result)
{
        struct ed_task *task = scope->node.owner;
        struct ed_trace_record *record = add(task->loop, ED_TRACE_SCOPE_END, task->number);

        record->scope = scope;
        record->number = result;
}

void ed_trace_cancel(struct ed_node *node)
{
        struct ed_loop *loop = node->owner->loop;
        struct ed_trace_record *record = add(loop, ED_TRACE_CANCEL, running(loop));

        if (ed_node_is_task(node))
                record->by = node->owner->number;
        else
                record->scope = ed_scope_of_node(node);
}

void ed_trace_stop(struct ed_node *node)
{
        if (node->owner->inner == node)
                (void) add(node->owner->loop, ED_TRACE_STOP, node->owner->number);
}

void ed_trace_deadline(struct ed_scope *scope)
{
        struct ed_task *task = scope->node.owner;

        add(task->loop, ED_TRACE_DEADLINE, task->number)->scope = scope;
}

/* --- begin and end --- */

int ed_trace_begin(struct ed_run *run)
{
        struct ed_loop *loop = &run->loop;
        size_t size = ring_size();
        struct ed_trace *trace;
        char *path = NULL;

        if (!path_take(run, &path))
                return 0;
        trace = path ? ed_alloc_debug(sizeof(*trace) + size * sizeof(trace->ring[0])) : NULL;
        if (!trace) {
                ed_free(path);
                return -ENOMEM;
        }
        trace->hooks = (struct ed_loop_trace){ on_ready, on_run };
        trace->run = run;
        trace->begin_ns = ed_loop_now(loop);
        trace->size = size;
        trace->path = path;
        trace->pid = run->many ? run->many_index + 1 : 1;
        trace->clock = loop->sys->clock_runs ? "monotonic" : "simulated";
        loop->trace = &trace->hooks;
        loop->choosy = true;
        loop->push_flags |= ED_PUSH_TRACED;
        ed_trace_table_begin(trace);
        return 0;
}

void ed_trace_supervise(struct ed_run *run)
{
        if (!run->loop.trace)
                return;
        run->supervisor->node.flags |= ED_NODE_TRACED;
        trace_of(&run->loop)->supervisor = run->supervisor->number;
        ed_trace_start(run->supervisor, NULL);
}

void ed_trace_drop(struct ed_run *run)
{
        struct ed_trace *trace;

        if (!run->loop.trace)
                return;
        trace = trace_of(&run->loop);
        run->loop.trace = NULL;
        ed_free(trace->path);
        ed_free(trace);
}

void ed_trace_end(struct ed_run *run)
{
        struct ed_trace *trace;
        int err;

        if (!run->loop.trace)
                return;
        trace = trace_of(&run->loop);
        err = ed_trace_write(trace);
        if (err < 0) {
                char text[256];

                snprintf(text, sizeof(text), "the timeline \"%.160s\" cannot be written: %s",
                         trace->path, eddy_error_text(err));
                ed_report_run(run, EDDY_REPORT_TRACE, err, NULL, text);
        }
        ed_trace_drop(run);
}
