/*
 * wire/multipart_write.c - the texts between the parts of a multipart body; see multipart.h. Names are
 * written as browsers do (WHATWG HTML, 4.10.21.8).
 */
#include <string.h>

#include "base/utf8.h"
#include "wire/chars.h"
#include "wire/multipart.h"

enum { ESCAPED_BYTES = 3 };

/* Returns what is written for a character, or NULL for itself. */
static const char *escape_of(char c)
{
        return c == '"' ? "%22" : c == '\r' ? "%0D" : c == '\n' ? "%0A" : NULL;
}

static bool is_name(const char *name)
{
        const unsigned char *at = (const unsigned char *) name;
        size_t left = strlen(name), n;

        for (; left > 0; at += n, left -= n) {
                n = ed_utf8_length(at, left);
                if (n == 0 || (!ed_char_is((char) *at, ED_CHAR_VALUE) && !escape_of((char) *at)))
                        return false;
        }
        return true;
}

static bool is_value(const char *value)
{
        for (; *value; value++)
                if (!ed_char_is(*value, ED_CHAR_VALUE))
                        return false;
        return true;
}

const char *ed_multipart_check(const struct ed_multipart_head *head)
{
        if (!head->name)
                return "has no name";
        if (!is_name(head->name))
                return "has a name that is not UTF-8, or has a control character";
        if (head->filename && !is_name(head->filename))
                return "has a file name that is not UTF-8, or has a control character";
        if (head->type && (!*head->type || !is_value(head->type)))
                return "has an empty type, or one with a control character";
        return NULL;
}

static int add(struct ed_buf *out, const char *text)
{
        return ed_buf_append(out, text, strlen(text));
}

/* Append a parameter of Content-Disposition, from its "; NAME=" on. */
static int add_name(struct ed_buf *out, const char *parameter, const char *name)
{
        int err = add(out, parameter);

        for (; *name && err == 0; name++) {
                const char *escape = escape_of(*name);

                err = ed_buf_append(out, escape ? escape : name, escape ? ESCAPED_BYTES : 1);
        }
        return err < 0 ? err : add(out, "\"");
}

static int add_boundary(struct ed_buf *out, const char *boundary, bool is_first)
{
        int err = add(out, is_first ? "--" : "\r\n--");

        return err < 0 ? err : add(out, boundary);
}

int ed_multipart_write(struct ed_buf *out, const char *boundary,
                       const struct ed_multipart_head *head, bool is_first)
{
        int err = add_boundary(out, boundary, is_first);

        if (err == 0)
                err = add_name(out, "\r\nContent-Disposition: form-data; name=\"", head->name);
        if (err == 0 && head->filename)
                err = add_name(out, "; filename=\"", head->filename);
        if (err == 0 && head->type) {
                err = add(out, "\r\nContent-Type: ");
                err = err < 0 ? err : add(out, head->type);
        }
        return err < 0 ? err : add(out, "\r\n");
}

int ed_multipart_write_end(struct ed_buf *out, const char *boundary, bool is_first)
{
        int err = add_boundary(out, boundary, is_first);

        return err < 0 ? err : add(out, "--\r\n");
}
