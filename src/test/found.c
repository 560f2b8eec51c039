/*
 * test/found.c - findings in a run, on any thread.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "sys/process/fork.h"
#include "sys/thread/thread.h"
#include "test/replay.h"
#include "test/run.h"

static struct {
        struct ed_mutex lock;
        struct ed_test_run *run; /* the current run; NULL: findings are ignored */
        _Atomic unsigned forks;  /* fork count of the run: a child must not take the lock */
} heard = { .lock = ED_MUTEX_INIT };

void ed_test_found_begin(struct ed_test_run *run)
{
        run->problem = (struct ed_text){ run->result.problem, sizeof(run->result.problem) };
        atomic_store_explicit(&heard.forks, run->forks, memory_order_relaxed);
        ed_mutex_lock(&heard.lock);
        heard.run = run;
        ed_mutex_unlock(&heard.lock);
}

void ed_test_found_end(void)
{
        ed_mutex_lock(&heard.lock);
        heard.run = NULL;
        ed_mutex_unlock(&heard.lock);
}

/* Called with the lock. */
static void line_add(struct ed_test_run *run, const char *line)
{
        ed_text_add(&run->problem, "%s%s", run->result.problem[0] ? "\n" : "", line);
}

void ed_test_found(struct ed_test_run *run, const char *format, ...)
{
        char line[sizeof(run->result.problem)];
        va_list args;

        va_start(args, format);
        vsnprintf(line, sizeof(line), format, args);
        va_end(args);
        ed_mutex_lock(&heard.lock);
        line_add(run, line);
        ed_mutex_unlock(&heard.lock);
}

/* Print at once, because a child's copy of the run is never read. */
static void print_in_child(const char *line)
{
        if (heard.run)
                ed_test_print_lines(heard.run->name, &heard.run->opts, line);
}

void eddy_test_fail(const char *format, ...)
{
        char line[sizeof(heard.run->result.problem)];
        va_list args;

        va_start(args, format);
        vsnprintf(line, sizeof(line), format, args);
        va_end(args);
        if (atomic_load_explicit(&heard.forks, memory_order_relaxed) != ed_sys_forks()) {
                print_in_child(line);
                return;
        }
        ed_mutex_lock(&heard.lock);
        if (heard.run)
                line_add(heard.run, line);
        ed_mutex_unlock(&heard.lock);
}
