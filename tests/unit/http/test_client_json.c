/*
 * test_client_json.c - a request whose answer is JSON, in one call: the struct is filled in or not
 * changed, the fault says why, and the connection is free again.
 */
#include "eddy/test.h"
#include "http_test.h"

struct user {
        char name[40];
        uint32_t age;
};

static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 39)),
        EDDY_FIELD(struct user, age, 0),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);

static struct {
        eddy_http_client *client;
        struct eddy_http_fault fault;
        int status;
        const char *answer;
} seen;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, seen.status, NULL, 0, seen.answer,
                                          strlen(seen.answer));
}

static int client_new(void)
{
        memset(&seen, 0, sizeof(seen));
        seen.status = 200;
        seen.answer = "{\"name\":\"Zoe\",\"age\":7}";
        return eddy_http_client_new(OPTIONS(.handler = handle, .base_url = "http://a/"),
                                    &seen.client);
}

static int ask(const struct eddy_fields *fields, struct user *user, unsigned flags)
{
        static const struct user zoe = { .name = "Zoe" };

        return eddy_http_client_json(seen.client,
                                     &(struct eddy_http_request){ .url = "users",
                                                                  .json = { &user_fields, &zoe },
                                                                  .flags = flags },
                                     fields, user, &seen.fault);
}

static int answers(void *arg)
{
        struct user user = { .age = 1 };

        (void) arg;
        CHECK_EQ(client_new(), 0);
        CHECK_EQ(ask(&user_fields, &user, 0), 0);
        CHECK_STR(user.name, "Zoe");
        CHECK_EQ(user.age, 7);
        CHECK_STR(seen.fault.text, "");
        seen.answer = "{\"name\":\"\"}";
        CHECK_ERR(ask(&user_fields, &user, 0), EDDY_E_FIELD_LENGTH);
        CHECK_STR(user.name, "Zoe");
        CHECK(strncmp(seen.fault.text, "response: name", 14) == 0);
        seen.answer = "<html>";
        CHECK(ask(&user_fields, &user, 0) < 0);
        CHECK(strncmp(seen.fault.text, "response: ", 10) == 0 && seen.fault.text[10]);
        CHECK_EQ(user.age, 7);
        seen.status = 422;
        CHECK_ERR(ask(&user_fields, &user, EDDY_HTTP_ANY_STATUS), EDDY_E_HTTP_STATUS);
        CHECK_EQ(seen.fault.status, 422);
        CHECK_STR(seen.fault.body, "<html>");
        CHECK_STATS(seen.client, 1, 1, 0);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(answer_is_read_into_the_struct_or_the_fault_says_why)
{
        http_run(answers, NULL);
}

static int without_fields(void *arg)
{
        (void) arg;
        CHECK_EQ(client_new(), 0);
        seen.status = 204;
        seen.answer = "";
        CHECK_EQ(ask(NULL, NULL, 0), 0);
        seen.status = 200;
        seen.answer = "<html>";
        CHECK_EQ(ask(NULL, NULL, 0), 0);
        seen.status = 500;
        CHECK_ERR(ask(NULL, NULL, 0), EDDY_E_HTTP_STATUS);
        CHECK_STATS(seen.client, 1, 1, 0);
        CHECK_EQ(eddy_http_client_json(NULL, &(struct eddy_http_request){ .url = "x" }, NULL, NULL,
                                       NULL),
                 -EINVAL);
        CHECK_EQ(eddy_http_client_json(seen.client, NULL, NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_http_client_json(seen.client, &(struct eddy_http_request){ .url = "x" }, NULL,
                                       NULL, NULL),
                 EDDY_E_HTTP_STATUS);
        eddy_http_client_close(seen.client);
        return 0;
}

TEST(without_fields_only_the_status_counts)
{
        http_run(without_fields, NULL);
}

static int ask_once(void *arg)
{
        struct user user;
        int err = client_new();

        (void) arg;
        if (err < 0)
                return err;
        err = ask(&user_fields, &user, 0);
        if (err == 0)
                CHECK_STR(user.name, "Zoe");
        eddy_http_client_close(seen.client);
        return err;
}

TEST(cancel_or_shortage_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], ask_once, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
