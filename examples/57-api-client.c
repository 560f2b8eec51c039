/*
 * 57-api-client - requests with retries, Retry-After, a rate limit, and a line for each attempt.
 *
 * These are all options of the client: a policy of retries, a limiter and a hook.  Each
 * attempt reserves its place in the limiter first, so retries count too.  If the server
 * asks for a wait, the limiter pauses for all requests, and the next attempt comes after
 * this wait, unless the wait is longer than the policy allows: a server may ask for an
 * hour.  The hook prints each attempt, also those that the client repeats by itself on a
 * new connection.  An attempt fails if the server is silent for two seconds.
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
 */
#include <errno.h>
#include <stdio.h>

#include "eddy/eddy.h"

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

static int fetch(void *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        int status = 0, err = eddy_http_client_send(client, &request, &response);

        if (err == 0) {
                learn_limits(response);
                status = eddy_http_response_status(response);
                err = eddy_http_response_discard(response);
        }
        if (err == 0 && status >= 400)
                err = EDDY_E_HTTP_STATUS;
        if (err == 0 || err == -ECANCELED || failure[0])
                return err;
        if (err != EDDY_E_HTTP_STATUS)
                snprintf(failure, sizeof(failure), "%s: %s", (char *) url, eddy_error_text(err));
        else
                snprintf(failure, sizeof(failure), "%s: status %d", (char *) url, status);
        return err;
}

static int fetch_all(void *arg)
{
        struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, 600, EDDY_MIN(1) };
        struct eddy_limiter_opts limits = { .limits = &limit, .limits_count = 1 };
        struct eddy_retry_policy policy = { .attempts = 3 };
        struct eddy_http_hooks hooks = { .after = print_attempt };
        struct eddy_http_client_opts opts = { .retry = &policy,
                                              .hooks = &hooks,
                                              .timeouts.read_ns = EDDY_SEC(2) };
        char **urls = arg;
        int err = eddy_limiter_new(&limits, &limiter);

        opts.limiter = limiter;
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
