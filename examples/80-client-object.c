/*
 * 80-client-object - an API client as an object: its address, its limits, its connections.
 *
 * The object is the HTTP client itself: its options are the API's address, at most 100
 * connections, 5 s to open one, and 10 s for a request in total.  A single call sends a
 * request, takes a status of 400 or above as a failure, and reads the JSON into a struct.
 * EDDY_AUTO closes the object on every way out, even after a failure or Ctrl-C.
 *
 * `80-client-object BASE` gets BASE/users/42, and with a count it does so as often, 50 at a time.
 * If BASE is https, the client offers HTTP/2 (ALPN): then all share the connection of the first.
 *
 * Run: SSL_CERT_FILE=$TLS_CERT 80-client-object $TLS_MOCK/v1/models users/42 1000
 * Time: wall 0 s
 * Output:
 *     users/42 belongs to eddy
 *     requests: 1000, protocol: HTTP/2
 *     the client is closed
 * Run: 80-client-object $MOCK/v1/models
 * Time: wall 0 s
 * Output:
 *     users/42 belongs to eddy
 *     requests: 1, protocol: HTTP/1.1
 *     the client is closed
 * Run: 80-client-object $MOCK
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     the client is closed
 */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

enum { AT_ONCE = 50 };

struct user {
        char id[40];
        char owned_by[40];
};

static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, id, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct user, owned_by, EDDY_FIELD_REQUIRED),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);
static struct eddy_http_fault fault; /* why a request failed */

struct work {
        eddy_http_client *client;
        const char *path;
        long left; /* requests */
        struct user user;
};

/* Several tasks share the work. */
static int get_user(void *arg)
{
        struct work *work = arg;
        struct eddy_http_request request = { .url = work->path };
        int err = 0;

        while (err == 0 && work->left-- > 0)
                err = eddy_http_client_json(work->client, &request, &user_fields, &work->user,
                                            &fault);
        return err;
}

/* The client is closed at the end of this function. */
static int show_user(const char *base_url, const char *path, long count)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct eddy_http_client_opts opts = {
                .base_url = base_url,
                .connections_max = 100,
                .timeouts = { .total_ns = EDDY_SEC(10), .connect_ns = EDDY_SEC(5) },
                .ret_fault = &fault,
        };
        struct eddy_http_client_stats stats;
        int err = eddy_http_client_new(&opts, &client);
        struct work work = { .client = client, .path = path, .left = 1 };

        if (err == 0)
                err = get_user(&work);
        if (err < 0)
                return err;
        printf("%s belongs to %s\n", work.user.id, work.user.owned_by);
        work.left = count - 1;
        EDDY_SCOPE (scope, &err)
                for (int i = 0; i < AT_ONCE; i++)
                        eddy_scope_start(&scope, get_user, &work);
        if (err < 0)
                return err;
        eddy_http_client_stats(client, &stats);
        printf("requests: %ld, protocol: %s\n", count,
               stats.http2_connections > 0 ? "HTTP/2" : "HTTP/1.1");
        return 0;
}

static int run(void *arg)
{
        char **args = arg;
        int err = show_user(args[1], args[2] ? args[2] : "users/42",
                            args[2] && args[3] ? strtol(args[3], NULL, 10) : 1);

        puts("the client is closed");
        return err;
}

static int fail(const char *subject, const char *reason, int status)
{
        fflush(stdout);
        fprintf(stderr, "80-client-object: %s: %s\n", subject, reason);
        return status;
}

int main(int argc, char **argv)
{
        char reason[20];
        int err;

        if (argc < 2 || argc > 4)
                return fail("BASE", "missing (usage: 80-client-object BASE [PATH [COUNT]])", 1);
        err = eddy_run(run, argv, NULL);
        if (err == -ECANCELED)
                return fail(argv[1], "stopped by Ctrl-C", 130);
        snprintf(reason, sizeof(reason), "status %d", fault.status);
        if (err == EDDY_E_HTTP_STATUS)
                return fail(argv[1], reason, 1);
        return err < 0 ? fail(argv[1], fault.text[0] ? fault.text : eddy_error_text(err), 1) : 0;
}
