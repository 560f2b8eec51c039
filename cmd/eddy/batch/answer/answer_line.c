/*
 * batch/answer/answer_line.c - lines of the output: written in one pass over the body, read in two.
 */
#include "batch/answer/answer_line.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "eddy/json.h"

#define NAME_BEGIN "batch_req_"

enum {
        NAME_DIGITS = 24,
        HASH_DIGITS = 16,
        STATUS_MAX = 999,
        BLANK_DEPTH_MAX = 8,
        BODY_DEPTH_MAX = EDDY_JSON_DEPTH_MAX - 8, /* so that the line around it can be read */
};

/* --- writing --- */

static void digits_print(uint64_t value, size_t count, char *digits)
{
        for (size_t i = count; i-- > 0; value >>= 4)
                digits[i] = "0123456789abcdef"[value & 15];
}

static XXH128_hash_t name_hash(const char *id, size_t id_bytes, uint64_t hash)
{
        return XXH3_128bits_withSeed(id, id_bytes, hash);
}

/* Print the digits that name the line. */
static void name_of_answer(const struct ed_answer *answer, char digits[NAME_DIGITS])
{
        XXH128_hash_t name = name_hash(answer->id, answer->id_bytes, answer->hash);

        digits_print(name.high64, NAME_DIGITS - 16, digits);
        digits_print(name.low64, 16, digits + NAME_DIGITS - 16);
}

uint64_t ed_answer_mark(const char *id, size_t id_bytes, uint64_t hash)
{
        return hash ? name_hash(id, id_bytes, hash).low64 : 0;
}

int64_t ed_answer_body_compact(const void *body, size_t bytes, char *out)
{
        static const struct eddy_json_opts opts = { .depth_max = BODY_DEPTH_MAX };

        return eddy_json_compact(body, bytes, out, &opts, NULL);
}

/* Append a JSON text on one line. Returns false, with nothing appended, if it is not JSON. */
static bool text_add_compact(struct ed_draft *line, const void *text, size_t bytes)
{
        char *room = ed_draft_room(line, bytes);
        int64_t compact;

        if (!room)
                return true; /* the line is marked */
        compact = ed_answer_body_compact(text, bytes, room);
        if (compact < 0)
                return false;
        line->bytes += (size_t) compact;
        return true;
}

static bool is_object(const char *text, size_t bytes)
{
        size_t at = 0;

        while (at < bytes &&
               (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
                at++;
        return at < bytes && text[at] == '{';
}

/* Append the body on one line. Returns false, with nothing appended, if it is not JSON. */
static bool body_add_json(struct ed_draft *line, const struct ed_answer *answer)
{
        if (!answer->is_compact)
                return text_add_compact(line, answer->body, answer->body_bytes);
        ed_draft_add(line, answer->body, answer->body_bytes);
        return true;
}

static void file_add(struct ed_draft *line, const struct ed_answer *answer)
{
        ed_draft_add_str(line, "{\"_file\":");
        ed_draft_add_json_str(line, answer->file);
        ed_draft_add_str(line, ",\"bytes\":");
        ed_draft_add_u64(line, answer->body_bytes);
        if (answer->file_type) {
                ed_draft_add_str(line, ",\"type\":");
                ed_draft_add_json_str(line, answer->file_type);
        }
        ed_draft_add_str(line, "}");
}

/* Append the body, and read its usage. */
static void body_add(struct ed_draft *line, struct ed_answer *answer)
{
        const void *body = answer->body;
        size_t before = line->bytes, bytes = answer->body_bytes;

        if (bytes == 0) {
                ed_draft_add_str(line, "{}");
                return;
        }
        if (answer->file) {
                file_add(line, answer);
                return;
        }
        if (is_object(body, bytes)) {
                if (body_add_json(line, answer)) {
                        if (ed_draft_is_whole(line))
                                ed_usage_read(line->data + before, line->bytes - before,
                                              &answer->usage);
                        return;
                }
        } else {
                ed_draft_add_str(line, "{\"_json\":");
                if (body_add_json(line, answer)) {
                        ed_draft_add_str(line, "}");
                        return;
                }
                line->bytes = before;
        }
        if (eddy_json_is_utf8(body, bytes)) {
                ed_draft_add_str(line, "{\"_text\":");
                ed_draft_add_json(line, body, bytes);
                ed_draft_add_str(line, "}");
        } else {
                ed_draft_add_json_body(line, body, bytes);
        }
}

static void response_add(struct ed_answer *answer, const char name[NAME_DIGITS],
                         struct ed_draft *line)
{
        ed_draft_add_str(line, "{\"status_code\":");
        ed_draft_add_u64(line, (uint64_t) answer->status);
        ed_draft_add_str(line, ",\"request_id\":");
        if (answer->request_id && answer->request_id[0]) {
                ed_draft_add_json_str(line, answer->request_id);
        } else {
                ed_draft_add_str(line, "\"req_");
                ed_draft_add(line, name, NAME_DIGITS);
                ed_draft_add_str(line, "\"");
        }
        ed_draft_add_str(line, ",\"body\":");
        body_add(line, answer);
        ed_draft_add_str(line, "}");
}

static void fault_add(const struct ed_answer *answer, struct ed_draft *line)
{
        ed_draft_add_str(line, "{\"code\":");
        ed_draft_add_json_str(line, answer->code ? answer->code : "");
        ed_draft_add_str(line, ",\"message\":");
        ed_draft_add_json_str(line, answer->message ? answer->message : "");
        ed_draft_add_str(line, "}");
}

static void meta_add_duration(struct ed_draft *line, const char *key, int64_t duration_ns)
{
        ed_draft_add_str(line, key);
        ed_draft_add_ms(line, duration_ns);
}

static void meta_add_count(struct ed_draft *line, const char *key, uint64_t count)
{
        ed_draft_add_str(line, key);
        ed_draft_add_u64(line, count);
}

static void meta_add(const struct ed_answer *answer, struct ed_draft *line)
{
        char hash[HASH_DIGITS];

        ed_draft_add_str(line, ",\"x_meta\":{");
        if (answer->number > 0) {
                meta_add_count(line, "\"input_line\":", answer->number);
                ed_draft_add_str(line, ",");
        }
        if (answer->shard && *answer->shard) {
                ed_draft_add_str(line, "\"shard\":");
                ed_draft_add_json_str(line, answer->shard);
                ed_draft_add_str(line, ",");
        }
        if (answer->hash) {
                digits_print(answer->hash, HASH_DIGITS, hash);
                ed_draft_add_str(line, "\"input_hash\":\"");
                ed_draft_add(line, hash, HASH_DIGITS);
                ed_draft_add_str(line, "\",");
        }
        meta_add_count(line, "\"attempts\":", answer->attempts);
        if (answer->rows > 1)
                meta_add_count(line, ",\"rows\":", answer->rows);
        if (answer->endpoint) {
                ed_draft_add_str(line, ",\"endpoint\":");
                ed_draft_add_json_str(line, answer->endpoint);
        }
        if (answer->redirect) {
                ed_draft_add_str(line, ",\"redirect\":");
                ed_draft_add_json_str(line, answer->redirect);
        }
        if (answer->at_ms > 0)
                meta_add_count(line, ",\"completed_at_ms\":", (uint64_t) answer->at_ms);
        meta_add_duration(line, ",\"t_queue_ms\":", answer->queue_ns);
        if (answer->first_ns >= 0)
                meta_add_duration(line, ",\"t_first_ms\":", answer->first_ns);
        meta_add_duration(line, ",\"t_total_ms\":", answer->total_ns);
        if (answer->usage.input || answer->usage.output) {
                meta_add_count(line, ",\"input_tokens\":", answer->usage.input);
                meta_add_count(line, ",\"output_tokens\":", answer->usage.output);
        }
        if (answer->has_failed)
                ed_draft_add_str(line, answer->is_final ? ",\"final\":true" : ",\"final\":false");
        if (answer->metadata) {
                ed_draft_add_str(line, ",\"metadata\":");
                if (!text_add_compact(line, answer->metadata, answer->metadata_bytes))
                        ed_draft_add_str(line, "null");
        }
        ed_draft_add_str(line, "}");
}

void ed_answer_write(struct ed_answer *answer, unsigned flags, struct ed_draft *line)
{
        char name[NAME_DIGITS];

        answer->usage = (struct ed_usage){ 0 };
        name_of_answer(answer, name);
        ed_draft_add_str(line, "{\"id\":\"" NAME_BEGIN);
        ed_draft_add(line, name, sizeof(name));
        ed_draft_add_str(line, "\",\"custom_id\":");
        ed_draft_add_json(line, answer->id, answer->id_bytes);
        ed_draft_add_str(line, ",\"response\":");
        if (answer->status > 0)
                response_add(answer, name, line);
        else
                ed_draft_add_str(line, "null");
        ed_draft_add_str(line, ",\"error\":");
        if (answer->status == 0 || answer->code)
                fault_add(answer, line);
        else
                ed_draft_add_str(line, "null");
        if (flags & ED_ANSWER_META)
                meta_add(answer, line);
        ed_draft_add_str(line, "}\n");
}

/* --- reading --- */

/* The members of a line that count; of a name that is there twice, the first. */
struct members {
        struct eddy_json_value name, id, response, fault, meta;
};

static void member_set(struct eddy_json_value *member, const struct eddy_json_value *value)
{
        if (member->kind == EDDY_JSON_NONE)
                *member = *value;
}

static int members_find(const struct eddy_json_value *top, struct members *ret_members)
{
        struct eddy_json_value name, value;
        struct members members = { 0 };
        struct eddy_json_cursor cursor;

        if (top->kind != EDDY_JSON_OBJECT || eddy_json_walk(top, &cursor) < 0)
                return -EINVAL;
        while (eddy_json_next(&cursor, &name, &value)) {
                if (eddy_json_is(&name, "id"))
                        member_set(&members.name, &value);
                else if (eddy_json_is(&name, "custom_id"))
                        member_set(&members.id, &value);
                else if (eddy_json_is(&name, "response"))
                        member_set(&members.response, &value);
                else if (eddy_json_is(&name, "error"))
                        member_set(&members.fault, &value);
                else if (eddy_json_is(&name, "x_meta"))
                        member_set(&members.meta, &value);
        }
        *ret_members = members;
        return 0;
}

/* Returns the status in a value: a number, or its digits in a string. Returns 0 for other values. */
static int status_of(const struct eddy_json_value *value)
{
        uint64_t status = 0;
        double number;
        char digits[4];
        int64_t bytes;

        if (eddy_json_uint64(value, &status) == 0)
                return status <= STATUS_MAX ? (int) status : 0;
        if (eddy_json_double(value, &number) == 0) /* such as 200.0 */
                return number >= 1 && number <= STATUS_MAX && number == (int) number ? (int) number
                                                                                     : 0;
        bytes = value->kind == EDDY_JSON_STRING ? eddy_json_string(value, digits, sizeof(digits))
                                                : 0;
        for (int64_t i = 0; i < bytes; i++) {
                if (digits[i] < '0' || digits[i] > '9')
                        return 0;
                status = status * 10 + (uint64_t) (digits[i] - '0');
        }
        return (int) status;
}

/* Read the status, 0 without one. Returns false if the response is not one of an API. */
static bool status_read(const struct eddy_json_value *response, int *ret_status)
{
        struct eddy_json_value value;

        *ret_status = 0;
        if (response->kind == EDDY_JSON_NULL)
                return true;
        if (response->kind != EDDY_JSON_OBJECT ||
            eddy_json_get(response, "status_code", &value) < 0)
                return false;
        *ret_status = status_of(&value);
        return true;
}

static bool is_blank(const struct eddy_json_value *value, int depth)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;

        switch (value->kind) {
        case EDDY_JSON_NONE:
        case EDDY_JSON_NULL:
                return true;
        case EDDY_JSON_BOOL:
                return *value->text == 'f';
        case EDDY_JSON_STRING:
                return value->bytes == 2;
        case EDDY_JSON_ARRAY:
        case EDDY_JSON_OBJECT:
                break;
        default:
                return false;
        }
        if (depth == BLANK_DEPTH_MAX || eddy_json_walk(value, &cursor) < 0)
                return false;
        while (eddy_json_next(&cursor, NULL, &item))
                if (!is_blank(&item, depth + 1))
                        return false;
        return true;
}

bool ed_answer_value_is_blank(const struct eddy_json_value *value)
{
        return is_blank(value, 0);
}

/* Find the code of the error: also in an error in the error, as vLLM writes it. */
static void code_read(const struct eddy_json_value *fault, struct ed_answer_seen *seen)
{
        struct eddy_json_value code;

        if (fault->kind != EDDY_JSON_OBJECT ||
            (eddy_json_get(fault, "code", &code) < 0 &&
             eddy_json_get(fault, "error.code", &code) < 0) ||
            code.kind != EDDY_JSON_STRING)
                return;
        seen->code = code.text;
        seen->code_bytes = code.bytes;
}

int64_t ed_answer_id_read(const struct eddy_json_value *id, char id_room[ED_ANSWER_ID_ROOM])
{
        if (id->kind == EDDY_JSON_STRING)
                return eddy_json_string(id, id_room, ED_ANSWER_ID_ROOM);
        if (id->kind != EDDY_JSON_NUMBER || id->bytes >= ED_ANSWER_ID_ROOM ||
            memchr(id->text, '.', id->bytes) || memchr(id->text, 'e', id->bytes) ||
            memchr(id->text, 'E', id->bytes))
                return -EINVAL;
        memcpy(id_room, id->text, id->bytes);
        id_room[id->bytes] = '\0';
        return (int64_t) id->bytes;
}

/* Returns the mark, 0 if there is none. */
static uint64_t mark_read(const struct eddy_json_value *name)
{
        static const char begin[] = "\"" NAME_BEGIN;
        const char *digits = name->text + sizeof(begin) - 1;
        uint64_t mark = 0;

        if (name->kind != EDDY_JSON_STRING || name->bytes != sizeof(begin) + NAME_DIGITS ||
            memcmp(name->text, begin, sizeof(begin) - 1) != 0)
                return 0;
        for (int i = 0; i < NAME_DIGITS; i++) {
                if (digits[i] >= '0' && digits[i] <= '9')
                        mark = mark << 4 | (uint64_t) (digits[i] - '0');
                else if (digits[i] >= 'a' && digits[i] <= 'f')
                        mark = mark << 4 | (uint64_t) (digits[i] - 'a' + 10);
                else
                        return 0;
        }
        return mark;
}

void ed_answer_skip_mark(const char **line, size_t *bytes)
{
        static const char mark[] = "\xef\xbb\xbf";
        size_t mark_bytes = sizeof(mark) - 1;

        if (*bytes < mark_bytes || memcmp(*line, mark, mark_bytes) != 0)
                return;
        *line += mark_bytes;
        *bytes -= mark_bytes;
}

bool ed_answer_is_blank(const char *line, size_t bytes)
{
        ed_answer_skip_mark(&line, &bytes);
        while (bytes > 0 && (*line == ' ' || *line == '\t' || *line == '\r'))
                line++, bytes--;
        return bytes == 0;
}

int ed_answer_read(const char *line, size_t bytes, char id_room[ED_ANSWER_ID_ROOM],
                   struct ed_answer_seen *ret_seen)
{
        static const struct eddy_json_opts opts = { .depth_max = EDDY_JSON_DEPTH_MAX };
        struct ed_answer_seen seen = { .id = id_room };
        struct eddy_json_value top;
        struct members members;
        int64_t id_bytes;
        bool has_status;

        ed_answer_skip_mark(&line, &bytes);
        if (eddy_json_parse(line, bytes, &opts, &top, NULL) < 0 || members_find(&top, &members) < 0)
                return -EINVAL;
        has_status = status_read(&members.response, &seen.status);
        seen.has_fault = !is_blank(&members.fault, 0);
        if (!has_status && !seen.has_fault &&
            (members.response.kind != EDDY_JSON_NONE || members.fault.kind == EDDY_JSON_NONE))
                return -EINVAL;
        id_bytes = ed_answer_id_read(&members.id, id_room);
        if (id_bytes < 0)
                return -EINVAL;
        code_read(&members.fault, &seen);
        seen.id_bytes = (size_t) id_bytes;
        seen.is_ok = ed_answer_status_is_ok(seen.status) && !seen.has_fault;
        seen.mark = mark_read(&members.name);
        seen.line = top;
        seen.response = members.response;
        seen.fault = members.fault;
        seen.meta = members.meta;
        *ret_seen = seen;
        return 0;
}
