/*
 * batch/answer/rule.c - see rule.h.
 */
#include "batch/answer/rule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/answer/body_error.h"
#include "batch/answer/reasons.h"
#include "common/excerpt.h"
#include "common/outcome.h"
#include "common/text_find.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

/* Parts of messages, after which there is an excerpt of the answer. */
#define HOLDS_NOT " does not hold: "
#define BEGINS    ": it begins with "

enum { SHOWN_BYTES = 160, CONTENT_SHOWN_BYTES = 40 };

void ed_rule_fini(struct ed_rule *rule)
{
        ed_condition_free(rule->ok);
        ed_condition_free(rule->retry_if);
        ed_schema_free(rule->schema);
        *rule = (struct ed_rule){ 0 };
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* Describe a content that is not JSON: its beginning often shows the reason, such as ```json. */
static void content_fault(const char *text, int64_t bytes, char fault[ED_SCHEMA_ERROR_BYTES])
{
        char begin[CONTENT_SHOWN_BYTES];

        while (bytes > 0 && (*text == ' ' || *text == '\n' || *text == '\r' || *text == '\t'))
                text++, bytes--;
        if (bytes > 0)
                snprintf(fault, ED_SCHEMA_ERROR_BYTES, "its content is not JSON" BEGINS "%s",
                         ed_excerpt_within(begin, sizeof(begin), text, (size_t) bytes));
        else if (bytes == 0)
                snprintf(fault, ED_SCHEMA_ERROR_BYTES, "its content is empty");
}

/*
 * Check the JSON in the content of a chat completion, or else the body. Returns 1 if the schema accepts
 * it, or there is none; otherwise 0, and 'fault' is the reason. Errors: -ENOMEM
 */
static int schema_accepts(const struct ed_rule *rule, const char *body, size_t bytes,
                          char fault[ED_SCHEMA_ERROR_BYTES])
{
        struct eddy_json_value whole, content;
        char *text;
        int64_t text_bytes;
        int result = 0;

        if (!rule->schema)
                return 1;
        snprintf(fault, ED_SCHEMA_ERROR_BYTES, "it is not JSON");
        if (bytes == 0 || eddy_json_parse(body, bytes, NULL, &whole, NULL) < 0)
                return 0;
        if (eddy_json_get(&whole, "choices[0].message.content", &content) < 0 ||
            content.kind != EDDY_JSON_STRING)
                return ed_schema_check(rule->schema, &whole, fault);
        snprintf(fault, ED_SCHEMA_ERROR_BYTES, "its content is not JSON");
        text = eddy_malloc(content.bytes);
        if (!text)
                return -ENOMEM;
        text_bytes = eddy_json_string(&content, text, content.bytes);
        if (text_bytes < 0 || eddy_json_parse(text, (size_t) text_bytes, NULL, &whole, NULL) < 0)
                content_fault(text, text_bytes, fault);
        else
                result = ed_schema_check(rule->schema, &whole, fault);
        eddy_free(text);
        return result;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Without --ok, the body of an API must be JSON without an error. Few bodies have this name. */
static int body_judge(const struct ed_condition_answer *answer)
{
        static const char name[] = "\"error\"";
        const char *body = answer->body;
        size_t bytes = answer->body_bytes;
        struct eddy_json_value whole, error;

        if (bytes == 0 || (!answer->is_json && eddy_json_check(body, bytes, NULL, NULL) < 0))
                return ED_E_ANSWER_NOT_JSON;
        if (!memmem(body, bytes, name, sizeof(name) - 1) ||
            eddy_json_parse(body, bytes, NULL, &whole, NULL) < 0)
                return 0;
        return ed_body_error_find(&whole, &error) ? ED_E_ANSWER_HAS_ERROR : 0;
}

static int answer_judge(const struct ed_rule *rule, bool is_api,
                        const struct ed_condition_answer *answer)
{
        bool has_status = ed_answer_status_is_ok(answer->status);
        int holds;

        if (rule->ok) {
                holds = ed_condition_holds(rule->ok, answer);
                if (holds < 0)
                        return holds;
                return holds ? 0 : has_status ? ED_E_ANSWER_NOT_OK : 1;
        }
        if (!has_status)
                return 1;
        return is_api ? body_judge(answer) : 0;
}

int ed_rule_judge(const struct ed_rule *rule, bool is_api, const struct ed_condition_answer *answer)
{
        char fault[ED_SCHEMA_ERROR_BYTES];
        int judged = answer_judge(rule, is_api, answer), accepted;

        if (judged != 0)
                return judged;
        accepted = schema_accepts(rule, answer->body, answer->body_bytes, fault);
        return accepted < 0 ? accepted : accepted ? 0 : ED_E_ANSWER_NOT_SCHEMA;
}

/* Write the message of a server. Returns false if the body has none. */
static bool message_show(const void *body, size_t bytes, char shown[SHOWN_BYTES])
{
        struct eddy_json_value whole, message;
        char text[1024];
        int64_t n;

        if (bytes == 0 || eddy_json_parse(body, bytes, NULL, &whole, NULL) < 0 ||
            !ed_reason_find(&whole, &message))
                return false;
        n = eddy_json_string(&message, text, sizeof(text));
        if (n >= 0)
                ed_excerpt_within(shown, SHOWN_BYTES, text, (size_t) n);
        else
                ed_excerpt_within(shown, SHOWN_BYTES, message.text, message.bytes);
        return true;
}

void ed_rule_describe(const struct ed_rule *rule, int error, const void *body, size_t bytes,
                      char *text, size_t room)
{
        char shown[SHOWN_BYTES], condition[ED_EXCERPT_BYTES], fault[ED_SCHEMA_ERROR_BYTES];

        if (error == ED_E_ANSWER_NOT_SCHEMA) {
                if (schema_accepts(rule, body, bytes, fault) < 0)
                        *fault = '\0';
                snprintf(text, room, "--schema does not accept the answer: %s", fault);
                return;
        }
        if (error == ED_E_ANSWER_NOT_JSON && bytes == 0) {
                snprintf(text, room, "the body is empty");
                return;
        }
        if (error == ED_E_ANSWER_NOT_JSON || !message_show(body, bytes, shown))
                ed_excerpt_within(shown, sizeof(shown), body ? body : "", bytes);
        if (error == ED_E_ANSWER_NOT_JSON) {
                snprintf(text, room, "the body is not JSON: %s", shown);
        } else if (error == ED_E_ANSWER_HAS_ERROR) {
                snprintf(text, room, "the body has an error: %s", shown);
        } else {
                ed_excerpt(condition, rule->ok_text, strlen(rule->ok_text));
                snprintf(text, room, "--ok %s" HOLDS_NOT "%s", condition, shown);
        }
}

size_t ed_rule_cause_bytes(const char *message)
{
        const char *mark = NULL;

        if (strncmp(message, "--ok ", 5) == 0)
                mark = strstr(message, HOLDS_NOT);
        else if (strncmp(message, "--schema ", 9) == 0)
                mark = strstr(message, BEGINS);
        return mark ? (size_t) (mark - message) : strlen(message);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Find the body that a line keeps. A body that is not JSON has no bytes. */
static void line_body(const struct ed_answer_seen *seen, struct ed_condition_answer *answer)
{
        struct eddy_json_value body, inner;

        if (seen->response.kind != EDDY_JSON_OBJECT ||
            eddy_json_get(&seen->response, "body", &body) < 0)
                return;
        if (eddy_json_get(&body, "_text", &inner) == 0 ||
            eddy_json_get(&body, "_base64", &inner) == 0 ||
            eddy_json_get(&body, "_file", &inner) == 0)
                return;
        if (eddy_json_get(&body, "_json", &inner) == 0)
                body = inner;
        answer->body = body.text;
        answer->body_bytes = body.bytes;
}

static bool begins_with(const char *at, const char *end, const char *begin)
{
        size_t bytes = strlen(begin);

        return (size_t) (end - at) >= bytes && memcmp(at, begin, bytes) == 0;
}

static const char *space_skip(const char *at, const char *end)
{
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
                at++;
        return at;
}

/* Returns where the value begins if the next member of an object is "body", else NULL. */
static const char *body_begin(const struct eddy_json_cursor *cursor)
{
        static const char name[] = "\"body\"";
        const char *end = cursor->end, *at = space_skip(cursor->at, end);

        if (at < end && *at == ',')
                at = space_skip(at + 1, end);
        if (!begins_with(at, end, name))
                return NULL;
        at = space_skip(at + sizeof(name) - 1, end);
        return space_skip(at + (at < end), end); /* after the colon */
}

/* Returns true if the body of a response is not JSON, or is in another file. Reads only the begin of the body. */
static bool body_is_packed(const struct eddy_json_value *response)
{
        static const char *const begins[] = { "{\"_text\":", "{\"_base64\":", "{\"_file\":" };
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;
        const char *at = NULL, *end = response->text + response->bytes;

        if (eddy_json_walk(response, &cursor) < 0)
                return false;
        while (!(at = body_begin(&cursor)) && eddy_json_next(&cursor, &name, &value))
                if (eddy_json_is(&name, "body")) { /* written with escapes */
                        at = value.text;
                        break;
                }
        for (size_t i = 0; at && i < sizeof(begins) / sizeof(begins[0]); i++)
                if (begins_with(at, end, begins[i]))
                        return true;
        return false;
}

/* Returns true if a line may have an error in its body, or a body that is not JSON. */
static bool is_suspect(const struct ed_answer_seen *seen)
{
        static const char name[] = "\"error\"";
        const struct eddy_json_value *response = &seen->response;

        return ed_text_has(response->text, response->bytes, name, sizeof(name) - 1) ||
               body_is_packed(response);
}

static int line_judge_default(const struct ed_answer_seen *seen)
{
        struct ed_condition_answer answer = { .status = seen->status };

        if (!seen->is_ok)
                return ED_RULE_LINE_FAILED;
        if (!is_suspect(seen))
                return ED_RULE_LINE_OK;
        line_body(seen, &answer);
        return body_judge(&answer) == 0 ? ED_RULE_LINE_OK : ED_RULE_LINE_DOUBTED;
}

static int line_judge(const struct ed_rule *rule, const struct ed_answer_seen *seen, bool is_output)
{
        struct ed_condition_answer answer = { .status = seen->status };
        int holds;

        if (!rule->ok)
                return line_judge_default(seen);
        if (seen->has_fault || seen->status == 0)
                return ED_RULE_LINE_FAILED;
        if (ed_condition_needs_headers(rule->ok))
                return is_output || seen->is_ok ? ED_RULE_LINE_OK : ED_RULE_LINE_FAILED;
        line_body(seen, &answer);
        holds = ed_condition_holds(rule->ok, &answer);
        if (holds < 0)
                return holds;
        return holds ? ED_RULE_LINE_OK : ED_RULE_LINE_FAILED;
}

/* Returns true if a line has the whole answer to its request. An empty body is written as {}. */
static bool has_answer(const struct ed_answer_seen *seen)
{
        struct eddy_json_value body, value;
        uint64_t rows = 0;

        if (!ed_answer_status_is_ok(seen->status) || seen->response.kind != EDDY_JSON_OBJECT ||
            eddy_json_get(&seen->response, "body", &body) < 0 || body.bytes <= 2 ||
            eddy_json_get(&body, "_file", &value) == 0)
                return false;
        return seen->meta.kind != EDDY_JSON_OBJECT ||
               eddy_json_get(&seen->meta, "rows", &value) < 0 ||
               (eddy_json_uint64(&value, &rows) == 0 && rows <= 1);
}

/*
 * Returns true if the error of a line is the judgement of an earlier run. Without --ok, the rule that
 * gave the last two codes is still that of the run.
 */
static bool is_judgement(const struct ed_rule *rule, const struct ed_answer_seen *seen)
{
        static const int errors[] = { ED_E_ANSWER_NOT_OK, ED_E_ANSWER_NOT_SCHEMA,
                                      ED_E_ANSWER_HAS_ERROR, ED_E_ANSWER_NOT_JSON };
        size_t count = rule->ok ? 4 : 2;

        if (!seen->code || (rule->ok && ed_condition_needs_headers(rule->ok)))
                return false;
        for (size_t i = 0; i < count; i++) {
                const char *code = ed_outcome_of(errors[i])->code;
                size_t bytes = strlen(code);

                if (seen->code_bytes == bytes + 2 && memcmp(seen->code + 1, code, bytes) == 0)
                        return has_answer(seen);
        }
        return false;
}

int ed_rule_judge_line(const struct ed_rule *rule, const struct ed_answer_seen *line,
                       bool is_output)
{
        struct ed_answer_seen seen = *line;
        struct ed_condition_answer answer = { .status = seen.status };
        char fault[ED_SCHEMA_ERROR_BYTES];
        int judged, accepted;

        if (is_judgement(rule, line)) {
                seen.has_fault = false;
                seen.is_ok = true;
        }
        judged = line_judge(rule, &seen, is_output);
        if (judged <= ED_RULE_LINE_FAILED || !rule->schema)
                return judged;
        line_body(&seen, &answer);
        accepted = schema_accepts(rule, answer.body, answer.body_bytes, fault);
        return accepted < 0 ? accepted : accepted ? judged : ED_RULE_LINE_FAILED;
}
