/*
 * wire/http1_head.c - reading heads of HTTP/1.1 messages.
 *
 * A state machine that can stop and continue at any byte: it reads each byte once, and each verdict
 * depends only on the bytes up to it, not on how the input was split. Limits follow the same rule:
 * a line is read only up to its limit, where the next byte must be CR.
 */
#include <string.h>

#include "eddy/error.h"
#include "wire/http1_parts.h"

enum head_state {
        AT_START,
        IN_EMPTY_LINE, /* after the CR of the empty line that may precede a request */
        IN_METHOD,
        IN_TARGET,
        IN_VERSION,
        AFTER_VERSION,
        IN_STATUS,
        AFTER_STATUS,
        IN_REASON,
        AFTER_START_LINE, /* expects LF */
        AT_FIELD,
        IN_NAME,
        BEFORE_VALUE,
        IN_VALUE,
        AFTER_FIELD, /* expects LF */
        AT_END,      /* expects the last LF */
        FAILED,
};

/* Bits of 'seen'. */
enum {
        SEEN_LENGTH = 1 << 0,
        SEEN_CODING = 1 << 1,
        SEEN_HOST = 1 << 2,
        SEEN_UPGRADE = 1 << 3,
        SEEN_SINGLE = 1 << 4, /* the first of four: see take_single() */
        OPTION_CLOSE = 1 << 8,
        OPTION_KEEP_ALIVE = 1 << 9,
        OPTION_UPGRADE = 1 << 10,
        CODING_CHUNKED = 1 << 11, /* the last coding so far */
        CODING_OTHER = 1 << 12,
};

/* Results of the parsing functions besides errors. */
enum { MORE = 0, NEXT = 1 };

static int head_fail(struct ed_http1_head *head, enum ed_http1_fault fault)
{
        head->fault = fault;
        head->state = FAILED;
        return ed_http1_fault_error(fault, head->is_response);
}

/* Pause in a state for lack of bytes; if the head's limit is reached, fail. */
static int head_pause(struct ed_http1_head *head, enum head_state state, uint32_t at)
{
        if (ed_unlikely(at == head->limits.head_bytes_max))
                return head_fail(head, ED_HTTP1_FAULT_HEAD_TOO_LARGE);
        head->state = (uint8_t) state;
        head->at = at;
        return MORE;
}

/* Fail at an invalid byte, or because the line exceeds its limit. */
static int head_fail_at(struct ed_http1_head *head, uint32_t at, enum ed_http1_fault fault)
{
        if (at - head->line < head->limits.line_bytes_max)
                return head_fail(head, fault);
        if (!head->is_response && head->state < AT_FIELD)
                return head_fail(head, ED_HTTP1_FAULT_TARGET_TOO_LONG);
        return head_fail(head, ED_HTTP1_FAULT_LINE_TOO_LONG);
}

/* As head_fail_at(), but for LF the fault is the line's early end. */
static int head_fail_byte(struct ed_http1_head *head, const char *data, uint32_t at,
                          enum ed_http1_fault fault)
{
        return head_fail_at(head, at, data[at] == '\n' ? ED_HTTP1_FAULT_LINE_END : fault);
}

/* Returns how far the line may be read. */
static uint32_t line_stop(const struct ed_http1_head *head, uint32_t end)
{
        uint32_t max = head->limits.line_bytes_max;

        return end - head->line > max ? head->line + max : end;
}

static void head_init(struct ed_http1_head *head, struct ed_http1_field *fields,
                      const struct ed_http1_limits *limits)
{
        *head = (struct ed_http1_head){
                .keep_alive_s = UINT32_MAX,
                .fields = fields,
                .limits = { ED_HTTP1_LINE_BYTES_MAX, ED_HTTP1_HEAD_BYTES_MAX, ED_HTTP1_FIELDS_MAX },
        };
        if (limits && limits->line_bytes_max)
                head->limits.line_bytes_max = limits->line_bytes_max;
        if (limits && limits->head_bytes_max)
                head->limits.head_bytes_max = limits->head_bytes_max;
        if (limits && limits->fields_max)
                head->limits.fields_max = limits->fields_max;
        /* Offsets are 32 bits wide, and sums of two of them must fit too. */
        if (head->limits.head_bytes_max > INT32_MAX)
                head->limits.head_bytes_max = INT32_MAX;
        if (head->limits.line_bytes_max > INT32_MAX)
                head->limits.line_bytes_max = INT32_MAX;
}

void ed_http1_request_init(struct ed_http1_head *head, struct ed_http1_field *fields,
                           const struct ed_http1_limits *limits)
{
        head_init(head, fields, limits);
}

void ed_http1_response_init(struct ed_http1_head *head, struct ed_http1_field *fields,
                            const struct ed_http1_limits *limits, enum ed_http1_answers answers)
{
        head_init(head, fields, limits);
        head->is_response = true;
        head->answers = (uint8_t) answers;
}

/* ---- start lines ----------------------------------------------------------- */

static const char version_text[7] = { 'H', 'T', 'T', 'P', '/', '1', '.' };

enum { VERSION_BYTES = sizeof(version_text) + 1 };

/* Text that does not begin like a version is probably the rest of a target with a space. */
static enum ed_http1_fault fault_in_version(const struct ed_http1_head *head, char c, uint32_t i)
{
        bool is_begun = i > 0 || c == 'h' || c == 'H' || c == '\r';

        return head->is_response || is_begun ? ED_HTTP1_FAULT_VERSION : ED_HTTP1_FAULT_TARGET;
}

/* Read "HTTP/1." and a digit from 'part' on. Sets '*ret_at' to the end. */
static int read_version(struct ed_http1_head *head, const char *data, uint32_t at, uint32_t end,
                        uint32_t *ret_at)
{
        uint32_t stop = line_stop(head, end);
        uint32_t i = at - head->part;

        while (i < VERSION_BYTES && at < stop) {
                bool fits = i < sizeof(version_text) ? data[at] == version_text[i]
                                                     : ed_char_is(data[at], ED_CHAR_DIGIT);

                if (!fits)
                        return head_fail(head, fault_in_version(head, data[at], i));
                i++;
                at++;
        }
        if (i < VERSION_BYTES)
                return at == end ? head_pause(head, IN_VERSION, at)
                                 : head_fail_at(head, at, ED_HTTP1_FAULT_VERSION);
        /* RFC 9110, 2.5: a higher minor version is read as the highest known one. */
        head->minor = data[at - 1] != '0';
        *ret_at = at;
        return NEXT;
}

/* Read the LF after the CR that ends a start line. */
static int read_line_end(struct ed_http1_head *head, const char *data, uint32_t at, uint32_t end)
{
        if (at == end)
                return head_pause(head, AFTER_START_LINE, at);
        if (data[at] != '\n')
                return head_fail(head, ED_HTTP1_FAULT_LINE_END);
        head->at = at + 1;
        head->state = AT_FIELD;
        return NEXT;
}

static enum ed_http1_fault fault_after_target(char c)
{
        if (c == '\n')
                return ED_HTTP1_FAULT_LINE_END;
        /* HTTP/0.9 had no version. */
        return c == '\r' ? ED_HTTP1_FAULT_VERSION : ED_HTTP1_FAULT_TARGET;
}

static int read_request_line(struct ed_http1_head *head, const char *data, uint32_t end)
{
        uint32_t at = head->at;
        uint32_t stop = line_stop(head, end);
        int err;

        switch ((enum head_state) head->state) {
        case AT_START:
                if (at == end)
                        return head_pause(head, AT_START, at);
                if (data[at] != '\r')
                        goto method;
                at++;
                ED_FALLTHROUGH;
        case IN_EMPTY_LINE:
                if (at == end)
                        return head_pause(head, IN_EMPTY_LINE, at);
                if (data[at++] != '\n')
                        return head_fail(head, ED_HTTP1_FAULT_LINE_END);
                head->line = head->part = at;
                stop = line_stop(head, end);
                ED_FALLTHROUGH;
        case IN_METHOD:
method:
                at = ed_chars_run(data, at, stop, ED_CHAR_TOKEN);
                if (at == end)
                        return head_pause(head, IN_METHOD, at);
                if (at == stop || data[at] != ' ' || at == head->part)
                        return head_fail_byte(head, data, at, ED_HTTP1_FAULT_METHOD);
                head->method = (struct ed_http1_slice){ head->part, at - head->part };
                head->part = ++at;
                ED_FALLTHROUGH;
        case IN_TARGET:
                at = ed_chars_run(data, at, stop, ED_CHAR_TARGET);
                if (at == end)
                        return head_pause(head, IN_TARGET, at);
                if (at == stop || data[at] != ' ' || at == head->part)
                        return head_fail_at(head, at, fault_after_target(data[at]));
                head->target = (struct ed_http1_slice){ head->part, at - head->part };
                head->part = ++at;
                ED_FALLTHROUGH;
        case IN_VERSION:
                err = read_version(head, data, at, end, &at);
                if (err != NEXT)
                        return err;
                ED_FALLTHROUGH;
        case AFTER_VERSION:
                if (at == end)
                        return head_pause(head, AFTER_VERSION, at);
                if (data[at] != '\r')
                        return head_fail_byte(head, data, at, ED_HTTP1_FAULT_VERSION);
                at++;
                ED_FALLTHROUGH;
        default:
                return read_line_end(head, data, at, end);
        }
}

/* Read three digits from 'part' on. */
static int read_status(struct ed_http1_head *head, const char *data, uint32_t at, uint32_t end,
                       uint32_t *ret_at)
{
        uint32_t stop = line_stop(head, end);

        while (at - head->part < 3 && at < stop) {
                if (!ed_char_is(data[at], ED_CHAR_DIGIT) || (at == head->part && data[at] == '0'))
                        return head_fail(head, ED_HTTP1_FAULT_STATUS);
                head->status = (uint16_t) (head->status * 10 + (data[at] - '0'));
                at++;
        }
        if (at - head->part < 3)
                return at == end ? head_pause(head, IN_STATUS, at)
                                 : head_fail_at(head, at, ED_HTTP1_FAULT_STATUS);
        *ret_at = at;
        return NEXT;
}

static int read_status_line(struct ed_http1_head *head, const char *data, uint32_t end)
{
        uint32_t at = head->at;
        uint32_t stop = line_stop(head, end);
        int err;

        switch ((enum head_state) head->state) {
        case AT_START:
        case IN_VERSION:
                err = read_version(head, data, at, end, &at);
                if (err != NEXT)
                        return err;
                ED_FALLTHROUGH;
        case AFTER_VERSION:
                if (at == end)
                        return head_pause(head, AFTER_VERSION, at);
                if (at == stop || data[at] != ' ')
                        return head_fail_at(head, at, ED_HTTP1_FAULT_VERSION);
                head->part = ++at;
                ED_FALLTHROUGH;
        case IN_STATUS:
                err = read_status(head, data, at, end, &at);
                if (err != NEXT)
                        return err;
                ED_FALLTHROUGH;
        case AFTER_STATUS:
                if (at == end)
                        return head_pause(head, AFTER_STATUS, at);
                head->part = at;
                if (data[at] == '\r')
                        goto reason_end;
                if (at == stop || data[at] != ' ')
                        return head_fail_byte(head, data, at, ED_HTTP1_FAULT_STATUS);
                head->part = ++at;
                ED_FALLTHROUGH;
        case IN_REASON:
                at = ed_chars_value_run(data, at, stop);
                if (at == end)
                        return head_pause(head, IN_REASON, at);
                if (data[at] != '\r')
                        return head_fail_byte(head, data, at, ED_HTTP1_FAULT_REASON);
reason_end:
                head->reason = (struct ed_http1_slice){ head->part, at - head->part };
                at++;
                ED_FALLTHROUGH;
        default:
                return read_line_end(head, data, at, end);
        }
}

/* ---- fields ---------------------------------------------------------------- */

/* RFC 9112, 6.3: a second length can smuggle a request; see the rules in http1.h. */
static int take_length(struct ed_http1_head *head, const char *value, uint32_t bytes)
{
        uint64_t length = 0;

        if (!ed_http1_length_parse(value, bytes, &length))
                return head_fail(head, ED_HTTP1_FAULT_LENGTH);
        if (head->seen & SEEN_LENGTH && (!head->is_response || length != head->content_length))
                return head_fail(head, ED_HTTP1_FAULT_LENGTH_TWICE);
        head->seen |= SEEN_LENGTH;
        head->has_length = true;
        head->content_length = length;
        return NEXT;
}

/* Read one list, possibly in several fields (RFC 9110, 5.3). decide_coding() evaluates it. */
static int take_coding(struct ed_http1_head *head, const char *value, uint32_t bytes)
{
        struct eddy_slice coding;
        size_t at = 0;

        if (head->minor == 0)
                return head_fail(head, ED_HTTP1_FAULT_CODING_IN_1_0);
        head->seen |= SEEN_CODING;
        while (ed_http1_list_next(value, bytes, &at, &coding)) {
                bool is_chunked = ED_TOKEN_IS(coding.data, coding.bytes, "chunked");

                if (head->seen & CODING_CHUNKED)
                        return head_fail(head, is_chunked ? ED_HTTP1_FAULT_CODING_TWICE
                                                          : ED_HTTP1_FAULT_CODING_NOT_LAST);
                head->seen |= is_chunked ? CODING_CHUNKED : CODING_OTHER;
        }
        return NEXT;
}

static int take_host(struct ed_http1_head *head, const char *data,
                     const struct ed_http1_field *field)
{
        const char *host;
        size_t host_bytes;

        if (head->is_response)
                return NEXT;
        if (head->seen & SEEN_HOST)
                return head_fail(head, ED_HTTP1_FAULT_HOST_TWICE);
        if (ed_http1_host_split(data + field->value.at, field->value.bytes, &host, &host_bytes) < 0)
                return head_fail(head, ED_HTTP1_FAULT_HOST);
        head->seen |= SEEN_HOST;
        head->host = field->value;
        return NEXT;
}

static int take_connection(struct ed_http1_head *head, const char *value, uint32_t bytes)
{
        /* Fast path for the most common value. */
        if (ED_TOKEN_IS(value, bytes, "keep-alive")) {
                head->seen |= OPTION_KEEP_ALIVE;
                return NEXT;
        }
        if (ed_http1_list_has(value, bytes, "close"))
                head->seen |= OPTION_CLOSE;
        if (ed_http1_list_has(value, bytes, "keep-alive"))
                head->seen |= OPTION_KEEP_ALIVE;
        if (ed_http1_list_has(value, bytes, "upgrade"))
                head->seen |= OPTION_UPGRADE;
        return NEXT;
}

/* Read "timeout=5, max=100" (RFC 2068, 19.7.1.1). Other parameters and nonsense are ignored. */
static int take_keep_alive(struct ed_http1_head *head, const char *value, uint32_t bytes)
{
        static const char name[] = "timeout=";
        enum { NAME_BYTES = sizeof(name) - 1 };
        struct eddy_slice parameter;
        uint64_t seconds;
        size_t at = 0;

        if (!head->is_response)
                return NEXT;
        while (ed_http1_list_next(value, bytes, &at, &parameter)) {
                if (parameter.bytes > NAME_BYTES &&
                    ed_http1_same_name(parameter.data, NAME_BYTES, name, NAME_BYTES) &&
                    ed_http1_length_parse((const char *) parameter.data + NAME_BYTES,
                                          parameter.bytes - NAME_BYTES, &seconds) &&
                    seconds < head->keep_alive_s)
                        head->keep_alive_s = (uint32_t) seconds;
        }
        return NEXT;
}

static int take_expect(struct ed_http1_head *head, const char *value, uint32_t bytes)
{
        bool is_continue = ED_TOKEN_IS(value, bytes, "100-continue");

        /* RFC 9110, 10.1.1: ignored in HTTP/1.0. */
        if (head->is_response || head->minor == 0)
                return NEXT;
        head->expect_continue = is_continue;
        head->expect_other = !is_continue;
        return NEXT;
}

/* Check a field that may occur once in a request: its bit is SEEN_SINGLE << i. */
static int take_single(struct ed_http1_head *head, unsigned i)
{
        uint32_t bit = (uint32_t) SEEN_SINGLE << i;

        if (head->is_response)
                return NEXT;
        if (head->seen & bit)
                return head_fail(head, ED_HTTP1_FAULT_FIELD_TWICE);
        head->seen |= bit;
        return NEXT;
}

/*
 * Evaluate a complete field that affects the message. Switches by length, because most fields do
 * not.
 */
static int take_field(struct ed_http1_head *head, const char *data,
                      const struct ed_http1_field *field)
{
        const char *name = data + field->name.at;
        const char *value = data + field->value.at;
        uint32_t bytes = field->value.bytes;
        int err;

        switch (field->name.bytes) {
        case 4:
                if (ED_TOKEN_IS(name, 4, "host"))
                        return take_host(head, data, field);
                break;
        case 6:
                if (ED_TOKEN_IS(name, 6, "expect")) {
                        err = take_single(head, 0);
                        return err == NEXT ? take_expect(head, value, bytes) : err;
                }
                break;
        case 7:
                if (ED_TOKEN_IS(name, 7, "upgrade"))
                        head->seen |= SEEN_UPGRADE;
                break;
        case 10:
                if (ED_TOKEN_IS(name, 10, "connection"))
                        return take_connection(head, value, bytes);
                if (ED_TOKEN_IS(name, 10, "keep-alive"))
                        return take_keep_alive(head, value, bytes);
                if (ED_TOKEN_IS(name, 10, "user-agent"))
                        return take_single(head, 1);
                break;
        case 12:
                if (ED_TOKEN_IS(name, 12, "content-type"))
                        return take_single(head, 2);
                break;
        case 13:
                if (ED_TOKEN_IS(name, 13, "authorization"))
                        return take_single(head, 3);
                break;
        case 14:
                if (ED_TOKEN_IS(name, 14, "content-length"))
                        return take_length(head, value, bytes);
                break;
        case 17:
                if (ED_TOKEN_IS(name, 17, "transfer-encoding"))
                        return take_coding(head, value, bytes);
                break;
        default:
                break;
        }
        return NEXT;
}

/* Returns the fault of a byte that cannot begin a field's name. */
static enum ed_http1_fault fault_at_field(char c)
{
        if (c == ' ' || c == '\t')
                return ED_HTTP1_FAULT_FOLDED;
        return c == '\n' ? ED_HTTP1_FAULT_LINE_END : ED_HTTP1_FAULT_FIELD_NAME;
}

/* End the value from 'part' to 'at', where CR must follow. */
static int end_field(struct ed_http1_head *head, const char *data, uint32_t at)
{
        struct ed_http1_field *field = &head->fields[head->fields_count];

        if (data[at] != '\r')
                return head_fail_byte(head, data, at, ED_HTTP1_FAULT_FIELD_VALUE);
        while (at > head->part && (data[at - 1] == ' ' || data[at - 1] == '\t'))
                at--;
        field->value = (struct ed_http1_slice){ head->part, at - head->part };
        head->fields_count++;
        /* The next line of a response may continue the field. */
        head->is_open = head->is_response;
        return head->is_open ? NEXT : take_field(head, data, field);
}

/*
 * Begin the line at 'at', after which the last field of a response is known to be complete. Returns
 * the state for the rest of the line, or an error.
 */
static int begin_line(struct ed_http1_head *head, char *data, uint32_t at)
{
        bool is_folded = data[at] == ' ' || data[at] == '\t', is_open = head->is_open;
        struct ed_http1_field *last = &head->fields[head->fields_count - is_open];
        int err;

        head->line = at;
        head->state = AT_FIELD;
        head->is_open = false;
        if (is_open && is_folded) {
                /* RFC 9112, 5.2: spaces replace the line end. */
                data[at - 2] = data[at - 1] = ' ';
                head->fields_count--;
                return last->value.bytes > 0 ? IN_VALUE : BEFORE_VALUE;
        }
        err = is_open ? take_field(head, data, last) : NEXT;
        if (err < 0)
                return err;
        if (data[at] == '\r')
                return AT_END;
        if (!ed_char_is(data[at], ED_CHAR_TOKEN))
                return head_fail(head, fault_at_field(data[at]));
        if (head->fields_count == head->limits.fields_max)
                return head_fail(head, ED_HTTP1_FAULT_FIELDS_TOO_MANY);
        return IN_NAME;
}

static int read_fields(struct ed_http1_head *head, char *data, uint32_t end)
{
        uint32_t at = head->at;
        uint32_t stop = line_stop(head, end);
        enum head_state state = (enum head_state) head->state;
        int next;

        for (;;) {
                switch (state) {
                default:
                        if (at == end)
                                return head_pause(head, AT_FIELD, at);
                        next = begin_line(head, data, at);
                        if (next < 0)
                                return next;
                        stop = line_stop(head, end);
                        at += next == AT_END;
                        if (next != IN_NAME) {
                                state = (enum head_state) next;
                                continue;
                        }
                        ED_FALLTHROUGH;
                case IN_NAME:
                        at = ed_chars_run(data, at, stop, ED_CHAR_TOKEN);
                        if (at == end)
                                return head_pause(head, IN_NAME, at);
                        if (at == stop || data[at] != ':')
                                return head_fail_at(head, at, ED_HTTP1_FAULT_FIELD_NAME);
                        head->fields[head->fields_count].name =
                                (struct ed_http1_slice){ head->line, at - head->line };
                        at++;
                        ED_FALLTHROUGH;
                case BEFORE_VALUE:
                        while (at < stop && (data[at] == ' ' || data[at] == '\t'))
                                at++;
                        head->part = at;
                        if (at == end)
                                return head_pause(head, BEFORE_VALUE, at);
                        ED_FALLTHROUGH;
                case IN_VALUE:
                        at = ed_chars_value_run(data, at, stop);
                        if (at == end)
                                return head_pause(head, IN_VALUE, at);
                        next = end_field(head, data, at);
                        if (next < 0)
                                return next;
                        at++;
                        ED_FALLTHROUGH;
                case AFTER_FIELD:
                        if (at == end)
                                return head_pause(head, AFTER_FIELD, at);
                        if (data[at++] != '\n')
                                return head_fail(head, ED_HTTP1_FAULT_LINE_END);
                        state = AT_FIELD;
                        break;
                case AT_END:
                        if (at == end)
                                return head_pause(head, AT_END, at);
                        if (data[at] != '\n')
                                return head_fail(head, ED_HTTP1_FAULT_LINE_END);
                        head->at = at + 1;
                        return NEXT;
                }
        }
}

/* ---- the whole head -------------------------------------------------------- */

/* RFC 9112, 3.2.2: the authority of an absolute target replaces Host. */
static void take_authority(struct ed_http1_head *head, const char *data)
{
        const char *target = data + head->target.at, *end = target + head->target.bytes;
        const char *authority = (const char *) memchr(target, ':', head->target.bytes) + 3, *at;

        for (at = authority; at < end && *at != '/' && *at != '?'; at++)
                continue;
        head->host.at = head->target.at + (uint32_t) (authority - target);
        head->host.bytes = (uint32_t) (at - authority);
}

static int decide_target(struct ed_http1_head *head, const char *data)
{
        struct ed_url url;
        int form = ed_http1_target_form_of(data + head->method.at, head->method.bytes,
                                           data + head->target.at, head->target.bytes, &url);

        if (form < 0)
                return head_fail(head, ED_HTTP1_FAULT_TARGET);
        head->target_form = (uint8_t) form;
        if (!(head->seen & SEEN_HOST) && head->minor > 0)
                return head_fail(head, ED_HTTP1_FAULT_HOST_MISSING);
        if (form == ED_HTTP1_ABSOLUTE)
                take_authority(head, data);
        return NEXT;
}

/* RFC 9112, 6.1 and 6.3: the end of a request cannot be found if its last coding is not chunked. */
static int decide_coding(struct ed_http1_head *head)
{
        if (!(head->seen & SEEN_CODING))
                return NEXT;
        if (head->seen & SEEN_LENGTH)
                return head_fail(head, ED_HTTP1_FAULT_LENGTH_AND_CODING);
        if (!(head->seen & CODING_CHUNKED))
                return head_fail(head, ED_HTTP1_FAULT_CODING_NOT_LAST);
        return head->seen & CODING_OTHER ? head_fail(head, ED_HTTP1_FAULT_CODING) : NEXT;
}

/* RFC 9112, 6.3, for requests. */
static int decide_request_body(struct ed_http1_head *head, const char *data)
{
        if (head->seen & SEEN_CODING)
                head->framing = ED_HTTP1_CHUNKED;
        else if (head->content_length > 0)
                head->framing = ED_HTTP1_BY_LENGTH;
        else
                head->framing = ED_HTTP1_NO_BODY;
        if (head->framing != ED_HTTP1_NO_BODY &&
            ed_http1_answers_to(data + head->method.at, head->method.bytes) == ED_HTTP1_TO_CONNECT)
                return head_fail(head, ED_HTTP1_FAULT_CONNECT_BODY);
        return NEXT;
}

/* RFC 9112, 6.3, for responses, in its order. */
static void decide_response_body(struct ed_http1_head *head)
{
        bool is_success = head->status >= 200 && head->status <= 299;

        if (head->status == 101 || (is_success && head->answers == ED_HTTP1_TO_CONNECT))
                head->framing = ED_HTTP1_TUNNEL;
        else if (head->answers == ED_HTTP1_TO_HEAD || head->status < 200 || head->status == 204 ||
                 head->status == 304)
                head->framing = ED_HTTP1_NO_BODY;
        else if (head->seen & SEEN_CODING)
                head->framing = ED_HTTP1_CHUNKED;
        else if (!head->has_length)
                head->framing = ED_HTTP1_BY_CLOSE;
        else
                head->framing = head->content_length > 0 ? ED_HTTP1_BY_LENGTH : ED_HTTP1_NO_BODY;
}

static int decide_all(struct ed_http1_head *head, const char *data)
{
        int err = decide_coding(head);

        if (err != NEXT)
                return err;
        if (head->is_response) {
                decide_response_body(head);
        } else {
                err = decide_target(head, data);
                if (err == NEXT)
                        err = decide_request_body(head, data);
        }
        /* RFC 9112, 9.3: "close" takes precedence. */
        head->keep_alive = !(head->seen & OPTION_CLOSE) &&
                           (head->minor == 1 || (head->seen & OPTION_KEEP_ALIVE)) &&
                           head->framing != ED_HTTP1_BY_CLOSE && head->framing != ED_HTTP1_TUNNEL;
        head->upgrade =
                head->minor == 1 && (head->seen & SEEN_UPGRADE) && (head->seen & OPTION_UPGRADE);
        return err;
}

int64_t ed_http1_head_parse(struct ed_http1_head *head, char *data, size_t bytes)
{
        uint32_t end = bytes < head->limits.head_bytes_max ? (uint32_t) bytes
                                                           : head->limits.head_bytes_max;
        int err;

        ed_assert(end >= head->at, "a head was read on with fewer bytes than before");
        if (head->state == FAILED)
                return head_fail(head, head->fault);
        if (head->state < AT_FIELD) {
                err = head->is_response ? read_status_line(head, data, end)
                                        : read_request_line(head, data, end);
                if (err != NEXT)
                        return err;
        }
        err = read_fields(head, data, end);
        if (err != NEXT)
                return err;
        err = decide_all(head, data);
        return err < 0 ? (int64_t) err : (int64_t) head->at;
}

int ed_http1_head_finish(const struct ed_http1_head *head)
{
        /* The empty line that may precede a request is not part of it. */
        bool is_blank = head->at == 0 || (head->state == IN_METHOD && head->at == head->line);

        return is_blank ? EDDY_E_HTTP_CLOSED : EDDY_E_HTTP_TRUNCATED;
}

const struct ed_http1_field *ed_http1_head_field(const struct ed_http1_head *head, const char *data,
                                                 const char *name)
{
        size_t bytes = strlen(name);

        for (uint32_t i = 0; i < head->fields_count; i++) {
                const struct ed_http1_field *field = &head->fields[i];

                if (ed_http1_same_name(data + field->name.at, field->name.bytes, name, bytes))
                        return field;
        }
        return NULL;
}
