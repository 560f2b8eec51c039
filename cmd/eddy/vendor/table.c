/*
 * vendor/table.c - the table of vendors. `tools/vendor-table` makes docs/vendors.md from it. Each
 * row needs a source. The rules of "http" are for all APIs.
 */
#include "vendor/table.h"

/* clang-format off */

#define RFC_6585           "https://www.rfc-editor.org/rfc/rfc6585#section-4"
#define RFC_9110_402       "https://www.rfc-editor.org/rfc/rfc9110#section-15.5.3"
#define RFC_9110_413       "https://www.rfc-editor.org/rfc/rfc9110#section-15.5.14"
#define RFC_9110_WAIT      "https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3"
#define OPENAI_ERRORS      "https://platform.openai.com/docs/guides/error-codes"
#define OPENAI_LIMITS      "https://platform.openai.com/docs/guides/rate-limits"
#define OPENAI_HARD_LIMIT  "https://github.com/dfinke/PowerShellAI/issues/127"
#define OPENAI_TOO_LARGE   "https://github.com/Aider-AI/aider/issues/1880"
#define ANTHROPIC_ERRORS   "https://platform.claude.com/docs/en/api/errors"
#define ANTHROPIC_LIMITS   "https://platform.claude.com/docs/en/api/rate-limits"
#define ANTHROPIC_CREDIT   "https://github.com/anthropics/claude-code/issues/66314"
#define GEMINI_RETRY_INFO  "https://github.com/googleapis/python-genai/issues/2044"
#define GEMINI_PREPAY      "https://ai.google.dev/gemini-api/docs/billing#prepay"
#define GROQ_LIMITS        "https://console.groq.com/docs/rate-limits"
#define GROQ_FLEX          "https://console.groq.com/docs/flex-processing"
#define CEREBRAS_LIMITS    "https://inference-docs.cerebras.ai/support/rate-limits"
#define CEREBRAS_BODY      "https://github.com/nminaya/grammar-nazi-bot/issues/958"
#define MISTRAL_ERRORS     "https://docs.mistral.ai/resources/error-glossary"
#define MISTRAL_RATE       "https://github.com/raycast/extensions/issues/31107"
#define MISTRAL_LIMITS     "https://github.com/mistralai/client-ts/issues/169"
#define DEEPSEEK_ERRORS    "https://api-docs.deepseek.com/quick_start/error_codes"
#define DEEPSEEK_BALANCE   "https://github.com/Aider-AI/aider/issues/4851"
#define MOONSHOT_RATE      "https://github.com/harry0703/MoneyPrinterTurbo/issues/339"
#define MOONSHOT_QUOTA     "https://github.com/MoonshotAI/kimi-code/pull/1857"
#define MOONSHOT_LIMITS    "https://www.kimi.com/help/kimi-api/api-rate-limits"
#define OPENROUTER_LIMITS  "https://openrouter.ai/docs/api_reference/limits"
#define GITHUB_LIMITS      "https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api"
#define TWITTER_CODES      "https://developer.twitter.com/en/docs/basics/response-codes"

const char *const ed_vendors[] = {
        "openai", "anthropic", "gemini", "groq", "cerebras", "mistral", "deepseek", "moonshot",
        "openrouter", "github", NULL,
};

const struct ed_vendor_rule ed_vendor_rules[] = {
        { "openai", 429, "insufficient_quota", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, OPENAI_ERRORS },
        { "openai", 429, "credit_balance_exhausted", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, OPENAI_ERRORS },
        { "openai", 429, "organization_spend_limit_exceeded", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, OPENAI_ERRORS },
        { "openai", 429, "project_spend_limit_exceeded", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, OPENAI_ERRORS },
        { "openai", 429, "organization_usage_limit_exceeded", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, OPENAI_ERRORS },
        { "openai", 400, "billing_hard_limit_reached", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, OPENAI_HARD_LIMIT },
        { "openai", 429, "billing_hard_limit_reached", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, OPENAI_HARD_LIMIT },
        { "openai", 429, NULL, "Request too large", ED_NEEDS_NOTHING, ED_MEANS_OTHER, 0, OPENAI_TOO_LARGE },
        { "anthropic", 400, NULL, "Your credit balance is too low", ED_NEEDS_ERROR_TYPE, ED_MEANS_USED_UP, 0, ANTHROPIC_CREDIT },
        { "anthropic", 400, NULL, "You have reached your specified API usage limits", ED_NEEDS_ERROR_TYPE, ED_MEANS_USED_UP, 0, ANTHROPIC_LIMITS },
        { "anthropic", 400, NULL, "You have reached your specified workspace API usage limits", ED_NEEDS_ERROR_TYPE, ED_MEANS_USED_UP, 0, ANTHROPIC_LIMITS },
        { "anthropic", 429, "enforced_spend_limit_reached", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, ANTHROPIC_LIMITS },
        { "gemini", 429, NULL, "Your prepayment credits are depleted", ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, GEMINI_PREPAY },
        { "moonshot", 429, "exceeded_current_quota_error", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, MOONSHOT_QUOTA },
        { "openrouter", 402, NULL, NULL, ED_NEEDS_TIME, ED_MEANS_PAUSE, 0, OPENROUTER_LIMITS },
        { "anthropic", 402, "billing_error", NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, ANTHROPIC_ERRORS },
        { "deepseek", 402, NULL, "Insufficient Balance", ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, DEEPSEEK_ERRORS },
        { "openrouter", 402, NULL, "Insufficient credits", ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, OPENROUTER_LIMITS },
        { "http", 402, NULL, NULL, ED_NEEDS_NOTHING, ED_MEANS_USED_UP, 0, RFC_9110_402 },
        { "http", 429, NULL, NULL, ED_NEEDS_NOTHING, ED_MEANS_PAUSE, 0, RFC_6585 },
        { "http", 503, NULL, NULL, ED_NEEDS_TIME, ED_MEANS_PAUSE, 0, RFC_9110_WAIT },
        { "http", 413, NULL, NULL, ED_NEEDS_TIME, ED_MEANS_WAIT, 0, RFC_9110_413 },
        { "http", 420, NULL, NULL, ED_NEEDS_TIME, ED_MEANS_PAUSE, 0, TWITTER_CODES },
        { "github", 403, NULL, NULL, ED_NEEDS_TIME, ED_MEANS_PAUSE, 0, GITHUB_LIMITS },
        { "github", 403, NULL, NULL, ED_NEEDS_LIMIT, ED_MEANS_PAUSE, 0, GITHUB_LIMITS },
        { "github", 403, NULL, "API rate limit exceeded", ED_NEEDS_DOCUMENTATION, ED_MEANS_PAUSE, 60, GITHUB_LIMITS },
        { "github", 403, NULL, "You have exceeded a secondary rate limit", ED_NEEDS_DOCUMENTATION, ED_MEANS_PAUSE, 60, GITHUB_LIMITS },
        { "groq", 498, "capacity_exceeded", NULL, ED_NEEDS_NOTHING, ED_MEANS_PAUSE, 0, GROQ_FLEX },
        { NULL, 0, NULL, NULL, ED_NEEDS_NOTHING, ED_MEANS_OTHER, 0, NULL },
};

const struct ed_dialect_header ed_dialect_headers[] = {
        { "openai", ED_WHEN_ALWAYS, "x-ratelimit-limit-requests", "{requests.limit}", OPENAI_LIMITS },
        { "openai", ED_WHEN_ALWAYS, "x-ratelimit-remaining-requests", "{requests.left}", OPENAI_LIMITS },
        { "openai", ED_WHEN_ALWAYS, "x-ratelimit-reset-requests", "{requests.reset:go}", OPENAI_LIMITS },
        { "openai", ED_WHEN_ALWAYS, "x-ratelimit-limit-tokens", "{tokens.limit}", OPENAI_LIMITS },
        { "openai", ED_WHEN_ALWAYS, "x-ratelimit-remaining-tokens", "{tokens.left}", OPENAI_LIMITS },
        { "openai", ED_WHEN_ALWAYS, "x-ratelimit-reset-tokens", "{tokens.reset:go}", OPENAI_LIMITS },
        { "anthropic", ED_WHEN_ALWAYS, "anthropic-ratelimit-requests-limit", "{requests.limit}", ANTHROPIC_LIMITS },
        { "anthropic", ED_WHEN_ALWAYS, "anthropic-ratelimit-requests-remaining", "{requests.left}", ANTHROPIC_LIMITS },
        { "anthropic", ED_WHEN_ALWAYS, "anthropic-ratelimit-requests-reset", "{requests.reset:at}", ANTHROPIC_LIMITS },
        { "anthropic", ED_WHEN_ALWAYS, "anthropic-ratelimit-tokens-limit", "{tokens.limit}", ANTHROPIC_LIMITS },
        { "anthropic", ED_WHEN_ALWAYS, "anthropic-ratelimit-tokens-remaining", "{tokens.left}", ANTHROPIC_LIMITS },
        { "anthropic", ED_WHEN_ALWAYS, "anthropic-ratelimit-tokens-reset", "{tokens.reset:at}", ANTHROPIC_LIMITS },
        { "anthropic", ED_WHEN_LIMITED, "retry-after", "{wait:s}", ANTHROPIC_LIMITS },
        { "groq", ED_WHEN_ALWAYS, "x-ratelimit-limit-requests", "{requests.limit}", GROQ_LIMITS },
        { "groq", ED_WHEN_ALWAYS, "x-ratelimit-remaining-requests", "{requests.left}", GROQ_LIMITS },
        { "groq", ED_WHEN_ALWAYS, "x-ratelimit-reset-requests", "{requests.reset:go}", GROQ_LIMITS },
        { "groq", ED_WHEN_ALWAYS, "x-ratelimit-limit-tokens", "{tokens.limit}", GROQ_LIMITS },
        { "groq", ED_WHEN_ALWAYS, "x-ratelimit-remaining-tokens", "{tokens.left}", GROQ_LIMITS },
        { "groq", ED_WHEN_ALWAYS, "x-ratelimit-reset-tokens", "{tokens.reset:go}", GROQ_LIMITS },
        { "groq", ED_WHEN_REFUSED, "retry-after", "{wait:s}", GROQ_LIMITS },
        { "cerebras", ED_WHEN_ALWAYS, "x-ratelimit-limit-requests-day", "{requests.limit}", CEREBRAS_LIMITS },
        { "cerebras", ED_WHEN_ALWAYS, "x-ratelimit-remaining-requests-day", "{requests.left}", CEREBRAS_LIMITS },
        { "cerebras", ED_WHEN_ALWAYS, "x-ratelimit-reset-requests-day", "{requests.reset}", CEREBRAS_LIMITS },
        { "cerebras", ED_WHEN_ALWAYS, "x-ratelimit-limit-tokens-minute", "{tokens.limit}", CEREBRAS_LIMITS },
        { "cerebras", ED_WHEN_ALWAYS, "x-ratelimit-remaining-tokens-minute", "{tokens.left}", CEREBRAS_LIMITS },
        { "cerebras", ED_WHEN_ALWAYS, "x-ratelimit-reset-tokens-minute", "{tokens.reset}", CEREBRAS_LIMITS },
        { "cerebras", ED_WHEN_SPENT, "x-ratelimit-limit-requests-day", "14400", CEREBRAS_LIMITS },
        { "cerebras", ED_WHEN_SPENT, "x-ratelimit-remaining-requests-day", "0", CEREBRAS_LIMITS },
        { "cerebras", ED_WHEN_SPENT, "x-ratelimit-reset-requests-day", "{wait}", CEREBRAS_LIMITS },
        { "mistral", ED_WHEN_ALWAYS, "x-ratelimit-limit-req-minute", "{requests.limit}", MISTRAL_LIMITS },
        { "mistral", ED_WHEN_ALWAYS, "x-ratelimit-remaining-req-minute", "{requests.left}", MISTRAL_LIMITS },
        { "mistral", ED_WHEN_ALWAYS, "x-ratelimit-limit-tokens-minute", "{tokens.limit}", MISTRAL_LIMITS },
        { "mistral", ED_WHEN_ALWAYS, "x-ratelimit-remaining-tokens-minute", "{tokens.left}", MISTRAL_LIMITS },
        { "moonshot", ED_WHEN_ALWAYS, "X-RateLimit-Limit", "{requests.limit}", MOONSHOT_LIMITS },
        { "moonshot", ED_WHEN_ALWAYS, "X-RateLimit-Remaining", "{requests.left}", MOONSHOT_LIMITS },
        { "moonshot", ED_WHEN_ALWAYS, "X-RateLimit-Reset", "{requests.reset:epoch}", MOONSHOT_LIMITS },
        { "openrouter", ED_WHEN_LIMITED, "X-RateLimit-Limit", "{requests.limit}", OPENROUTER_LIMITS },
        { "openrouter", ED_WHEN_LIMITED, "X-RateLimit-Remaining", "0", OPENROUTER_LIMITS },
        { "openrouter", ED_WHEN_LIMITED, "X-RateLimit-Reset", "{wait:epochms}", OPENROUTER_LIMITS },
        { "github", ED_WHEN_ALWAYS, "x-ratelimit-limit", "{requests.limit}", GITHUB_LIMITS },
        { "github", ED_WHEN_ALWAYS, "x-ratelimit-remaining", "{requests.left}", GITHUB_LIMITS },
        { "github", ED_WHEN_ALWAYS, "x-ratelimit-reset", "{requests.reset:epoch}", GITHUB_LIMITS },
        { "github", ED_WHEN_LIMITED, "retry-after", "{wait:s}", GITHUB_LIMITS },
        { "github", ED_WHEN_SPENT, "x-ratelimit-limit", "5000", GITHUB_LIMITS },
        { "github", ED_WHEN_SPENT, "x-ratelimit-remaining", "0", GITHUB_LIMITS },
        { "github", ED_WHEN_SPENT, "x-ratelimit-reset", "{wait:epoch}", GITHUB_LIMITS },
        { NULL, ED_WHEN_ALWAYS, NULL, NULL, NULL },
};

const struct ed_dialect_refusal ed_dialect_refusals[] = {
        { "openai", ED_WHEN_LIMITED, 429,
          "{\"error\":{\"message\":\"Rate limit reached. Please try again in {wait:go}.\",\"type\":\"requests\","
          "\"param\":null,\"code\":\"rate_limit_exceeded\"}}", OPENAI_ERRORS },
        { "openai", ED_WHEN_SPENT, 429,
          "{\"error\":{\"message\":\"You exceeded your current quota, please check your plan and billing details.\","
          "\"type\":\"insufficient_quota\",\"param\":null,\"code\":\"insufficient_quota\"}}", OPENAI_ERRORS },
        { "anthropic", ED_WHEN_LIMITED, 429,
          "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"This request would exceed the "
          "rate limit of your organization.\"},\"request_id\":\"{id}\"}", ANTHROPIC_ERRORS },
        { "anthropic", ED_WHEN_SPENT, 400,
          "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your credit balance is too low "
          "to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.\"},"
          "\"request_id\":\"{id}\"}", ANTHROPIC_CREDIT },
        { "gemini", ED_WHEN_LIMITED, 429,
          "{\"error\":{\"code\":429,\"message\":\"You exceeded your current quota, please check your plan and billing "
          "details. Please retry in {wait}s.\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":"
          "\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":[{\"quotaId\":"
          "\"GenerateRequestsPerMinutePerProjectPerModel-FreeTier\"}]},{\"@type\":"
          "\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"{wait}s\"}]}}", GEMINI_RETRY_INFO },
        { "gemini", ED_WHEN_SPENT, 429,
          "{\"error\":{\"code\":429,\"message\":\"Your prepayment credits are depleted. Please go to AI Studio to manage "
          "your project and billing.\",\"status\":\"RESOURCE_EXHAUSTED\"}}", GEMINI_PREPAY },
        { "groq", ED_WHEN_LIMITED, 429,
          "{\"error\":{\"message\":\"Rate limit reached on tokens per minute (TPM). Please try again in {wait:go}.\","
          "\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", GROQ_LIMITS },
        { "groq", ED_WHEN_SPENT, 429,
          "{\"error\":{\"message\":\"Rate limit reached on tokens per day (TPD). Please try again in {wait:go}.\","
          "\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", GROQ_LIMITS },
        { "cerebras", ED_WHEN_LIMITED, 429,
          "{\"message\":\"Requests per minute limit exceeded - too many requests sent.\",\"type\":\"too_many_requests_error\","
          "\"param\":\"quota\",\"code\":\"request_quota_exceeded\"}", CEREBRAS_BODY },
        { "cerebras", ED_WHEN_SPENT, 429,
          "{\"message\":\"Requests per day limit exceeded - too many requests sent.\",\"type\":\"too_many_requests_error\","
          "\"param\":\"quota\",\"code\":\"request_quota_exceeded\"}", CEREBRAS_BODY },
        { "mistral", ED_WHEN_LIMITED, 429,
          "{\"object\":\"error\",\"message\":\"Rate limit exceeded\",\"type\":\"rate_limited\",\"param\":null,"
          "\"code\":\"1300\",\"raw_status_code\":429}", MISTRAL_RATE },
        { "mistral", ED_WHEN_SPENT, 402,
          "{\"object\":\"error\",\"message\":\"Payment required\",\"type\":null,\"param\":null,"
          "\"code\":null}", MISTRAL_ERRORS },
        { "deepseek", ED_WHEN_LIMITED, 429,
          "{\"error\":{\"message\":\"Rate Limit Reached\"}}", DEEPSEEK_ERRORS },
        { "deepseek", ED_WHEN_SPENT, 402,
          "{\"error\":{\"message\":\"Insufficient Balance\",\"type\":\"unknown_error\",\"param\":null,"
          "\"code\":\"invalid_request_error\"}}", DEEPSEEK_BALANCE },
        { "moonshot", ED_WHEN_LIMITED, 429,
          "{\"error\":{\"message\":\"Your account request reached max request: 3, please try again after {wait:s} seconds\","
          "\"type\":\"rate_limit_reached_error\"}}", MOONSHOT_RATE },
        { "moonshot", ED_WHEN_SPENT, 429,
          "{\"error\":{\"message\":\"Your account is suspended due to insufficient balance, please recharge your account "
          "or check your plan and billing details\",\"type\":\"exceeded_current_quota_error\"}}", MOONSHOT_QUOTA },
        { "openrouter", ED_WHEN_LIMITED, 429,
          "{\"error\":{\"code\":429,\"message\":\"Rate limit exceeded\",\"metadata\":{\"error_type\":"
          "\"rate_limit_exceeded\"}}}", OPENROUTER_LIMITS },
        { "openrouter", ED_WHEN_SPENT, 402,
          "{\"error\":{\"code\":402,\"message\":\"Insufficient credits\",\"metadata\":{\"limit_source\":"
          "\"openrouter_credits\"}}}", OPENROUTER_LIMITS },
        { "github", ED_WHEN_LIMITED, 403,
          "{\"message\":\"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.\","
          "\"documentation_url\":\"https://docs.github.com/rest\",\"status\":\"403\"}", GITHUB_LIMITS },
        { "github", ED_WHEN_SPENT, 403,
          "{\"message\":\"API rate limit exceeded for user ID 1.\",\"documentation_url\":\"https://docs.github.com/rest\","
          "\"status\":\"403\"}", GITHUB_LIMITS },
        { NULL, ED_WHEN_ALWAYS, 0, NULL, NULL },
};
