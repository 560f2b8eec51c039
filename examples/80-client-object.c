/*
 * 80-client-object - an API client as an object: its address, its limits, its connections.
 *
 * The object has an HTTP client of its own, so all its requests share a pool of at most
 * 100 connections.  Each request may take 10 s in total, and opening a connection 5 s.
 * EDDY_AUTO closes the object on every way out, even after a failure or Ctrl-C.
 *
 * The Python program of the course asks for HTTP/2, which eddy does not have yet; this one
 * uses HTTP/1.1.  `80-client-object BASE` gets BASE/users/42.
 *
 * Run: 80-client-object $MOCK/v1/models
 * Time: wall 0 s
 * Output:
 *     {"id":"users/42","object":"model","created":1700000000,"owned_by":"eddy"}
 *     the client is closed
 * Run: 80-client-object $MOCK
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     the client is closed
 * Run: 80-client-object 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     80-client-object: BASE: missing (usage: 80-client-object BASE)
 * Run: 80-client-object $MOCK 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     the client is closed
 *     80-client-object: $MOCK: status 404
 * Run: 80-client-object "$MOCK/slow-body/12?path=" 2>&1
 * Exit: 1
 * Time: wall 10 s
 * Output:
 *     the client is closed
 *     80-client-object: $MOCK/slow-body/12?path=: the request was not complete within its time
 * Run: 80-client-object http://127.0.0.1:1 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     the client is closed
 *     80-client-object: http://127.0.0.1:1: Connection refused
 * Run: timeout --foreground --preserve-status -s INT 1 80-client-object "$MOCK/delay/9?path=" 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     the client is closed
 *     80-client-object: $MOCK/delay/9?path=: stopped by Ctrl-C
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct api_client {
        const char *base_url;
        eddy_http_client *http;
};

static int api_client_open(struct api_client *client, const char *base_url)
{
        struct eddy_http_client_opts opts = {
                .connections_max = 100,
                .timeouts = { .total_ns = EDDY_SEC(10), .connect_ns = EDDY_SEC(5) },
        };

        client->base_url = base_url;
        return eddy_http_client_new(&opts, &client->http);
}

/* EDDY_AUTO calls this at the end of the block. */
static void api_client_auto_release(struct api_client *client)
{
        eddy_http_client_close(client->http);
        puts("the client is closed");
}

struct user {
        eddy_http_response *response; /* has the text */
        const void *text;
        size_t bytes;
};

/* Returns the status, or an error. */
static int api_client_fetch_user(struct api_client *client, int id, struct user *user)
{
        char url[1000];
        struct eddy_http_request request = { .url = url };
        int n = snprintf(url, sizeof(url), "%s/users/%d", client->base_url, id);
        int err = n < (int) sizeof(url) ? 0 : -ENAMETOOLONG;

        if (err == 0)
                err = eddy_http_client_send(client->http, &request, &user->response);
        if (err == 0)
                err = eddy_http_response_body(user->response, &user->text, &user->bytes);
        return err < 0 ? err : eddy_http_response_status(user->response);
}

static int run(void *base_url)
{
        EDDY_AUTO(api_client) struct api_client client = { 0 };
        struct user user = { 0 };
        int result = api_client_open(&client, base_url);

        if (result == 0)
                result = api_client_fetch_user(&client, 42, &user);
        if (result > 0 && result < 400)
                fwrite(user.text, 1, user.bytes, stdout);
        eddy_http_response_close(user.response);
        return result;
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
        int result;

        if (argc != 2)
                return fail("BASE", "missing (usage: 80-client-object BASE)", 1);
        result = eddy_run(run, argv[1], NULL);
        if (result == -ECANCELED)
                return fail(argv[1], "stopped by Ctrl-C", 130);
        if (result < 0)
                return fail(argv[1], eddy_error_text(result), 1);
        snprintf(reason, sizeof(reason), "status %d", result);
        return result < 400 ? 0 : fail(argv[1], reason, 1);
}
