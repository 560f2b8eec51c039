/*
 * batch/answer/usage.c - finds the usage in an answer.
 *
 * A valid JSON text can be read backwards, because backslashes occur only in strings:
 * a string begins at the last quote before its end with an even number of backslashes before it.
 */
#include "batch/answer/usage.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "eddy/json.h"

enum { TAIL_BYTES = 4096 };

/* The counts as providers report them, before their differences are settled. */
struct usage_counts {
        uint64_t prompt; /* with cached ones */
        uint64_t input;  /* of Anthropic: without cached ones */
        uint64_t output;
        uint64_t total;
        uint64_t cached;
        uint64_t reasoning;
        uint64_t cache_read; /* of Anthropic: not part of 'input' */
        uint64_t cache_written;
        uint64_t thoughts; /* of Gemini: not part of 'output' */
        uint64_t tool_prompt;
        bool has_any, has_prompt;
        bool is_done;
};

#define COUNT(member) offsetof(struct usage_counts, member)

static const struct {
        const char *name;
        size_t at;
} usage_names[] = {
        { "prompt_tokens", COUNT(prompt) },
        { "completion_tokens", COUNT(output) },
        { "input_tokens", COUNT(input) },
        { "output_tokens", COUNT(output) },
        { "total_tokens", COUNT(total) },
        { "prompt_cache_hit_tokens", COUNT(cached) },
        { "cache_read_input_tokens", COUNT(cache_read) },
        { "cache_creation_input_tokens", COUNT(cache_written) },
        { "promptTokenCount", COUNT(prompt) },
        { "candidatesTokenCount", COUNT(output) },
        { "totalTokenCount", COUNT(total) },
        { "cachedContentTokenCount", COUNT(cached) },
        { "thoughtsTokenCount", COUNT(thoughts) },
        { "toolUsePromptTokenCount", COUNT(tool_prompt) },
        { "prompt_eval_count", COUNT(prompt) },
        { "eval_count", COUNT(output) },
};

/* Compare without conversion: no server writes escapes in these names. */
static bool name_is(const struct eddy_json_value *name, const char *text)
{
        size_t bytes = strlen(text);

        return name->bytes == bytes + 2 && memcmp(name->text + 1, text, bytes) == 0;
}

static bool usage_count_read(const struct eddy_json_value *value, uint64_t *ret_count)
{
        double real;

        if (value->kind != EDDY_JSON_NUMBER)
                return false;
        if (eddy_json_uint64(value, ret_count) < 0) {
                if (eddy_json_double(value, &real) < 0 || !(real >= 0))
                        return false;
                *ret_count =
                        real < (double) ED_USAGE_TOKENS_MAX ? (uint64_t) real : ED_USAGE_TOKENS_MAX;
        }
        if (*ret_count > ED_USAGE_TOKENS_MAX)
                *ret_count = ED_USAGE_TOKENS_MAX;
        return true;
}

static void usage_count_take(struct usage_counts *counts, const struct eddy_json_value *name,
                             const struct eddy_json_value *value)
{
        uint64_t count;

        for (size_t i = 0; i < sizeof(usage_names) / sizeof(usage_names[0]); i++) {
                if (!name_is(name, usage_names[i].name))
                        continue;
                if (!usage_count_read(value, &count))
                        return;
                memcpy((char *) counts + usage_names[i].at, &count, sizeof(count));
                counts->has_any = true;
                if (usage_names[i].at == COUNT(prompt))
                        counts->has_prompt = true;
                return;
        }
}

/* Take the details of a count. */
static void usage_details_take(struct usage_counts *counts, const struct eddy_json_value *details)
{
        struct eddy_json_value value;

        if (eddy_json_get(details, "cached_tokens", &value) == 0)
                (void) usage_count_read(&value, &counts->cached);
        if (eddy_json_get(details, "reasoning_tokens", &value) == 0)
                (void) usage_count_read(&value, &counts->reasoning);
}

/* Take the counts in an object, and the details of counts. */
static void usage_counts_take(struct usage_counts *counts, const struct eddy_json_value *usage)
{
        static const char *const details[] = { "prompt_tokens_details", "completion_tokens_details",
                                               "input_tokens_details", "output_tokens_details" };
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;
        size_t i;

        if (usage->kind != EDDY_JSON_OBJECT || eddy_json_walk(usage, &cursor) < 0)
                return;
        while (eddy_json_next(&cursor, &name, &value)) {
                for (i = 0; i < 4 && !name_is(&name, details[i]); i++)
                        ;
                if (i < 4)
                        usage_details_take(counts, &value);
                else
                        usage_count_take(counts, &name, &value);
        }
}

/* Take "usage" or "usageMetadata". Cohere has the counts in "usage.tokens". */
static void usage_take(struct usage_counts *counts, const struct eddy_json_value *usage)
{
        struct eddy_json_value tokens;

        usage_counts_take(counts, usage);
        if (!counts->has_any && usage->kind == EDDY_JSON_OBJECT &&
            eddy_json_get(usage, "tokens", &tokens) == 0)
                usage_counts_take(counts, &tokens);
}

/* Take a member of the answer. */
static void answer_member_take(struct usage_counts *counts, const struct eddy_json_value *name,
                               const struct eddy_json_value *value)
{
        if (name_is(name, "usage") || name_is(name, "usageMetadata")) {
                usage_take(counts, value);
                counts->is_done = counts->has_any;
        } else if (name_is(name, "prompt_eval_count") || name_is(name, "eval_count")) {
                usage_count_take(counts, name, value);
                counts->is_done = counts->prompt > 0 && counts->output > 0;
        }
}

static bool is_json_space(char c)
{
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the first quote of the string whose last quote is at 'last', or NULL if it is before
 * 'start'. */
static const char *string_begin(const char *start, const char *last)
{
        const char *quote = last, *before;

        for (;;) {
                quote = memrchr(start, '"', (size_t) (quote - start));
                if (!quote)
                        return NULL;
                before = quote;
                while (before > start && before[-1] == '\\')
                        before--;
                /* How many backslashes are before the start is not known. */
                if (before == start)
                        return NULL;
                if ((quote - before) % 2 == 0)
                        return quote;
        }
}

/* Take the member whose name is the string from 'quote' to 'last', and whose value is after
 * 'colon'. */
static void tail_take(struct usage_counts *counts, const char *quote, const char *last,
                      const char *colon, const char *value_end)
{
        struct eddy_json_value name = { quote, (size_t) (last - quote) + 1, EDDY_JSON_STRING };
        struct eddy_json_value value;

        /* The longest of the names that count. */
        if (name.bytes > sizeof("\"prompt_eval_count\""))
                return;
        if (eddy_json_parse(colon + 1, (size_t) (value_end - colon) - 1, NULL, &value, NULL) == 0)
                answer_member_take(counts, &name, &value);
}

/* Read the members of the object that ends at 'end', from the last one on, not beyond 'start'. */
static void tail_read(struct usage_counts *counts, const char *start, const char *end)
{
        const char *at, *value_end, *colon = NULL, *quote;
        int depth = 1;

        while (end > start && is_json_space(end[-1]))
                end--;
        if (end == start || end[-1] != '}')
                return;
        value_end = end - 1;
        for (at = end - 1; at > start && depth > 0 && !counts->is_done;) {
                switch (*--at) {
                case '"':
                        quote = string_begin(start, at);
                        if (!quote)
                                return;
                        if (depth == 1 && colon) {
                                tail_take(counts, quote, at, colon, value_end);
                                colon = NULL;
                        }
                        at = quote;
                        break;
                case ']':
                case '}':
                        depth++;
                        break;
                case '[':
                case '{':
                        depth--;
                        break;
                case ':':
                        if (depth == 1)
                                colon = at;
                        break;
                case ',':
                        if (depth == 1)
                                value_end = at;
                        break;
                default:
                        break;
                }
        }
}

static void body_walk(struct usage_counts *counts, const char *body, size_t bytes)
{
        struct eddy_json_value object = { body, bytes, EDDY_JSON_OBJECT }, name, value;
        struct eddy_json_cursor cursor;

        while (object.bytes > 0 && is_json_space(*object.text)) {
                object.text++;
                object.bytes--;
        }
        while (object.bytes > 0 && is_json_space(object.text[object.bytes - 1]))
                object.bytes--;
        if (object.bytes == 0 || *object.text != '{' || eddy_json_walk(&object, &cursor) < 0)
                return;
        while (!counts->is_done && eddy_json_next(&cursor, &name, &value))
                answer_member_take(counts, &name, &value);
}

static void usage_settle(const struct usage_counts *counts, struct ed_usage *usage)
{
        usage->input = counts->has_prompt
                               ? counts->prompt
                               : counts->input + counts->cache_read + counts->cache_written;
        usage->input += counts->tool_prompt;
        usage->output = counts->output + counts->thoughts;
        if (usage->input == 0 && counts->total > usage->output)
                usage->input = counts->total - usage->output;
        usage->cached = counts->cached > 0 ? counts->cached : counts->cache_read;
        if (usage->input > ED_USAGE_TOKENS_MAX)
                usage->input = ED_USAGE_TOKENS_MAX;
        if (usage->output > ED_USAGE_TOKENS_MAX)
                usage->output = ED_USAGE_TOKENS_MAX;
        if (usage->cached > usage->input)
                usage->cached = usage->input;
        usage->reasoning = counts->reasoning > 0 ? counts->reasoning : counts->thoughts;
        if (usage->reasoning > usage->output)
                usage->reasoning = usage->output;
}

int ed_usage_read(const char *body, size_t bytes, struct ed_usage *ret_usage)
{
        struct usage_counts counts = { 0 };
        size_t skipped = bytes > TAIL_BYTES ? bytes - TAIL_BYTES : 0;

        *ret_usage = (struct ed_usage){ 0 };
        if (bytes == 0)
                return -ENOENT;
        tail_read(&counts, body + skipped, body + bytes);
        if (!counts.is_done && skipped > 0) {
                counts = (struct usage_counts){ 0 };
                body_walk(&counts, body, bytes);
        }
        if (!counts.has_any)
                return -ENOENT;
        usage_settle(&counts, ret_usage);
        return 0;
}
