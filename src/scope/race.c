/*
 * scope/race.c - the first successful result of several calls.
 *
 * The caller starts each call in a task and waits between starts until the next call is due.  The
 * first call that succeeds cancels the scope, which also ends the caller's wait.
 */
#include <errno.h>
#include <limits.h>

#include "eddy/call.h"
#include "eddy/select.h"
#include "scope/scope.h"
#include "scope/suspend.h"

struct race {
        struct eddy_call *calls, *winner;
        size_t n, started;
        size_t failures; /* failures that have not started a further call */
        int error;       /* the first error */
        eddy_event failed;
        eddy_scope scope;
        const void *place;
};

struct racer {
        struct race *race;
        struct eddy_call *call;
};

static void call_failed(struct race *race, struct eddy_call *call, int error)
{
        call->result = error;
        if (race->error == 0)
                race->error = error;
        race->failures++;
        (void) eddy_event_set(&race->failed);
}

static int run_racer(void *arg)
{
        const struct racer *racer = arg;
        struct race *race = racer->race;
        struct eddy_call *call = racer->call;
        int result = call->fn(call->arg);

        if (result < 0) {
                call_failed(race, call, result);
                return result;
        }
        call->result = result;
        if (!race->winner) {
                race->winner = call;
                eddy_scope_cancel(&race->scope);
        }
        return 0;
}

/* Starts the next call.  Errors: -ECANCELED  there is a winner, or the caller was cancelled */
static int start_next(struct race *race)
{
        struct eddy_call *call = &race->calls[race->started++];
        struct racer racer = { race, call };
        struct ed_task *task;
        int err = ed_scope_try_start(ed_scope_of(&race->scope), run_racer, &racer, sizeof(racer),
                                     call->name, race->place, &task);

        if (err == 0)
                task->self.fn = call->fn; /* names the task */
        else if (err != -ECANCELED)
                call_failed(race, call, err);
        return err == -ECANCELED ? err : 0;
}

/* Waits until the next call is due: a call failed or the time passed.  Errors: as above */
static int wait_until_due(struct race *race, int64_t stagger_ns)
{
        struct eddy_choice choices[] = {
                eddy_choice_event(&race->failed),
                stagger_ns < 0 ? eddy_choice_never() : eddy_choice_after(stagger_ns),
        };
        int chosen;

        if (race->failures == 0) {
                chosen = eddy_select(choices, 2);
                if (chosen < 0)
                        return chosen;
        }
        if (race->failures > 0)
                race->failures--;
        eddy_event_clear(&race->failed);
        return 0;
}

int eddy_race(struct eddy_call *calls, size_t n, int64_t stagger_ns)
{
        static const struct eddy_scope_opts keep_going = { .flags = EDDY_SCOPE_KEEP_GOING };
        struct race race = { .calls = calls, .n = n, .place = __builtin_return_address(0) };
        struct ed_scope *scope = ed_scope_of(&race.scope);
        struct ed_task *task;
        int err;

        if (n == 0 || n > INT_MAX)
                return -EINVAL;
        err = ed_suspend_enter(&task);
        for (size_t i = 0; i < n; i++)
                calls[i].result = err < 0 ? err : -ECANCELED;
        if (err < 0)
                return err;
        eddy_scope_begin(&race.scope, &keep_going);
        scope->flags |= ED_SCOPE_RESULTS;
        err = start_next(&race);
        while (err == 0 && race.started < n) {
                if (stagger_ns != 0)
                        err = wait_until_due(&race, stagger_ns);
                if (err == 0)
                        err = start_next(&race);
        }
        (void) eddy_scope_end(&race.scope);
        if (race.winner)
                return (int) (race.winner - calls);
        return scope->node.flags & ED_NODE_OUTSIDE ? -ECANCELED : race.error;
}
