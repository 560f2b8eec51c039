/*
 * calls_http_input.c - the worlds of a handler's calls that read a request into a struct, and that
 * answer at once; see every_call.h.
 *
 * Each client gets the answer to its own request, or an error after a cancel of the handler's call.
 */
#include "every_call.h"
#include "http_item.h"

enum { ASKING = 3 };

static struct {
        eddy_http_client *client;
        eddy_task_fn *answer; /* a handler's call */
        int status;           /* of its answer */
        bool is_form;
        int asked;
} world;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        int err = world_chance(2) ? eddy_sleep(world_delay_ns()) : 0;

        (void) arg;
        return err < 0 ? err : victim_call(world.answer, exchange);
}

static int answer_json(void *arg)
{
        struct item item = { 0 };
        int err = eddy_http_exchange_json(arg, &item_fields, &item);

        return err < 0 ? err : eddy_http_exchange_respond_json(arg, 200, &item_fields, &item);
}

static int answer_form(void *arg)
{
        struct item item = { 0 };
        char text[40];
        int err = eddy_http_exchange_form_read(arg, &item_fields, 0, &item);

        snprintf(text, sizeof(text), "{\"id\":%u}", item.id);
        return err < 0 ? err : eddy_http_exchange_respond_text(arg, 200, text);
}

static int answer_failure(void *arg)
{
        return eddy_http_exchange_fail(arg, 404, "%s", "there is no item");
}

static int answer_redirect(void *arg)
{
        return eddy_http_exchange_redirect(arg, 303, "/items");
}

/* Check the answer to a request with the number 'id'. */
static int check_answer(eddy_http_response *response, uint32_t id)
{
        const void *data;
        size_t bytes;
        char text[40];
        int err = eddy_http_response_body(response, &data, &bytes);

        if (err < 0 || eddy_http_response_status(response) >= 500)
                return -ECANCELED;
        CHECK_EQ(eddy_http_response_status(response), world.status);
        if (world.status == 200) {
                snprintf(text, sizeof(text), "{\"id\":%u}", id);
                CHECK_STR(data, text);
        }
        return 0;
}

static int ask(void *arg)
{
        struct item item = { (uint32_t) (7 + world.asked++) };
        struct eddy_http_request request = { .url = "http://a/items" };
        eddy_http_response *response = NULL;
        int err;

        (void) arg;
        if (world.is_form) {
                request.form.fields = &item_fields;
                request.form.value = &item;
        } else {
                request.json.fields = &item_fields;
                request.json.value = &item;
        }
        world_pause();
        err = eddy_http_client_send(world.client, &request, &response);
        if (err == 0)
                err = check_answer(response, item.id);
        CHECK(err == 0 || world_is_cancelled());
        eddy_http_response_close(response);
        return 0;
}

static int run(eddy_task_fn *answer, int status)
{
        world.answer = answer;
        world.status = status;
        world.is_form = answer == answer_form;
        world.asked = 0;
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .handler = handle, .connections_max = 2 },
                         &world.client),
                 0);
        world_begin(ASKING);
        world_run(ask, NULL, ASKING);
        CHECK_EQ(world.asked, ASKING);
        eddy_http_client_close(world.client);
        return 0;
}

static int world_exchange_json(void *arg)
{
        (void) arg;
        return run(answer_json, 200);
}
EVERY_POINT_WEB(exchange_json, eddy_http_exchange_json)
ALSO(exchange_json, eddy_http_exchange_respond_json)

static int world_exchange_form(void *arg)
{
        (void) arg;
        return run(answer_form, 200);
}
EVERY_POINT_WEB(exchange_form, eddy_http_exchange_form_read)
ALSO(exchange_form, eddy_http_exchange_respond_text)

static int world_exchange_fail(void *arg)
{
        (void) arg;
        return run(answer_failure, 404);
}
EVERY_POINT_WEB(exchange_fail, eddy_http_exchange_fail)

static int world_exchange_redirect(void *arg)
{
        (void) arg;
        return run(answer_redirect, 303);
}
EVERY_POINT_WEB(exchange_redirect, eddy_http_exchange_redirect)
