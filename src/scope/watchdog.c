/*
 * scope/watchdog.c - the watchdog: reports a task that keeps its loop from other tasks.
 *
 * The ticker's thread checks the loop's counters.  If they have not advanced in time, the ticker
 * samples the stack of the loop's thread (sys/ticker.h).
 */
#include "scope/watchdog.h"

#include <string.h>

#include "base/text.h"
#include "scope/report.h"
#include "scope/run_state.h"
#include "scope/task.h"
#include "sys/fault/symbol.h"
#include "sys/thread/thread_state.h"
#include "sys/thread/ticker.h"

/* Returns true if the loop has made progress since the watchdog last saw progress.  Any thread. */
static bool has_gone_on(const struct ed_run *run)
{
        const struct ed_loop *loop = &run->loop;

        return atomic_load_explicit(&loop->switches, memory_order_relaxed) !=
                       run->watched_switches ||
               atomic_load_explicit(&loop->polls, memory_order_relaxed) != run->watched_polls ||
               atomic_load_explicit(&loop->polling, memory_order_relaxed);
}

/* The task that holds the loop, as seen from the loop's thread or the watchdog's. */
struct hog {
        const struct ed_run *run; /* unchanged while the watchdog takes the sample */
        bool is_late;             /* the loop has made progress: do not blame the running task */
        bool is_known;            /* 'fn' is valid; else the task is unknown */
        char name[ED_TASK_CALLED_BYTES];
        eddy_task_fn *fn; /* NULL: no task runs */
        const char *text;
};

static void hog_take(struct hog *hog, const struct eddy_task *face)
{
        if (face->is_named)
                memcpy(hog->name, face->name, sizeof(face->name));
        hog->fn = face->fn;
        hog->text = face->text;
}

/* Runs in a signal handler on the loop's thread. */
static void look_who_runs(void *arg)
{
        struct hog *hog = arg;
        struct ed_task *task = ed_task_running();

        hog->is_late = has_gone_on(hog->run);
        if (hog->is_late)
                return;
        hog->is_known = true;
        if (task && task->loop == &hog->run->loop && task != hog->run->supervisor)
                hog_take(hog, task->face);
}

/* Runs on the watchdog's thread.  The data is valid only if the loop has made no progress since. */
static __attribute__((noinline)) void look_from_outside(struct hog *hog)
{
        const struct ed_run *run = hog->run;
        const struct ed_task *task = run->supervisor;
        const struct eddy_task *at;
        struct ed_fiber *fiber;
        struct eddy_task face;
        bool is_seen;

        is_seen = ed_sys_peek(&run->loop.current, &fiber, sizeof(fiber));
        if (is_seen && fiber)
                task = ed_container_of(fiber, struct ed_task, fiber);
        is_seen = is_seen && ed_sys_peek(&task->face, &at, sizeof(at)) &&
                  ed_sys_peek(at, &face, sizeof(face));
        hog->is_late = has_gone_on(run);
        hog->is_known = is_seen && !hog->is_late;
        if (hog->is_known && task != run->supervisor)
                hog_take(hog, &face);
}

static void frames_add(struct ed_text *text, const struct ed_sample *sample)
{
        char name[64];

        ed_text_add(text, "is in");
        for (int i = 0; i < sample->count; i++) {
                ed_sys_symbol(sample->frames[i], name, sizeof(name));
                ed_text_add(text, "%s %s", i > 0 ? " <-" : "", name);
        }
        if (sample->count == 0)
                ed_text_add(text, " an unknown place");
}

static void call_add(struct ed_text *text, long call)
{
        const char *name = ed_system_call_name(call);

        if (name)
                ed_text_add(text, "is blocked in the system call %s", name);
        else if (call >= 0)
                ed_text_add(text, "is blocked in the system call %ld", call);
        else
                ed_text_add(text, "is blocked by the kernel");
}

static void where_add(struct ed_text *text, int known, const struct ed_sample *sample)
{
        switch (known) {
        case ED_SAMPLE_BLOCKED:
                call_add(text, sample->call);
                break;
        case ED_SAMPLE_RESTLESS:
                ed_text_add(text, "blocks in one system call after another");
                break;
        case ED_SAMPLE_STARVED:
                ed_text_add(text, "gets no processor time");
                break;
        case ED_SAMPLE_HIDDEN:
                ed_text_add(text, "is in a place that cannot be determined without /proc");
                break;
        default:
                frames_add(text, sample);
        }
}

enum { SAMPLES_MAX = 4 };

static void report_hog(struct ed_run *run, struct ed_ticker *watchdog, int64_t lasted_ns)
{
        struct ed_sample sample = { .count = 0 };
        struct hog hog;
        char message[1536];
        struct ed_text text = { message, sizeof(message) };
        const char *who;
        int known = 0;

        /*
         * A single frame means code without unwinding information, such as a call's stub: sample
         * again.
         */
        for (int samples = 0; samples == 0 || (sample.count == 1 && samples < SAMPLES_MAX);
             samples++) {
                hog = (struct hog){ .run = run };
                known = ed_sys_ticker_sample(watchdog, look_who_runs, &hog, &sample);
        }
        if (known != ED_SAMPLE_TAKEN)
                look_from_outside(&hog);
        who = hog.is_known ? "(the loop itself)" : "(unknown)";
        ed_text_add(&text, "has kept the loop from other tasks for %lld ms; it ",
                    (long long) (lasted_ns / EDDY_MS(1)));
        if (hog.is_late)
                ed_text_add(&text, "suspended before its stack could be read");
        else
                where_add(&text, known, &sample);
        if (hog.fn && !hog.name[0])
                ed_sys_function((const void *) hog.fn, hog.text, hog.name, sizeof(hog.name));
        ed_report_run(run, EDDY_REPORT_WATCHDOG, 0, hog.fn ? hog.name : who, message);
}

/* Called several times in each allowed period. */
void ed_watchdog_look(void *arg, struct ed_ticker *watchdog)
{
        struct ed_run *run = arg;
        /*
         * Read the clock first: this thread may be delayed too, and the loop's counters advance
         * meanwhile.
         */
        int64_t now_ns = ed_sys_now();

        if (has_gone_on(run)) {
                run->watched_switches =
                        atomic_load_explicit(&run->loop.switches, memory_order_relaxed);
                run->watched_polls = atomic_load_explicit(&run->loop.polls, memory_order_relaxed);
                run->watched_ns = ed_sys_now();
        } else if (run->watched_ns && now_ns - run->watched_ns > run->opts.watchdog_ns) {
                report_hog(run, watchdog, now_ns - run->watched_ns);
                run->watched_ns = 0; /* report each long hold once */
        }
}
