/*
 * 57-api-client - requests with retries, Retry-After, a rate limit, and a line for each attempt.
 *
 * Each attempt reserves its place in the limiter first, so retries count too.  If the
 * server asks for a wait, the limiter pauses for all requests, but only after the policy
 * has accepted the wait: a server may ask for an hour.  The hook prints each attempt,
 * also those that the client repeats by itself on a new connection.  An attempt may take
 * two seconds, its body included.
 *
 * Run: 57-api-client "$MOCK/flaky/1?token=57.$$&retry_after=1"
 * Time: wall 1 s
 * Output:
 *     attempt 1: 503
 *     attempt 2: 200
 * Run: 57-api-client $MOCK/status/404
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     attempt 1: 404
 * Run: 57-api-client 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     57-api-client: the URLs are missing (usage: 57-api-client URL...)
 * Run: 57-api-client $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     attempt 1: 404
 *     57-api-client: $MOCK/status/404: status 404: another attempt would fail too, or would do harm
 * Run: 57-api-client "$MOCK/status/503?retry_after=3600" 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     attempt 1: 503
 *     57-api-client: $MOCK/status/503?retry_after=3600: status 503: the server asks for a longer wait than is allowed
 * Run: 57-api-client $MOCK/slow-body/10 2>&1
 * Exit: 1
 * Time: wall 6 s
 * Output:
 *     attempt 1: the request was not complete within its time
 *     attempt 2: the request was not complete within its time
 *     attempt 3: the request was not complete within its time
 *     57-api-client: $MOCK/slow-body/10: the request was not complete within its time: all attempts were made
 * Run: 57-api-client http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     attempt 1: Connection refused
 *     attempt 2: Connection refused
 *     attempt 3: Connection refused
 *     57-api-client: http://127.0.0.1:1/: Connection refused: all attempts were made
 * Run: timeout --foreground --preserve-status -s INT 1 57-api-client $MOCK/delay/9 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     attempt 1: the scope was cancelled
 *     57-api-client: stopped by Ctrl-C
 */
#include <errno.h>
#include <stdio.h>

#include "eddy/eddy.h"

static const struct eddy_retry_policy policy = { .attempts = 3 };
static eddy_http_client *client;
static eddy_limiter *limiter;
static char failure[500]; /* the first one, for main() */

static void print_attempt(const struct eddy_http_attempt *attempt, void *arg)
{
        (void) arg;
        printf("attempt %d: ", (int) attempt->id);
        if (attempt->error < 0)
                printf("%s\n", eddy_error_text(attempt->error));
        else
                printf("%d\n", attempt->status);
}

/* Many servers report how many requests are left: x-ratelimit-remaining and similar headers. */
static void learn_limits(const eddy_http_response *response)
{
        struct eddy_ratelimits seen = EDDY_RATELIMITS;
        struct eddy_http_header header;
        int64_t now_s = eddy_time_of_day() / EDDY_SEC(1);

        for (size_t i = 0; eddy_http_response_header_at(response, i, &header) == 0; i++)
                eddy_ratelimits_read(&seen, header.name, header.value, now_s);
        eddy_limiter_learn(limiter, EDDY_LIMITER_REQUESTS, &seen.requests);
}

/* The response is closed on return, before the wait for the next attempt. */
static int attempt(const char *url, struct eddy_retry_cause *ret_cause)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        int err = eddy_limiter_reserve(limiter, 1, 0, NULL);

        if (err == 0)
                err = eddy_http_client_send(client, &request, &response);
        if (err == 0)
                err = eddy_http_response_discard(response);
        if (err < 0)
                return err;
        ret_cause->status = eddy_http_response_status(response);
        eddy_http_response_retry_hint(response, &ret_cause->hint);
        learn_limits(response);
        return 0;
}

/* 'cause' is the last failure, and 'err' why there is not another attempt. */
static int fail(const char *url, const struct eddy_retry_cause *cause, int err)
{
        char status[20];

        snprintf(status, sizeof(status), "status %d", cause->status);
        if (cause->error != -ECANCELED && !failure[0])
                snprintf(failure, sizeof(failure), "%s: %s: %s", url,
                         cause->error < 0 ? eddy_error_text(cause->error) : status,
                         eddy_error_text(err));
        return cause->error < 0 ? cause->error : -EIO;
}

static int fetch(void *url)
{
        struct eddy_retry retry;

        eddy_retry_begin(&retry, &policy);
        for (;;) {
                struct eddy_retry_cause cause = { .repeatable = true }; /* GET */
                int64_t wait_ns;
                int err;

                cause.error = attempt(url, &cause);
                if (cause.error == 0 && cause.status < 400)
                        return 0;
                err = eddy_retry_next(&retry, &cause, &wait_ns);
                if (err < 0)
                        return fail(url, &cause, err);
                if (cause.hint.has_wait)
                        eddy_limiter_pause(limiter, eddy_now() + cause.hint.wait_ns);
                err = eddy_sleep(wait_ns);
                if (err < 0)
                        return err;
        }
}

static int fetch_all(void *arg)
{
        struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, 600, EDDY_MIN(1) };
        struct eddy_limiter_opts limits = { .limits = &limit, .limits_count = 1 };
        struct eddy_http_hooks hooks = { .after = print_attempt };
        struct eddy_http_client_opts opts = { .hooks = &hooks, .timeouts.total_ns = EDDY_SEC(2) };
        char **urls = arg;
        int err = eddy_limiter_new(&limits, &limiter);

        if (err == 0)
                err = eddy_http_client_new(&opts, &client);
        if (err == 0)
                EDDY_SCOPE (scope, &err)
                        while (*urls)
                                eddy_scope_start(&scope, fetch, *urls++);
        eddy_http_client_close(client);
        eddy_limiter_close(limiter);
        return err;
}

int main(int argc, char **argv)
{
        int err = argc > 1 ? eddy_run(fetch_all, argv + 1, NULL) : -EINVAL;
        const char *reason = argc == 1    ? "the URLs are missing (usage: 57-api-client URL...)"
                             : failure[0] ? failure
                             : err == -ECANCELED ? "stopped by Ctrl-C"
                                                 : eddy_error_text(err);

        fflush(stdout);
        if (err < 0)
                fprintf(stderr, "57-api-client: %s\n", reason);
        return err == -ECANCELED ? 130 : err < 0;
}
