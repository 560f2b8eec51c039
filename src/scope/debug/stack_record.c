/*
 * scope/debug/stack_record.c - a bounded table of functions, with the stack depth of their tasks.
 *
 * Each task measures its stack on its way out, so starting a task costs nothing, and nothing is
 * measured without debug mode.  An exact measurement reads the whole stack, which takes
 * microseconds, and needs a stack that was cleared before.  A stack is cleared for each of a
 * function's first FIRST_TASKS tasks, and then once in TURNS + 1 uses.  On a stack that was not
 * cleared, a task is measured only if it went deeper than all tasks before: it then left data just
 * below their deepest point.  A new stack is treated like that too, since reading a new page causes
 * a fault; the deepest point is then that of the task's function.
 */
#include "scope/debug/stack_record.h"

#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/hash_table.h"
#include "base/text.h"
#include "co/depth.h"
#include "eddy/stack.h"
#include "scope/report.h"
#include "scope/scope.h"
#include "sys/fault/symbol.h"

enum { LIVE_MAX = 1000, LINES_MAX = 16 };

/*
 * A stack is cleared for each of a function's first tasks, then after TURNS uses, a prime number.
 */
enum { FIRST_TASKS = 64, TURNS = 127 };

struct entry {
        struct ed_hash_node node; /* of a function */
        eddy_task_fn *fn;         /* NULL: the other functions */
        const char *text;         /* text of the function's first task */
        unsigned class;
        size_t deepest;
        uint64_t tasks;
        unsigned cleared; /* number of stacks cleared for its first tasks */
};

/* The first entries are for other functions, one per class; entries of functions follow. */
struct ed_stack_records {
        struct entry entries[EDDY_STACK_RECORDS_MAX];
        unsigned count;
        /* By function and class. It has room for all, since growing would use the stack that is measured. */
        struct ed_hash_table table;
};

_Static_assert(EDDY_STACK_RECORDS_MAX == EDDY_STACK_FUNCTIONS_MAX + ED_STACK_CLASSES,
               "each class has its others");

/* --- the table --- */

static struct entry *entry_of(struct ed_stack_records *records, const struct eddy_task *face,
                              unsigned class)
{
        eddy_task_fn *fn = face->fn;
        uint64_t hash = ed_hash_number((uint64_t) (uintptr_t) fn + class);
        struct entry *entry;

        ed_hash_each (node, &records->table, hash) {
                entry = ed_container_of(node, struct entry, node);
                if (entry->fn == fn && entry->class == class)
                        return entry;
        }
        if (records->count == EDDY_STACK_RECORDS_MAX)
                return &records->entries[class];
        entry = &records->entries[records->count++];
        *entry = (struct entry){ .fn = fn, .text = face->text, .class = class };
        ed_hash_table_add(&records->table, &entry->node, hash);
        return entry;
}

/*
 * Records the depth of a task's stack as far as the task itself caused the depth.  'least' is the
 * depth in use now.
 */
static struct entry *measure(struct ed_run *run, const struct ed_task *task, size_t least)
{
        struct ed_stack *stack = task->stack;
        struct entry *entry = entry_of(run->stack_records, &task->self, stack->class);
        bool is_clear = stack->turns == 0;
        size_t depth;

        /* On a stack's first use, reading each page would cause a fault. */
        if (stack->seen == 0 && entry->cleared == FIRST_TASKS) {
                stack->seen = (uint32_t) entry->deepest;
                is_clear = false;
        }
        if (is_clear || ed_stack_is_deeper(stack, stack->seen)) {
                depth = ed_stack_depth(stack);
                stack->seen = (uint32_t) depth;
        } else {
                depth = least;
        }
        /* A frame whose array was not written is known only by the stack pointer. */
        if (depth < (size_t) (stack->top - task->stack_low))
                depth = (size_t) (stack->top - task->stack_low);
        if (depth > entry->deepest)
                entry->deepest = depth;
        return entry;
}

static void on_put(struct ed_stacks *stacks, struct ed_stack *stack)
{
        struct ed_task *task = ed_task_of_stack(stack);
        struct ed_run *run = ed_run_of(ed_container_of(stacks, struct ed_loop, stacks));
        const char *here = __builtin_frame_address(0);
        struct entry *entry;

        /* The supervisor is not recorded. */
        if (task == run->supervisor)
                return;
        entry = measure(run, task, (size_t) (stack->top - here));
        entry->tasks++;
        if (entry->cleared < FIRST_TASKS) {
                entry->cleared++;
                stack->turns = 0;
        } else {
                stack->turns = stack->turns == 0 ? TURNS : stack->turns - 1;
        }
        if (stack->turns == 0)
                ed_stack_clear(stack, ed_stack_depth(stack));
}

int ed_stack_records_open(struct ed_run *run)
{
        struct ed_stack_records *records = ed_alloc_debug(sizeof(*records));

        if (!records)
                return -ENOMEM;
        records->table.is_debug = true;
        if (ed_hash_table_reserve(&records->table, EDDY_STACK_FUNCTIONS_MAX) < 0) {
                ed_free(records);
                return -ENOMEM;
        }
        for (unsigned class = 0; class < ED_STACK_CLASSES; class ++)
                records->entries[class].class = class;
        records->count = ED_STACK_CLASSES;
        run->stack_records = records;
        ed_stacks_watch(&run->loop.stacks, on_put);
        return 0;
}

void ed_stack_records_close(struct ed_run *run)
{
        if (run->stack_records)
                ed_hash_table_fini(&run->stack_records->table);
        ed_free(run->stack_records);
}

/* --- queries --- */

static void measure_live(struct ed_run *run)
{
        struct ed_node *root = &ed_scope_of(&run->root)->node, *node = root;
        unsigned n = 0;

        /* There is no tree before the run's first turn or after its last. */
        if (!root->owner)
                return;
        while (n < LIVE_MAX && (node = ed_node_next(root, node, false))) {
                struct ed_task *task = node->owner;
                const char *at = task->fiber.co.sp;

                if (node != &task->node)
                        continue;
                /* A running task's saved stack pointer is old or unset, so use this frame. */
                if (task->fiber.ready.state == ED_FIBER_RUNNING)
                        at = __builtin_frame_address(0);
                (void) measure(run, task, (size_t) (task->stack->top - at));
                n++;
        }
}

struct order {
        uint16_t numbers[EDDY_STACK_RECORDS_MAX];
        unsigned count;
};

/* Sorts by depth, the deepest first.  Equal entries keep their order of recording. */
static void sort(const struct ed_stack_records *records, struct order *order)
{
        order->count = 0;
        for (unsigned i = 0; i < records->count; i++) {
                size_t deepest = records->entries[i].deepest;
                unsigned at = order->count;

                if (deepest == 0)
                        continue;
                for (; at > 0 && records->entries[order->numbers[at - 1]].deepest < deepest; at--)
                        order->numbers[at] = order->numbers[at - 1];
                order->numbers[at] = (uint16_t) i;
                order->count++;
        }
}

static struct eddy_stack_record record_of(const struct entry *entry)
{
        struct eddy_stack_record record = {
                .fn = entry->fn,
                .flags = entry->class == ED_STACK_SMALL ? EDDY_TASK_STACK_64K : 0,
                .deepest_bytes = entry->deepest,
                .room_bytes = ed_stack_room(entry->class),
                .tasks = entry->tasks,
        };

        if (entry->fn)
                ed_sys_function((const void *) entry->fn, entry->text, record.name,
                                sizeof(record.name));
        else
                snprintf(record.name, sizeof(record.name), "(others)");
        return record;
}

int eddy_stack_records(struct eddy_stack_record *ret_records, size_t max)
{
        struct ed_loop *loop = ed_loop_current;
        struct ed_stack_records *records;
        struct order order;
        unsigned i;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        records = ed_run_of(loop)->stack_records;
        if (!records)
                return -ENOTSUP;
        measure_live(ed_run_of(loop));
        sort(records, &order);
        for (i = 0; i < order.count && i < max; i++)
                ret_records[i] = record_of(&records->entries[order.numbers[i]]);
        return (int) i;
}

static void report_line(struct ed_run *run, const char *line)
{
        ed_report_run(run, EDDY_REPORT_DUMP, 0, NULL, line);
}

static void report_record(struct ed_run *run, const struct eddy_stack_record *record)
{
        char words[EDDY_STACK_NAME_BYTES + 128];
        struct ed_text text = { words, sizeof(words) };

        ed_text_add(&text, "  %s: %zu of %zu bytes, ", record->name, record->deepest_bytes,
                    record->room_bytes);
        if (record->tasks == 0)
                ed_text_add(&text, "still running");
        else
                ed_text_add(&text, "%llu task%s", (unsigned long long) record->tasks,
                            record->tasks == 1 ? "" : "s");
        report_line(run, words);
}

void ed_stack_records_report(struct ed_run *run)
{
        struct ed_stack_records *records = run->stack_records;
        char more[64];
        struct order order;

        if (!records)
                return;
        measure_live(run);
        sort(records, &order);
        if (order.count == 0)
                return;
        report_line(run, "the deepest stacks, by the function of their tasks:");
        for (unsigned i = 0; i < order.count && i < LINES_MAX; i++) {
                struct eddy_stack_record record = record_of(&records->entries[order.numbers[i]]);

                report_record(run, &record);
        }
        if (order.count > LINES_MAX) {
                snprintf(more, sizeof(more), "  and %u more", order.count - LINES_MAX);
                report_line(run, more);
        }
}
