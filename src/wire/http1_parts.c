/*
 * wire/http1_parts.c - functions shared by reading and writing HTTP/1.1.
 */
#include "wire/http1_parts.h"

#include "eddy/error.h"

enum { PORT_DIGITS_MAX = 5 };

static const struct {
        int status;
        const char *text;
} faults[] = {
#define FAULT_ROW(name, status, text) { status, text },
        ED_HTTP1_FAULTS(FAULT_ROW)
#undef FAULT_ROW
};

const char *ed_http1_fault_text(enum ed_http1_fault fault)
{
        return (size_t) fault < ed_array_count(faults) ? faults[fault].text : "unknown fault";
}

int ed_http1_fault_status(enum ed_http1_fault fault)
{
        return (size_t) fault < ed_array_count(faults) ? faults[fault].status : 400;
}

int ed_http1_fault_error(enum ed_http1_fault fault, bool is_response)
{
        switch (fault) {
        case ED_HTTP1_FAULT_LINE_TOO_LONG:
        case ED_HTTP1_FAULT_TARGET_TOO_LONG:
        case ED_HTTP1_FAULT_HEAD_TOO_LARGE:
        case ED_HTTP1_FAULT_FIELDS_TOO_MANY:
        case ED_HTTP1_FAULT_CHUNK_TOO_LARGE:
        case ED_HTTP1_FAULT_CHUNK_EXTENSION_TOO_LONG:
        case ED_HTTP1_FAULT_TRAILERS_TOO_LARGE:
        case ED_HTTP1_FAULT_BODY_TOO_LARGE:
        case ED_HTTP1_FAULT_INTERIM_TOO_LARGE:
                return EDDY_E_HTTP_TOO_LARGE;
        default:
                return is_response ? EDDY_E_HTTP_INVALID_RESPONSE : EDDY_E_HTTP_INVALID_REQUEST;
        }
}

static char char_lower(char c)
{
        return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}

bool ed_http1_same_name(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
        if (a_bytes != b_bytes)
                return false;
        for (size_t i = 0; i < a_bytes; i++)
                if (char_lower(a[i]) != char_lower(b[i]))
                        return false;
        return true;
}

bool ed_http1_list_next(const char *value, size_t bytes, size_t *at, struct eddy_slice *ret_element)
{
        while (*at < bytes) {
                const char *comma = memchr(value + *at, ',', bytes - *at);
                size_t start = *at, end = comma ? (size_t) (comma - value) : bytes;

                *at = comma ? end + 1 : bytes;
                while (start < end && (value[start] == ' ' || value[start] == '\t'))
                        start++;
                while (end > start && (value[end - 1] == ' ' || value[end - 1] == '\t'))
                        end--;
                if (start < end) {
                        *ret_element = (struct eddy_slice){ value + start, end - start };
                        return true;
                }
        }
        return false;
}

bool ed_http1_list_has(const char *value, size_t bytes, const char *token)
{
        size_t token_bytes = strlen(token), at = 0;
        struct eddy_slice element;

        while (ed_http1_list_next(value, bytes, &at, &element))
                if (ed_http1_same_name(element.data, element.bytes, token, token_bytes))
                        return true;
        return false;
}

enum ed_http1_answers ed_http1_answers_to(const char *method, size_t bytes)
{
        /* Methods are case-sensitive (RFC 9110, 9.1). */
        if (bytes == 4 && memcmp(method, "HEAD", 4) == 0)
                return ED_HTTP1_TO_HEAD;
        if (bytes == 7 && memcmp(method, "CONNECT", 7) == 0)
                return ED_HTTP1_TO_CONNECT;
        return ED_HTTP1_TO_OTHER;
}

bool ed_http1_length_parse(const char *text, size_t bytes, uint64_t *ret_length)
{
        uint64_t length = 0;

        if (bytes == 0)
                return false;
        for (size_t i = 0; i < bytes; i++) {
                unsigned digit = (unsigned) (uint8_t) text[i] - '0';

                if (digit > 9 || length > ((uint64_t) INT64_MAX - digit) / 10)
                        return false;
                length = length * 10 + digit;
        }
        *ret_length = length;
        return true;
}

bool ed_http1_is_host(const char *text, size_t bytes)
{
        const char *host;
        size_t host_bytes;

        return ed_http1_host_split(text, bytes, &host, &host_bytes) >= 0;
}

int ed_http1_host_split(const char *text, size_t bytes, const char **ret_host,
                        size_t *ret_host_bytes)
{
        uint16_t port = 0;
        int kind = ed_url_host_port_split(text, bytes, ret_host, ret_host_bytes, &port);
        size_t at;

        if (kind < 0 || kind == ED_URL_NAME_IDN)
                return -1;
        at = (size_t) (*ret_host - text) + *ret_host_bytes + (kind == ED_URL_IPV6);
        if (bytes - at > 1 + PORT_DIGITS_MAX)
                return -1;
        return port;
}

/* '%' must be followed by two hexadecimal digits. */
static bool escapes_are_whole(const char *text, size_t bytes)
{
        const char *end = text + bytes;

        while ((text = memchr(text, '%', (size_t) (end - text)))) {
                if (end - text < 3 || !ed_char_is(text[1], ED_CHAR_HEX) ||
                    !ed_char_is(text[2], ED_CHAR_HEX))
                        return false;
                text += 3;
        }
        return true;
}

int ed_http1_target_form_of(const char *method, size_t method_bytes, const char *target,
                            size_t target_bytes, struct ed_url *ret_url)
{
        const char *host;
        size_t host_bytes;

        if (target_bytes == 0)
                return -1;
        /* RFC 9112, 3.2.3: CONNECT allows only this form, and requires a port. */
        if (ed_http1_answers_to(method, method_bytes) == ED_HTTP1_TO_CONNECT)
                return ed_http1_host_split(target, target_bytes, &host, &host_bytes) > 0
                               ? ED_HTTP1_AUTHORITY
                               : -1;
        if (target[0] == '/')
                return escapes_are_whole(target, target_bytes) ? ED_HTTP1_ORIGIN : -1;
        if (target_bytes == 1 && target[0] == '*')
                return method_bytes == 7 && memcmp(method, "OPTIONS", 7) == 0 ? ED_HTTP1_ASTERISK
                                                                              : -1;
        /* RFC 9110, 4.2.4: user information in a target is usually an attempt at phishing. */
        if (ed_url_parse(target, target_bytes, ret_url) < 0 || ret_url->has_userinfo)
                return -1;
        return ED_HTTP1_ABSOLUTE;
}
