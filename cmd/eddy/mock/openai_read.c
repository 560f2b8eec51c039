/*
 * mock/openai_read.c - reading requests in the format of OpenAI's API. Every wrong field is refused
 * with a message that names it, as the API does.
 */
#include <errno.h>
#include <inttypes.h>

#include "mock/model.h"
#include "mock/openai.h"

/* A member of the body. If a name is given twice, the last value counts. */
struct ask_member {
        const char *name;
        struct eddy_json_value *value;
};

static int missing(struct ed_openai_fault *fault, const char *name)
{
        ed_openai_fault_set(fault, 400, name, "missing_required_parameter",
                            "Missing required parameter: '%s'.", name);
        return -EINVAL;
}

static int type_is_wrong(struct ed_openai_fault *fault, const char *name, const char *expected)
{
        ed_openai_fault_set(fault, 400, name, "invalid_type", "Invalid type for '%s': expected %s.",
                            name, expected);
        return -EINVAL;
}

/* Find the members of the body, and check that it is an object with a model. */
static int body_read(const char *body, size_t bytes, const struct ask_member *members, size_t n,
                     struct ed_openai_ask *ask, struct ed_openai_fault *fault)
{
        struct eddy_json_value root, name, value;
        struct eddy_json_cursor cursor;
        struct eddy_json_error error;

        if (eddy_json_parse(body, bytes, NULL, &root, &error) < 0) {
                ed_openai_fault_set(fault, 400, NULL, NULL,
                                    "We could not parse the JSON body of your request: %s.",
                                    error.text);
                return -EINVAL;
        }
        if (root.kind != EDDY_JSON_OBJECT || eddy_json_walk(&root, &cursor) < 0) {
                ed_openai_fault_set(fault, 400, NULL, NULL,
                                    "The body of your request is not a JSON object.");
                return -EINVAL;
        }
        while (eddy_json_next(&cursor, &name, &value)) {
                if (eddy_json_is(&name, "model"))
                        ask->model = value;
                for (size_t i = 0; i < n; i++) {
                        if (value.kind != EDDY_JSON_NULL && eddy_json_is(&name, members[i].name))
                                *members[i].value = value;
                }
        }
        if (ask->model.kind == EDDY_JSON_NONE)
                return missing(fault, "model");
        if (ask->model.kind != EDDY_JSON_STRING)
                return type_is_wrong(fault, "model", "a string");
        if (ask->model.bytes > ED_OPENAI_MODEL_BYTES_MAX) {
                ed_openai_fault_set(fault, 400, "model", "string_above_max_length",
                                    "Invalid 'model': it is longer than %d bytes.",
                                    ED_OPENAI_MODEL_BYTES_MAX);
                return -EINVAL;
        }
        return 0;
}

/* Convert an optional number within limits. */
static int count_convert(const struct eddy_json_value *value, const char *name, uint32_t max,
                         uint32_t *ret_count, struct ed_openai_fault *fault)
{
        uint64_t number;

        if (value->kind == EDDY_JSON_NONE)
                return 0;
        if (value->kind != EDDY_JSON_NUMBER)
                return type_is_wrong(fault, name, "an integer");
        if (eddy_json_uint64(value, &number) < 0 || number < 1 || number > max) {
                ed_openai_fault_set(fault, 400, name, "invalid_value",
                                    "Invalid '%s': expected an integer from 1 to %" PRIu32 ".",
                                    name, max);
                return -EINVAL;
        }
        *ret_count = (uint32_t) number;
        return 0;
}

/* ---- embeddings ------------------------------------------------------------------------------ */

static int input_is_wrong(struct ed_openai_fault *fault)
{
        return type_is_wrong(fault, "input",
                             "a string, a list of strings, a list of tokens, or a list of such "
                             "lists, none of them empty");
}

/* Returns the number of tokens of a string or a list of tokens. Errors: -EINVAL */
static int64_t input_tokens(const struct eddy_json_value *input)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value token;
        int64_t tokens = 0, bytes;
        uint64_t number;

        if (input->kind == EDDY_JSON_STRING) {
                bytes = eddy_json_string(input, NULL, 0);
                return bytes > 0 ? (int64_t) ed_model_tokens((uint64_t) bytes) : -EINVAL;
        }
        if (input->kind != EDDY_JSON_ARRAY || eddy_json_walk(input, &cursor) < 0)
                return -EINVAL;
        while (eddy_json_next(&cursor, NULL, &token)) {
                if (eddy_json_uint64(&token, &number) < 0)
                        return -EINVAL;
                tokens++;
        }
        return tokens > 0 ? tokens : -EINVAL;
}

static int input_read(struct ed_openai_ask *ask, struct ed_openai_fault *fault)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;
        uint32_t inputs = 0;
        int64_t tokens;

        if (ask->input.kind == EDDY_JSON_NONE)
                return missing(fault, "input");
        tokens = input_tokens(&ask->input);
        if (tokens >= 0) {
                ask->prompt_tokens = (uint64_t) tokens;
                return 0;
        }
        if (ask->input.kind != EDDY_JSON_ARRAY || eddy_json_walk(&ask->input, &cursor) < 0)
                return input_is_wrong(fault);
        while (eddy_json_next(&cursor, NULL, &item)) {
                tokens = input_tokens(&item);
                if (tokens < 0)
                        return input_is_wrong(fault);
                ask->prompt_tokens += (uint64_t) tokens;
                if (++inputs > ED_OPENAI_INPUTS_MAX) {
                        ed_openai_fault_set(fault, 400, "input", "array_above_max_length",
                                            "Invalid 'input': it has more than %d items.",
                                            ED_OPENAI_INPUTS_MAX);
                        return -EINVAL;
                }
        }
        return inputs > 0 ? 0 : input_is_wrong(fault);
}

int ed_openai_read_embeddings(const char *body, size_t bytes, const struct ed_openai_opts *opts,
                              struct ed_openai_ask *ret_ask, struct ed_openai_fault *ret_fault)
{
        struct ed_openai_ask ask = { .dimensions = opts->dimensions };
        struct eddy_json_value format = { .kind = EDDY_JSON_NONE },
                               dimensions = { .kind = EDDY_JSON_NONE };
        const struct ask_member members[] = { { "input", &ask.input },
                                              { "encoding_format", &format },
                                              { "dimensions", &dimensions } };
        int err = body_read(body, bytes, members, sizeof(members) / sizeof(members[0]), &ask,
                            ret_fault);

        if (err == 0)
                err = input_read(&ask, ret_fault);
        if (err == 0)
                err = count_convert(&dimensions, "dimensions", ED_MODEL_DIMENSIONS_MAX,
                                    &ask.dimensions, ret_fault);
        if (err < 0)
                return err;
        ask.base64 = eddy_json_is(&format, "base64");
        if (format.kind != EDDY_JSON_NONE && !ask.base64 && !eddy_json_is(&format, "float")) {
                ed_openai_fault_set(ret_fault, 400, "encoding_format", "invalid_value",
                                    "Invalid 'encoding_format': expected 'float' or 'base64'.");
                return -EINVAL;
        }
        *ret_ask = ask;
        return 0;
}

/* ---- chat completions ------------------------------------------------------------------------ */

/* Returns the size of a message's content, a string or a list of parts, some of which have text. */
static uint64_t content_bytes(const struct eddy_json_value *content)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value part, text;
        uint64_t sum = 0;
        int64_t bytes;

        if (content->kind == EDDY_JSON_STRING) {
                bytes = eddy_json_string(content, NULL, 0);
                return bytes > 0 ? (uint64_t) bytes : 0;
        }
        if (content->kind != EDDY_JSON_ARRAY || eddy_json_walk(content, &cursor) < 0)
                return 0;
        while (eddy_json_next(&cursor, NULL, &part)) {
                if (eddy_json_get(&part, "text", &text) == 0 && text.kind == EDDY_JSON_STRING) {
                        bytes = eddy_json_string(&text, NULL, 0);
                        sum += bytes > 0 ? (uint64_t) bytes : 0;
                }
        }
        return sum;
}

static int messages_read(const struct eddy_json_value *messages, struct ed_openai_ask *ask,
                         struct ed_openai_fault *fault)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value message, role, content;
        uint64_t bytes = 0;
        bool any = false;

        if (messages->kind == EDDY_JSON_NONE)
                return missing(fault, "messages");
        if (messages->kind != EDDY_JSON_ARRAY || eddy_json_walk(messages, &cursor) < 0)
                return type_is_wrong(fault, "messages", "a list of objects");
        while (eddy_json_next(&cursor, NULL, &message)) {
                if (message.kind != EDDY_JSON_OBJECT)
                        return type_is_wrong(fault, "messages", "a list of objects");
                if (eddy_json_get(&message, "role", &role) < 0 || role.kind != EDDY_JSON_STRING)
                        return missing(fault, "messages[].role");
                if (eddy_json_get(&message, "content", &content) == 0)
                        bytes += content_bytes(&content);
                any = true;
        }
        if (!any) {
                ed_openai_fault_set(fault, 400, "messages", "empty_array",
                                    "Invalid 'messages': it has no items.");
                return -EINVAL;
        }
        ask->prompt_tokens = ed_model_tokens(bytes);
        ask->hash = ed_model_hash(ED_MODEL_HASH, messages->text, messages->bytes);
        return 0;
}

/* Read "stream" and "stream_options". */
static int stream_read(const struct eddy_json_value *stream, const struct eddy_json_value *options,
                       struct ed_openai_ask *ask, struct ed_openai_fault *fault)
{
        struct eddy_json_value include;

        if (stream->kind != EDDY_JSON_NONE && eddy_json_bool(stream, &ask->stream) < 0)
                return type_is_wrong(fault, "stream", "a boolean");
        if (options->kind == EDDY_JSON_NONE)
                return 0;
        if (options->kind != EDDY_JSON_OBJECT)
                return type_is_wrong(fault, "stream_options", "an object");
        if (!ask->stream) {
                ed_openai_fault_set(fault, 400, "stream_options", "invalid_value",
                                    "The 'stream_options' parameter is only allowed when "
                                    "'stream' is enabled.");
                return -EINVAL;
        }
        if (eddy_json_get(options, "include_usage", &include) == 0 &&
            include.kind != EDDY_JSON_NULL && eddy_json_bool(&include, &ask->include_usage) < 0)
                return type_is_wrong(fault, "stream_options.include_usage", "a boolean");
        return 0;
}

int ed_openai_read_chat(const char *body, size_t bytes, const struct ed_openai_opts *opts,
                        struct ed_openai_ask *ret_ask, struct ed_openai_fault *ret_fault)
{
        struct ed_openai_ask ask = { .choices = 1, .words = opts->words };
        enum { MESSAGES, N, MAX_TOKENS, MAX_COMPLETION_TOKENS, STREAM, STREAM_OPTIONS, MEMBERS };
        struct eddy_json_value values[MEMBERS] = { { .kind = EDDY_JSON_NONE } };
        const struct ask_member members[MEMBERS] = {
                { "messages", &values[MESSAGES] },
                { "n", &values[N] },
                { "max_tokens", &values[MAX_TOKENS] },
                { "max_completion_tokens", &values[MAX_COMPLETION_TOKENS] },
                { "stream", &values[STREAM] },
                { "stream_options", &values[STREAM_OPTIONS] },
        };
        int err = body_read(body, bytes, members, MEMBERS, &ask, ret_fault);

        if (err == 0)
                err = messages_read(&values[MESSAGES], &ask, ret_fault);
        if (err == 0)
                err = count_convert(&values[N], "n", ED_OPENAI_CHOICES_MAX, &ask.choices,
                                    ret_fault);
        if (err == 0)
                err = count_convert(&values[MAX_TOKENS], "max_tokens", INT32_MAX, &ask.tokens_max,
                                    ret_fault);
        if (err == 0)
                err = count_convert(&values[MAX_COMPLETION_TOKENS], "max_completion_tokens",
                                    INT32_MAX, &ask.tokens_max, ret_fault);
        if (err == 0)
                err = stream_read(&values[STREAM], &values[STREAM_OPTIONS], &ask, ret_fault);
        if (err < 0)
                return err;
        *ret_ask = ask;
        return 0;
}
