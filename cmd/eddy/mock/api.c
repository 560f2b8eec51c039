/*
 * mock/api.c - answers requests to the API: models, embeddings, chat completions.
 */
#include "mock/api.h"

#include <errno.h>
#include <string.h>

#include "common/draft.h"
#include "eddy/time.h"
#include "mock/gate.h"

enum { MODEL_BYTES_MAX = 256, EVENT_BYTES_MIN = 100, ANSWER_KEPT_BYTES = 4096 };

static const char api_prefix[] = "/v1/";

static const char *const models_default[] = { "mock-chat", "mock-embedding" };

bool ed_api_has(const char *path)
{
        return strncmp(path, api_prefix, sizeof(api_prefix) - 1) == 0;
}

bool ed_api_counts_tokens(const char *path)
{
        return strcmp(path, "/v1/embeddings") == 0 || strcmp(path, "/v1/chat/completions") == 0;
}

/* Send a text as JSON, and free it. */
static int draft_send(struct ed_reply *reply, struct ed_draft *text)
{
        int err = ed_draft_is_whole(text)
                          ? ed_reply_send(reply, 200, "application/json", text->data, text->bytes)
                          : -ENOMEM;

        ed_draft_fini(text);
        return err;
}

/* Send an error that no limit caused. */
static int fault_send(struct ed_reply *reply, const struct ed_openai_fault *fault)
{
        /* Counting the tokens adds the limits to the answer's head. Here no token is counted. */
        int err = reply->counts_tokens ? ed_gate_tokens(reply, 0) : 0;

        if (err != 0)
                return err < 0 ? err : 0;
        return ed_reply_fault(reply, fault);
}

static int model_is_unknown(struct ed_reply *reply, const char *model, size_t bytes)
{
        struct ed_openai_fault fault = { 0 };

        ed_openai_fault_set(&fault, 404, "model", "model_not_found",
                            "The model '%.*s' does not exist or you do not have access to it.",
                            (int) bytes, model);
        return fault_send(reply, &fault);
}

/* ---- models ---------------------------------------------------------------------------------- */

static int models_list(struct ed_reply *reply)
{
        const struct ed_mock_opts *opts = &reply->mock->opts;
        const char *const *models = opts->models_count ? opts->models : models_default;
        size_t n = opts->models_count ? opts->models_count
                                      : sizeof(models_default) / sizeof(models_default[0]);
        struct ed_draft text = { 0 };

        ed_draft_add_str(&text, "{\"object\":\"list\",\"data\":[");
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        ed_draft_add(&text, ",", 1);
                ed_openai_write_model(models[i], strlen(models[i]), &text);
        }
        ed_draft_add_str(&text, "]}\n");
        return draft_send(reply, &text);
}

/* Returns the value of a hexadecimal digit, or -1. */
static int hex_value(char c)
{
        static const char digits[] = "0123456789abcdef";
        const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

        return at ? (int) (at - digits) : -1;
}

/* Decode %XX in a path. Returns the size, or -1 if it exceeds MODEL_BYTES_MAX. */
static int path_decode(const char *path, char model[MODEL_BYTES_MAX])
{
        int bytes = 0;

        for (; *path; path++) {
                int high = *path == '%' ? hex_value(path[1]) : -1;
                int low = high >= 0 ? hex_value(path[2]) : -1;

                if (bytes == MODEL_BYTES_MAX)
                        return -1;
                model[bytes++] = low >= 0 ? (char) (high * 16 + low) : *path;
                path += low >= 0 ? 2 : 0;
        }
        return bytes;
}

static int model_show(struct ed_reply *reply, const char *path)
{
        const struct ed_mock_opts *opts = &reply->mock->opts;
        char model[MODEL_BYTES_MAX];
        struct ed_draft text = { 0 };
        int bytes = path_decode(path, model);
        bool known = bytes > 0 && opts->models_count == 0;

        for (uint32_t i = 0; i < opts->models_count && !known; i++)
                known = bytes == (int) strlen(opts->models[i]) &&
                        memcmp(model, opts->models[i], (size_t) bytes) == 0;
        if (!known)
                return model_is_unknown(reply, model, bytes > 0 ? (size_t) bytes : 0);
        ed_openai_write_model(model, (size_t) bytes, &text);
        ed_draft_add_str(&text, "\n");
        return draft_send(reply, &text);
}

/* ---- embeddings and chat completions --------------------------------------------------------- */

static int embeddings_send(struct ed_reply *reply, const struct ed_openai_ask *ask)
{
        struct ed_draft text = { 0 };

        ed_openai_write_embeddings(ask, &text);
        return draft_send(reply, &text);
}

static int event_send(struct ed_reply *reply, const struct ed_draft *text)
{
        int err = eddy_sleep(ed_latency_draw(&reply->mock->opts.token_latency, &reply->random));

        if (err < 0)
                return err;
        return ed_draft_is_whole(text) ? ed_reply_write(reply, text->data, text->bytes) : -ENOMEM;
}

/* Send the answer as a stream of events. Events of several choices are interleaved. */
static int chat_stream(struct ed_reply *reply, const struct ed_openai_ask *ask,
                       const struct ed_openai_head *head)
{
        struct ed_draft text = { 0 };
        bool any = true;
        int err;

        reply->ends_cleanly = true; /* a truncated stream may lack only its end */
        ed_reply_header(reply, "Cache-Control", "no-cache");
        err = ed_reply_begin(reply, 200, "text/event-stream; charset=utf-8", -1,
                             EVENT_BYTES_MIN * ed_openai_completion_tokens(ask));
        for (uint32_t step = 0; any && err == 0; step++) {
                any = false;
                for (uint32_t choice = 0; choice < ask->choices && err == 0; choice++) {
                        ed_draft_reset(&text, ANSWER_KEPT_BYTES);
                        if (!ed_openai_write_event(ask, head, choice, step, &text))
                                continue;
                        any = true;
                        err = event_send(reply, &text);
                }
        }
        if (err == 0) {
                ed_draft_reset(&text, ANSWER_KEPT_BYTES);
                ed_openai_write_end(ask, head, &text);
                err = event_send(reply, &text);
        }
        ed_draft_fini(&text);
        return err < 0 ? err : ed_reply_end(reply);
}

static int chat_send(struct ed_reply *reply, const struct ed_openai_ask *ask)
{
        char id[ED_REPLY_VALUE_BYTES] = "chatcmpl-";
        struct ed_openai_head head = { id, eddy_time_of_day() / EDDY_SEC(1) };
        struct ed_draft text = { 0 };

        /* Use the beginning of the number after "req_". */
        memcpy(id + strlen("chatcmpl-"), reply->id + strlen("req_"), 24);
        if (ask->stream)
                return chat_stream(reply, ask, &head);
        ed_openai_write_chat(ask, &head, &text);
        return draft_send(reply, &text);
}

/* Returns true if the model exists. */
static bool model_is_known(const struct ed_mock_opts *opts, const struct eddy_json_value *model)
{
        bool known = opts->models_count == 0;

        for (uint32_t i = 0; i < opts->models_count && !known; i++)
                known = eddy_json_is(model, opts->models[i]);
        return known;
}

/* Read the body, count its tokens, wait, and answer. */
static int ask_answer(struct ed_reply *reply, bool is_chat)
{
        const struct ed_mock_opts *opts = &reply->mock->opts;
        struct ed_openai_fault fault = { 0 };
        struct ed_openai_ask ask;
        char model[MODEL_BYTES_MAX];
        const void *body;
        uint64_t tokens;
        size_t bytes;
        int64_t n;
        int err;

        err = eddy_http_exchange_body(reply->exchange, &body, &bytes);
        if (err < 0)
                return err;
        err = is_chat ? ed_openai_read_chat(body, bytes, &opts->openai, &ask, &fault)
                      : ed_openai_read_embeddings(body, bytes, &opts->openai, &ask, &fault);
        if (err == -EINVAL)
                return fault_send(reply, &fault);
        if (err < 0)
                return err;
        if (!model_is_known(opts, &ask.model)) {
                n = eddy_json_string(&ask.model, model, sizeof(model));
                return model_is_unknown(reply, model, n > 0 ? (size_t) n : 0);
        }
        /* As in OpenAI's API, the maximum length of the answer counts, not its actual length. */
        tokens = ask.prompt_tokens;
        if (is_chat)
                tokens += ask.tokens_max ? (uint64_t) ask.tokens_max * ask.choices
                                         : ed_openai_completion_tokens(&ask);
        err = ed_gate_tokens(reply, tokens);
        if (err == 0)
                err = ed_gate_mood(reply);
        if (err != 0)
                return err < 0 ? err : 0;
        return is_chat ? chat_send(reply, &ask) : embeddings_send(reply, &ask);
}

/* ---- routes ---------------------------------------------------------------------------------- */

static int method_refuse(struct ed_reply *reply, const char *path, const char *allowed)
{
        struct ed_openai_fault fault = { 0 };

        ed_reply_header(reply, "Allow", allowed);
        ed_openai_fault_set(&fault, 405, NULL, "method_not_supported",
                            "Not allowed to %.16s on %s.",
                            eddy_http_exchange_method(reply->exchange), path);
        return fault_send(reply, &fault);
}

int ed_api_answer(struct ed_reply *reply, const char *path)
{
        const char *method = eddy_http_exchange_method(reply->exchange);
        const char *name = path + sizeof(api_prefix) - 1;
        struct ed_openai_fault fault = { 0 };
        int err;

        if (ed_api_counts_tokens(path)) {
                if (strcmp(method, "POST") != 0)
                        return method_refuse(reply, path, "POST");
                return ask_answer(reply, strcmp(name, "embeddings") != 0);
        }
        err = ed_gate_mood(reply);
        if (err != 0)
                return err < 0 ? err : 0;
        if (strcmp(name, "models") != 0 && strncmp(name, "models/", 7) != 0) {
                ed_openai_fault_set(&fault, 404, NULL, NULL, "Invalid URL (%.16s %s)", method,
                                    path);
                return fault_send(reply, &fault);
        }
        if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
                return method_refuse(reply, path, "GET, HEAD");
        return name[6] == '\0' ? models_list(reply) : model_show(reply, name + 7);
}
