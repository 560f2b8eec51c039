/*
 * batch/request/api_path.c - the table of paths.
 */
#include "batch/request/api_path.h"

#include <stddef.h>
#include <string.h>

/* The ends of paths. APIs that return sound, files or plain text are not in the table. */
static const char *const ends[] = {
        /* OpenAI, and servers with its API: vLLM, Ollama, llama.cpp, Azure, OpenRouter, Groq ... */
        "/chat/completions",
        "/completions",
        "/responses",
        "/embeddings",
        "/moderations",
        "/images/generations",
        /* vLLM, Jina, Cohere */
        "/rerank",
        "/score",
        "/classify",
        "/pooling",
        "/v2/chat",
        "/v1/embed",
        "/v2/embed",
        /* Anthropic, also on Vertex AI */
        "/messages",
        "/messages/count_tokens",
        ":rawPredict",
        ":streamRawPredict",
        /* Gemini */
        ":generateContent",
        ":streamGenerateContent",
        ":embedContent",
        ":batchEmbedContents",
        ":countTokens",
        /* Ollama */
        "/api/chat",
        "/api/generate",
        "/api/embed",
        "/api/embeddings",
};

bool ed_api_path_is(const char *url)
{
        size_t bytes = strcspn(url, "?#");

        while (bytes > 0 && url[bytes - 1] == '/')
                bytes--;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                size_t end_bytes = strlen(ends[i]);

                if (bytes >= end_bytes && memcmp(url + bytes - end_bytes, ends[i], end_bytes) == 0)
                        return true;
        }
        return false;
}
