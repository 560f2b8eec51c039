/*
 * mock/openai.h - requests and answers in the format of OpenAI's API: embeddings, chat completions
 * and errors; no I/O.
 */
#ifndef ED_CMD_MOCK_OPENAI_H
#define ED_CMD_MOCK_OPENAI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/draft.h"
#include "eddy/def.h"
#include "eddy/json.h"

enum {
        ED_OPENAI_MESSAGE_BYTES = 320,
        ED_OPENAI_MODEL_BYTES_MAX = 256,
        ED_OPENAI_INPUTS_MAX = 2048, /* texts in a request for embeddings */
        ED_OPENAI_CHOICES_MAX = 128,
        ED_OPENAI_WORDS_MAX = 10000, /* of a choice */
};

/* An error body. The strings except 'message' are static, or NULL. */
struct ed_openai_fault {
        int status;
        const char *type;
        const char *param;
        const char *code;
        char message[ED_OPENAI_MESSAGE_BYTES];
};

/* The defaults for all requests. */
struct ed_openai_opts {
        uint32_t dimensions; /* of a vector */
        uint32_t words;      /* of a choice; 0: depends on the messages */
};

/* A request for embeddings or a chat completion. Borrows the body of the request. */
struct ed_openai_ask {
        struct eddy_json_value model; /* a string */
        struct eddy_json_value input; /* embeddings */
        uint64_t prompt_tokens;
        uint32_t dimensions;
        bool base64;
        uint64_t hash; /* of the messages */
        uint32_t choices;
        uint32_t tokens_max; /* per choice; 0: not limited */
        uint32_t words;      /* as in struct ed_openai_opts */
        bool stream;
        bool include_usage;
};

/*
 * Read a request. Values that the mock does not use are ignored.
 *
 * Errors: -EINVAL  the request is not valid; '*ret_fault' is the answer
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_openai_read_embeddings(const char *body, size_t bytes,
                                            const struct ed_openai_opts *opts,
                                            struct ed_openai_ask *ret_ask,
                                            struct ed_openai_fault *ret_fault);
EDDY_MUST_USE int ed_openai_read_chat(const char *body, size_t bytes,
                                      const struct ed_openai_opts *opts,
                                      struct ed_openai_ask *ret_ask,
                                      struct ed_openai_fault *ret_fault);

/* Returns the number of tokens of all choices. */
uint64_t ed_openai_completion_tokens(const struct ed_openai_ask *ask);

/* The part that all events of an answer share. */
struct ed_openai_head {
        const char *id; /* at most 40 bytes, no quotes */
        int64_t created_s;
};

/* Append answers. If memory is short, the text is marked as failed. */
void ed_openai_write_embeddings(const struct ed_openai_ask *ask, struct ed_draft *text);
void ed_openai_write_chat(const struct ed_openai_ask *ask, const struct ed_openai_head *head,
                          struct ed_draft *text);
void ed_openai_write_model(const char *model, size_t bytes, struct ed_draft *text);
void ed_openai_write_fault(const struct ed_openai_fault *fault, struct ed_draft *text);

/*
 * Append event number 'step' of a choice of a stream: the role, then the words, then the end.
 * Returns false after the last event.
 */
bool ed_openai_write_event(const struct ed_openai_ask *ask, const struct ed_openai_head *head,
                           uint32_t choice, uint32_t step, struct ed_draft *text);

/* Append the end of a stream: the usage, if the request asks for it, and [DONE]. */
void ed_openai_write_end(const struct ed_openai_ask *ask, const struct ed_openai_head *head,
                         struct ed_draft *text);

/* Fill in an error. */
EDDY_PRINTF(5, 6)
void ed_openai_fault_set(struct ed_openai_fault *fault, int status, const char *param,
                         const char *code, const char *format, ...);

#endif
