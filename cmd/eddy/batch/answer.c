/*
 * batch/answer.c - lines of the output: written in one pass over the body, read in two.
 */
#include "batch/answer.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "eddy/json.h"

#define NAME_BEGIN "batch_req_"

enum {
        NAME_DIGITS = 24,
        HASH_DIGITS = 16,
        STATUS_MAX = 999,
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

/* Append a JSON text on one line. Returns false, with nothing appended, if it is not JSON. */
static bool text_add_compact(struct ed_draft *line, const void *text, size_t bytes)
{
        static const struct eddy_json_opts opts = { .depth_max = BODY_DEPTH_MAX };
        char *room = ed_draft_room(line, bytes);
        int64_t compact;

        if (!room)
                return true; /* the line is marked */
        compact = eddy_json_compact(text, bytes, room, &opts, NULL);
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

/* Append the body, and read its usage. */
static void body_add(struct ed_draft *line, const void *body, size_t bytes,
                     struct ed_usage *ret_usage)
{
        size_t before = line->bytes;

        if (bytes == 0) {
                ed_draft_add_str(line, "{}");
                return;
        }
        if (is_object(body, bytes)) {
                if (text_add_compact(line, body, bytes)) {
                        if (ed_draft_is_whole(line))
                                ed_usage_read(line->data + before, line->bytes - before, ret_usage);
                        return;
                }
        } else {
                ed_draft_add_str(line, "{\"_json\":");
                if (text_add_compact(line, body, bytes)) {
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
        body_add(line, answer->body, answer->body_bytes, &answer->usage);
        ed_draft_add_str(line, "},\"error\":null");
}

static void fault_add(const struct ed_answer *answer, struct ed_draft *line)
{
        ed_draft_add_str(line, "null,\"error\":{\"code\":");
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

        meta_add_count(line, ",\"x_meta\":{\"input_line\":", answer->number);
        if (answer->hash) {
                digits_print(answer->hash, HASH_DIGITS, hash);
                ed_draft_add_str(line, ",\"input_hash\":\"");
                ed_draft_add(line, hash, HASH_DIGITS);
                ed_draft_add_str(line, "\"");
        }
        meta_add_count(line, ",\"attempts\":", answer->attempts);
        if (answer->endpoint) {
                ed_draft_add_str(line, ",\"endpoint\":");
                ed_draft_add_json_str(line, answer->endpoint);
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
                fault_add(answer, line);
        if (flags & ED_ANSWER_META)
                meta_add(answer, line);
        ed_draft_add_str(line, "}\n");
}

/* --- reading --- */

/* The members of a line that count; of a name that is there twice, the first. */
struct members {
        struct eddy_json_value name, id, response, fault;
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
        }
        *ret_members = members;
        return 0;
}

/* Returns the status, 0 without an answer, or -EINVAL. */
static int status_read(const struct eddy_json_value *response)
{
        struct eddy_json_value value;
        uint64_t status;

        if (response->kind == EDDY_JSON_NONE || response->kind == EDDY_JSON_NULL)
                return 0;
        if (response->kind != EDDY_JSON_OBJECT ||
            eddy_json_get(response, "status_code", &value) < 0 ||
            eddy_json_uint64(&value, &status) < 0 || status > STATUS_MAX)
                return -EINVAL;
        return (int) status;
}

/* Returns 1 if the line has an error, 0 if not, or -EINVAL. An empty text is not an error. */
static int fault_read(const struct eddy_json_value *fault, struct ed_answer_seen *seen)
{
        struct eddy_json_value code;

        if (fault->kind == EDDY_JSON_NONE || fault->kind == EDDY_JSON_NULL)
                return 0;
        if (fault->kind == EDDY_JSON_STRING)
                return fault->bytes > 2;
        if (fault->kind != EDDY_JSON_OBJECT)
                return -EINVAL;
        if (eddy_json_get(fault, "code", &code) == 0 && code.kind == EDDY_JSON_STRING) {
                seen->code = code.text;
                seen->code_bytes = code.bytes;
        }
        return 1;
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

int ed_answer_read(const char *line, size_t bytes, char id_room[ED_ANSWER_ID_ROOM],
                   struct ed_answer_seen *ret_seen)
{
        static const struct eddy_json_opts opts = { .depth_max = EDDY_JSON_DEPTH_MAX };
        struct ed_answer_seen seen = { .id = id_room };
        struct eddy_json_value top;
        struct members members;
        int64_t id_bytes;
        int fault;

        if (eddy_json_parse(line, bytes, &opts, &top, NULL) < 0 || members_find(&top, &members) < 0)
                return -EINVAL;
        seen.status = status_read(&members.response);
        fault = fault_read(&members.fault, &seen);
        if (seen.status < 0 || fault < 0 || (seen.status == 0 && fault == 0))
                return -EINVAL;
        id_bytes = eddy_json_string(&members.id, id_room, ED_ANSWER_ID_ROOM);
        if (id_bytes < 0)
                return -EINVAL;
        seen.id_bytes = (size_t) id_bytes;
        seen.is_ok = ed_answer_status_is_ok(seen.status) && fault == 0;
        seen.mark = mark_read(&members.name);
        *ret_seen = seen;
        return 0;
}
