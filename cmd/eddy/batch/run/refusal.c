/*
 * batch/run/refusal.c - the error in a body, and the rules.
 */
#include "batch/run/refusal.h"

#include <string.h>
#include <strings.h>

#include "batch/answer/answer_line.h"
#include "batch/answer/reasons.h"
#include "eddy/json.h"
#include "eddy/ratelimit.h"

enum { DELAY_BYTES = 32 };

/* A body that is an object, or a list that begins with one. Zero if it is neither. */
struct error {
        struct eddy_json_value root;
        struct eddy_json_value message;
};

static void error_find(struct error *error, const char *body, size_t bytes)
{
        struct eddy_json_value whole;

        *error = (struct error){ .root.text = NULL };
        if (bytes == 0 || eddy_json_parse(body, bytes, NULL, &whole, NULL) < 0)
                return;
        if (whole.kind != EDDY_JSON_ARRAY || eddy_json_get(&whole, "[0]", &error->root) < 0)
                error->root = whole;
        if (!ed_reason_find(&error->root, &error->message) ||
            error->message.kind != EDDY_JSON_STRING)
                error->message = (struct eddy_json_value){ .text = NULL };
}

/* Keep the code of an error such as {"error":{"code":"insufficient_quota"}}. */
static void code_read(struct ed_refusal *refusal, const struct error *error)
{
        static const char *const paths[] = { "error.code", "error.type", "code", "type" };
        struct eddy_json_value value;

        refusal->code[0] = '\0';
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
                if (eddy_json_get(&error->root, paths[i], &value) == 0 &&
                    eddy_json_string(&value, refusal->code, sizeof(refusal->code)) > 0)
                        return;
        refusal->code[0] = '\0';
}

static bool has_code(const struct error *error, const char *code)
{
        static const char *const paths[] = {
                "error.code", "error.type", "error.details.error_code", "code", "type", "error",
        };
        struct eddy_json_value value;

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
                if (eddy_json_get(&error->root, paths[i], &value) == 0 &&
                    eddy_json_is(&value, code))
                        return true;
        return false;
}

/* The message is compared as it is in the body, where the texts of rules have no escapes. */
static bool has_text(const struct error *error, const char *text)
{
        size_t bytes = strlen(text), quote = 1;

        return error->message.text && error->message.bytes > quote + bytes &&
               strncasecmp(error->message.text + quote, text, bytes) == 0;
}

/* Read the "retryDelay" of an item of error.details, a google.rpc.RetryInfo, as in "36.5s". */
static void delay_read(struct eddy_retry_hint *hint, const struct error *error)
{
        struct eddy_json_value details, item, value;
        struct eddy_json_cursor cursor;
        char text[DELAY_BYTES];

        if (eddy_json_get(&error->root, "error.details", &details) < 0 ||
            details.kind != EDDY_JSON_ARRAY || eddy_json_walk(&details, &cursor) < 0)
                return;
        while (!hint->has_wait && eddy_json_next(&cursor, NULL, &item))
                hint->has_wait = item.kind == EDDY_JSON_OBJECT &&
                                 eddy_json_get(&item, "retryDelay", &value) == 0 &&
                                 eddy_json_string(&value, text, sizeof(text)) > 0 &&
                                 eddy_ratelimit_duration_parse(text, &hint->wait_ns) == 0;
}

/* Returns true if a rule is about a status. A stream may report an error after a status of success. */
static bool has_status(const struct ed_vendor_rule *rule, int status)
{
        return rule->status == status ||
               (ed_answer_status_is_ok(status) && rule->code && rule->meaning == ED_MEANS_USED_UP);
}

static bool has_needs(const struct ed_vendor_rule *rule, bool is_limited,
                      const struct eddy_retry_hint *hint, const struct error *error)
{
        struct eddy_json_value value;

        switch (rule->needs) {
        case ED_NEEDS_TIME:
                return hint->has_wait;
        case ED_NEEDS_LIMIT:
                return is_limited;
        case ED_NEEDS_DOCUMENTATION:
                return eddy_json_get(&error->root, "documentation_url", &value) == 0;
        case ED_NEEDS_ERROR_TYPE:
                return eddy_json_get(&error->root, "type", &value) == 0 &&
                       eddy_json_is(&value, "error");
        default:
                return true;
        }
}

void ed_refusal_read(struct ed_refusal *ret_refusal, int status, bool is_limited, const char *body,
                     size_t bytes, struct eddy_retry_hint *hint)
{
        struct error error;

        ret_refusal->meaning = ED_MEANS_OTHER;
        ret_refusal->rule = NULL;
        error_find(&error, body, bytes);
        code_read(ret_refusal, &error);
        if (!hint->has_wait)
                delay_read(hint, &error);
        for (const struct ed_vendor_rule *rule = ed_vendor_rules; rule->vendor; rule++) {
                if (!has_status(rule, status) || !has_needs(rule, is_limited, hint, &error) ||
                    (rule->code && !has_code(&error, rule->code)) ||
                    (rule->text && !has_text(&error, rule->text)))
                        continue;
                ret_refusal->meaning = rule->meaning;
                ret_refusal->rule = rule;
                return;
        }
}

const char *ed_refusal_reason(const struct ed_refusal *refusal)
{
        const struct ed_vendor_rule *rule = refusal->rule;

        if (rule && rule->code)
                return rule->code;
        return rule && rule->text ? rule->text : "402 Payment Required";
}
