/*
 * batch/answer/body_error.c - the table from names of errors to statuses.
 */
#include "batch/answer/body_error.h"

#include <stddef.h>
#include <stdint.h>
#include <strings.h>

#include "batch/answer/answer_line.h"

enum { NAME_BYTES = 64, STATUS_FIRST = 400, STATUS_LAST = 599 };

static const struct {
        const char *name;
        int status;
} statuses[] = {
        /* OpenAI, Anthropic, and servers with their APIs */
        { "overloaded_error", 529 },
        { "overloaded", 503 },
        { "engine_overloaded", 503 },
        { "server_overloaded", 503 },
        { "slow_down", 503 },
        { "service_unavailable", 503 },
        { "service_unavailable_error", 503 },
        { "rate_limit_error", 429 },
        { "rate_limit_exceeded", 429 },
        { "rate_limited", 429 },
        { "too_many_requests", 429 },
        { "api_error", 500 },
        { "server_error", 500 },
        { "internal_error", 500 },
        { "internal_server_error", 500 },
        { "internalservererror", 500 }, /* vLLM */
        { "timeout_error", 504 },
        { "timeout", 504 },
        { "invalid_request_error", 400 },
        { "invalid_request", 400 },
        { "invalid_prompt", 400 },
        { "badrequesterror", 400 }, /* vLLM */
        { "context_length_exceeded", 400 },
        { "string_above_max_length", 400 },
        { "content_filter", 400 },
        { "content_policy_violation", 400 },
        { "invalid_api_key", 401 },
        { "authentication_error", 401 },
        { "permission_error", 403 },
        { "not_found_error", 404 },
        { "notfounderror", 404 }, /* vLLM */
        { "model_not_found", 404 },
        { "request_too_large", 413 },
        /* Google */
        { "RESOURCE_EXHAUSTED", 429 },
        { "UNAVAILABLE", 503 },
        { "INTERNAL", 500 },
        { "DEADLINE_EXCEEDED", 504 },
        { "INVALID_ARGUMENT", 400 },
        { "FAILED_PRECONDITION", 400 },
        { "UNAUTHENTICATED", 401 },
        { "PERMISSION_DENIED", 403 },
        { "NOT_FOUND", 404 },
};

bool ed_body_error_find(const struct eddy_json_value *body, struct eddy_json_value *ret_error)
{
        struct eddy_json_value first, error;

        if (body->kind == EDDY_JSON_ARRAY)
                return eddy_json_get(body, "[0]", &first) == 0 && first.kind == EDDY_JSON_OBJECT &&
                       ed_body_error_find(&first, ret_error);
        if (body->kind != EDDY_JSON_OBJECT || eddy_json_get(body, "error", &error) < 0 ||
            ed_answer_value_is_blank(&error))
                return false;
        *ret_error = error;
        return true;
}

static int status_of_number(uint64_t number)
{
        return number >= STATUS_FIRST && number <= STATUS_LAST ? (int) number : 0;
}

/* Returns the status of a name, or of a number in digits. */
static int status_of_name(const struct eddy_json_value *value)
{
        char name[NAME_BYTES];
        struct eddy_json_value number;
        uint64_t digits;
        int64_t bytes = eddy_json_string(value, name, sizeof(name) - 1);

        if (bytes <= 0)
                return 0;
        name[bytes] = '\0';
        for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
                if (strcasecmp(name, statuses[i].name) == 0)
                        return statuses[i].status;
        if (eddy_json_parse(name, (size_t) bytes, NULL, &number, NULL) < 0 ||
            eddy_json_uint64(&number, &digits) < 0)
                return 0;
        return status_of_number(digits);
}

int ed_body_error_status(const struct eddy_json_value *error)
{
        static const char *const paths[] = { "code",       "type",       "status",
                                             "error.code", "error.type", "error.status" };
        struct eddy_json_value value;
        uint64_t number;

        if (error->kind == EDDY_JSON_STRING)
                return status_of_name(error);
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
                int status = 0;

                if (eddy_json_get(error, paths[i], &value) < 0)
                        continue;
                if (eddy_json_uint64(&value, &number) == 0)
                        status = status_of_number(number);
                else
                        status = status_of_name(&value);
                if (status > 0)
                        return status;
        }
        return 0;
}
