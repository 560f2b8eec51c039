/*
 * scope/trace/trace.c - recording: what happens becomes a record in the ring.
 */
#include "scope/trace/trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "eddy/trace.h"
#include "scope/lock_wait.h"
#include "scope/report.h"
#include "scope/run_list.h"
#include "sys/fault/last_words.h"
#include "sys/output.h"
#include "sys/process/fork.h"
#include "sys/thread/thread.h"

/* --- which file --- */

static struct ed_mutex file_lock = ED_MUTEX_INIT;
static char *file_path; /* of eddy_trace_file() */

int eddy_trace_file(const char *path)
{
        char *copy = NULL, *before;

        if (path && !*path)
                return -EINVAL;
        if (path && !(copy = ed_trace_copy(path)))
                return -ENOMEM;
        ed_mutex_lock(&file_lock);
        before = file_path;
        file_path = copy;
        ed_mutex_unlock(&file_lock);
        ed_free(before);
        return 0;
}

/* Add a path with the number of the process for each "%p". Returns true if there is one. */
static bool path_add(struct ed_text *text, const char *path, int process)
{
        const char *begin = path, *found;

        for (; (found = strstr(path, "%p")); path = found + 2)
                ed_text_add(text, "%.*s%d", (int) (found - path), path, process);
        ed_text_add(text, "%s", path);
        return path > begin;
}

/*
 * The first run of a process has the file itself; others have FILE.2, FILE.3 ...  A process that was
 * forked after the first run has its number in the names of its files. Call with file_lock.
 */
static void path_number(struct ed_text *text, int process, bool has_process)
{
        static int first_process, last_process;
        static unsigned files;

        if (first_process == 0)
                first_process = process;
        if (last_process != process)
                files = 0;
        last_process = process;
        if (process != first_process && !has_process)
                ed_text_add(text, ".%d", process);
        if (++files > 1)
                ed_text_add(text, ".%u", files);
}

/* Returns the path of a run's file, or NULL if memory runs out. */
static char *path_make(const char *path, bool is_numbered)
{
        int process = ed_sys_process_number();
        size_t bytes = strlen(path) * 5 + 32; /* "%p" becomes up to 10 digits */
        char *made = ed_alloc_debug(bytes), *whole;
        struct ed_text text = { made, bytes };
        bool has_process;

        if (!made)
                return NULL;
        has_process = path_add(&text, path, process);
        if (is_numbered)
                path_number(&text, process, has_process);
        whole = ed_sys_output_path(made);
        ed_free(made);
        return whole;
}

/* Returns false if the run is not traced. '*ret_path' is NULL if there is no memory. */
static bool path_take(const struct ed_run *run, char **ret_path)
{
        const char *path = run->opts.trace_file;
        bool is_wanted;

        if (path) {
                *ret_path = path_make(path, false);
                return true;
        }
        /* Runs of the test kit are many; it sets the option for one that is repeated. */
        if (run->loop.sys->choose)
                return false;
        ed_mutex_lock(&file_lock);
        path = file_path ? file_path : secure_getenv("EDDY_TRACE");
        is_wanted = path && *path;
        if (is_wanted)
                *ret_path = path_make(path, true);
        ed_mutex_unlock(&file_lock);
        return is_wanted;
}

static size_t ring_size(void)
{
        const char *text = getenv("EDDY_TRACE_EVENTS");
        char *end = NULL;
        unsigned long size = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

        if (!end || *end)
                return ED_TRACE_EVENTS;
        if (size < ED_TRACE_EVENTS_MIN)
                return ED_TRACE_EVENTS_MIN;
        return size > ED_TRACE_EVENTS_MAX ? ED_TRACE_EVENTS_MAX : size;
}

/* --- records --- */

static struct ed_trace *trace_of(const struct ed_loop *loop)
{
        return ed_container_of(loop->trace, struct ed_trace, hooks);
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

static struct ed_trace_record *record_function(struct ed_trace *trace, enum ed_trace_kind kind,
                                               const struct ed_task *task)
{
        const char *text = ed_trace_keep(trace, task->face->text);
        struct ed_trace_record *record = ed_trace_add(trace, kind, task->number);

        record->thing = (const void *) task->face->fn;
        record->text = text;
        return record;
}

void ed_trace_start(struct ed_task *task, const void *place)
{
        struct ed_trace *trace = trace_of(task->loop);
        struct ed_trace_record *record = record_function(trace, ED_TRACE_START, task);

        record->scope = task->scope;
        record->place = place;
        if (trace->main_ns < 0 && task->number != trace->supervisor)
                trace->main_ns = record->at_ns;
}

void ed_trace_park(struct ed_task *task, const char *waits_for)
{
        struct ed_trace *trace = trace_of(task->loop);

        waits_for = ed_trace_keep(trace, waits_for);
        ed_trace_add(trace, ED_TRACE_PARK, task->number)->text = waits_for;
}

static void record_name(const struct ed_task *task)
{
        if (task->face->is_named)
                memcpy(add(task->loop, ED_TRACE_NAME, task->number)->name, task->face->name,
                       ED_TASK_NAME_BYTES);
}

void ed_trace_task_end(struct ed_task *task, int result)
{
        record_name(task);
        record_function(trace_of(task->loop), ED_TRACE_END, task)->number = result;
}

void ed_trace_scope_begin(struct ed_scope *scope)
{
        struct ed_task *task = scope->node.owner;
        const char *place = ed_trace_keep(trace_of(task->loop), scope->place);
        struct ed_trace_record *record = add(task->loop, ED_TRACE_SCOPE, task->number);

        record->scope = scope;
        record->text = place;
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

void ed_trace_deadlock(struct ed_run *run)
{
        struct ed_node *root = &ed_scope_of(&run->root)->node, *node = root;

        (void) add(&run->loop, ED_TRACE_DEADLOCK, 0);
        while ((node = ed_node_next(root, node, false))) {
                const struct ed_task *task = node->owner;
                const eddy_lock *lock =
                        ed_node_is_task(node) ? ed_lock_wait_ops.awaited(task) : NULL;

                if (lock)
                        add(&run->loop, ED_TRACE_DEADLOCK, task->number)->by = lock->owner_number;
        }
}

/* --- begin and end --- */

static _Atomic unsigned traced; /* runs of the process */
static unsigned watched;        /* of them, those of the kit not counted; under file_lock */

static void say_last_words(void)
{
        ed_trace_last_words(NULL);
}

static void enter(struct ed_trace *trace)
{
        trace->is_counted = true;
        atomic_fetch_add_explicit(&traced, 1, memory_order_relaxed);
        trace->is_watched = !trace->run->loop.sys->choose;
        if (!trace->is_watched)
                return;
        ed_mutex_lock(&file_lock);
        if (watched++ == 0)
                ed_sys_last_words_set(ED_LAST_WORDS_TRACE, say_last_words);
        ed_mutex_unlock(&file_lock);
}

static void leave(struct ed_trace *trace)
{
        bool was_counted = trace->is_counted, was_watched = trace->is_watched;

        trace->is_counted = trace->is_watched = false;
        if (ed_sys_forked_since(trace->run->forks))
                return;
        if (was_counted)
                atomic_fetch_sub_explicit(&traced, 1, memory_order_relaxed);
        if (!was_watched)
                return;
        ed_mutex_lock(&file_lock);
        if (--watched == 0)
                ed_sys_last_words_set(ED_LAST_WORDS_TRACE, NULL);
        ed_mutex_unlock(&file_lock);
}

void ed_trace_leave(struct ed_run *run)
{
        if (run->loop.trace)
                leave(trace_of(&run->loop));
}

void ed_trace_forget(void)
{
        /* The thread that held the lock may not exist in the child. */
        ed_mutex_init(&file_lock);
        atomic_store_explicit(&traced, 0, memory_order_relaxed);
        if (watched > 0)
                ed_sys_last_words_set(ED_LAST_WORDS_TRACE, NULL);
        watched = 0;
}

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
        trace->texts_table.is_debug = true;
        trace->hooks = (struct ed_loop_trace){ on_ready, on_run };
        trace->run = run;
        trace->begin_ns = ed_loop_now(loop);
        trace->main_ns = -1;
        trace->size = size;
        trace->path = path;
        trace->clock = loop->sys->clock_runs ? "monotonic" : "simulated";
        loop->trace = &trace->hooks;
        loop->choosy = true;
        loop->push_flags |= ED_PUSH_TRACED;
        ed_trace_table_begin(trace);
        enter(trace);
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
        leave(trace);
        run->loop.trace = NULL;
        for (size_t i = 0; i < trace->texts_table.count; i++)
                ed_free(trace->texts[i].copy);
        ed_hash_table_fini(&trace->texts_table);
        ed_free(trace->path);
        ed_free(trace);
}

/* Several loops have the same option; they know their numbers only after they have begun. */
static int path_of_loop(struct ed_trace *trace)
{
        size_t bytes = strlen(trace->path) + 16;
        char *path = ed_alloc_debug(bytes);

        if (!path)
                return -ENOMEM;
        snprintf(path, bytes, "%s.%u", trace->path, trace->pid);
        ed_free(trace->path);
        trace->path = path;
        return 0;
}

static void file_write(struct ed_run *run)
{
        struct ed_trace *trace = trace_of(&run->loop);
        int err;

        trace->pid = run->many ? run->many_index + 1 : 1;
        err = run->opts.trace_file && trace->pid > 1 ? path_of_loop(trace) : 0;
        if (err == 0)
                err = ed_trace_write(trace);
        if (err < 0) {
                char text[256];

                snprintf(text, sizeof(text), "the timeline \"%.160s\" cannot be written: %s",
                         trace->path, eddy_error_text(err));
                ed_report_run(run, EDDY_REPORT_TRACE, err, NULL, text);
        }
}

void ed_trace_end(struct ed_run *run)
{
        if (!run->loop.trace)
                return;
        file_write(run);
        ed_trace_drop(run);
}

void ed_trace_finish(struct ed_run *run)
{
        struct ed_node *root = &ed_scope_of(&run->root)->node, *node = root;

        if (!run->loop.trace)
                return;
        /* The starts of tasks that live may have been dropped. */
        while ((node = ed_node_next(root, node, false))) {
                struct ed_task *task = node->owner;

                if (!ed_node_is_task(node))
                        continue;
                record_name(task);
                record_function(trace_of(&run->loop), ED_TRACE_ALIVE, task)->place =
                        task->fiber.ready.state == ED_FIBER_PARKED ? task->fiber.waits_for : NULL;
        }
        file_write(run);
}

/* --- a process that ends inside its runs --- */

enum { RUN_MS_MAX = 5000, ALL_MS_MAX = 30000 };

static void (*first_of_copy)(void);
static struct ed_run *finishing;

static void finish_one(void)
{
        ed_trace_finish(finishing);
}

/* Each in a copy of its own: the records of a loop of another thread may be half made. */
static void finish_in_copy(struct ed_run *run)
{
        finishing = run;
        if (run->loop.trace)
                ed_sys_in_copy(finish_one, RUN_MS_MAX);
}

static void finish_all(void)
{
        if (first_of_copy)
                first_of_copy();
        ed_runs_each(finish_in_copy);
}

void ed_trace_last_words(void (*first)(void))
{
        first_of_copy = first;
        if (atomic_load_explicit(&traced, memory_order_relaxed) > 0)
                ed_sys_in_copy(finish_all, ALL_MS_MAX);
}

/* After exit() inside a run; a plugin that embeds this library may be unloaded. */
static __attribute__((destructor)) void at_exit(void)
{
        say_last_words();
        if (watched > 0)
                ed_sys_last_words_set(ED_LAST_WORDS_TRACE, NULL);
}
