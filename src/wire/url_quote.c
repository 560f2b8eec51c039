/*
 * wire/url_quote.c - see url_quote.h.
 */
#include "wire/url_quote.h"

#include <stdbool.h>

#include "eddy/error.h"
#include "eddy/url.h"

static bool is_unreserved(unsigned char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.' || c == '_' || c == '~';
}

void ed_url_quote_to(struct ed_url_sink *sink, const void *data, size_t bytes, unsigned flags)
{
        static const char digits[] = "0123456789ABCDEF";
        const unsigned char *in = data;

        for (size_t i = 0; i < bytes; i++) {
                const char quoted[3] = { '%', digits[in[i] >> 4], digits[in[i] & 15] };

                if (is_unreserved(in[i]) || (in[i] == '/' && (flags & EDDY_URL_SLASH)))
                        ed_url_sink_char(sink, (char) in[i]);
                else if (in[i] == ' ' && (flags & EDDY_URL_PLUS))
                        ed_url_sink_char(sink, '+');
                else
                        ed_url_sink_add(sink, quoted, sizeof(quoted));
        }
}

/* The bytes to be quoted, or the text to be decoded. */
struct input {
        const void *data;
        size_t bytes;
        unsigned flags;
};

static void quote_write(struct ed_url_sink *sink, const void *arg)
{
        const struct input *in = arg;

        ed_url_quote_to(sink, in->data, in->bytes, in->flags);
}

int64_t eddy_url_quote(const void *data, size_t bytes, unsigned flags, char *out, size_t room)
{
        struct input in = { data, bytes, flags };

        if (flags & ~(unsigned) (EDDY_URL_PLUS | EDDY_URL_SLASH))
                return -EINVAL;
        return ed_url_sink_store(quote_write, &in, out, room);
}

/* 'out' may be the text itself: each byte is read before its place is written. */
static void unquote_write(struct ed_url_sink *sink, const void *arg)
{
        const struct input *in = arg;
        const char *text = in->data;

        for (size_t at = 0; at < in->bytes;) {
                bool is_space = text[at] == '+' && (in->flags & EDDY_URL_PLUS);
                int c = ed_url_byte(text, in->bytes, &at);

                ed_url_sink_char(sink, is_space ? ' ' : (char) c);
        }
}

int64_t eddy_url_unquote(const char *text, size_t bytes, unsigned flags, char *out, size_t room)
{
        struct input in = { text, bytes, flags };

        if (flags & ~(unsigned) EDDY_URL_PLUS)
                return -EINVAL;
        for (size_t at = 0; at < bytes;)
                if (ed_url_byte(text, bytes, &at) < 0)
                        return EDDY_E_URL_INVALID;
        return ed_url_sink_store(unquote_write, &in, out, room);
}
