/*
 * test/strike.c - records the places where faults were injected, and prints them.
 */
#include "test/strike.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "co/co.h"
#include "eddy/error.h"
#include "sys/fault/symbol.h"

/* Maximum number of recorded frames that are printed. */
enum { FRAMES_PRINTED_MAX = 8 };

/* Places in the current or last run. */
static struct ed_test_strikes noted;

/* The program's own threads may allocate too: only one failed allocation records its place. */
enum { ALLOC_NONE, ALLOC_STRUCK, ALLOC_NOTED };
static _Atomic int alloc_states[2];

static const char *_Atomic struck;

__attribute__((noinline)) void eddy_test_strike(const char *what)
{
        /* Without a side effect the compiler would omit the calls. */
        atomic_store_explicit(&struck, what, memory_order_relaxed);
}

void ed_test_strikes_begin(eddy_task_fn *main_fn)
{
        void *first;

        noted = (struct ed_test_strikes){ .program = (const void *) main_fn };
        /* The first call loads the unwinder, for which a task's stack may be too small. */
        (void) ed_sys_callers(NULL, &first, 1);
        for (int i = 0; i < 2; i++)
                atomic_store_explicit(&alloc_states[i], ALLOC_NONE, memory_order_relaxed);
}

/* --- recording --- */

static void note(struct ed_test_place *place, const void *from)
{
        place->count = ed_sys_callers(from, place->frames, ED_TEST_FRAMES_MAX);
}

void ed_test_strike_alloc(bool again, const void *from)
{
        int none = ALLOC_NONE;

        if (atomic_compare_exchange_strong(&alloc_states[again], &none, ALLOC_STRUCK)) {
                note(&noted.alloc[again], from);
                atomic_store_explicit(&alloc_states[again], ALLOC_NOTED, memory_order_release);
        }
        eddy_test_strike("allocation");
}

void ed_test_strike_call(enum ed_sim_call kind, const void *from)
{
        note(&noted.call, from);
        noted.call_kind = kind;
        eddy_test_strike("call");
}

/*
 * Record a task's place: the current one if this call runs on the task's stack, else the place
 * where the task is parked.
 */
static void note_task(struct ed_test_place *place, const struct ed_task *task, const void *from)
{
        const char *here = __builtin_frame_address(0);

        if (here >= task->stack->bottom && here < task->stack->top)
                note(place, from);
        else
                place->count =
                        ed_co_frames(&task->fiber.co, task, place->frames, ED_TEST_FRAMES_MAX);
}

void ed_test_strike_cancel(struct ed_task *task, uint64_t number, bool woken, const void *from)
{
        struct ed_node *top = &task->node, *node = top;
        char name[ED_TASK_CALLED_BYTES];

        note_task(&noted.cancel[0], task, from);
        noted.cancelled = 1;
        noted.task = number;
        noted.task_woken = woken;
        if (number > 0)
                snprintf(noted.task_name, sizeof(noted.task_name), "%s",
                         ed_task_name(task, name, sizeof(name)));
        while (noted.cancelled < ED_TEST_CANCELLED_MAX && (node = ed_node_next(top, node, false))) {
                struct ed_test_place *place = &noted.cancel[noted.cancelled];

                /*
                 * Only tasks whose own node is cancelled, not shielded. Tasks that have not begun
                 * have no place.
                 */
                if (!ed_node_is_task(node) || !(node->flags & ED_NODE_CANCELLED))
                        continue;
                note_task(place, node->owner, from);
                noted.cancelled += place->count > 0;
        }
        eddy_test_strike("cancel");
}

void ed_test_strikes_look(struct ed_test_strikes *ret_strikes)
{
        *ret_strikes = (struct ed_test_strikes){
                .call = noted.call,
                .cancelled = noted.cancelled,
                .task = noted.task,
                .task_woken = noted.task_woken,
                .call_kind = noted.call_kind,
                .program = noted.program,
        };
        memcpy(ret_strikes->task_name, noted.task_name, sizeof(noted.task_name));
        for (int i = 0; i < noted.cancelled; i++)
                ret_strikes->cancel[i] = noted.cancel[i];
        for (int i = 0; i < 2; i++)
                if (atomic_load_explicit(&alloc_states[i], memory_order_acquire) == ALLOC_NOTED)
                        ret_strikes->alloc[i] = noted.alloc[i];
}

/* --- printing --- */

/*
 * Returns false for unnamed frames inside the library, which are less useful than the library
 * function that the program called.
 */
static bool is_printed(const struct ed_test_strikes *strikes, const void *frame)
{
        /* Frames of libeddy, whatever its file name, or of another libeddy library. */
        return (!ed_sys_is_inside(frame, (const void *) ed_sys_symbol) &&
                !ed_sys_is_inside_named(frame, "libeddy-")) ||
               ed_sys_is_inside(frame, strikes->program);
}

/* " in a+0x1 <- b+0x2" */
static void place_add(const struct ed_test_strikes *strikes, const struct ed_test_place *place,
                      struct ed_text *text)
{
        char name[64];
        int printed = 0;

        for (int i = 0; i < place->count && printed < FRAMES_PRINTED_MAX; i++) {
                if (!is_printed(strikes, place->frames[i]))
                        continue;
                ed_sys_symbol(place->frames[i], name, sizeof(name));
                ed_text_add(text, "%s %s", printed++ > 0 ? " <-" : " in", name);
        }
        if (printed == 0)
                ed_text_add(text, " in eddy itself");
}

static void alloc_add(const struct ed_test_strikes *strikes, const struct eddy_test_opts *opts,
                      int again, struct ed_text *text)
{
        uint64_t n = opts->alloc_at + (again ? opts->alloc_again : 0);

        ed_text_add(text, "allocation %llu failed%s", (unsigned long long) n,
                    opts->alloc_forever ? " first,"
                    : again             ? " too,"
                                        : "");
        place_add(strikes, &strikes->alloc[again], text);
}

static void call_add(const struct ed_test_strikes *strikes, const struct eddy_test_opts *opts,
                     struct ed_text *text)
{
        ed_text_add(text, "call %llu (%s)", (unsigned long long) opts->call_at,
                    ed_sim_call_name(strikes->call_kind));
        if (opts->call_error == EDDY_TEST_SHORT)
                ed_text_add(text, " was short");
        else
                ed_text_add(text, " failed with %s", eddy_error_name(opts->call_error));
        place_add(strikes, &strikes->call, text);
}

static void cancel_add(const struct ed_test_strikes *strikes, int i, struct ed_text *text)
{
        const struct ed_test_place *place = &strikes->cancel[i];

        if (i > 0)
                ed_text_add(text, "with it a task");
        else if (strikes->task > 0)
                ed_text_add(text, "task %llu, %s, was cancelled",
                            (unsigned long long) strikes->task, strikes->task_name);
        else
                ed_text_add(text, "main was cancelled");
        if (i == 0 && strikes->task_woken)
                ed_text_add(text, " as its wait was over");
        if (place->count > 0)
                place_add(strikes, place, text);
        else
                ed_text_add(text, " before it had begun");
}

bool ed_test_strike_line(const struct ed_test_strikes *strikes, const struct eddy_test_opts *opts,
                         int i, struct ed_text *text)
{
        bool first = strikes->alloc[0].count > 0;
        /* If all later allocations fail, the first is enough. */
        bool again = strikes->alloc[1].count > 0 && !opts->alloc_forever;
        bool call = strikes->call.count > 0;
        int before = strikes->cancelled;

        if (i < before)
                cancel_add(strikes, i, text);
        else if (first && i == before)
                alloc_add(strikes, opts, 0, text);
        else if (again && i == before + first)
                alloc_add(strikes, opts, 1, text);
        else if (call && i == before + first + again)
                call_add(strikes, opts, text);
        else
                return false;
        return true;
}
