/*
 * http/range.c - see range.h.
 */
#include "http/range.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "eddy/http_date.h"
#include "eddy/time.h"

/* "Enough difference to make clock synchronization issues unlikely" (RFC 9110, 8.8.2.2). */
enum { DATE_AGE_S = 60 };

/* A number at '*at', which moves past it. Returns false without one, or it is too large. */
static bool number_read(const char **at, uint64_t *ret_number)
{
        const char *begin = *at;
        uint64_t number = 0;

        for (; **at >= '0' && **at <= '9'; (*at)++)
                if (__builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, (uint64_t) (**at - '0'), &number))
                        return false;
        *ret_number = number;
        return *at > begin && number < EDDY_HTTP_RANGE_UNKNOWN;
}

/* Returns true for a value that is a number and nothing else. */
static bool is_number(const char *value, uint64_t *ret_number)
{
        return number_read(&value, ret_number) && *value == '\0';
}

static bool is_coded(const char *coding)
{
        return coding && strcasecmp(coding, "identity") != 0;
}

/* Returns true for a strong entity tag, of ASCII only. A weak one begins with W/. */
static bool is_strong(const char *tag)
{
        size_t bytes = strlen(tag);

        if (bytes < 2 || tag[0] != '"' || tag[bytes - 1] != '"')
                return false;
        for (size_t i = 1; i < bytes - 1; i++)
                if (tag[i] < 0x21 || tag[i] > 0x7e || tag[i] == '"')
                        return false;
        return true;
}

static bool is_old(const char *modified, const char *date, int64_t now_s)
{
        int64_t modified_s, date_s;

        return modified && date &&
               eddy_http_date_parse(modified, strlen(modified), now_s, &modified_s) == 0 &&
               eddy_http_date_parse(date, strlen(date), now_s, &date_s) == 0 &&
               date_s - modified_s >= DATE_AGE_S;
}

void ed_http_range_note(struct eddy_http_range *range, ed_http_range_field_fn *field,
                        const void *arg, int64_t now_s)
{
        const char *tag = field(arg, "ETag"), *modified = field(arg, "Last-Modified");
        const char *accepted = field(arg, "Accept-Ranges"), *length = field(arg, "Content-Length");
        const char *validator = NULL;

        range->validator[0] = '\0';
        if (!length || !is_number(length, &range->total))
                range->total = EDDY_HTTP_RANGE_UNKNOWN;
        if (is_coded(field(arg, "Content-Encoding")) ||
            (accepted && strcasecmp(accepted, "none") == 0))
                return;
        if (tag)
                validator = is_strong(tag) ? tag : NULL;
        else if (is_old(modified, field(arg, "Date"), now_s) && !field(arg, "Vary"))
                validator = modified;
        if (validator && strlen(validator) < sizeof(range->validator))
                memcpy(range->validator, validator, strlen(validator) + 1);
}

/* "bytes 5-9/10" or "bytes 5-9/ *", without the blank. */
struct content_range {
        uint64_t first, last, total; /* total EDDY_HTTP_RANGE_UNKNOWN: an asterisk */
};

static bool content_range_read(const char *value, struct content_range *range)
{
        if (!value || strncasecmp(value, "bytes ", 6) != 0)
                return false;
        value += 6;
        if (!number_read(&value, &range->first) || *value++ != '-' ||
            !number_read(&value, &range->last) || *value++ != '/')
                return false;
        range->total = EDDY_HTTP_RANGE_UNKNOWN;
        if (strcmp(value, "*") != 0 && !is_number(value, &range->total))
                return false;
        return range->first <= range->last && range->last < range->total;
}

/* Returns true if a partial response is of the same body. */
static bool is_same(const struct eddy_http_range *range, ed_http_range_field_fn *field,
                    const void *arg)
{
        const char *tag = field(arg, "ETag"), *modified = field(arg, "Last-Modified");

        if (range->validator[0] == '"')
                return tag && strcmp(tag, range->validator) == 0;
        /* A server may leave out the date after If-Range (RFC 9110, 15.3.7). */
        return !tag && (!modified || strcmp(modified, range->validator) == 0);
}

/* Returns true if a partial response continues the body. */
static bool continues(struct eddy_http_range *range, uint64_t first, ed_http_range_field_fn *field,
                      const void *arg, uint64_t *ret_bytes)
{
        const char *type = field(arg, "Content-Type"), *length = field(arg, "Content-Length");
        struct content_range part;
        uint64_t bytes;

        if ((type && strncasecmp(type, "multipart/", 10) == 0) ||
            is_coded(field(arg, "Content-Encoding")) || !is_same(range, field, arg) ||
            !content_range_read(field(arg, "Content-Range"), &part) || part.first != first)
                return false;
        *ret_bytes = part.last - part.first + 1;
        if (length && (!is_number(length, &bytes) || bytes != *ret_bytes))
                return false;
        if (range->total == EDDY_HTTP_RANGE_UNKNOWN)
                range->total = part.total;
        /* Without a length the end would not be known. */
        return range->total != EDDY_HTTP_RANGE_UNKNOWN && part.last < range->total &&
               (part.total == EDDY_HTTP_RANGE_UNKNOWN || part.total == range->total);
}

enum eddy_http_range_answer ed_http_range_judge(struct eddy_http_range *range, uint64_t first,
                                                int status, ed_http_range_field_fn *field,
                                                const void *arg, uint64_t *ret_bytes)
{
        if (status == 206)
                return continues(range, first, field, arg, ret_bytes) ? EDDY_HTTP_RANGE_CONTINUED
                                                                      : EDDY_HTTP_RANGE_REFUSED;
        if (status == 416)
                return EDDY_HTTP_RANGE_REFUSED;
        return status < 300 ? EDDY_HTTP_RANGE_WHOLE : EDDY_HTTP_RANGE_FAILED;
}

/* ---- responses ------------------------------------------------------------- */

static const char *field_of(const void *arg, const char *name)
{
        const eddy_http_response *response = arg;
        struct eddy_http_header header;
        const char *value = NULL;

        for (size_t i = 0; eddy_http_response_header_at(response, i, &header) == 0; i++) {
                if (strcasecmp(header.name, name) != 0)
                        continue;
                if (value)
                        return ",";
                value = header.value;
        }
        return value;
}

void eddy_http_range_note(struct eddy_http_range *range, const eddy_http_response *response)
{
        if (range)
                ed_http_range_note(range, field_of, response, eddy_time_of_day() / EDDY_SEC(1));
}

enum eddy_http_range_answer eddy_http_range_judge(struct eddy_http_range *range, uint64_t first,
                                                  const eddy_http_response *response,
                                                  uint64_t *ret_bytes)
{
        if (!range || !response || !ret_bytes)
                return EDDY_HTTP_RANGE_FAILED;
        return ed_http_range_judge(range, first, eddy_http_response_status(response), field_of,
                                   response, ret_bytes);
}
