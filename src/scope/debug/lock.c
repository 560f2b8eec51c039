/*
 * scope/debug/lock.c - debug mode: which task holds which lock.  Reports cycles of tasks that wait
 * for each other, and locks that are left locked.
 *
 * A recorded lock has a flag that its release tests together with another flag.  If a lock's memory
 * is freed while the lock is held, its record remains until its holder ends; nothing here reads a
 * recorded lock's memory.
 */
#include "scope/debug/debug.h"
#include "scope/lock_wait.h"

/* The longest cycle that is found. */
enum { CYCLE_MAX = 32 };

static struct ed_debug *debug_of(const struct ed_task *task)
{
        return ed_run_of(task->loop)->debug;
}

static void disown(const struct ed_mark *mark)
{
        if (mark->task)
                mark->task->debug.locks--;
}

void ed_debug_lock_held(eddy_lock *lock, struct ed_task *task, const void *place)
{
        struct ed_marks *locks = &debug_of(task)->locks;
        struct ed_mark *mark = ed_marks_find(locks, lock);

        if (mark)
                disown(mark);
        mark = ed_marks_put(locks, lock);
        if (!mark)
                return;
        mark->task = task;
        mark->place = place;
        task->debug.locks++;
        lock->flags |= ED_LOCK_DEBUG;
}

void ed_debug_lock_released(const eddy_lock *lock)
{
        /*
         * The lock's loop may be between two runs, and the current loop need not be in debug mode.
         */
        for (struct ed_debug *debug = ed_debug_first; debug; debug = debug->next) {
                struct ed_mark *mark = ed_marks_find(&debug->locks, lock);

                if (!mark)
                        continue;
                disown(mark);
                ed_marks_drop(&debug->locks, mark);
        }
}

/* --- cycles --- */

/*
 * Returns the lock that the holder of 'lock' waits for, or NULL. '*ret_mark' identifies the holder.
 */
static const eddy_lock *next_of(const struct ed_debug *debug, const eddy_lock *lock,
                                const struct ed_mark **ret_mark)
{
        const struct ed_mark *mark = ed_marks_find(&debug->locks, lock);

        *ret_mark = mark && mark->task ? mark : NULL;
        return *ret_mark ? ed_lock_wait_ops.awaited(mark->task) : NULL;
}

/* Returns true if waiting for 'lock' makes 'task' wait for itself. */
static bool is_cycle(const struct ed_debug *debug, const eddy_lock *lock,
                     const struct ed_task *task)
{
        const struct ed_mark *mark;

        for (int n = 0; lock && n < CYCLE_MAX; n++) {
                lock = next_of(debug, lock, &mark);
                if (mark && mark->task == task)
                        return true;
        }
        return false;
}

static void wait_add(const struct ed_task *task, const struct ed_mark *mark, struct ed_text *text)
{
        char name[ED_TASK_CALLED_BYTES];

        ed_text_add(text, "\n  %s", ed_task_name(task, name, sizeof(name)));
        ed_report_place_add(task, text);
        ed_text_add(text, ", waits for a lock that %s took",
                    ed_task_name(mark->task, name, sizeof(name)));
        ed_report_symbol_add(" at ", mark->place, text);
}

void ed_debug_lock_wait(const eddy_lock *lock, const struct ed_task *task)
{
        struct ed_debug *debug = debug_of(task);
        struct ed_text text = { debug->text, sizeof(debug->text) };
        const struct ed_task *waiter = task;
        const struct ed_mark *mark;

        if (!is_cycle(debug, lock, task) || !ed_debug_may_report(debug, ED_DEBUG_LOCKS))
                return;
        ed_text_add(&text, "these tasks wait for each other's locks:");
        do {
                const eddy_lock *next = next_of(debug, lock, &mark);

                wait_add(waiter, mark, &text);
                waiter = mark->task;
                lock = next;
        } while (waiter != task);
        ed_report_run(ed_run_of(task->loop), EDDY_REPORT_LOCK, -EDEADLK, NULL, debug->text);
}

/* --- left locked --- */

static struct ed_mark *held_by(const struct ed_debug *debug, const struct ed_task *task)
{
        ed_hash_table_each_safe (node, &debug->locks.table) {
                struct ed_mark *mark = ed_container_of(node, struct ed_mark, node);

                if (mark->task == task)
                        return mark;
        }
        return NULL;
}

void ed_debug_locks_left(struct ed_task *task, const char *after)
{
        struct ed_debug *debug = debug_of(task);
        struct ed_mark *mark;
        char message[192];

        /* A report may change the table. */
        while (task->debug.locks > 0 && (mark = held_by(debug, task))) {
                struct ed_text text = { message, sizeof(message) };

                mark->task = NULL;
                task->debug.locks--;
                if (!ed_debug_may_report(debug, ED_DEBUG_LOCKS))
                        continue;
                ed_text_add(&text, "%s without releasing the lock that it took", after);
                ed_report_symbol_add(" at ", mark->place, &text);
                ed_report_task(task->loop, EDDY_REPORT_LOCK, 0, task, message);
        }
}
