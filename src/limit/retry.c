/*
 * limit/retry.c - whether another attempt follows, and when.
 */
#include "eddy/retry.h"

#include <errno.h>

#include "eddy/error.h"
#include "eddy/time.h"
#include "limit/retry_budget.h"
#include "scope/scope.h"
#include "scope/suspend.h"

enum { ATTEMPTS_DEFAULT = 3 };

#define BASE_DEFAULT_NS     EDDY_MS(500)
#define CAP_DEFAULT_NS      EDDY_MIN(1)
#define WAIT_MAX_DEFAULT_NS EDDY_MIN(2)

static const struct eddy_retry_policy defaults;

void eddy_retry_begin(struct eddy_retry *retry, const struct eddy_retry_policy *policy)
{
        *retry = (struct eddy_retry){ .policy = policy ? policy : &defaults };
        ed_retry_budget_add(retry->policy->budget);
}

/* Returns the earliest deadline that a wait of this task may meet, or INT64_MAX. */
static int64_t nearest_deadline(struct ed_task *task)
{
        int64_t nearest_ns = INT64_MAX;

        for (struct ed_node *node = task->inner; node; node = node->parent) {
                int64_t deadline_ns =
                        ed_node_is_task(node) ? 0 : ed_scope_of_node(node)->deadline_ns;

                if (deadline_ns > 0 && deadline_ns < nearest_ns)
                        nearest_ns = deadline_ns;
                if (node->flags & ED_NODE_SHIELD)
                        break;
        }
        return nearest_ns;
}

/* Returns the bound of the wait after 'failures' failed attempts. */
static int64_t bound_ns(const struct eddy_retry_policy *policy, uint32_t failures)
{
        int64_t ns = policy->base_ns ? policy->base_ns : BASE_DEFAULT_NS;
        int64_t cap_ns = policy->cap_ns;

        if (ns < 0)
                return 0;
        if (cap_ns == 0)
                cap_ns = ns > CAP_DEFAULT_NS ? ns : CAP_DEFAULT_NS;
        for (uint32_t i = 1; i < failures && ns < cap_ns; i++)
                ns = ns > cap_ns / 2 ? cap_ns : ns * 2;
        return ns < cap_ns ? ns : cap_ns;
}

/* Returns a random time from 0 to below 'bound_ns'. */
static int64_t random_below_ns(struct ed_loop *loop, int64_t bound_ns)
{
        uint64_t word;

        if (bound_ns <= 0)
                return 0;
        loop->sys->poll->random(loop->sys, &word, sizeof(word));
        return (int64_t) ((double) bound_ns * (double) (word >> 11) * 0x1p-53);
}

static bool is_passing(const struct eddy_retry_cause *cause)
{
        /* A wish is about a failure. */
        if (cause->error >= 0 && cause->status < 400)
                return false;
        if (cause->hint.should != 0)
                return cause->hint.should > 0;
        if (cause->error < 0)
                return cause->repeatable && eddy_retry_error_is_passing(cause->error);
        if (!eddy_retry_status_is_passing(cause->status))
                return false;
        return cause->repeatable || cause->status < 500 || cause->status == 503;
}

static int decide(struct eddy_retry *retry, struct ed_task *task,
                  const struct eddy_retry_hint *hint, int64_t *ret_wait_ns)
{
        const struct eddy_retry_policy *policy = retry->policy;
        uint32_t attempts = policy->attempts ? policy->attempts : ATTEMPTS_DEFAULT;
        int64_t wait_max_ns = policy->wait_max_ns ? policy->wait_max_ns : WAIT_MAX_DEFAULT_NS;
        int64_t now_ns = ed_loop_now(task->loop);
        int64_t wait_ns;

        if (retry->attempts >= attempts)
                return EDDY_E_RETRY_ATTEMPTS;
        if (hint->has_wait && hint->wait_ns > wait_max_ns)
                return EDDY_E_RETRY_WAIT;
        wait_ns = random_below_ns(task->loop, bound_ns(policy, retry->attempts));
        if (hint->has_wait && hint->wait_ns > wait_ns)
                wait_ns = hint->wait_ns;
        if (wait_ns >= nearest_deadline(task) - now_ns)
                return EDDY_E_RETRY_DEADLINE;
        if (!ed_retry_budget_take(policy->budget, now_ns))
                return EDDY_E_RETRY_BUDGET;
        *ret_wait_ns = wait_ns;
        return 0;
}

/* As eddy_retry_next(); 'passing' is the verdict on the cause. */
static int next(struct eddy_retry *retry, bool passing, const struct eddy_retry_hint *hint,
                int64_t *ret_wait_ns)
{
        struct ed_task *task = ed_task_running();

        if (!task)
                return EDDY_E_RUN_NOT_RUNNING;
        retry->attempts++;
        return passing ? decide(retry, task, hint, ret_wait_ns) : EDDY_E_RETRY_FINAL;
}

int eddy_retry_next(struct eddy_retry *retry, const struct eddy_retry_cause *cause,
                    int64_t *ret_wait_ns)
{
        return next(retry, is_passing(cause), &cause->hint, ret_wait_ns);
}

int eddy_retry_wait(struct eddy_retry *retry, const struct eddy_retry_cause *cause)
{
        struct ed_task *task;
        int64_t wait_ns;
        int err;

        err = ed_suspend_enter(&task);
        if (err >= 0)
                err = eddy_retry_next(retry, cause, &wait_ns);
        if (err < 0)
                return err;
        return eddy_sleep(wait_ns);
}

static bool call_is_passing(const struct eddy_retry_policy *policy, int error)
{
        return policy->is_passing ? policy->is_passing(error, policy->arg)
                                  : eddy_retry_error_is_passing(error);
}

int eddy_retry_call(const struct eddy_retry_policy *policy, eddy_task_fn *fn, void *arg)
{
        static const struct eddy_retry_hint no_hint;
        struct eddy_retry retry;
        int64_t wait_ns;
        int result, err;

        eddy_retry_begin(&retry, policy);
        policy = retry.policy;
        for (;;) {
                result = fn(arg);
                if (result >= 0)
                        return result;
                err = next(&retry, call_is_passing(policy, result), &no_hint, &wait_ns);
                if (err < 0)
                        return result;
                if (policy->before_wait)
                        policy->before_wait(result, retry.attempts, wait_ns, policy->arg);
                err = eddy_sleep(wait_ns);
                if (err < 0)
                        return err;
        }
}
