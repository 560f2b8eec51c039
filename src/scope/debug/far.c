/*
 * scope/debug/far.c - debug mode: channels, and handles of tasks on other loops, that are left when
 * the run that made them ends.
 *
 * Any thread may free these objects, so a table per thread does not suffice: each object contains
 * its link, and one lock protects the lists of all runs.  Only recorded objects take the lock.
 */
#include "scope/debug/debug.h"
#include "sys/fault/symbol.h"
#include "sys/process/fork.h"
#include "sys/thread/thread.h"

static struct ed_mutex far_lock = ED_MUTEX_INIT;

static struct ed_debug_far *far_of(struct ed_list *link)
{
        return ed_container_of(link, struct ed_debug_far, link);
}

void ed_debug_fars_init(struct ed_debug *debug)
{
        ed_list_init(&debug->fars);
}

void ed_debug_fars_fini(struct ed_debug *debug)
{
        ed_mutex_lock(&far_lock);
        while (!ed_list_is_empty(&debug->fars)) {
                far_of(debug->fars.next)->debug = NULL;
                ed_list_remove(debug->fars.next);
        }
        ed_mutex_unlock(&far_lock);
}

void ed_debug_fars_forked(void)
{
        /* The thread that held the lock may not exist in the child. */
        ed_mutex_init(&far_lock);
}

void ed_debug_far_note(struct ed_loop *loop, struct ed_debug_far *far, eddy_task_fn *fn,
                       const void *place)
{
        struct ed_debug *debug = ed_run_of(loop)->debug;

        far->debug = debug;
        far->place = place;
        far->fn = fn;
        far->forks = ed_sys_forks();
        ed_mutex_lock(&far_lock);
        ed_list_push_back(&debug->fars, &far->link);
        ed_mutex_unlock(&far_lock);
}

static void report_lost(const struct ed_debug *owner, const struct ed_debug_far *far, int lost)
{
        char name[ED_TASK_CALLED_BYTES];

        for (struct ed_debug *debug = ed_debug_first; debug; debug = debug->next) {
                if (debug != owner)
                        continue;
                ed_sys_function((const void *) far->fn, far->text, name, sizeof(name));
                ed_debug_unseen(debug->run, lost, name, far->place);
                return;
        }
}

void ed_debug_far_forget(struct ed_debug_far *far, int lost)
{
        const struct ed_debug *owner;

        /* Another thread may have been changing the list at the time of the fork(). */
        if (ed_sys_forked_since(far->forks))
                return;
        ed_mutex_lock(&far_lock);
        ed_list_remove(&far->link);
        owner = far->debug;
        ed_mutex_unlock(&far_lock);
        if (lost < 0)
                report_lost(owner, far, lost);
}

/* Report data about an object that is left. */
struct left {
        eddy_task_fn *fn;
        const char *text;
        const void *place;
        int lost;
};

/*
 * Call without the lock: a symbol lookup waits for the dynamic linker, which may run a destructor
 * that waits for this lock.
 */
static void far_add(const struct left *left, struct ed_text *text)
{
        char name[ED_TASK_CALLED_BYTES];

        if (!left->fn) {
                ed_report_symbol_add("\n  a channel, made at ", left->place, text);
                return;
        }
        ed_sys_function((const void *) left->fn, left->text, name, sizeof(name));
        ed_text_add(text, "\n  the remote handle of task %s", name);
        ed_report_symbol_add(", started at ", left->place, text);
        if (left->lost < 0)
                ed_debug_failure_add(left->lost, text);
}

void ed_debug_fars_add(struct ed_debug *debug, bool tasks, struct ed_text *text)
{
        struct left lefts[ED_DEBUG_REPORTS_MAX];
        uint64_t count = 0;

        ed_mutex_lock(&far_lock);
        for (struct ed_list *at = debug->fars.next; at != &debug->fars; at = at->next) {
                struct ed_debug_far *far = far_of(at);

                if (tasks != (far->fn != NULL))
                        continue;
                if (count < ED_DEBUG_REPORTS_MAX)
                        lefts[count] = (struct left){ far->fn, far->text, far->place,
                                                      far->lost ? far->lost(far) : 0 };
                count++;
        }
        ed_mutex_unlock(&far_lock);
        for (uint64_t i = 0; i < count && i < ED_DEBUG_REPORTS_MAX; i++)
                far_add(&lefts[i], text);
        ed_debug_more_add(count, "", text);
}
