/*
 * scope/misuse.c - the reports of the program's mistakes, and the end of the process after some.
 */
#include "scope/misuse.h"

#include <stdarg.h>
#include <stdio.h>

#include "scope/report.h"
#include "scope/scope.h"
#include "sys/fault/symbol.h"

static __attribute__((format(printf, 4, 0))) void report_misuse(struct ed_loop *loop,
                                                                const struct ed_task *task,
                                                                int error, const char *format,
                                                                va_list args)
{
        char message[512];

        vsnprintf(message, sizeof(message), format, args);
        ed_report_task(loop, EDDY_REPORT_MISUSE, error, task, message);
}

int ed_misuse_refuse(struct ed_loop *loop, const struct ed_task *task, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        report_misuse(loop, task, -EINVAL, format, args);
        va_end(args);
        return -EINVAL;
}

void ed_misuse_end(struct ed_loop *loop, const struct ed_task *task, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        report_misuse(loop, task, 0, format, args);
        va_end(args);
        ed_broken(NULL);
}

bool ed_misuse_may_close(const struct ed_member *member, const char *object)
{
        if (ed_likely(ed_member_may_close(member)))
                return true;
        ed_misuse_closed_elsewhere(object);
        return false;
}

void ed_misuse_closed_elsewhere(const char *object)
{
        if (ed_loop_current)
                (void) ed_misuse_refuse(ed_loop_current, ed_task_running(),
                                        "closed %s of a loop on another thread: close it there, or "
                                        "after that loop has ended",
                                        object);
}

/* --- scopes --- */

static const char how_to_end[] = "call eddy_scope_end() on every way out of its block, or use "
                                 "EDDY_SCOPE";

/* Text about a place; empty if the place is unknown. */
struct words {
        char text[160];
};

static struct words words_of(const char *words, const char *place)
{
        struct words said = { "" };

        if (place)
                snprintf(said.text, sizeof(said.text), "%s%s", words, place);
        return said;
}

static struct words began_at(const char *place)
{
        return words_of(" that began at ", place);
}

int ed_misuse_unbegun(const char *call)
{
        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        return ed_misuse_refuse(ed_loop_current, ed_task_running(),
                                "called %s() for a scope that was never begun", call);
}

/* Outside of a run there is no report; the scope's later calls then fail. */
void ed_misuse_begun_nowhere(struct ed_scope *scope, const char *place)
{
        scope->timer.fn = NULL;
        scope->node.flags = 0; /* a start reads them first */
        if (ed_loop_current)
                (void) ed_misuse_refuse(ed_loop_current, NULL,
                                        "a scope was begun%s outside a task: callbacks of the loop "
                                        "cannot have scopes",
                                        words_of(" at ", place).text);
}

void ed_misuse_begun_twice(const struct ed_task *task, const char *place)
{
        ed_misuse_end(task->loop, task, "began the scope%s again%s while it is open: %s",
                      began_at(task->scope_place).text, words_of(" at ", place).text, how_to_end);
}

void ed_misuse_left(const struct ed_task *task, const char *place)
{
        ed_misuse_end(task->loop, task, "a function returned while the scope%s is open: %s",
                      began_at(place).text, how_to_end);
}

void ed_misuse_left_at_end(const struct ed_task *task)
{
        char name[ED_TASK_CALLED_BYTES];

        ed_sys_function((const void *) task->face->fn, task->face->text, name, sizeof(name));
        ed_misuse_end(task->loop, task, "%s() returned while the scope%s is open: %s", name,
                      began_at(task->scope_place).text, how_to_end);
}

static bool is_on_stack(const struct ed_task *task, const void *at)
{
        return (const char *) at >= task->stack->bottom && (const char *) at < task->stack->top;
}

/* Memory below the frame of a call belonged to functions that have returned. */
void ed_misuse_check_left(const struct ed_task *task, const struct ed_node *node, const char *place,
                          const void *frame)
{
        if (is_on_stack(task, node) && is_on_stack(task, frame) && (const void *) node < frame)
                ed_misuse_left(task, place);
}

int ed_misuse_ended(const struct ed_scope *scope, const struct ed_task *task, const void *frame)
{
        char name[ED_TASK_CALLED_BYTES];

        if (!task)
                return EDDY_E_RUN_NOT_RUNNING;
        ed_misuse_check_left(task, task->inner, task->scope_place, frame);
        if (!ed_scope_was_begun(scope))
                return ed_misuse_unbegun("eddy_scope_end");
        if (scope->node.flags & ED_NODE_ENDED)
                return ed_misuse_refuse(task->loop, task, "ended the scope%s a second time",
                                        began_at(scope->place).text);
        if (scope->node.owner != task)
                return ed_misuse_refuse(task->loop, task,
                                        "ended the scope%s, which belongs to task %s",
                                        began_at(scope->place).text,
                                        ed_task_name(scope->node.owner, name, sizeof(name)));
        ed_misuse_end(task->loop, task,
                      "ended the scope%s while the scope inside it%s is open: end that first",
                      began_at(scope->place).text, began_at(task->scope_place).text);
}

/* --- stacks --- */

void ed_misuse_overrun(struct ed_stacks *stacks, struct ed_stack *stack)
{
        struct ed_loop *loop = ed_container_of(stacks, struct ed_loop, stacks);

        ed_report_task(loop, EDDY_REPORT_OVERFLOW, 0, ed_task_of_stack(stack),
                       "overflowed its stack, which was detected only when the task ended, "
                       "because stacks have no guard pages here: allocate large buffers on the "
                       "heap, and limit recursion");
        ed_broken(NULL);
}

struct beyond {
        struct ed_task *task;
        size_t used_bytes;
};

static size_t kib(size_t bytes)
{
        return (bytes + 1023) / 1024;
}

/* Runs on the thread's stack. */
static void report_beyond(void *arg)
{
        const struct beyond *beyond = arg;
        struct ed_task *task = beyond->task;
        char message[256];

        snprintf(message, sizeof(message),
                 "overflowed its stack of %zu KiB by frames of %zu KiB, and may have changed the "
                 "memory of other tasks: allocate large buffers on the heap, and compile with "
                 "-fstack-clash-protection",
                 kib((size_t) ((char *) task - task->stack->bottom)), kib(beyond->used_bytes));
        ed_report_task(task->loop, EDDY_REPORT_OVERFLOW, 0, task, message);
        ed_co_switch(&task->loop->co, &task->fiber.co);
}

void ed_misuse_beyond(struct ed_task *task, size_t used_bytes)
{
        struct beyond beyond = { task, used_bytes };

        ed_fiber_leave_stack(task->loop, report_beyond, &beyond);
        ed_broken(NULL); /* on the task's own stack, so that a debugger finds its frames */
}

/* --- waiters --- */

void ed_misuse_waited_for(const struct ed_waiter *waiter, const char *call)
{
        const struct ed_task *task = waiter->task;
        char name[ED_TASK_CALLED_BYTES];

        ed_misuse_end(task->loop, ed_task_running(), "called %s() while task %s waits for %s", call,
                      ed_task_name(task, name, sizeof(name)), task->fiber.waits_for);
}
