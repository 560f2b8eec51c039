/*
 * scope/dump.c - the tree of a run in lines of text.
 *
 * The tree is walked in place, node by node, without allocating.  The number of lines bounds the
 * cost, except for counting the nodes that are left out.
 */
#include "scope/dump.h"

#include <errno.h>

#include "scope/lock_wait.h"
#include "scope/report.h"
#include "scope/run_state.h"
#include "scope/scope.h"
#include "sys/fault/symbol.h"

enum { LEVELS_MAX = 20, FRAMES_MAX = 8 };

/* --- one task --- */

static bool is_task(const struct ed_node *node)
{
        return ed_node_is_task(node);
}

/* Returns the task below 'root' that holds a lock, or NULL. */
static const struct ed_task *holder_of(const eddy_lock *lock, struct ed_node *root)
{
        struct ed_node *node = root;

        while ((node = ed_node_next(root, node, false))) {
                const struct ed_task *task = node->owner;

                if (task == lock->owner && task->number == lock->owner_number)
                        return task;
        }
        return NULL;
}

static void wait_add(const struct ed_task *task, struct ed_node *root, struct ed_text *text)
{
        const eddy_lock *lock = ed_lock_wait_ops.awaited(task);
        const struct ed_task *holder = lock ? holder_of(lock, root) : NULL;
        char name[ED_TASK_CALLED_BYTES];

        ed_text_add(text, "waits for %s", task->fiber.waits_for);
        if (holder)
                ed_text_add(text, ", held by %s", ed_task_name(holder, name, sizeof(name)));
        else if (lock)
                ed_text_add(text, ", left locked by a task that has ended");
}

void ed_dump_state(const struct ed_task *task, struct ed_node *root, struct ed_text *text)
{
        switch (task->fiber.ready.state) {
        case ED_FIBER_PARKED:
                wait_add(task, root, text);
                break;
        case ED_FIBER_RUNNING:
                ed_text_add(text, "runs");
                break;
        default:
                ed_text_add(text, "is ready");
        }
}

bool ed_dump_stack(const struct ed_task *task, struct ed_text *text)
{
        void *frames[FRAMES_MAX];
        char name[64];
        int n = 0;

        if (task->fiber.ready.state != ED_FIBER_RUNNING)
                n = ed_co_frames(&task->fiber.co, task, frames, FRAMES_MAX);
        if (n == 0)
                return false;
        ed_text_add(text, "in");
        for (int i = 0; i < n; i++) {
                ed_sys_symbol(frames[i], name, sizeof(name));
                ed_text_add(text, "%s %s", i > 0 ? " <-" : "", name);
        }
        return true;
}

int64_t ed_dump_deadline(struct ed_node *node, const struct ed_node *root)
{
        int64_t first_ns = 0;

        for (; node; node = node->parent) {
                int64_t at_ns = is_task(node) ? 0 : ed_scope_of_node(node)->deadline_ns;

                if (at_ns != 0 && (first_ns == 0 || at_ns < first_ns))
                        first_ns = at_ns;
                if (node->flags & ED_NODE_SHIELD || node == root)
                        break;
        }
        return first_ns;
}

/* --- lines --- */

struct dump {
        struct ed_run *run;
        struct ed_node *root;
        int64_t now_ns;
        eddy_dump_fn *line;
        void *arg;
        unsigned flags;
        unsigned lines, lines_max;
};

/* The supervisor and its scopes are not shown. */
static bool is_shown(const struct dump *dump, const struct ed_node *node)
{
        return node->owner != dump->run->supervisor;
}

/* Returns the number of shown nodes around a node. */
static int level_of(const struct dump *dump, const struct ed_node *node)
{
        int level = 0;

        while ((node = node->parent) && node != dump->root)
                level += is_shown(dump, node);
        return level;
}

static void deadline_add(const struct dump *dump, int64_t deadline_ns, struct ed_text *text)
{
        int64_t left_ns = deadline_ns - dump->now_ns;

        if (deadline_ns == 0 || deadline_ns == INT64_MAX)
                return;
        if (left_ns > 0)
                ed_text_add(text, "; deadline in %lld ms",
                            (long long) (left_ns / EDDY_MS(1) + (left_ns % EDDY_MS(1) > 0)));
        else
                ed_text_add(text, "; deadline passed");
}

static void task_add(const struct dump *dump, const struct ed_task *task, struct ed_text *text)
{
        char name[ED_TASK_CALLED_BYTES];

        ed_text_add(text, "%s ", ed_task_name(task, name, sizeof(name)));
        ed_dump_state(task, dump->root, text);
        if (task->fiber.ready.state == ED_FIBER_PARKED && task->loop->debug)
                ed_text_add(text, "; parked %lld ms",
                            (long long) ((dump->now_ns - task->parked_ns) / EDDY_MS(1)));
        deadline_add(dump, ed_dump_deadline(task->inner, dump->root), text);
        if (task->inner->flags & ED_NODE_CANCELLED)
                ed_text_add(text, "; cancelled");
}

static void scope_add(const struct dump *dump, struct ed_node *node, struct ed_text *text)
{
        const struct ed_scope *scope = ed_scope_of_node(node);
        char name[ED_TASK_CALLED_BYTES];

        ed_text_add(text, "scope of %s", ed_task_name(node->owner, name, sizeof(name)));
        deadline_add(dump, scope->deadline_ns, text);
        if (scope->flags & EDDY_SCOPE_SHIELD)
                ed_text_add(text, "; shield");
        if (scope->flags & EDDY_SCOPE_KEEP_GOING)
                ed_text_add(text, "; keeps going");
        if (node->flags & ED_NODE_CANCELLED)
                ed_text_add(text, "; cancelled");
}

static void indent(int level, struct ed_text *text)
{
        ed_text_add(text, "%*s", 2 * (level < LEVELS_MAX ? level : LEVELS_MAX), "");
}

/* Prints the stack of a task that does not run now. */
static void stack_print(struct dump *dump, const struct ed_task *task, int level)
{
        char line[EDDY_DUMP_LINE_BYTES];
        struct ed_text text = { line, sizeof(line) };

        indent(level, &text);
        if (dump->lines == dump->lines_max || !ed_dump_stack(task, &text))
                return;
        dump->lines++;
        dump->line(line, dump->arg);
}

static void node_print(struct dump *dump, struct ed_node *node)
{
        char line[EDDY_DUMP_LINE_BYTES];
        struct ed_text text = { line, sizeof(line) };
        int level = level_of(dump, node);

        indent(level, &text);
        if (is_task(node))
                task_add(dump, node->owner, &text);
        else
                scope_add(dump, node, &text);
        dump->lines++;
        dump->line(line, dump->arg);
        if (is_task(node) && dump->flags & EDDY_DUMP_STACKS)
                stack_print(dump, node->owner, level + 1);
}

static void tree_print(struct dump *dump)
{
        struct ed_node *node = dump->root;
        uint64_t more = 0;

        while ((node = ed_node_next(dump->root, node, false))) {
                if (!is_shown(dump, node))
                        continue;
                if (dump->lines < dump->lines_max)
                        node_print(dump, node);
                else
                        more++;
        }
        if (more) {
                char line[64];
                struct ed_text text = { line, sizeof(line) };

                ed_text_add(&text, "and %llu more", (unsigned long long) more);
                dump->line(line, dump->arg);
        }
}

void ed_dump_tree(struct ed_loop *loop, eddy_dump_fn *line, void *arg, unsigned flags,
                  unsigned lines_max)
{
        struct ed_run *run = ed_run_of(loop);
        struct dump dump = {
                .run = run,
                .root = &ed_scope_of(&run->root)->node,
                .now_ns = ed_loop_now(loop),
                .line = line,
                .arg = arg,
                .flags = flags,
                .lines_max = lines_max,
        };

        /* The tree exists from the run's first turn on. */
        if (dump.root->owner)
                tree_print(&dump);
}

int eddy_dump_with(eddy_dump_fn *line, void *arg, unsigned flags)
{
        struct ed_loop *loop = ed_loop_current;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!line || flags & ~(unsigned) EDDY_DUMP_STACKS)
                return -EINVAL;
        ed_dump_tree(loop, line, arg, flags, EDDY_DUMP_LINES_MAX);
        return 0;
}

int eddy_dump(eddy_dump_fn *line, void *arg)
{
        return eddy_dump_with(line, arg, 0);
}

static void report_line(const char *line, void *arg)
{
        ed_report_run(arg, EDDY_REPORT_DUMP, 0, NULL, line);
}

void ed_dump_report(struct ed_run *run)
{
        report_line("SIGQUIT: the tasks of this run:", run);
        (void) eddy_dump(report_line, run);
}
