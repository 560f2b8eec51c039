/*
 * wire/multipart_head.c - the headers of a part of a multipart body, and the boundary in the
 * Content-Type of the whole; see multipart.h.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "eddy/error.h"
#include "wire/chars.h"
#include "wire/multipart.h"

/* Text that is read from its beginning. */
struct text {
        const char *at, *end;
};

static int refuse(struct ed_multipart *multipart, const char *rule)
{
        multipart->rule = rule;
        return EDDY_E_HTTP_MULTIPART;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t';
}

static void skip_blank(struct text *text)
{
        while (text->at < text->end && is_blank(*text->at))
                text->at++;
}

static bool take(struct text *text, char c)
{
        if (text->at == text->end || *text->at != c)
                return false;
        text->at++;
        return true;
}

static struct text take_token(struct text *text)
{
        struct text token = { text->at, text->at };

        while (token.end < text->end && ed_char_is(*token.end, ED_CHAR_TOKEN))
                token.end++;
        text->at = token.end;
        return token;
}

static bool is(const struct text *text, const char *lower)
{
        return ed_token_is(text->at, (size_t) (text->end - text->at), lower, strlen(lower));
}

/* Take "; NAME=VALUE". Returns 1; 0 at the end; or -1 if the text is not a parameter. */
static int take_parameter(struct text *text, struct text *ret_name, struct text *ret_value)
{
        const char *quote;

        skip_blank(text);
        if (text->at == text->end)
                return 0;
        if (!take(text, ';'))
                return -1;
        skip_blank(text);
        *ret_name = take_token(text);
        if (ret_name->at == ret_name->end || !take(text, '='))
                return -1;
        if (!take(text, '"')) {
                *ret_value = take_token(text);
                return ret_value->at < ret_value->end ? 1 : -1;
        }
        quote = memchr(text->at, '"', (size_t) (text->end - text->at));
        if (!quote)
                return -1;
        *ret_value = (struct text){ text->at, quote };
        text->at = quote + 1;
        return 1;
}

/* ---- the boundary ------------------------------------------------------------ */

/* RFC 2046, 5.1.1: a boundary does not end with a space. */
static bool is_boundary(const struct text *text)
{
        size_t bytes = (size_t) (text->end - text->at);

        if (bytes == 0 || bytes > ED_MULTIPART_BOUNDARY_MAX || text->end[-1] == ' ')
                return false;
        for (const char *at = text->at; at < text->end; at++)
                if (!ed_char_is(*at, ED_CHAR_DIGIT) &&
                    !((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') &&
                    (*at == '\0' || !strchr("'()+_,-./:=? ", *at)))
                        return false;
        return true;
}

int ed_multipart_boundary(const char *type, char ret_boundary[ED_MULTIPART_BOUNDARY_MAX + 1],
                          const char **ret_rule)
{
        static const char own[] = "multipart/form-data";
        struct text text = { type, type ? type + strlen(type) : type }, name, value, found = { 0 };
        size_t bytes;
        int more;

        *ret_rule = NULL;
        if (!type || strncasecmp(type, own, sizeof(own) - 1) != 0)
                return EDDY_E_HTTP_CONTENT_TYPE;
        text.at += sizeof(own) - 1;
        if (text.at < text.end && *text.at != ';' && !is_blank(*text.at))
                return EDDY_E_HTTP_CONTENT_TYPE;
        *ret_rule = "the Content-Type has one boundary, of 1 to 70 characters";
        while ((more = take_parameter(&text, &name, &value)) > 0) {
                if (!is(&name, "boundary"))
                        continue;
                if (found.at || !is_boundary(&value))
                        return EDDY_E_HTTP_MULTIPART;
                found = value;
        }
        if (more < 0 || !found.at)
                return EDDY_E_HTTP_MULTIPART;
        *ret_rule = NULL;
        bytes = (size_t) (found.end - found.at);
        memcpy(ret_boundary, found.at, bytes);
        ret_boundary[bytes] = '\0';
        return (int) bytes;
}

/* ---- Content-Disposition ----------------------------------------------------- */

/* Returns the character of %22, %0D or %0A, else NUL. */
static char escaped(const char *at, const char *end)
{
        if (end - at < 3 || *at != '%')
                return '\0';
        if (at[1] == '2' && at[2] == '2')
                return '"';
        if (at[1] != '0')
                return '\0';
        return (at[2] | 0x20) == 'd' ? '\r' : (at[2] | 0x20) == 'a' ? '\n' : '\0';
}

static bool is_utf8(const struct text *text)
{
        const unsigned char *at = (const unsigned char *) text->at;
        size_t left = (size_t) (text->end - text->at), n;

        for (; left > 0; at += n, left -= n) {
                n = ed_utf8_length(at, left);
                if (n == 0)
                        return false;
        }
        return true;
}

/* Decode a name into the texts. */
static int keep_text(struct ed_multipart *multipart, const struct text *text, size_t *ret_at)
{
        size_t bytes = (size_t) (text->end - text->at);
        char *out;
        int err;

        if (!is_utf8(text))
                return refuse(multipart, "the names of a part are UTF-8");
        err = ed_buf_reserve(&multipart->texts, bytes + 1, &out);
        if (err < 0)
                return err;
        *ret_at = ed_buf_bytes(&multipart->texts);
        for (const char *at = text->at; at < text->end; at++) {
                char c = escaped(at, text->end);

                *out++ = c ? c : *at;
                at += c ? 2 : 0;
        }
        *out++ = '\0';
        ed_buf_grow(&multipart->texts, (size_t) (out - ed_buf_data(&multipart->texts)) - *ret_at);
        return 0;
}

static int use_parameter(struct ed_multipart *multipart, const struct text *name,
                         const struct text *value)
{
        if (name->end[-1] == '*')
                return refuse(multipart,
                              "\"name*\" and \"filename*\" are not used (RFC 7578, 4.2)");
        if (is(name, "name")) {
                if (multipart->has_name)
                        return refuse(multipart, "a part has one name");
                multipart->has_name = true;
                return keep_text(multipart, value, &multipart->name_at);
        }
        if (is(name, "filename")) {
                if (multipart->has_filename)
                        return refuse(multipart, "a part has one file name");
                multipart->has_filename = true;
                return keep_text(multipart, value, &multipart->filename_at);
        }
        return 0;
}

static int use_disposition(struct ed_multipart *multipart, const char *disposition)
{
        struct text text = { disposition, disposition + strlen(disposition) }, name, value;
        struct text token = take_token(&text);
        int more, err;

        if (multipart->has_name)
                return refuse(multipart, "a part has one Content-Disposition");
        if (!is(&token, "form-data"))
                return refuse(multipart, "the Content-Disposition of a part is form-data");
        while ((more = take_parameter(&text, &name, &value)) > 0) {
                err = use_parameter(multipart, &name, &value);
                if (err < 0)
                        return err;
        }
        if (more < 0)
                return refuse(multipart, "a Content-Disposition has parameters NAME=\"VALUE\"");
        return multipart->has_name ? 0 : refuse(multipart, "a part has a name");
}

/* ---- headers --------------------------------------------------------------- */

/* A part's data is sent as it is (RFC 7578, 4.7). */
static bool is_identity(const char *coding)
{
        return strcasecmp(coding, "binary") == 0 || strcasecmp(coding, "8bit") == 0 ||
               strcasecmp(coding, "7bit") == 0;
}

static int use_header(struct ed_multipart *multipart, const char *name, const char *value)
{
        if (strcasecmp(name, "content-disposition") == 0)
                return use_disposition(multipart, value);
        if (strcasecmp(name, "content-transfer-encoding") == 0 && !is_identity(value))
                return refuse(multipart, "a part has no Content-Transfer-Encoding");
        return 0;
}

/*
 * Write a line as "NAME" NUL "VALUE" NUL to '*out', which is not after the line. Returns the line's
 * value there, or NULL if the line is not a header.
 */
static const char *split_line(const char *line, const char *end, char **out)
{
        const char *colon = line, *value_at;
        char *value;

        while (colon < end && ed_char_is(*colon, ED_CHAR_TOKEN))
                colon++;
        if (colon == line || colon == end || *colon != ':')
                return NULL;
        value_at = colon + 1;
        while (value_at < end && is_blank(*value_at))
                value_at++;
        while (end > value_at && is_blank(end[-1]))
                end--;
        for (const char *at = value_at; at < end; at++)
                if (!ed_char_is(*at, ED_CHAR_VALUE))
                        return NULL;
        memmove(*out, line, (size_t) (colon - line));
        *out += colon - line;
        *(*out)++ = '\0';
        value = *out;
        memmove(value, value_at, (size_t) (end - value_at));
        *out += end - value_at;
        *(*out)++ = '\0';
        return value;
}

int ed_multipart_head(struct ed_multipart *multipart)
{
        char *line = ed_buf_data(&multipart->head), *out = line;
        char *end = line + ed_buf_bytes(&multipart->head), *next;
        const char *name, *value;
        int err;

        multipart->has_name = multipart->has_filename = false;
        ed_buf_consume(&multipart->texts, ed_buf_bytes(&multipart->texts));
        for (; line + 2 < end; line = next) {
                next = (char *) memchr(line, '\n', (size_t) (end - line)) + 1;
                if (next - line < 2 || next[-2] != '\r')
                        return refuse(multipart, "the lines of a part's headers end in CR LF");
                name = out;
                value = split_line(line, next - 2, &out);
                if (!value)
                        return refuse(multipart, "a header of a part is NAME: VALUE");
                err = use_header(multipart, name, value);
                if (err < 0)
                        return err;
        }
        ed_buf_drop(&multipart->head, (size_t) (end - out));
        return multipart->has_name ? 0 : refuse(multipart, "a part has a Content-Disposition");
}

int ed_multipart_header_at(const struct ed_multipart *multipart, size_t i, const char **ret_name,
                           const char **ret_value)
{
        const char *at = ed_buf_data(&multipart->head);
        const char *end = at + ed_buf_bytes(&multipart->head);

        for (; at < end; i--) {
                const char *value = at + strlen(at) + 1;

                if (i == 0) {
                        *ret_name = at;
                        *ret_value = value;
                        return 0;
                }
                at = value + strlen(value) + 1;
        }
        return -ENOENT;
}

void ed_multipart_part(const struct ed_multipart *multipart, struct ed_multipart_part *ret_part)
{
        const char *texts = ed_buf_data(&multipart->texts);
        const char *at = ed_buf_data(&multipart->head), *value;
        const char *end = at + ed_buf_bytes(&multipart->head);

        *ret_part = (struct ed_multipart_part){
                .name = texts + multipart->name_at,
                .filename = multipart->has_filename ? texts + multipart->filename_at : NULL,
        };
        for (; !ret_part->type && at < end; at = value + strlen(value) + 1) {
                value = at + strlen(at) + 1;
                if (strcasecmp(at, "content-type") == 0)
                        ret_part->type = value;
        }
}
