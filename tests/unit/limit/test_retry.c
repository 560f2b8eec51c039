/*
 * test_retry.c - which failures are repeated, when, and what ends the attempts.
 */
#include <pthread.h>

#include "passed.h"

enum { DRAWS = 2000 };

/* A policy without waits. */
static const struct eddy_retry_policy at_once = { .base_ns = -1 };

static int next_of(const struct eddy_retry_policy *policy, struct eddy_retry_cause cause,
                   int64_t *ret_wait_ns)
{
        struct eddy_retry retry;

        *ret_wait_ns = -7;
        eddy_retry_begin(&retry, policy);
        return eddy_retry_next(&retry, &cause, ret_wait_ns);
}

/* --- the waits --- */

/* The largest and the mean of many waits after 'failures' failures. */
static int64_t largest(const struct eddy_retry_policy *policy, uint32_t failures, double *ret_mean)
{
        struct eddy_retry_cause cause = { .status = 503 };
        int64_t most_ns = 0, wait_ns;
        double sum = 0;

        for (int i = 0; i < DRAWS; i++) {
                struct eddy_retry retry;

                eddy_retry_begin(&retry, policy);
                for (uint32_t n = 0; n < failures; n++)
                        CHECK_EQ(eddy_retry_next(&retry, &cause, &wait_ns), 0);
                CHECK(wait_ns >= 0);
                sum += (double) wait_ns;
                if (wait_ns > most_ns)
                        most_ns = wait_ns;
        }
        *ret_mean = sum / DRAWS;
        return most_ns;
}

/* B50, B51, B53: Full jitter. */
SIM_TEST(waits_are_random_below_a_bound_that_doubles_up_to_the_cap)
{
        struct eddy_retry_policy policy = { .attempts = 100,
                                            .base_ns = EDDY_MS(100),
                                            .cap_ns = EDDY_SEC(3) };
        int64_t bound_ns = EDDY_MS(100);
        double mean;

        for (uint32_t failures = 1; failures <= 8; failures++) {
                int64_t most_ns = largest(&policy, failures, &mean);

                CHECK(most_ns < bound_ns);
                CHECK(most_ns > bound_ns - bound_ns / 50);
                CHECK(mean > 0.47 * (double) bound_ns && mean < 0.53 * (double) bound_ns);
                bound_ns = bound_ns * 2 > EDDY_SEC(3) ? EDDY_SEC(3) : bound_ns * 2;
        }
}

/* B52, B53: The default waits. */
SIM_TEST(the_default_waits_begin_below_half_a_second_and_end_below_a_minute)
{
        struct eddy_retry_policy policy = { .attempts = 1000 };
        double mean;

        CHECK(largest(&policy, 1, &mean) < EDDY_MS(500));
        CHECK(largest(&policy, 1, &mean) > EDDY_MS(490));
        CHECK(largest(&policy, 20, &mean) < EDDY_MIN(1));
        CHECK(largest(&policy, 20, &mean) > EDDY_SEC(58));
        policy.base_ns = EDDY_MIN(5);
        CHECK(largest(&policy, 3, &mean) > EDDY_MIN(4));
        CHECK(largest(&policy, 3, &mean) < EDDY_MIN(5));
        policy.base_ns = INT64_MAX;
        CHECK(largest(&policy, 3, &mean) > INT64_MAX / 2);
        policy.base_ns = -1;
        CHECK_EQ(largest(&policy, 3, &mean), 0);
}

static int draws(void *arg)
{
        return eddy_retry_wait(arg, &(struct eddy_retry_cause){ .status = 503 });
}

static int64_t first_wait(uint64_t seed)
{
        struct eddy_retry retry;
        struct eddy_test_opts opts = { .seed = seed };
        struct eddy_test_result result;

        eddy_retry_begin(&retry, NULL);
        CHECK_EQ(eddy_test_run(draws, &retry, &opts, &result), 0);
        return result.lasted_ns;
}

TEST(waits_follow_from_the_seed_of_a_simulated_run)
{
        CHECK_EQ(first_wait(1), first_wait(1));
        CHECK(first_wait(1) != first_wait(2));
}

/* --- what is repeated --- */

/* B50, B51: 409, 413, 501 and 505 are final. */
TEST(statuses_that_pass_are_408_425_429_and_5xx_but_for_501_and_505)
{
        static const int passing[] = { 408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 599 };

        for (int status = -1; status <= 1000; status++) {
                bool expected = false;

                for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
                        expected |= passing[i] == status;
                expected |= status > 505 && status < 600;
                CHECK_EQ(eddy_retry_status_is_passing(status), expected);
        }
}

TEST(errors_of_this_program_and_of_the_request_do_not_pass)
{
        static const int passing[] = { -ECONNREFUSED,
                                       -ECONNRESET,
                                       -EPIPE,
                                       -ETIMEDOUT,
                                       -EHOSTUNREACH,
                                       -EMFILE,
                                       -ENOENT,
                                       -ENOBUFS,
                                       EDDY_E_NET_TIMED_OUT,
                                       EDDY_E_DNS_FAILED,
                                       EDDY_E_TLS_TRUNCATED,
                                       EDDY_E_HTTP_CLOSED,
                                       EDDY_E_HTTP_TIMEOUT_READ,
                                       EDDY_E_BREAKER_OPEN };
        static const int final[] = { 0,
                                     7,
                                     -ECANCELED,
                                     -ENOMEM,
                                     -EINVAL,
                                     -EACCES,
                                     -EPERM,
                                     -EISDIR,
                                     -EDQUOT,
                                     -EAFNOSUPPORT,
                                     EDDY_E_DNS_NOT_FOUND,
                                     EDDY_E_TLS_EXPIRED,
                                     EDDY_E_HTTP_INVALID_RESPONSE,
                                     EDDY_E_HTTP_CLIENT_CLOSED,
                                     EDDY_E_LIMITER_AMOUNT,
                                     EDDY_E_RETRY_DEADLINE,
                                     -0x70000,
                                     INT32_MIN };

        for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
                CHECK(eddy_retry_error_is_passing(passing[i]));
        for (size_t i = 0; i < sizeof(final) / sizeof(final[0]); i++)
                CHECK(!eddy_retry_error_is_passing(final[i]));
}

/* B55: By status and error. */
SIM_TEST(a_request_that_may_have_been_done_is_repeated_only_if_that_does_no_harm)
{
        static const int refusals[] = { 408, 425, 429, 503 }, others[] = { 500, 502, 504 };
        int64_t wait_ns;

        for (size_t i = 0; i < 4; i++)
                CHECK_EQ(next_of(&at_once, (struct eddy_retry_cause){ .status = refusals[i] },
                                 &wait_ns),
                         0);
        for (size_t i = 0; i < 3; i++) {
                struct eddy_retry_cause cause = { .status = others[i] };

                CHECK_EQ(next_of(&at_once, cause, &wait_ns), EDDY_E_RETRY_FINAL);
                CHECK_EQ(wait_ns, -7);
                cause.repeatable = true;
                CHECK_EQ(next_of(&at_once, cause, &wait_ns), 0);
        }
        CHECK_EQ(next_of(&at_once, (struct eddy_retry_cause){ .error = -ECONNRESET }, &wait_ns),
                 EDDY_E_RETRY_FINAL);
        CHECK_EQ(next_of(&at_once,
                         (struct eddy_retry_cause){ .error = -ECONNRESET, .repeatable = true },
                         &wait_ns),
                 0);
        CHECK_EQ(next_of(&at_once,
                         (struct eddy_retry_cause){ .error = -ECANCELED, .repeatable = true },
                         &wait_ns),
                 EDDY_E_RETRY_FINAL);
        CHECK_EQ(next_of(&at_once, (struct eddy_retry_cause){ .status = 404, .repeatable = true },
                         &wait_ns),
                 EDDY_E_RETRY_FINAL);
}

/* B51: x-should-retry takes precedence. */
SIM_TEST(the_server_s_wish_decides)
{
        struct eddy_retry_cause against = { .status = 503,
                                            .repeatable = true,
                                            .hint = { .should = -1 } };
        struct eddy_retry_cause in_favour = { .status = 409, .hint = { .should = 1 } };
        int64_t wait_ns;

        CHECK_EQ(next_of(&at_once, against, &wait_ns), EDDY_E_RETRY_FINAL);
        CHECK_EQ(next_of(&at_once, in_favour, &wait_ns), 0);
        in_favour.status = 200; /* a success is not repeated */
        CHECK_EQ(next_of(&at_once, in_favour, &wait_ns), EDDY_E_RETRY_FINAL);
}

/* --- what ends the attempts --- */

/* B50, B51: The default number of attempts. */
SIM_TEST(there_are_three_attempts_by_default)
{
        struct eddy_retry_cause cause = { .status = 503 };
        struct eddy_retry retry;
        int64_t wait_ns;

        eddy_retry_begin(&retry, NULL);
        CHECK_EQ(eddy_retry_next(&retry, &cause, &wait_ns), 0);
        CHECK_EQ(eddy_retry_next(&retry, &cause, &wait_ns), 0);
        CHECK_EQ(eddy_retry_next(&retry, &cause, &wait_ns), EDDY_E_RETRY_ATTEMPTS);
        CHECK_EQ(retry.attempts, 3);
}

/* B50, B51: Two minutes unless the policy has another maximum. */
SIM_TEST(a_server_s_wait_is_kept_up_to_its_maximum)
{
        struct eddy_retry_cause cause = { .status = 429, .hint = { .has_wait = true } };
        struct eddy_retry_policy policy = { .base_ns = -1 };
        int64_t wait_ns;

        cause.hint.wait_ns = EDDY_MIN(2);
        CHECK_EQ(next_of(&policy, cause, &wait_ns), 0);
        CHECK_EQ(wait_ns, EDDY_MIN(2));
        cause.hint.wait_ns = EDDY_MIN(2) + 1;
        CHECK_EQ(next_of(&policy, cause, &wait_ns), EDDY_E_RETRY_WAIT);
        policy.wait_max_ns = EDDY_MIN(60);
        CHECK_EQ(next_of(&policy, cause, &wait_ns), 0);
        /* A short wish does not shorten the random wait. */
        cause.hint.wait_ns = 0;
        policy.base_ns = EDDY_SEC(1);
        CHECK_EQ(next_of(&policy, cause, &wait_ns), 0);
        CHECK(wait_ns > 0);
}

/* B53: A wait beyond the deadline is not begun. */
SIM_TEST(no_wait_reaches_beyond_a_deadline)
{
        struct eddy_retry_cause cause = { .status = 429,
                                          .hint = { .has_wait = true, .wait_ns = EDDY_SEC(3) } };
        eddy_scope outer, inner, shield;
        int64_t wait_ns;

        eddy_scope_begin(&outer, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(3) });
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MIN(1) });
        CHECK_EQ(next_of(&at_once, cause, &wait_ns), EDDY_E_RETRY_DEADLINE);
        cause.hint.wait_ns--;
        CHECK_EQ(next_of(&at_once, cause, &wait_ns), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(next_of(&at_once, cause, &wait_ns), EDDY_E_RETRY_DEADLINE);
        /* Deadlines outside of a shield do not reach into it. */
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(next_of(&at_once, cause, &wait_ns), 0);
        cause.hint.wait_ns = EDDY_SCOPE_SHIELD_NS;
        CHECK_EQ(next_of(&at_once, cause, &wait_ns), EDDY_E_RETRY_DEADLINE);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK_EQ(eddy_scope_end(&inner), 0);
        CHECK_EQ(eddy_scope_end(&outer), 0);
        CHECK_NS(passed_ns(), EDDY_SEC(1));
}

static int waits_in_a_task(void *arg)
{
        struct eddy_retry_cause cause = { .status = 503, .hint = { true, EDDY_SEC(10), 0 } };
        struct eddy_retry retry;

        (void) arg;
        eddy_retry_begin(&retry, NULL);
        CHECK_EQ(eddy_retry_wait(&retry, &cause), EDDY_E_RETRY_DEADLINE);
        return 0;
}

SIM_TEST(deadlines_of_the_scopes_around_a_task_count_too)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(9) });
        eddy_scope_start(&scope, waits_in_a_task, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_NS(passed_ns(), 0);
}

TEST(a_retry_needs_a_run)
{
        struct eddy_retry_cause cause = { .status = 503 };
        struct eddy_retry retry;
        int64_t wait_ns = 7;

        eddy_retry_begin(&retry, NULL);
        CHECK_EQ(eddy_retry_next(&retry, &cause, &wait_ns), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_retry_wait(&retry, &cause), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(wait_ns, 7);
}

/* --- the budget --- */

/* How many retries the budget allows now. */
static int allowed(eddy_retry_budget *budget)
{
        struct eddy_retry_policy policy = { .attempts = 100000, .base_ns = -1, .budget = budget };
        struct eddy_retry_cause cause = { .status = 503 };
        struct eddy_retry retry = { .policy = &policy };
        int64_t wait_ns;
        int n = 0, err;

        while ((err = eddy_retry_next(&retry, &cause, &wait_ns)) == 0)
                n++;
        CHECK_EQ(err, EDDY_E_RETRY_BUDGET);
        return n;
}

/* B53: A budget of retries. */
SIM_TEST(a_budget_allows_a_number_a_second_and_a_part_of_the_work)
{
        struct eddy_retry_policy policy = { 0 };
        eddy_retry_budget budget = { 0 };
        struct eddy_retry retry;

        policy.budget = &budget;
        CHECK_EQ(allowed(&budget), 100);
        CHECK_EQ(allowed(&budget), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), 0);
        CHECK_EQ(allowed(&budget), 20);
        for (int i = 0; i < 100; i++)
                eddy_retry_begin(&retry, &policy);
        CHECK_EQ(allowed(&budget), 20);
        /* Only those of ten seconds are kept. */
        CHECK_EQ(eddy_sleep(EDDY_MIN(10)), 0);
        for (int i = 0; i < 10000; i++)
                eddy_retry_begin(&retry, &policy);
        CHECK_EQ(allowed(&budget), 100);
}

SIM_TEST(a_budget_stays_full_however_much_work_begins)
{
        eddy_retry_budget budget = EDDY_RETRY_BUDGET(1, UINT32_MAX);
        struct eddy_retry_policy policy = { .budget = &budget };
        struct eddy_retry retry;

        for (int i = 0; i < 300; i++)
                eddy_retry_begin(&retry, &policy);
        CHECK_EQ(allowed(&budget), 10);
}

SIM_TEST(the_numbers_of_a_budget_can_be_chosen)
{
        eddy_retry_budget budget = EDDY_RETRY_BUDGET(2, 50);
        struct eddy_retry_policy policy = { .budget = &budget };
        struct eddy_retry retry;

        CHECK_EQ(allowed(&budget), 20);
        for (int i = 0; i < 10; i++)
                eddy_retry_begin(&retry, &policy);
        CHECK_EQ(allowed(&budget), 5);
}

static int takes_all(void *budget)
{
        return allowed(budget);
}

static void *takes_on_thread(void *budget)
{
        return (void *) (intptr_t) sim_run_beside(takes_all, budget);
}

TEST(loops_of_several_threads_share_a_budget)
{
        eddy_retry_budget budget = EDDY_RETRY_BUDGET(1000, 0);
        pthread_t threads[4];
        intptr_t sum = 0;

        for (int i = 0; i < 4; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, takes_on_thread, &budget), 0);
        for (int i = 0; i < 4; i++) {
                void *taken;

                CHECK_EQ(pthread_join(threads[i], &taken), 0);
                sum += (intptr_t) taken;
        }
        /* The clocks of all four stand at the same time. */
        CHECK_EQ(sum, 10000);
}

/* --- headers --- */

static const int64_t now_s = 1000000000;

static struct eddy_retry_hint hint_of(struct eddy_retry_headers headers)
{
        struct eddy_retry_hint hint;

        eddy_retry_hint_read(&headers, now_s, &hint);
        return hint;
}

/* B50, B51: retry-after-ms, then seconds, then a date. */
TEST(the_forms_of_a_server_s_wait)
{
        static const char date[] = "Sun, 06 Nov 1994 08:49:37 GMT";
        static const struct {
                struct eddy_retry_headers headers;
                int64_t wait_ns; /* below 0: none */
        } cases[] = {
                { { NULL, NULL, NULL, NULL }, -1 },
                { { "0", NULL, NULL, NULL }, 0 },
                { { "120", NULL, NULL, NULL }, EDDY_SEC(120) },
                { { "1.5", NULL, NULL, NULL }, EDDY_MS(1500) },
                { { "99999999999999999999", NULL, NULL, NULL }, INT64_MAX },
                { { "Sun, 06 Nov 1994 08:50:07 GMT", NULL, NULL, date }, EDDY_SEC(30) },
                { { "Sunday, 06-Nov-94 08:50:07 GMT", NULL, NULL, date }, EDDY_SEC(30) },
                { { "Sun Nov  6 08:50:07 1994", NULL, NULL, date }, EDDY_SEC(30) },
                { { date, NULL, NULL, date }, 0 },
                { { "Sun, 06 Nov 1994 08:49:00 GMT", NULL, NULL, date }, 0 },
                { { "Sun, 09 Sep 2001 01:47:10 GMT", NULL, NULL, NULL }, EDDY_SEC(30) },
                { { "Sun, 09 Sep 2001 01:47:10 GMT", NULL, NULL, "nonsense" }, EDDY_SEC(30) },
                { { "1000000030", NULL, NULL, NULL }, EDDY_SEC(30) },
                { { "1000000030500", NULL, NULL, NULL }, EDDY_MS(30500) },
                { { "1000000030", NULL, NULL, "Sun, 09 Sep 2001 01:46:50 GMT" }, EDDY_SEC(20) },
                { { "1000000001", NULL, NULL, "Sun, 09 Sep 2001 01:47:10 GMT" }, 0 },
                { { NULL, "1000000030500", NULL, NULL }, EDDY_MS(30500) },
                { { NULL, "2000000000", NULL, NULL }, EDDY_SEC(2000000) },
                { { NULL, "0000000001500", NULL, NULL }, EDDY_MS(1500) },
                { { NULL, "1500", NULL, NULL }, EDDY_MS(1500) },
                { { NULL, "0.5", NULL, NULL }, EDDY_US(500) },
                { { "9", "1500", NULL, NULL }, EDDY_MS(1500) },
                { { "9", "soon", NULL, NULL }, EDDY_SEC(9) },
                { { "9", "-5", NULL, NULL }, EDDY_SEC(9) },
                { { "9", "", NULL, NULL }, EDDY_SEC(9) },
                { { "9", "Sun, 06 Nov 1994 08:50:07 GMT", NULL, date }, EDDY_SEC(9) },
                { { "-1", NULL, NULL, NULL }, -1 },
                { { "soon", NULL, NULL, NULL }, -1 },
                { { "inf", NULL, NULL, NULL }, -1 },
                { { "nan", NULL, NULL, NULL }, -1 },
                { { "1e3", NULL, NULL, NULL }, -1 },
                { { "", NULL, NULL, NULL }, -1 },
                { { "1 s", NULL, NULL, NULL }, -1 },
                { { "0x10", NULL, NULL, NULL }, -1 },
                { { "Sun, 06 Nov 1994", NULL, NULL, NULL }, -1 },
                { { "1,5", NULL, NULL, NULL }, -1 },
                { { "1.2.3", NULL, NULL, NULL }, -1 },
                { { "1..2", NULL, NULL, NULL }, -1 },
                { { ".", NULL, NULL, NULL }, -1 },
                { { "...", NULL, NULL, NULL }, -1 },
                { { "5.5.", NULL, NULL, NULL }, -1 },
                { { "99999999999999999999.0.0", NULL, NULL, NULL }, -1 },
                { { "1.", NULL, NULL, NULL }, -1 },
                { { ".5", NULL, NULL, NULL }, -1 },
                { { "1 2", NULL, NULL, NULL }, -1 },
                { { "12:30", NULL, NULL, NULL }, -1 },
                { { "Sun, 06 Nov 1994 08:49:37", NULL, NULL, NULL }, -1 },
                { { "\xff", NULL, NULL, NULL }, -1 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct eddy_retry_hint hint = hint_of(cases[i].headers);

                CHECK_EQ(hint.has_wait, cases[i].wait_ns >= 0);
                CHECK_EQ(hint.wait_ns, cases[i].wait_ns < 0 ? 0 : cases[i].wait_ns);
                CHECK_EQ(hint.should, 0);
        }
}

/* B51: The header of the server's wish. */
TEST(x_should_retry_is_true_or_false)
{
        CHECK_EQ(hint_of((struct eddy_retry_headers){ .should_retry = "true" }).should, 1);
        CHECK_EQ(hint_of((struct eddy_retry_headers){ .should_retry = "false" }).should, -1);
        CHECK_EQ(hint_of((struct eddy_retry_headers){ .should_retry = "maybe" }).should, 0);
        CHECK_EQ(hint_of((struct eddy_retry_headers){ .should_retry = "" }).should, 0);
}

/* --- calls --- */

struct script {
        int results[5];
        int made;
        int waits;
        uint32_t last_attempts;
};

static int plays(void *arg)
{
        struct script *script = arg;

        return script->results[script->made++];
}

static void notes_wait(int error, uint32_t attempts, int64_t wait_ns, void *arg)
{
        struct script *script = arg;

        CHECK(error < 0 && wait_ns >= 0);
        script->waits++;
        script->last_attempts = attempts;
}

SIM_TEST(a_call_is_repeated_until_it_succeeds)
{
        struct script script = { .results = { -ECONNRESET, -EPIPE, 7 } };
        struct eddy_retry_policy policy = { .before_wait = notes_wait, .arg = &script };

        CHECK_EQ(eddy_retry_call(&policy, plays, &script), 7);
        CHECK_EQ(script.made, 3);
        CHECK_EQ(script.waits, 2);
        CHECK_EQ(script.last_attempts, 2);
        CHECK(passed_ns() > 0);
        script.made = 0;
        CHECK_EQ(eddy_retry_call(NULL, plays, &script), 7);
}

SIM_TEST(a_call_returns_its_last_error)
{
        struct script passing = { .results = { -ECONNRESET, -EPIPE, -ECONNREFUSED, 0 } };
        struct script final = { .results = { -EPIPE, -EINVAL, 0 } };

        CHECK_EQ(eddy_retry_call(&at_once, plays, &passing), -ECONNREFUSED);
        CHECK_EQ(passing.made, 3);
        CHECK_EQ(eddy_retry_call(&at_once, plays, &final), -EINVAL);
        CHECK_EQ(final.made, 2);
}

static bool only_einval(int error, void *arg)
{
        (void) arg;
        return error == -EINVAL;
}

SIM_TEST(the_caller_decides_which_errors_pass)
{
        struct eddy_retry_policy policy = { .base_ns = -1, .is_passing = only_einval };
        struct script script = { .results = { -EINVAL, -EPIPE, 0 } };

        CHECK_EQ(eddy_retry_call(&policy, plays, &script), -EPIPE);
        CHECK_EQ(script.made, 2);
}

static int calls(void *arg)
{
        struct eddy_retry_policy policy = { .base_ns = EDDY_MIN(10) };

        return eddy_retry_call(&policy, plays, arg);
}

/* B54: A cancel during a wait. */
SIM_TEST(a_cancel_ends_a_wait_at_once_and_no_attempt_follows)
{
        struct script script = { .results = { -EPIPE, 0 } };
        eddy_scope scope;
        int64_t start_ns;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, calls, &script);
        CHECK_EQ(eddy_sleep(EDDY_US(1)), 0);
        eddy_scope_cancel(&scope);
        start_ns = eddy_now();
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_NS(eddy_now() - start_ns, 0);
        CHECK_EQ(script.made, 1);
}

SIM_TEST(a_call_does_not_wait_beyond_a_deadline)
{
        struct eddy_retry_policy policy = { .base_ns = EDDY_MIN(1000) };
        struct script script = { .results = { -EPIPE, -EPIPE, -EPIPE, 0 } };
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(1) });
        CHECK_EQ(eddy_retry_call(&policy, plays, &script), -EPIPE);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(script.made, 1);
        CHECK_NS(passed_ns(), 0);
}
