/*
 * report/record.c - reading lines. Only the members that ed_answer_read() needs are required.
 */
#include "report/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/answer/reasons.h"
#include "batch/answer/usage.h"
#include "common/json_shown.h"
#include "common/url_parts.h"
#include "common/url_shown.h"
#include "eddy/json.h"
#include "eddy/rfc3339.h"
#include "eddy/time.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* Longer durations, above a year, are ignored. */
#define DURATION_MAX_MS ((double) 365 * 86400 * 1000)

/* Copy a text without NULs and without blanks at its end, shortened at a character boundary. */
static void text_keep(const char *text, size_t bytes, char *room, size_t room_bytes)
{
        size_t most = room_bytes - sizeof(ELLIPSIS), at = 0;
        bool is_cut;

        while (bytes > 0 && strchr(" \t\r\n", text[bytes - 1]) && text[bytes - 1])
                bytes--;
        is_cut = bytes > room_bytes - 1;
        if (is_cut) {
                bytes = most;
                while (bytes > 0 && ((unsigned char) text[bytes] & 0xc0) == 0x80)
                        bytes--;
        }
        for (size_t i = 0; i < bytes; i++)
                room[at++] = text[i] ? text[i] : ' ';
        room[at] = '\0';
        if (is_cut)
                memcpy(room + at, ELLIPSIS, sizeof(ELLIPSIS));
}

/* Copy the text of a string, or the JSON text of any other value as messages show it. */
static void value_keep(struct ed_record *record, const struct eddy_json_value *value, char *room,
                       size_t room_bytes)
{
        size_t quote = value->kind == EDDY_JSON_STRING ? 1 : 0;
        int64_t bytes =
                quote ? eddy_json_string(value, record->text, sizeof(record->text)) : -EINVAL;

        if (bytes < 0)
                bytes = (int64_t) ed_json_shown(record->text, sizeof(record->text),
                                                value->text + quote, value->bytes - 2 * quote);
        text_keep(record->text, (size_t) bytes, room, room_bytes);
}

/* Returns milliseconds as nanoseconds, or -1 if the value is not a duration. */
static int64_t duration_read(const struct eddy_json_value *value)
{
        double ms;

        if (eddy_json_double(value, &ms) < 0 || !(ms >= 0) || ms > DURATION_MAX_MS)
                return -1;
        return (int64_t) (ms * 1e6);
}

static uint64_t tokens_read(const struct eddy_json_value *value)
{
        uint64_t tokens;

        if (eddy_json_uint64(value, &tokens) < 0)
                return 0;
        return tokens < ED_USAGE_TOKENS_MAX ? tokens : ED_USAGE_TOKENS_MAX;
}

static void meta_read(struct ed_record *record, const struct eddy_json_value *meta)
{
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        if (meta->kind != EDDY_JSON_OBJECT || eddy_json_walk(meta, &cursor) < 0)
                return;
        while (eddy_json_next(&cursor, &name, &value)) {
                uint64_t number = 0;

                if (eddy_json_is(&name, "attempts")) {
                        if (eddy_json_uint64(&value, &number) == 0 && number <= UINT32_MAX)
                                record->attempts = number;
                } else if (eddy_json_is(&name, "rows")) {
                        if (eddy_json_uint64(&value, &number) == 0 && number > 0)
                                record->rows = number;
                } else if (eddy_json_is(&name, "endpoint")) {
                        value_keep(record, &value, record->endpoint, sizeof(record->endpoint));
                } else if (eddy_json_is(&name, "completed_at_ms")) {
                        if (eddy_json_uint64(&value, &number) == 0 && number <= INT64_MAX)
                                record->at_ms = (int64_t) number;
                } else if (eddy_json_is(&name, "t_queue_ms")) {
                        record->queue_ns = duration_read(&value);
                } else if (eddy_json_is(&name, "t_first_ms")) {
                        record->first_ns = duration_read(&value);
                } else if (eddy_json_is(&name, "t_total_ms")) {
                        record->total_ns = duration_read(&value);
                } else if (eddy_json_is(&name, "input_tokens")) {
                        record->input = tokens_read(&value);
                } else if (eddy_json_is(&name, "output_tokens")) {
                        record->output = tokens_read(&value);
                }
        }
}

/* Keep the message that a failed answer's body has, or the body. */
static void body_message_read(struct ed_record *record, const struct eddy_json_value *body)
{
        struct eddy_json_value value;

        if (!ed_reason_find(body, &value) &&
            (eddy_json_get(body, "_text", &value) < 0 || value.kind == EDDY_JSON_NULL))
                value = *body;
        if (value.kind != EDDY_JSON_NULL)
                value_keep(record, &value, record->message, sizeof(record->message));
}

/* Keep the URL of a redirect, without its query, as the message. Returns false if the line has none. */
static bool redirect_read(struct ed_record *record, const struct eddy_json_value *top)
{
        struct eddy_json_value value;
        char shown[ED_URL_SHOWN_BYTES];
        int64_t bytes;

        if (!ed_answer_status_is_redirect(record->status) ||
            eddy_json_get(top, "x_meta.redirect", &value) < 0 || value.kind != EDDY_JSON_STRING)
                return false;
        bytes = eddy_json_string(&value, record->text, sizeof(record->text) - 1);
        if (bytes < 0)
                return false;
        record->text[bytes] = '\0';
        ed_url_shown(shown, record->text,
                     (size_t) (ed_url_parts(record->text).query - record->text));
        snprintf(record->message, sizeof(record->message), "redirects to %.200s", shown);
        return true;
}

/* Keep the cause and the message of an error, which may be in another one, as vLLM writes it. */
static void fault_read(struct ed_record *record, struct eddy_json_value fault)
{
        struct eddy_json_value value;

        if (eddy_json_get(&fault, "code", &value) < 0 &&
            eddy_json_get(&fault, "message", &value) < 0 &&
            eddy_json_get(&fault, "error", &value) == 0 && value.kind != EDDY_JSON_NULL)
                fault = value;
        if (eddy_json_get(&fault, "code", &value) == 0 && value.kind != EDDY_JSON_NULL)
                value_keep(record, &value, record->cause, sizeof(record->cause));
        if (eddy_json_get(&fault, "message", &value) == 0)
                fault = value;
        value_keep(record, &fault, record->message, sizeof(record->message));
}

/* Name the cause of a failure, and find its message. */
static void failure_read(struct ed_record *record, const struct eddy_json_value *top,
                         bool has_fault)
{
        struct eddy_json_value value;

        if (has_fault && eddy_json_get(top, "error", &value) == 0)
                fault_read(record, value);
        else if (!redirect_read(record, top) && eddy_json_get(top, "response.body", &value) == 0)
                body_message_read(record, &value);
        if (record->cause[0])
                return;
        if (ed_answer_status_is_ok(record->status) && !has_fault)
                snprintf(record->cause, sizeof(record->cause), "answer_not_ok");
        else if (record->status > 0)
                snprintf(record->cause, sizeof(record->cause), "HTTP %d", record->status);
        else
                snprintf(record->cause, sizeof(record->cause), "%s",
                         has_fault ? "error without a code" : "no status");
}

int ed_record_read(struct ed_record *record, const char *line, size_t bytes)
{
        struct eddy_json_value value;
        struct ed_answer_seen seen;
        struct ed_usage usage;

        if (ed_answer_read(line, bytes, record->room, &seen) < 0)
                return -EINVAL;
        record->line = seen.line;
        record->whole_id = seen.id;
        record->whole_id_bytes = seen.id_bytes;
        record->status = seen.status;
        record->is_ok = seen.is_ok;
        if (record->rule && (record->rule->ok || record->rule->schema))
                record->is_ok = ed_rule_judge_line(record->rule, &seen, record->is_output) !=
                                ED_RULE_LINE_FAILED;
        record->is_named =
                !record->is_ok && ed_accept_takes(record->accept, seen.id, seen.id_bytes, false);
        record->is_final = !record->is_ok && !record->is_named &&
                           ed_accept_takes(record->accept, seen.id, seen.id_bytes,
                                           ed_accept_line_is_final(&seen));
        record->is_for_good = !record->is_ok && !record->is_named && !record->is_final &&
                              ed_accept_line_is_final(&seen);
        record->cause[0] = record->message[0] = record->endpoint[0] = '\0';
        record->attempts = record->input = record->output = 0;
        record->rows = 1;
        record->at_ms = 0;
        record->queue_ns = record->first_ns = record->total_ns = -1;
        text_keep(seen.id, seen.id_bytes, record->id, sizeof(record->id));
        meta_read(record, &seen.meta);
        ed_shard_mark_read(&seen, record->shard);
        if (!record->is_ok)
                failure_read(record, &seen.line, seen.has_fault);
        else if (record->input == 0 && record->output == 0 &&
                 eddy_json_get(&seen.response, "body", &value) == 0 &&
                 ed_usage_read(value.text, value.bytes, &usage) == 0) {
                record->input = usage.input;
                record->output = usage.output;
        }
        return 0;
}

/* --- the log --- */

/* Read "2026-11-23T12:30:05.123Z". Returns milliseconds since 1970, or 0 if it is not a time. */
static int64_t time_read(const char *text)
{
        int64_t time_ns = 0;

        return eddy_rfc3339_parse(text, strlen(text), &time_ns) == 0 ? time_ns / EDDY_MS(1) : 0;
}

int ed_record_read_log(const char *line, size_t bytes, struct ed_record_attempt *ret_attempt)
{
        struct eddy_json_value top, value;
        uint64_t status = 0;
        char text[64];

        if (eddy_json_parse(line, bytes, NULL, &top, NULL) < 0 || top.kind != EDDY_JSON_OBJECT ||
            eddy_json_get(&top, "time", &value) < 0 ||
            eddy_json_string(&value, text, sizeof(text)) < 0)
                return -EINVAL;
        ret_attempt->at_ms = time_read(text);
        ret_attempt->is_one = ret_attempt->at_ms > 0 &&
                              eddy_json_get(&top, "status", &value) == 0 &&
                              eddy_json_uint64(&value, &status) == 0 && status <= 999;
        /* Logs of earlier versions have only the status. */
        if (eddy_json_get(&top, "refused", &value) < 0 ||
            eddy_json_bool(&value, &ret_attempt->is_refused) < 0)
                ret_attempt->is_refused = status == 429;
        return 0;
}
