/*
 * drive.c - feeds a message to the readers in pieces; see drive.h.
 */
#include "drive.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"

static const char *const fault_names[] = {
#define FAULT_NAME(name, status, text) #name,
        ED_HTTP1_FAULTS(FAULT_NAME)
#undef FAULT_NAME
};

void wire_text_free(struct wire_text *text)
{
        free(text->text);
        *text = (struct wire_text){ 0 };
}

static void text_room(struct wire_text *text, size_t bytes)
{
        if (text->room - text->bytes > bytes)
                return;
        text->room = (text->bytes + bytes + 1) * 2;
        text->text = realloc(text->text, text->room);
        if (!text->text)
                abort();
}

__attribute__((format(printf, 2, 3))) static void say(struct wire_text *text, const char *format,
                                                      ...)
{
        char line[256];
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(line, sizeof(line), format, args);
        va_end(args);
        if (n < 0 || (size_t) n >= sizeof(line))
                abort();
        text_room(text, (size_t) n);
        memcpy(text->text + text->bytes, line, (size_t) n + 1);
        text->bytes += (size_t) n;
}

/* Bytes as they are, what is not printable as \xNN. */
static void say_bytes(struct wire_text *text, const char *data, size_t bytes)
{
        static const char hex[] = "0123456789ABCDEF";

        text_room(text, bytes * 4);
        for (size_t i = 0; i < bytes; i++) {
                uint8_t c = (uint8_t) data[i];

                if (c >= 0x20 && c < 0x7F) {
                        text->text[text->bytes++] = (char) c;
                        continue;
                }
                text->text[text->bytes++] = '\\';
                text->text[text->bytes++] = 'x';
                text->text[text->bytes++] = hex[c >> 4];
                text->text[text->bytes++] = hex[c & 0xF];
        }
        text->text[text->bytes] = '\0';
}

static void say_slice(struct wire_text *text, const char *data, struct ed_http1_slice slice)
{
        say_bytes(text, data + slice.at, slice.bytes);
}

static void say_fault(struct wire_text *text, int64_t err, enum ed_http1_fault fault,
                      enum wire_kind kind)
{
        int invalid =
                kind == WIRE_REQUEST ? EDDY_E_HTTP_INVALID_REQUEST : EDDY_E_HTTP_INVALID_RESPONSE;

        if (err == EDDY_E_HTTP_TOO_LARGE)
                say(text, "limit %s", fault_names[fault]);
        else if (err == invalid)
                say(text, "fault %s", fault_names[fault]);
        else
                say(text, "error %lld", (long long) err);
}

static void say_head(struct wire_text *text, const char *data, const struct ed_http1_head *head,
                     enum wire_kind kind)
{
        static const char *const forms[] = { "", " absolute", " authority", " asterisk" };
        static const char *const framings[] = { " none", " length", " chunked", " until-close",
                                                " tunnel" };

        if (kind == WIRE_REQUEST) {
                say_slice(text, data, head->method);
                say(text, " ");
                say_slice(text, data, head->target);
                say(text, " 1.%d%s", head->minor, forms[head->target_form]);
                if (head->target_form == ED_HTTP1_ABSOLUTE) {
                        say(text, " for ");
                        say_slice(text, data, head->host);
                }
        } else {
                say(text, "%d 1.%d ", head->status, head->minor);
                say_slice(text, data, head->reason);
        }
        say(text, "%s%s%s%s", head->keep_alive ? " keep" : " close",
            head->expect_continue ? " continue" : "", head->expect_other ? " expects" : "",
            head->upgrade ? " upgrade" : "");
        for (uint32_t i = 0; i < head->fields_count; i++) {
                say(text, " [");
                say_slice(text, data, head->fields[i].name);
                say(text, "=");
                say_slice(text, data, head->fields[i].value);
                say(text, "]");
        }
        say(text, "%s", framings[head->framing]);
}

/* A delivery under way. */
struct drive {
        const struct wire_input *input;
        wire_place_fn *place;
        struct wire_text *text;
        struct wire_text content; /* the body so far */
        struct ed_buf trailers;
        struct ed_http1_field fields[ED_HTTP1_FIELDS_MAX];
        char *data; /* the input, in which the reader of heads changes folded fields */
        struct ed_http1_head head;
        struct ed_http1_body body;
        bool has_head;
        bool is_over;
        size_t consumed; /* of the whole input */
};

static char *placed(struct drive *drive, size_t from, size_t to)
{
        char *data = drive->data + from;

        return drive->place ? drive->place(data, to - from) : data;
}

static void drive_head(struct drive *drive, size_t have)
{
        char *data = placed(drive, 0, have);
        int64_t n = ed_http1_head_parse(&drive->head, data, have);
        uint64_t max = drive->input->limits.body_bytes_max;
        int err;

        if (data != drive->data)
                memcpy(drive->data, data, have);
        if (n == 0)
                return;
        if (n < 0) {
                say_fault(drive->text, n, drive->head.fault, drive->input->kind);
                drive->is_over = true;
                return;
        }
        drive->consumed = (size_t) n;
        drive->has_head = true;
        say_head(drive->text, data, &drive->head, drive->input->kind);
        err = ed_http1_body_init(&drive->body, &drive->head, max ? max : 1 << 20);
        if (drive->input->kind != WIRE_REQUEST)
                drive->body.trailer_buf = &drive->trailers;
        if (err < 0) {
                say(drive->text, " ");
                say_fault(drive->text, err, ED_HTTP1_FAULT_BODY_TOO_LARGE, drive->input->kind);
                drive->is_over = true;
        }
}

static void drive_body(struct drive *drive, size_t have)
{
        while (drive->consumed < have && !drive->body.done && !drive->is_over) {
                const char *data = placed(drive, drive->consumed, have);
                const char *span = NULL;
                size_t span_bytes = 0;
                int64_t n = ed_http1_body_decode(&drive->body, data, have - drive->consumed, &span,
                                                 &span_bytes);

                if (n <= 0) {
                        say(drive->text, " '%s' ",
                            drive->content.bytes < 100 && drive->content.text ? drive->content.text
                                                                              : "");
                        say_fault(drive->text, n, drive->body.fault, drive->input->kind);
                        drive->is_over = true;
                        return;
                }
                /* A span lies inside what was given. */
                if (span < data || (size_t) (span - data) + span_bytes > have - drive->consumed)
                        abort();
                say_bytes(&drive->content, span, span_bytes);
                drive->consumed += (size_t) n;
        }
}

static void say_trailers(struct wire_text *text, const struct ed_buf *trailers)
{
        size_t bytes = ed_buf_bytes(trailers);
        const char *at = bytes > 0 ? ed_buf_data(trailers) : NULL,
                   *end = bytes > 0 ? at + bytes : NULL;

        while (at < end) {
                const char *value = at + strlen(at) + 1;

                say(text, " {");
                say_bytes(text, at, strlen(at));
                say(text, "=");
                say_bytes(text, value, strlen(value));
                say(text, "}");
                at = value + strlen(value) + 1;
        }
}

static void drive_end(struct drive *drive)
{
        const struct wire_input *input = drive->input;
        int err;

        if (!drive->has_head) {
                err = ed_http1_head_finish(&drive->head);
                say(drive->text, "%s", err == EDDY_E_HTTP_CLOSED ? "closed" : "truncated");
                return;
        }
        err = ed_http1_body_finish(&drive->body);
        if (drive->content.bytes > 0) {
                say(drive->text, " '");
                text_room(drive->text, drive->content.bytes);
                memcpy(drive->text->text + drive->text->bytes, drive->content.text,
                       drive->content.bytes + 1);
                drive->text->bytes += drive->content.bytes;
                say(drive->text, "'");
        }
        if (err == 0)
                say_trailers(drive->text, &drive->trailers);
        if (drive->consumed < input->bytes) {
                say(drive->text, " +'");
                say_bytes(drive->text, input->data + drive->consumed,
                          input->bytes - drive->consumed);
                say(drive->text, "'");
        }
        if (err < 0)
                say(drive->text, " %s", err == EDDY_E_HTTP_TRUNCATED ? "truncated" : "error");
}

void wire_drive(const struct wire_input *input, const size_t *cuts, size_t cuts_count,
                wire_place_fn *place, struct wire_text *ret_text)
{
        static const enum ed_http1_answers answers[] = {
                [WIRE_REQUEST] = ED_HTTP1_TO_OTHER,
                [WIRE_RESPONSE] = ED_HTTP1_TO_OTHER,
                [WIRE_TO_HEAD] = ED_HTTP1_TO_HEAD,
                [WIRE_TO_CONNECT] = ED_HTTP1_TO_CONNECT,
        };
        struct drive *drive = calloc(1, sizeof(*drive));

        if (!drive)
                abort();
        *ret_text = (struct wire_text){ 0 };
        drive->data = malloc(input->bytes + 1);
        if (!drive->data)
                abort();
        memcpy(drive->data, input->data, input->bytes);
        ed_buf_init(&drive->trailers, 2 * ED_HTTP1_TRAILERS_BYTES_MAX);
        drive->input = input;
        drive->place = place;
        drive->text = ret_text;
        if (input->kind == WIRE_REQUEST)
                ed_http1_request_init(&drive->head, drive->fields, &input->limits.head);
        else
                ed_http1_response_init(&drive->head, drive->fields, &input->limits.head,
                                       answers[input->kind]);
        for (size_t i = 0; i <= cuts_count && !drive->is_over; i++) {
                size_t have = i < cuts_count ? cuts[i] : input->bytes;

                if (!drive->has_head)
                        drive_head(drive, have);
                if (drive->has_head)
                        drive_body(drive, have);
        }
        if (!drive->is_over)
                drive_end(drive);
        wire_text_free(&drive->content);
        ed_buf_fini(&drive->trailers);
        free(drive->data);
        free(drive);
}
