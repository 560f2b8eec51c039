/*
 * scope/report.c - a run's reports: failures, and faults in stack guards.
 */
#include "scope/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scope/run_state.h"
#include "scope/task.h"
#include "sys/fault/symbol.h"
#include "sys/output.h"

/* --- reports --- */

/* Returns true if the report's error code adds information to its text. */
static bool is_failure(int kind)
{
        return kind == EDDY_REPORT_BACKGROUND || kind == EDDY_REPORT_UNHANDLED ||
               kind == EDDY_REPORT_CALLBACK || kind == EDDY_REPORT_ACCEPT;
}

void ed_report_to_stderr(const struct eddy_report *report, void *arg)
{
        bool with_error = report->error && is_failure(report->kind);
        size_t text_bytes = strlen(report->text);
        char line[1792];
        struct ed_text text = { line, sizeof(line) };

        (void) arg;
        ed_text_add(&text, "eddy: %s%s%s", report->task ? "task " : "",
                    report->task ? report->task : "", report->task ? ": " : "");
        /*
         * A long text is written in pieces.  This may be a signal handler, so it does not allocate.
         */
        if (text_bytes + 2 > text.left) {
                ed_sys_write_error(line, sizeof(line) - text.left);
                ed_sys_write_error(report->text, text_bytes);
                text = (struct ed_text){ line, sizeof(line) };
        } else {
                ed_text_add(&text, "%s", report->text);
        }
        if (with_error)
                ed_text_add(&text, ": %s", eddy_error_text(report->error));
        if (text.left < 2)
                text.at[-1] = '\n';
        else
                ed_text_add(&text, "\n");
        ed_sys_write_error(line, strlen(line));
}

void ed_report_run(struct ed_run *run, int kind, int error, const char *task, const char *text)
{
        struct eddy_report report = { .kind = kind, .error = error, .task = task, .text = text };

        run->opts.report(&report, run->opts.report_arg);
}

void ed_report_here(int kind, int error, const char *text)
{
        if (ed_loop_current)
                ed_report_run(ed_run_of(ed_loop_current), kind, error, NULL, text);
}

void ed_report_task(struct ed_loop *loop, int kind, int error, const struct ed_task *task,
                    const char *text)
{
        char buf[ED_TASK_CALLED_BYTES];

        ed_report_run(ed_run_of(loop), kind, error,
                      task ? ed_task_name(task, buf, sizeof(buf)) : NULL, text);
}

void ed_report_callback(struct ed_loop *loop, int error, eddy_task_fn *fn, const char *text)
{
        char name[64], message[256];

        ed_sys_function((const void *) fn, text, name, sizeof(name));
        snprintf(message, sizeof(message), "the callback %s failed", name);
        ed_report_run(ed_run_of(loop), EDDY_REPORT_CALLBACK, error, NULL, message);
}

void ed_report_symbol_add(const char *words, const void *place, struct ed_text *text)
{
        char name[64];

        if (!place)
                return;
        ed_sys_symbol(place, name, sizeof(name));
        ed_text_add(text, "%s%s", words, name);
}

void ed_report_place_add(const struct ed_task *task, struct ed_text *text)
{
        if (task->loop->debug)
                ed_report_symbol_add(", started at ", task->debug.place, text);
}

/* --- faults in guards --- */

/* Runs in a signal handler, on its own stack. */
bool ed_report_fault(const void *address)
{
        struct ed_loop *loop = ed_loop_current;
        struct ed_task *task = ed_task_running();
        char name[ED_TASK_CALLED_BYTES], message[256];
        const char *who;

        if (!loop || !ed_stacks_guard_hit(&loop->stacks, address))
                return false;
        who = task ? ed_task_name(task, name, sizeof(name)) : "(none)";
        snprintf(message, sizeof(message),
                 "overflowed its stack of %zu KiB: allocate large buffers on the heap, and limit "
                 "recursion",
                 task ? (size_t) ((char *) task - task->stack->bottom + 1023) / 1024 : (size_t) 0);
        ed_report_run(ed_run_of(loop), EDDY_REPORT_OVERFLOW, 0, who, message);
        return true;
}
