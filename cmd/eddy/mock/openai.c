/*
 * mock/openai.c - writing answers in the format of OpenAI's API. Reading is in openai_read.c.
 */
#include "mock/openai.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "eddy/alloc.h"
#include "mock/model.h"

void ed_openai_fault_set(struct ed_openai_fault *fault, int status, const char *param,
                         const char *code, const char *format, ...)
{
        va_list args;

        fault->status = status;
        fault->type = status >= 500 ? "server_error" : "invalid_request_error";
        fault->param = param;
        fault->code = code;
        va_start(args, format);
        (void) vsnprintf(fault->message, sizeof(fault->message), format, args);
        va_end(args);
}

/* Append a string, or null. */
static void member_add(struct ed_draft *text, const char *name, const char *value)
{
        ed_draft_add_str(text, name);
        if (value)
                ed_draft_add_json_str(text, value);
        else
                ed_draft_add_str(text, "null");
}

void ed_openai_write_fault(const struct ed_openai_fault *fault, struct ed_draft *text)
{
        member_add(text, "{\"error\":{\"message\":", fault->message);
        member_add(text, ",\"type\":", fault->type);
        member_add(text, ",\"param\":", fault->param);
        member_add(text, ",\"code\":", fault->code);
        ed_draft_add_str(text, "}}\n");
}

void ed_openai_write_model(const char *model, size_t bytes, struct ed_draft *text)
{
        ed_draft_add_str(text, "{\"id\":");
        ed_draft_add_json(text, model, bytes);
        ed_draft_add_str(text, ",\"object\":\"model\",\"created\":1700000000,"
                               "\"owned_by\":\"eddy\"}");
}

/* ---- embeddings ------------------------------------------------------------------------------ */

/* Returns the hash of an input: of the text of a string, or of a list of tokens. */
static uint64_t input_hash(const struct eddy_json_value *input, struct ed_draft *text)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value token;
        uint64_t hash = ED_MODEL_HASH, number;
        int64_t bytes;
        char *str;

        if (input->kind == EDDY_JSON_STRING) {
                str = eddy_malloc(input->bytes);
                bytes = str ? eddy_json_string(input, str, input->bytes) : -1;
                if (bytes >= 0)
                        hash = ed_model_hash(hash, str, (size_t) bytes);
                else
                        text->failed = true;
                eddy_free(str);
                return hash;
        }
        if (eddy_json_walk(input, &cursor) < 0)
                return hash;
        while (eddy_json_next(&cursor, NULL, &token)) {
                if (eddy_json_uint64(&token, &number) == 0)
                        hash = ed_model_hash(hash, &number, sizeof(number));
        }
        return hash;
}

static void embedding_add(const struct ed_openai_ask *ask, const struct eddy_json_value *input,
                          uint32_t i, struct ed_draft *text)
{
        if (i > 0)
                ed_draft_add(text, ",", 1);
        ed_draft_add_str(text, "{\"object\":\"embedding\",\"index\":");
        ed_draft_add_u64(text, i);
        ed_draft_add_str(text, ",\"embedding\":");
        ed_model_embed(input_hash(input, text), ask->dimensions, ask->base64, text);
        ed_draft_add_str(text, "}");
}

void ed_openai_write_embeddings(const struct ed_openai_ask *ask, struct ed_draft *text)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value first;
        uint32_t n = 0;

        ed_draft_add_str(text, "{\"object\":\"list\",\"data\":[");
        if (eddy_json_get(&ask->input, "[0]", &first) < 0 || first.kind == EDDY_JSON_NUMBER) {
                embedding_add(ask, &ask->input, 0, text);
        } else if (eddy_json_walk(&ask->input, &cursor) == 0) {
                while (eddy_json_next(&cursor, NULL, &first))
                        embedding_add(ask, &first, n++, text);
        }
        ed_draft_add_str(text, "],\"model\":");
        ed_draft_add(text, ask->model.text, ask->model.bytes);
        ed_draft_add_printf(
                text, ",\"usage\":{\"prompt_tokens\":%" PRIu64 ",\"total_tokens\":%" PRIu64 "}}\n",
                ask->prompt_tokens, ask->prompt_tokens);
}

/* ---- chat completions ------------------------------------------------------------------------ */

/* Returns the number of words of a choice that max_tokens does not cut. */
static uint32_t choice_words(const struct ed_openai_ask *ask, uint32_t choice)
{
        return ask->words ? ask->words : ed_model_length(ask->hash, choice);
}

static bool choice_is_cut(const struct ed_openai_ask *ask, uint32_t choice)
{
        return ask->tokens_max > 0 && ask->tokens_max < choice_words(ask, choice);
}

static uint32_t choice_tokens(const struct ed_openai_ask *ask, uint32_t choice)
{
        return choice_is_cut(ask, choice) ? ask->tokens_max : choice_words(ask, choice);
}

uint64_t ed_openai_completion_tokens(const struct ed_openai_ask *ask)
{
        uint64_t tokens = 0;

        for (uint32_t i = 0; i < ask->choices; i++)
                tokens += choice_tokens(ask, i);
        return tokens;
}

static void word_add(const struct ed_openai_ask *ask, uint32_t choice, uint32_t i,
                     struct ed_draft *text)
{
        char word[ED_MODEL_WORD_BYTES];

        ed_draft_add(text, word,
                     ed_model_word(ask->hash, choice, i, choice_words(ask, choice), word));
}

static void usage_add(const struct ed_openai_ask *ask, struct ed_draft *text)
{
        uint64_t completion = ed_openai_completion_tokens(ask);

        ed_draft_add_printf(text,
                            "\"usage\":{\"prompt_tokens\":%" PRIu64
                            ",\"completion_tokens\":%" PRIu64 ",\"total_tokens\":%" PRIu64
                            ",\"prompt_tokens_details\":{\"cached_tokens\":0}"
                            ",\"completion_tokens_details\":{\"reasoning_tokens\":0}}",
                            ask->prompt_tokens, completion, ask->prompt_tokens + completion);
}

static void head_add(const struct ed_openai_ask *ask, const struct ed_openai_head *head,
                     const char *object, struct ed_draft *text)
{
        ed_draft_add_printf(text, "{\"id\":\"%s\",\"object\":\"%s\",\"created\":%" PRId64 ",",
                            head->id, object, head->created_s);
        ed_draft_add_str(text, "\"model\":");
        ed_draft_add(text, ask->model.text, ask->model.bytes);
        ed_draft_add_str(text, ",\"system_fingerprint\":null,");
}

void ed_openai_write_chat(const struct ed_openai_ask *ask, const struct ed_openai_head *head,
                          struct ed_draft *text)
{
        head_add(ask, head, "chat.completion", text);
        ed_draft_add_str(text, "\"choices\":[");
        for (uint32_t i = 0; i < ask->choices; i++) {
                uint32_t tokens = choice_tokens(ask, i);

                ed_draft_add_printf(text, "%s{\"index\":%" PRIu32 ",", i > 0 ? "," : "", i);
                ed_draft_add_str(text, "\"message\":{\"role\":\"assistant\",\"content\":\"");
                for (uint32_t word = 0; word < tokens; word++)
                        word_add(ask, i, word, text); /* letters only: nothing to escape */
                ed_draft_add_printf(text,
                                    "\",\"refusal\":null},\"logprobs\":null,"
                                    "\"finish_reason\":\"%s\"}",
                                    choice_is_cut(ask, i) ? "length" : "stop");
        }
        ed_draft_add_str(text, "],");
        usage_add(ask, text);
        ed_draft_add_str(text, "}\n");
}

bool ed_openai_write_event(const struct ed_openai_ask *ask, const struct ed_openai_head *head,
                           uint32_t choice, uint32_t step, struct ed_draft *text)
{
        uint32_t tokens = choice_tokens(ask, choice);

        if (step > tokens + 1)
                return false;
        ed_draft_add_str(text, "data: ");
        head_add(ask, head, "chat.completion.chunk", text);
        ed_draft_add_printf(text, "\"choices\":[{\"index\":%" PRIu32 ",\"delta\":", choice);
        if (step == 0) {
                ed_draft_add_str(text,
                                 "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}");
        } else if (step <= tokens) {
                ed_draft_add_str(text, "{\"content\":\"");
                word_add(ask, choice, step - 1, text);
                ed_draft_add_str(text, "\"}");
        } else {
                ed_draft_add_str(text, "{}");
        }
        ed_draft_add_str(text, ",\"logprobs\":null,\"finish_reason\":");
        ed_draft_add_str(text, step <= tokens               ? "null"
                               : choice_is_cut(ask, choice) ? "\"length\""
                                                            : "\"stop\"");
        ed_draft_add_str(text, "}]");
        if (ask->include_usage)
                ed_draft_add_str(text, ",\"usage\":null");
        ed_draft_add_str(text, "}\n\n");
        return true;
}

void ed_openai_write_end(const struct ed_openai_ask *ask, const struct ed_openai_head *head,
                         struct ed_draft *text)
{
        if (ask->include_usage) {
                ed_draft_add_str(text, "data: ");
                head_add(ask, head, "chat.completion.chunk", text);
                ed_draft_add_str(text, "\"choices\":[],");
                usage_add(ask, text);
                ed_draft_add_str(text, "}\n\n");
        }
        ed_draft_add_str(text, "data: [DONE]\n\n");
}
