/*
 * test/left.c - resources that a run leaves at its end.
 */
#include <string.h>

#include "scope/dump.h"
#include "scope/run_state.h"
#include "scope/scope.h"
#include "sys/fault/last_words.h"
#include "test/run.h"

enum { TASKS_NAMED_MAX = 5 };

uint64_t ed_test_left_name(const struct ed_test_run *run, char *buf, size_t bytes)
{
        struct ed_node *root = &ed_scope_of(&run->run->root)->node, *node = root;
        struct ed_text text = { buf, bytes };
        char name[ED_TASK_CALLED_BYTES];
        uint64_t n = 0;

        buf[0] = '\0';
        /* The root scope does not exist before the loop's first turn. */
        if (!root->owner)
                return 0;
        while ((node = ed_node_next(root, node, false))) {
                if (!ed_node_is_task(node) || n++ >= TASKS_NAMED_MAX)
                        continue;
                ed_text_add(&text, "%s%s ", n > 1 ? ", " : "",
                            ed_task_name(node->owner, name, sizeof(name)));
                ed_dump_state(node->owner, root, &text);
        }
        if (n > TASKS_NAMED_MAX)
                ed_text_add(&text, " and %llu more", (unsigned long long) (n - TASKS_NAMED_MAX));
        return n;
}

static const char *plural(uint64_t n)
{
        return n == 1 ? "" : "s";
}

static void find_memory(struct ed_test_run *run)
{
        struct ed_test_memory memory;

        if (ed_test_memory_is_replaced()) {
                ed_test_found(
                        run,
                        "eddy_alloc_set() was called in it: memory that is left cannot be found");
                return;
        }
        ed_test_memory_look(&memory);
        run->result.left.allocations = memory.live;
        run->result.left.bytes = memory.bytes;
        if (memory.live > 0)
                ed_test_found(run,
                              "%llu allocation%s left, of %llu bytes: the first is number %llu",
                              (unsigned long long) memory.live, plural(memory.live),
                              (unsigned long long) memory.bytes, (unsigned long long) memory.first);
}

void ed_test_left_note(struct ed_test_run *run)
{
        run->fds_count = ed_sys_fds(run->fds, ED_TEST_FDS_MAX);
}

static bool was_open(const struct ed_test_run *run, int fd)
{
        for (int i = 0; i < run->fds_count && i < ED_TEST_FDS_MAX; i++)
                if (run->fds[i] == fd)
                        return true;
        return false;
}

/* Count the process's new descriptors, and return the lowest, or -1 if unknown. */
static uint64_t count_descriptors(const struct ed_test_run *run, int *ret_first)
{
        static int fds[ED_TEST_FDS_MAX];
        int n = run->fds_count < 0 ? 0 : ed_sys_fds(fds, ED_TEST_FDS_MAX);
        uint64_t left = 0;

        *ret_first = -1;
        /* Before the run there was a descriptor free for looking. */
        if (n < 0)
                return 1;
        for (int i = 0; i < n && i < ED_TEST_FDS_MAX; i++) {
                if (was_open(run, fds[i]))
                        continue;
                if (left++ == 0 || fds[i] < *ret_first)
                        *ret_first = fds[i];
        }
        /* Only the number of descriptors beyond the table is known. */
        if (n > ED_TEST_FDS_MAX && n > run->fds_count && left < (uint64_t) (n - run->fds_count))
                left = (uint64_t) (n - run->fds_count);
        return left;
}

static void find_descriptors(struct ed_test_run *run)
{
        int first;
        uint64_t left = count_descriptors(run, &first);
        char name[128];

        run->result.left.descriptors = run->descriptors + left;
        if (run->descriptors > 0)
                ed_test_found(run, "%llu descriptor%s of the simulated network left",
                              (unsigned long long) run->descriptors, plural(run->descriptors));
        if (left == 0)
                return;
        if (first < 0) {
                ed_test_found(run,
                              "%llu descriptor%s left at least: too many are open to look at each",
                              (unsigned long long) left, plural(left));
                return;
        }
        ed_sys_fd_name(first, name, sizeof(name));
        ed_test_found(run, "%llu descriptor%s left: the first is %d, %s", (unsigned long long) left,
                      plural(left), first, name);
}

void ed_test_left_find(struct ed_test_run *run)
{
        uint64_t timers = run->result.left.timers;

        run->result.left.tasks = run->left_tasks;
        if (run->left_tasks > 0)
                ed_test_found(run, "%llu task%s left: %s", (unsigned long long) run->left_tasks,
                              plural(run->left_tasks), run->left_text);
        if (timers > 0)
                ed_test_found(run, "%llu timer%s left", (unsigned long long) timers,
                              plural(timers));
        find_descriptors(run);
        find_memory(run);
        ed_test_units_find(run);
}
