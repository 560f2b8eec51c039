/*
 * dfs.c - see dfs.h.
 *
 * A run is a list of decisions, each one of several ways to go on.  The next
 * run takes the same up to the last decision that has a way left, and the next
 * way there; after that it always takes the first, which is to go on with the
 * thread that runs.  When no decision has a way left, all were explored.
 */
#include "dfs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/valgrind.h"
#include "co/co.h"
#include "sys/sys.h"

enum {
        THREADS_MAX = 8,
        LOCALS_MAX = 4,
        DECISIONS_MAX = 4096,
        POINTS_MAX = 20000, /* in a run; one that has more goes on for ever */
        STACK_BYTES = 1 << 20,
};

struct thread {
        struct ed_co co;
        void *stack;
        void (*fn)(void *arg);
        void *arg;
        bool ended;
        bool (*ready)(const void *arg); /* NULL: it can go on */
        const void *ready_arg;
        const char *waits_for;
        void *locals[LOCALS_MAX];
};

struct decision {
        uint8_t taken;
        uint8_t ways;
};

static struct {
        /* of the search */
        int bound;
        struct decision decisions[DECISIONS_MAX];
        size_t decided; /* in the last run, or to be taken again in this one */
        struct dfs_result *result;
        /* of the run */
        size_t at; /* decisions taken */
        int preemptions;
        uint64_t points;
        uint64_t writes;
        int surprises;   /* returns of a wait that nobody brought about; one in a run */
        struct ed_co co; /* of who explores */
        struct thread threads[THREADS_MAX];
        int count;
        struct thread *current; /* NULL: who explores */
        struct thread *next;    /* NULL: the run is over */
} run;

static void **locals[LOCALS_MAX];
static int locals_count;

void dfs_local(void **variable)
{
        if (locals_count == LOCALS_MAX)
                abort();
        locals[locals_count++] = variable;
}

/* --- switching --- */

static void locals_exchange(struct thread *thread)
{
        for (int i = 0; i < locals_count; i++) {
                void *value = *locals[i];

                *locals[i] = thread->locals[i];
                thread->locals[i] = value;
        }
}

/* Let a thread run until it comes back; it may have gone on to a stack of its own meanwhile. */
static void resume(struct thread *thread)
{
        run.current = thread;
        locals_exchange(thread);
#ifdef ED_ASAN
        __sanitizer_start_switch_fiber(&run.co.fake_stack, thread->co.bottom, thread->co.bytes);
#endif
#ifdef ED_TSAN
        __tsan_switch_to_fiber(thread->co.fiber, 0);
#endif
        ed_co_jump(&run.co, &thread->co);
#ifdef ED_ASAN
        __sanitizer_finish_switch_fiber(run.co.fake_stack, &thread->co.bottom, &thread->co.bytes);
#endif
        locals_exchange(thread);
        run.current = NULL;
}

static void leave(struct thread *thread)
{
#ifdef ED_ASAN
        __sanitizer_start_switch_fiber(thread->ended ? NULL : &thread->co.fake_stack, run.co.bottom,
                                       run.co.bytes);
#endif
#ifdef ED_TSAN
        thread->co.fiber = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(run.co.fiber, 0);
#endif
        ed_co_jump(&thread->co, &run.co);
#ifdef ED_ASAN
        __sanitizer_finish_switch_fiber(thread->co.fake_stack, NULL, NULL);
#endif
}

/* What a loop that lies in a thread takes for the thread's stack: see meson.build. */
void __real_ed_sys_thread_stack(void **ret_base, size_t *ret_bytes);
void __wrap_ed_sys_thread_stack(void **ret_base, size_t *ret_bytes);
void __wrap_ed_sys_thread_stack(void **ret_base, size_t *ret_bytes)
{
        if (!run.current) {
                __real_ed_sys_thread_stack(ret_base, ret_bytes);
        } else {
                *ret_base = run.current->stack;
                *ret_bytes = STACK_BYTES;
        }
}

/* --- deciding --- */

void dfs_fail(const char *format, ...)
{
        struct dfs_result *result = run.result;
        size_t used = 0;
        va_list args;

        result->found = true;
        va_start(args, format);
        vsnprintf(result->problem, sizeof(result->problem), format, args);
        va_end(args);
        for (size_t i = 0; i < run.at && used < sizeof(result->schedule) - 16; i++)
                if (run.decisions[i].taken)
                        used += (size_t) snprintf(result->schedule + used, 16, "%zu:%d ", i,
                                                  run.decisions[i].taken);
        run.next = NULL;
        leave(run.current);
        abort();
}

/* A broken invariant of the product is a failure of the run, with its schedule. */
__attribute__((noreturn)) void __wrap_ed_broken(const char *sentence);
void __wrap_ed_broken(const char *sentence)
{
        dfs_fail("%s", sentence);
}

static int decide(int ways)
{
        struct decision *decision = &run.decisions[run.at];

        if (ways == 1)
                return 0;
        if (run.at == DECISIONS_MAX)
                dfs_fail("more than %d decisions in a run", DECISIONS_MAX);
        if (run.at++ == run.decided) {
                *decision = (struct decision){ .ways = (uint8_t) ways };
                run.decided++;
        } else if (decision->ways != ways) {
                dfs_fail("the program went another way under the same decisions");
        }
        return decision->taken;
}

int dfs_choose(int n)
{
        return decide(n);
}

static bool can_go_on(const struct thread *thread)
{
        return !thread->ended && (!thread->ready || thread->ready(thread->ready_arg));
}

static void fail_stuck(void)
{
        char text[600] = "";
        size_t used = 0;

        for (int i = 0; i < run.count && used < sizeof(text) - 1; i++)
                if (!run.threads[i].ended)
                        used += (size_t) snprintf(text + used, sizeof(text) - used,
                                                  "; thread %d waits for %s", i,
                                                  run.threads[i].waits_for);
        dfs_fail("no thread can go on%s", text);
}

/* Decide who goes on, and be back when it is this thread. */
static void give_way(bool is_free)
{
        struct thread *ways[THREADS_MAX], *self = run.current, *next;
        bool goes_on = can_go_on(self);
        int n = 0;

        if (++run.points > POINTS_MAX)
                dfs_fail("a run goes on for ever");
        if (goes_on)
                ways[n++] = self;
        if (!goes_on || is_free || run.preemptions < run.bound)
                for (int i = 0; i < run.count; i++)
                        if (&run.threads[i] != self && can_go_on(&run.threads[i]))
                                ways[n++] = &run.threads[i];
        if (n == 0)
                fail_stuck();
        next = ways[decide(n)];
        if (next == self)
                return;
        run.preemptions += goes_on && !is_free;
        run.next = next;
        leave(self);
}

void dfs_point(void)
{
        if (run.current)
                give_way(false);
}

void dfs_pause(void)
{
        give_way(true);
}

void dfs_write(void)
{
        run.writes++;
}

void dfs_wait(bool (*ready)(const void *arg), const void *arg, const char *what)
{
        struct thread *self = run.current;

        if (!self && ready(arg))
                return;
        self->ready = ready;
        self->ready_arg = arg;
        self->waits_for = what;
        give_way(false);
        self->ready = NULL;
}

static bool was_written(const void *arg)
{
        return run.writes != *(const uint64_t *) arg;
}

void dfs_yield(void)
{
        uint64_t seen = run.writes;

        dfs_wait(was_written, &seen, "another thread to change something");
}

/* --- threads --- */

static void all_ended(void)
{
        for (int i = 0; i < run.count; i++)
                if (!run.threads[i].ended)
                        return;
        run.next = NULL;
        leave(run.current);
}

static void thread_main(void *arg)
{
        struct thread *self = arg;

        self->fn(self->arg);
        self->ended = true;
        run.writes++;
        all_ended();
        give_way(true);
        abort();
}

int dfs_thread(void (*fn)(void *arg), void *arg)
{
        struct thread *thread = &run.threads[run.count];
        void *stack = thread->stack;

        if (run.count == THREADS_MAX)
                abort();
        if (!stack) {
                stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
                if (stack == MAP_FAILED)
                        abort();
                (void) ed_valgrind_stack_add(stack, (char *) stack + STACK_BYTES);
        }
        *thread = (struct thread){ .stack = stack, .fn = fn, .arg = arg };
        ed_co_init(&thread->co, stack, (char *) stack + STACK_BYTES, thread_main, thread);
#ifdef ED_TSAN
        thread->co.fiber = __tsan_create_fiber(0);
#endif
        return run.count++;
}

static bool has_ended(const void *arg)
{
        return ((const struct thread *) arg)->ended;
}

void dfs_join(int thread)
{
        dfs_wait(has_ended, &run.threads[thread], "a thread to end");
}

int dfs_self(void)
{
        return run.current ? (int) (run.current - run.threads) : -1;
}

/* --- locks --- */

static bool is_free(const void *arg)
{
        return ((const struct dfs_mutex *) arg)->owner == 0;
}

void dfs_mutex_lock(struct dfs_mutex *mutex)
{
        dfs_point();
        if (mutex->owner != 0)
                dfs_wait(is_free, mutex, "a mutex");
        mutex->owner = 2 + dfs_self();
}

/* The point after it: what a thread does with the lock open is not one with what it did before. */
void dfs_mutex_unlock(struct dfs_mutex *mutex)
{
        if (mutex->owner != 2 + dfs_self())
                dfs_fail("a thread unlocks what it has not locked");
        mutex->owner = 0;
        dfs_write();
        dfs_point();
}

void dfs_mutex_fini(struct dfs_mutex *mutex)
{
        if (mutex->owner != 0)
                dfs_fail("a mutex ends while it is locked");
}

/* On the stack of who waits. */
struct dfs_waiting {
        struct dfs_waiting *next;
        bool released;
};

static bool is_released(const void *arg)
{
        return ((const struct dfs_waiting *) arg)->released;
}

static void cond_leave(struct dfs_cond *cond, const struct dfs_waiting *waiting)
{
        struct dfs_waiting **place = &cond->first;

        while (*place && *place != waiting)
                place = &(*place)->next;
        if (*place)
                *place = waiting->next;
}

void dfs_cond_wait(struct dfs_cond *cond, struct dfs_mutex *mutex)
{
        struct dfs_waiting waiting = { NULL, false }, **place = &cond->first;

        while (*place)
                place = &(*place)->next;
        *place = &waiting;
        mutex->owner = 0;
        dfs_write();
        if (run.surprises == 0 && dfs_choose(2)) {
                run.surprises++;
                dfs_pause();
                cond_leave(cond, &waiting);
        } else {
                dfs_wait(is_released, &waiting, "a condition");
        }
        if (mutex->owner != 0)
                dfs_wait(is_free, mutex, "a mutex");
        mutex->owner = 2 + dfs_self();
}

static void release_first(struct dfs_cond *cond)
{
        cond->first->released = true;
        cond->first = cond->first->next;
}

void dfs_cond_signal(struct dfs_cond *cond)
{
        dfs_point();
        dfs_write();
        if (cond->first)
                release_first(cond);
}

void dfs_cond_broadcast(struct dfs_cond *cond)
{
        dfs_point();
        dfs_write();
        while (cond->first)
                release_first(cond);
}

/* --- exploring --- */

static void program_main(void *arg)
{
        void (**program)(void) = arg;

        (*program)();
}

static void run_once(void (**program)(void))
{
        run.at = 0;
        run.preemptions = 0;
        run.points = 0;
        run.writes = 0;
        run.surprises = 0;
        run.count = 0;
        (void) dfs_thread(program_main, program);
        run.next = &run.threads[0];
        while (run.next)
                resume(run.next);
#ifdef ED_TSAN
        for (int i = 0; i < run.count; i++)
                if (run.threads[i].ended)
                        __tsan_destroy_fiber(run.threads[i].co.fiber);
#endif
        run.result->schedules++;
        run.result->points += run.points;
}

/* On to the next way of the last decision that has one left; false: there is none. */
static bool next_way(void)
{
        while (run.decided > 0) {
                struct decision *last = &run.decisions[run.decided - 1];

                if (++last->taken < last->ways)
                        return true;
                run.decided--;
        }
        return false;
}

void dfs_explore(void (*program)(void), int bound, struct dfs_result *ret_result)
{
        *ret_result = (struct dfs_result){ 0 };
        run.result = ret_result;
        run.bound = bound;
        run.decided = 0;
        ed_co_init_thread(&run.co);
        do
                run_once(&program);
        while (!ret_result->found && next_way());
}
