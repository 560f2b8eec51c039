/*
 * service.c - the program of docs/testing.md that replaces a service by a handler.
 */
#undef NDEBUG
#include <assert.h>

#include "eddy/eddy.h"
#include "eddy/test.h"

/* The code under test: up to three requests, until the service has an answer. */
static int status_of(eddy_http_client *client, const char *url)
{
        int err, status = 0;

        for (int i = 0; i < 3 && (status == 0 || status >= 500); i++) {
                EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;

                err = eddy_http_client_send(client, &(struct eddy_http_request){ .url = url },
                                            &response);
                if (err < 0)
                        return err;
                status = eddy_http_response_status(response);
        }
        return status;
}

/* A service that is slow and fails twice. */
static int service(eddy_http_exchange *exchange, void *arg)
{
        int *calls = arg, err = eddy_sleep(EDDY_SEC(2));

        if (err < 0)
                return err;
        return eddy_http_exchange_respond(exchange, ++*calls < 3 ? 503 : 200, NULL, 0, "{}", 2);
}

static int fails_twice(void *arg)
{
        int calls = 0, err;
        struct eddy_http_client_opts opts = { .handler = service, .handler_arg = &calls };
        eddy_http_client *client;

        (void) arg;
        err = eddy_http_client_new(&opts, &client);
        if (err < 0)
                return err;
        err = status_of(client, "https://api.example.com/v1");
        eddy_http_client_close(client); /* no call of the handler is left */
        EDDY_TEST_CHECK(err < 0 || (err == 200 && calls == 3));
        return err < 0 ? err : 0;
}

int main(void)
{
        struct eddy_test_result result;

        assert(eddy_test_run(fails_twice, NULL, NULL, &result) == 0);
        assert(result.lasted_ns >= EDDY_SEC(6) && result.lasted_ns < EDDY_SEC(7));

        /* In 200 orders; cancelled at each point; without memory. */
        for (int what = EDDY_TEST_SEEDS; what <= EDDY_TEST_ALLOC_FOREVER; what++)
                assert(eddy_test_sweep(what, fails_twice, NULL, NULL, NULL) == 0);
        return 0;
}
