/*
 * batch/stream/stream.c - see stream.h.
 */
#include "batch/stream/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/stream/candidates.h"
#include "batch/stream/ollama.h"
#include "common/excerpt.h"
#include "eddy/error.h"
#include "eddy/json.h"

#define MARK "\xef\xbb\xbf" /* byte order mark */

enum { BODY_BYTES_MAX = 256 << 20, REPORT_BYTES = 160, KEEP_BYTES = 16384 };

int ed_stream_init(struct ed_stream *stream)
{
        *stream = (struct ed_stream){ .head.max = BODY_BYTES_MAX };
        return ed_assembly_new(&stream->assembly);
}

void ed_stream_fini(struct ed_stream *stream)
{
        ed_events_fini(&stream->events);
        ed_assembly_free(stream->assembly);
        ed_draft_fini(&stream->head);
        stream->assembly = NULL;
}

/* ---- the form --------------------------------------------------------------------------------- */

/* Returns the bytes at the start that are a byte order mark or white space. */
static size_t space_bytes(const char *text, size_t bytes)
{
        size_t at = bytes >= 3 && memcmp(text, MARK, 3) == 0 ? 3 : 0;

        while (at < bytes && strchr(" \t\r\n", text[at]) && text[at] != '\0')
                at++;
        return at;
}

/* Returns true if a text is a line of Ollama, a part of an answer. */
static bool is_part(const char *text, size_t bytes)
{
        struct eddy_json_value object;

        return eddy_json_parse(text, bytes, NULL, &object, NULL) == 0 && ed_ollama_is_line(&object);
}

/* The form of a text that begins with '{': its first line is a part, or not. */
static enum ed_stream_form form_of_object(const char *text, size_t bytes, bool at_end)
{
        const char *feed = memchr(text, '\n', bytes);

        if (!feed && !at_end)
                return ED_STREAM_UNKNOWN;
        return is_part(text, feed ? (size_t) (feed - text) : bytes) ? ED_STREAM_LINES
                                                                    : ED_STREAM_BODY;
}

static enum ed_stream_form form_of(const char *text, size_t bytes, bool at_end)
{
        static const char *const fields[] = { "data:", "event:", ":", "id:", "retry:" };
        size_t skipped = space_bytes(text, bytes);

        if (!at_end && bytes < 3 && memcmp(text, MARK, bytes) == 0)
                return ED_STREAM_UNKNOWN;
        text += skipped;
        bytes -= skipped;
        if (bytes > 0 && *text == '{')
                return form_of_object(text, bytes, at_end);
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
                size_t name_bytes = strlen(fields[i]);

                if (memcmp(text, fields[i], bytes < name_bytes ? bytes : name_bytes) != 0)
                        continue;
                if (bytes >= name_bytes)
                        return ED_STREAM_EVENTS;
                if (!at_end)
                        return ED_STREAM_UNKNOWN;
        }
        return ED_STREAM_BODY;
}

/* ---- taking ----------------------------------------------------------------------------------- */

/* An ed_events_fn. Keeps the beginning of an event that cannot be taken. */
static int event_take(void *arg, const char *type, const char *data, size_t bytes)
{
        struct ed_stream *stream = arg;
        int err = ed_assembly_take(stream->assembly, type, data, bytes);

        if (err == -EBADMSG && !*stream->bad)
                ed_excerpt(stream->bad, data, bytes);
        return err;
}

static int body_add(struct ed_stream *stream, const char *data, size_t bytes)
{
        ed_draft_add(&stream->head, data, bytes);
        if (ed_draft_is_whole(&stream->head))
                return 0;
        return bytes > BODY_BYTES_MAX - stream->head.bytes ? -EMSGSIZE : -ENOMEM;
}

static int line_take(struct ed_stream *stream, const char *line, size_t bytes)
{
        size_t skipped = space_bytes(line, bytes);

        return skipped < bytes ? event_take(stream, "", line + skipped, bytes - skipped) : 0;
}

static int lines_take(struct ed_stream *stream, const char *data, size_t bytes)
{
        const char *feed;
        int err = 0;

        while (err == 0 && (feed = memchr(data, '\n', bytes))) {
                size_t line_bytes = (size_t) (feed - data);

                err = body_add(stream, data, line_bytes);
                if (err == 0)
                        err = line_take(stream, stream->head.data, stream->head.bytes);
                ed_draft_reset(&stream->head, KEEP_BYTES);
                data = feed + 1;
                bytes -= line_bytes + 1;
        }
        return err < 0 ? err : body_add(stream, data, bytes);
}

/* The form is known: take the bytes that were kept. */
static int head_take(struct ed_stream *stream)
{
        struct ed_draft head = stream->head;
        int err = 0;

        if (stream->form == ED_STREAM_BODY || head.bytes == 0)
                return 0;
        stream->head = (struct ed_draft){ .max = BODY_BYTES_MAX };
        if (stream->form == ED_STREAM_EVENTS)
                err = ed_events_take(&stream->events, head.data, head.bytes, event_take, stream);
        else
                err = lines_take(stream, head.data, head.bytes);
        ed_draft_fini(&head);
        return err;
}

static int bytes_take(struct ed_stream *stream, const char *data, size_t bytes)
{
        int err;

        if (stream->form == ED_STREAM_EVENTS)
                return ed_events_take(&stream->events, data, bytes, event_take, stream);
        if (stream->form == ED_STREAM_LINES)
                return lines_take(stream, data, bytes);
        err = body_add(stream, data, bytes);
        if (err < 0 || stream->form == ED_STREAM_BODY)
                return err;
        stream->form = form_of(stream->head.data, stream->head.bytes, false);
        return stream->form == ED_STREAM_UNKNOWN ? 0 : head_take(stream);
}

int ed_stream_take(struct ed_stream *stream, const char *data, size_t bytes)
{
        if (stream->error == 0 && bytes > 0)
                stream->error = bytes_take(stream, data, bytes);
        return stream->error;
}

/* ---- the end ---------------------------------------------------------------------------------- */

/* Returns true if a text that begins as JSON ends within an object, an array or a string. */
static bool is_cut(const char *text, size_t bytes)
{
        bool is_in_string = false;
        size_t depth = 0;

        if (*text != '{' && *text != '[')
                return false;
        for (size_t i = 0; i < bytes; i++) {
                char c = text[i];

                if (is_in_string) {
                        i += c == '\\';
                        is_in_string = c != '"';
                } else if (c == '"') {
                        is_in_string = true;
                } else if (c == '{' || c == '[') {
                        depth++;
                } else if ((c == '}' || c == ']') && depth > 0) {
                        depth--;
                }
        }
        return depth > 0 || is_in_string;
}

static int fault_set(char fault[ED_STREAM_FAULT_BYTES], int err, const char *sentence)
{
        snprintf(fault, ED_STREAM_FAULT_BYTES, "%s", sentence);
        return err;
}

/* Take a list of chunks, as Gemini sends it without "alt=sse". A list of other values is not a stream. */
static void list_take(struct ed_stream *stream, const char *text, size_t bytes)
{
        struct eddy_json_value list, chunk;
        struct eddy_json_cursor cursor;

        if (eddy_json_parse(text, bytes, NULL, &list, NULL) < 0 || list.kind != EDDY_JSON_ARRAY ||
            eddy_json_get(&list, "[0]", &chunk) < 0 || chunk.kind != EDDY_JSON_OBJECT ||
            !ed_candidates_are_in(&chunk) || eddy_json_walk(&list, &cursor) < 0)
                return;
        stream->form = ED_STREAM_LIST;
        while (stream->error == 0 && eddy_json_next(&cursor, NULL, &chunk))
                stream->error = event_take(stream, "", chunk.text, chunk.bytes);
}

/* The answer is not a stream: keep it, unless it was cut. */
static int body_end(struct ed_stream *stream, struct ed_draft *body,
                    char fault[ED_STREAM_FAULT_BYTES])
{
        size_t skipped = space_bytes(stream->head.data, stream->head.bytes);

        if (skipped == stream->head.bytes)
                return fault_set(fault, EDDY_E_HTTP_TRUNCATED, "the answer is an empty stream");
        if (is_cut(stream->head.data + skipped, stream->head.bytes - skipped))
                return fault_set(fault, EDDY_E_HTTP_TRUNCATED,
                                 "the answer ended within a JSON text");
        ed_draft_fini(body);
        *body = stream->head;
        stream->head = (struct ed_draft){ 0 };
        return 0;
}

/* Take what was left by a server that did not end its last event or line. */
static void rest_take(struct ed_stream *stream)
{
        const char *end = stream->form == ED_STREAM_EVENTS ? "\n\n" : "\n";
        size_t bytes;

        if (stream->error == 0 && stream->form != ED_STREAM_LIST &&
            !ed_assembly_is_whole(stream->assembly) &&
            ed_stream_take(stream, end, strlen(end)) == -EBADMSG &&
            !ed_assembly_error(stream->assembly, &bytes))
                stream->error = EDDY_E_HTTP_TRUNCATED;
}

/* Returns the error of a stream that has no answer, and writes a sentence about the error. */
static int fault_describe(const struct ed_stream *stream, int err,
                          char fault[ED_STREAM_FAULT_BYTES])
{
        char shown[REPORT_BYTES];
        size_t bytes;
        const char *report = ed_assembly_error(stream->assembly, &bytes);

        if (report) {
                snprintf(fault, ED_STREAM_FAULT_BYTES, "the stream reported an error: %s",
                         ed_excerpt_within(shown, sizeof(shown), report, bytes));
                return EDDY_E_HTTP_INVALID_RESPONSE;
        }
        if (err == -EBADMSG) {
                snprintf(fault, ED_STREAM_FAULT_BYTES,
                         "an event of the stream is not valid: \"%s\"", stream->bad);
                return EDDY_E_HTTP_INVALID_RESPONSE;
        }
        if (err < 0 && err != EDDY_E_HTTP_TRUNCATED)
                return err == -EMSGSIZE ? EDDY_E_HTTP_TOO_LARGE : err;
        if (!ed_assembly_has_event(stream->assembly))
                return fault_set(fault, EDDY_E_HTTP_TRUNCATED, "the answer is an empty stream");
        if (!ed_assembly_is_known(stream->assembly))
                return fault_set(fault, EDDY_E_HTTP_INVALID_RESPONSE,
                                 "the events of the stream are of an unknown kind: send the "
                                 "request without \"stream\"");
        return fault_set(fault, EDDY_E_HTTP_TRUNCATED,
                         "the stream ended before the answer was complete");
}

int ed_stream_end(struct ed_stream *stream, struct ed_draft *body,
                  char fault[ED_STREAM_FAULT_BYTES])
{
        size_t bytes;
        int err;

        fault[0] = '\0';
        if (stream->form == ED_STREAM_UNKNOWN && stream->error == 0) {
                stream->form = form_of(stream->head.data ? stream->head.data : "",
                                       stream->head.bytes, true);
                stream->error = head_take(stream);
        }
        if (stream->form == ED_STREAM_BODY && stream->error == 0)
                list_take(stream, stream->head.data, stream->head.bytes);
        if (stream->form == ED_STREAM_BODY && stream->error == 0)
                return body_end(stream, body, fault);
        rest_take(stream);
        err = stream->error;
        if (err < 0 || ed_assembly_error(stream->assembly, &bytes) ||
            !ed_assembly_is_whole(stream->assembly) || !ed_assembly_is_known(stream->assembly))
                return fault_describe(stream, err, fault);
        err = ed_assembly_write(stream->assembly, body);
        return err < 0 ? fault_describe(stream, err, fault) : 0;
}
