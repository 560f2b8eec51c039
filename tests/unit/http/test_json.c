/*
 * test_json.c - bodies of responses that are read into structs.
 */
#include "http_test.h"

struct user {
        char name[16];
        uint8_t age;
        char *email;
};

static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, name, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct user, age, EDDY_FIELD_MAX(150)),
        EDDY_FIELD(struct user, email),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);

#define ANSWER(status, type, length, body)                                                         \
        "HTTP/1.1 " status "\r\nContent-Type: " type "\r\nContent-Length: " length "\r\n\r\n" body

static eddy_http_response *answer(struct rig *rig)
{
        eddy_http_response *response;

        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
        return response;
}

CLIENT_TEST(a_body_is_read_into_a_struct_whatever_the_status_and_type, NULL,
            SCRIPT(ANSWER("200 OK", "application/json", "45",
                          "{\"name\":\"Ada\",\"age\":36,\n \"email\":\"ada@h.org\"}"),
                   ANSWER("404 Not Found", "text/plain", "14", "{\"name\":\"Bob\"}")))
{
        struct user user = { .age = 7 };
        eddy_http_response *response = answer(rig);

        CHECK_EQ(eddy_http_response_json(response, &user_fields, &user), 0);
        CHECK(!eddy_http_response_json_error(response));
        eddy_http_response_close(response);
        CHECK_STR(user.name, "Ada");
        CHECK_EQ(user.age, 36);
        CHECK_STR(user.email, "ada@h.org");
        eddy_fields_fini(&user_fields, &user);

        response = answer(rig);
        CHECK_EQ(eddy_http_response_status(response), 404);
        CHECK_EQ(eddy_http_response_json(response, &user_fields, &user), 0);
        eddy_http_response_close(response);
        CHECK_STR(user.name, "Bob");
        CHECK(!user.email);
}

CLIENT_TEST(a_wrong_field_is_named_and_the_body_can_be_read_again, NULL,
            SCRIPT(ANSWER("200 OK", "application/json", "24", "{\"name\":\"Ada\",\"age\":300}"),
                   ANSWER("200 OK", "text/html", "15", "<!DOCTYPE html>")))
{
        struct user user = { .age = 7 };
        eddy_http_response *response = answer(rig);
        const struct eddy_json_error *error;
        const void *data;
        size_t bytes;

        for (int i = 0; i < 2; i++) {
                CHECK_ERR(eddy_http_response_json(response, &user_fields, &user),
                          EDDY_E_FIELD_RANGE);
                error = eddy_http_response_json_error(response);
                CHECK_STR(error->text, "age: 300 is above the maximum 150");
                CHECK_STR(error->path, "age");
                CHECK_EQ(user.age, 7);
        }
        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        CHECK_EQ(bytes, 24);
        eddy_http_response_close(response);

        response = answer(rig);
        CHECK(!eddy_http_response_json_error(response));
        CHECK_ERR(eddy_http_response_json(response, &user_fields, &user), EDDY_E_JSON_SYNTAX);
        CHECK_STR(eddy_http_response_json_error(response)->text,
                  "line 1, column 1: a value expected, found '<'");
        eddy_http_response_close(response);
}

CLIENT_TEST(a_body_that_ends_early_is_an_error_of_the_response, NULL,
            SCRIPT(ANSWER("200 OK", "application/json", "44", "{\"name\":"), "~"))
{
        struct user user = { .age = 7 };
        eddy_http_response *response = answer(rig);

        CHECK_ERR(eddy_http_response_json(response, &user_fields, &user), EDDY_E_HTTP_TRUNCATED);
        CHECK(!eddy_http_response_json_error(response));
        CHECK_EQ(user.age, 7);
        eddy_http_response_close(response);
}

CLIENT_TEST(without_memory_for_the_details_the_error_remains, NULL,
            SCRIPT(ANSWER("200 OK", "application/json", "24", "{\"name\":\"Ada\",\"age\":300}")))
{
        struct user user = { .age = 7 };
        eddy_http_response *response = answer(rig);
        const void *data;
        size_t bytes;

        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        for (int left = 0; left < 3; left++) {
                int err;

                http_memory_fails(left);
                err = eddy_http_response_json(response, &user_fields, &user);
                http_memory_is_back();
                CHECK_ERR(err, left == 0 ? -ENOMEM : EDDY_E_FIELD_RANGE);
                CHECK_EQ(eddy_http_response_json_error(response) != NULL, left != 1);
                CHECK_EQ(user.age, 7);
        }
        eddy_http_response_close(response);
}
