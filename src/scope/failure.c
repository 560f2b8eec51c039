/*
 * scope/failure.c - the failures of a scope: the first one, their list, and those in the background.
 */
#include <stdio.h>

#include "scope/hooks.h"
#include "scope/report.h"
#include "scope/scope.h"

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

void ed_scope_fail(struct ed_scope *scope, int error, const struct ed_task *task)
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
        ed_scope_fail(scope, error, task);
}
