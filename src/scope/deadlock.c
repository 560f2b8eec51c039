/*
 * scope/deadlock.c - the end of a deadlock: all tasks wait, and nothing can wake them.
 */
#include "scope/deadlock.h"

#include <errno.h>

#include "base/alloc.h"
#include "scope/dump.h"
#include "scope/generator.h"
#include "scope/hooks.h"
#include "scope/lock_wait.h"
#include "scope/report.h"
#include "scope/run_state.h"
#include "scope/scope.h"

enum { LINES_MAX = 40, TEXT_BYTES = 16384 };

static void add_line(const char *line, void *arg)
{
        ed_text_add(arg, "\n  %s", line);
}

static void report(struct ed_run *run)
{
        char little[1024], *message = ed_alloc(TEXT_BYTES);
        struct ed_text text = { message, TEXT_BYTES };

        if (!message)
                text = (struct ed_text){ little, sizeof(little) };
        ed_text_add(&text, "all tasks wait and nothing can wake them; the run is cancelled:");
        ed_dump_tree(&run->loop, add_line, &text, run->loop.debug ? EDDY_DUMP_STACKS : 0,
                     LINES_MAX);
        ed_report_run(run, EDDY_REPORT_DEADLOCK, -EDEADLK, NULL, message ? message : little);
        ed_free(message);
}

bool ed_deadlock_end(struct ed_loop *loop)
{
        struct ed_run *run = ed_run_of(loop);
        struct ed_node *root = &ed_scope_of(&run->root)->node;

        if (!run->deadlocked) {
                run->deadlocked = true;
                report(run);
                if (loop->trace)
                        ed_hooks()->run_deadlocked(run);
                eddy_scope_cancel(&run->root);
                if (loop->ready_first)
                        return true;
        }
        /* The remaining tasks wait for something that no cancel ends. */
        return ed_lock_wait_ops.seize(root) || ed_generator_seize(root);
}
