/*
 * test/units.c - semaphore units that are not given back, and items left in queues.
 *
 * A semaphore is in the program's memory, which may be freed before the end of the run. Units taken
 * are therefore recorded here, with the semaphore's address. A watched queue is checked while it
 * exists: when it ends, or at the end of the run.
 */
#include <stdio.h>

#include "scope/task.h"
#include "sync/units.h"
#include "sys/fault/symbol.h"
#include "test/run.h"

/* All taken units are counted. Task and place are recorded for some, and printed for fewer. */
enum { TAKES_MAX = 1024, TAKES_PRINTED_MAX = 3 };

/*
 * A taken unit; or a unit given back before its taking was recorded, because a waiter's taking is
 * recorded only when the waiter runs.
 */
struct take {
        const eddy_semaphore *sem;
        bool is_given;
        uint64_t task; /* its number; 0: taken outside of tasks */
        const void *place;
        eddy_task_fn *fn;
        char name[ED_TASK_NAME_BYTES]; /* "": use the name of the function */
};

/* The current run; used only on its own thread. */
static struct {
        struct take takes[TAKES_MAX];
        size_t count;
        uint64_t unknown;                                     /* units without room in 'takes' */
        const eddy_semaphore *sems[EDDY_TEST_SEMAPHORES_MAX]; /* watched although not bounded */
        int sems_count;
        eddy_queue *queues[EDDY_TEST_QUEUES_MAX];
        int queues_count;
} units;

/* --- recording --- */

/* Checks the list, because an earlier run may have left the flag set. */
static bool is_watched(const eddy_semaphore *sem)
{
        if (!ed_test_is_mine())
                return false;
        for (int i = 0; i < units.sems_count; i++)
                if (units.sems[i] == sem)
                        return true;
        return sem->flags & EDDY_SEMAPHORE_BOUNDED;
}

/* Returns NULL if there is no room. */
static struct take *take_add(const eddy_semaphore *sem)
{
        struct take *take = units.count < TAKES_MAX ? &units.takes[units.count++] : NULL;

        if (take)
                *take = (struct take){ .sem = sem };
        return take;
}

/* Remove an entry; the others keep their order. */
static void take_remove(struct take *take)
{
        units.count--;
        for (; take < &units.takes[units.count]; take++)
                *take = take[1];
}

/* Returns the unit that 'task' took last, else the unit taken first, or NULL. */
static struct take *take_of(const eddy_semaphore *sem, bool is_given, uint64_t task)
{
        struct take *first = NULL;

        for (size_t i = units.count; i-- > 0;) {
                if (units.takes[i].sem != sem || units.takes[i].is_given != is_given)
                        continue;
                first = &units.takes[i];
                if (first->task == task)
                        return first;
        }
        return first;
}

static void on_taken(const eddy_semaphore *sem, const void *place)
{
        const struct ed_task *task = ed_task_running();
        struct take *take;

        if (!is_watched(sem))
                return;
        take = take_of(sem, true, 0);
        if (take) {
                take_remove(take);
                return;
        }
        take = take_add(sem);
        if (!take) {
                units.unknown++;
                return;
        }
        take->place = place;
        if (!task)
                return;
        take->task = task->number;
        take->fn = task->face->fn;
        if (task->face->is_named)
                snprintf(take->name, sizeof(take->name), "%s", task->face->name);
}

static void on_given(const eddy_semaphore *sem)
{
        const struct ed_task *task = ed_task_running();
        struct take *take;

        if (!is_watched(sem))
                return;
        take = take_of(sem, false, task ? task->number : 0);
        if (take) {
                take_remove(take);
        } else if (units.unknown > 0) {
                units.unknown--;
        } else {
                take = take_add(sem);
                if (take)
                        take->is_given = true;
        }
}

/* --- findings --- */

static void take_print(const struct take *take, struct ed_text *text)
{
        char place[ED_TASK_CALLED_BYTES], task[ED_TASK_CALLED_BYTES] = "a call outside of tasks";

        ed_sys_symbol(take->place, place, sizeof(place));
        if (take->name[0])
                snprintf(task, sizeof(task), "%s", take->name);
        else if (take->task)
                ed_sys_symbol((const void *) take->fn, task, sizeof(task));
        ed_text_add(text, "%s took one at %s", task, place);
}

/* Add a line about one semaphore's units, and forget them. */
static void find_units_of(struct ed_test_run *run, const eddy_semaphore *sem)
{
        char line[512];
        struct ed_text text = { line, sizeof(line) };
        uint64_t count = 0;
        size_t kept = 0;

        line[0] = '\0';
        for (size_t i = 0; i < units.count; i++) {
                if (units.takes[i].sem != sem) {
                        units.takes[kept++] = units.takes[i];
                        continue;
                }
                if (units.takes[i].is_given || count++ >= TAKES_PRINTED_MAX)
                        continue;
                ed_text_add(&text, "%s", count > 1 ? ", " : "");
                take_print(&units.takes[i], &text);
        }
        units.count = kept;
        if (count == 0)
                return;
        if (count > TAKES_PRINTED_MAX)
                ed_text_add(&text, " and %llu more",
                            (unsigned long long) (count - TAKES_PRINTED_MAX));
        run->result.left.units += count;
        ed_test_found(run, "%llu unit%s of a semaphore not given back: %s",
                      (unsigned long long) count, count == 1 ? "" : "s", line);
}

static void look_at_queue(struct ed_test_run *run, const eddy_queue *queue)
{
        uint64_t undone = queue->unfinished > queue->count ? queue->unfinished - queue->count : 0;

        run->result.left.items += queue->count;
        if (queue->count > 0)
                ed_test_found(run, "%u item%s left in a queue", queue->count,
                              queue->count == 1 ? "" : "s");
        if (undone > 0 && queue->flags & ED_QUEUE_COUNTED) {
                run->result.left.items += undone;
                ed_test_found(run, "%llu item%s of a queue taken and not done",
                              (unsigned long long) undone, undone == 1 ? "" : "s");
        }
}

static void unwatch_queue(int i)
{
        units.queues[i]->flags &= ~(uint32_t) (ED_QUEUE_WATCHED | ED_QUEUE_COUNTED);
        units.queues[i] = units.queues[--units.queues_count];
}

static void on_queue_ends(eddy_queue *queue)
{
        if (!ed_test_is_mine())
                return;
        for (int i = 0; i < units.queues_count; i++) {
                if (units.queues[i] != queue)
                        continue;
                look_at_queue(ed_test_now, queue);
                unwatch_queue(i);
                return;
        }
}

/* --- for runs --- */

static const struct ed_units_watch watch = { .taken = on_taken,
                                             .given = on_given,
                                             .queue_ends = on_queue_ends };

void ed_test_units_begin(void)
{
        units.count = 0;
        units.unknown = 0;
        units.sems_count = 0;
        units.queues_count = 0;
        ed_units_watch_set(&watch);
}

void ed_test_units_end(void)
{
        ed_units_watch_set(NULL);
}

void ed_test_units_find(struct ed_test_run *run)
{
        while (units.queues_count > 0) {
                look_at_queue(run, units.queues[0]);
                unwatch_queue(0);
        }
        while (units.count > 0)
                find_units_of(run, units.takes[0].sem);
        if (units.unknown == 0)
                return;
        run->result.left.units += units.unknown;
        ed_test_found(run, "%llu more units of semaphores not given back",
                      (unsigned long long) units.unknown);
}

/* --- for programs --- */

static void too_many(int max, const char *what)
{
        ed_test_found(ed_test_now, "more than %d %s are watched", max, what);
}

void eddy_test_watch_semaphore(eddy_semaphore *sem)
{
        if (!ed_test_is_mine() || is_watched(sem))
                return;
        if (units.sems_count == EDDY_TEST_SEMAPHORES_MAX) {
                too_many(EDDY_TEST_SEMAPHORES_MAX, "semaphores");
                return;
        }
        sem->flags |= ED_SEMAPHORE_WATCHED;
        units.sems[units.sems_count++] = sem;
}

void eddy_test_watch_queue(eddy_queue *queue)
{
        if (!ed_test_is_mine())
                return;
        for (int i = 0; i < units.queues_count; i++)
                if (units.queues[i] == queue)
                        return;
        if (units.queues_count == EDDY_TEST_QUEUES_MAX) {
                too_many(EDDY_TEST_QUEUES_MAX, "queues");
                return;
        }
        queue->flags |= ED_QUEUE_WATCHED;
        units.queues[units.queues_count++] = queue;
}
