/*
 * wire/url_query.c - the pairs of a query or form, as WHATWG's URL standard has them
 * (application/x-www-form-urlencoded).
 */
#include "wire/url_query.h"

#include "eddy/error.h"
#include "wire/url_quote.h"

/* ---- reading --------------------------------------------------------------------------------- */

bool ed_url_pair_take(struct eddy_url_part *query, struct ed_url_pair *ret_pair)
{
        const char *and, *equals;
        size_t bytes;

        while (query->bytes > 0 && *query->text == '&') {
                query->text++;
                query->bytes--;
        }
        if (query->bytes == 0)
                return false;
        and = memchr(query->text, '&', query->bytes);
        bytes = and? (size_t) (and-query->text) : query->bytes;
        equals = memchr(query->text, '=', bytes);
        ret_pair->name.text = query->text;
        ret_pair->name.bytes = equals ? (size_t) (equals - query->text) : bytes;
        ret_pair->value.text = equals ? equals + 1 : query->text + bytes;
        ret_pair->value.bytes = equals ? bytes - ret_pair->name.bytes - 1 : 0;
        query->text += bytes;
        query->bytes -= bytes;
        return true;
}

/* Decode one byte. Returns -1 if it is malformed, or a NUL, which would end a string early. */
static int char_take(struct eddy_url_part part, size_t *at)
{
        int c = part.text[*at] == '+' ? ' ' : '\0';

        if (c == ' ')
                ++*at;
        else
                c = ed_url_byte(part.text, part.bytes, at);
        return c > 0 ? c : -1;
}

/* Returns the bytes of a part after decoding. */
static int64_t decoded_bytes(struct eddy_url_part part)
{
        int64_t n = 0;

        for (size_t at = 0; at < part.bytes; n++)
                if (char_take(part, &at) < 0)
                        return EDDY_E_URL_INVALID;
        return n;
}

static void decoded_write(struct ed_url_sink *sink, const void *arg)
{
        const struct eddy_url_part *part = arg;

        for (size_t at = 0; at < part->bytes;)
                ed_url_sink_char(sink, (char) char_take(*part, &at));
}

int eddy_url_query_next(struct eddy_url_part *query, char *out, size_t room,
                        struct eddy_url_pair *ret_pair)
{
        struct eddy_url_part left = *query;
        struct ed_url_pair raw;
        bool is_more = ed_url_pair_take(&left, &raw);
        int64_t name = is_more ? decoded_bytes(raw.name) : 0;
        int64_t value = is_more ? decoded_bytes(raw.value) : 0;

        if (name >= 0 && value >= 0 && is_more && (uint64_t) (name + value) + 2 > room)
                return -EMSGSIZE;
        *query = left;
        if (name < 0 || value < 0)
                return EDDY_E_URL_INVALID;
        if (!is_more)
                return 0;
        (void) ed_url_sink_store(decoded_write, &raw.name, out, room);
        (void) ed_url_sink_store(decoded_write, &raw.value, out + name + 1,
                                 room - (size_t) name - 1);
        *ret_pair = (struct eddy_url_pair){ out, out + name + 1 };
        return 1;
}

static bool name_is(struct eddy_url_part part, const char *name)
{
        size_t at = 0;

        for (; at < part.bytes && *name; name++)
                if (char_take(part, &at) != (unsigned char) *name)
                        return false;
        return at == part.bytes && *name == '\0';
}

int64_t eddy_url_query_get(const char *query, size_t bytes, const char *name, char *out,
                           size_t room)
{
        struct eddy_url_part left = { query, bytes };
        struct ed_url_pair raw;

        while (ed_url_pair_take(&left, &raw)) {
                if (!name_is(raw.name, name))
                        continue;
                if (decoded_bytes(raw.value) < 0)
                        return EDDY_E_URL_INVALID;
                return ed_url_sink_store(decoded_write, &raw.value, out, room);
        }
        return -ENOENT;
}

/* ---- writing --------------------------------------------------------------------------------- */

struct pairs {
        const struct eddy_url_pair *items;
        size_t count;
        unsigned flags;
};

static void pairs_write(struct ed_url_sink *sink, const void *arg)
{
        const struct pairs *pairs = arg;

        for (size_t i = 0; i < pairs->count; i++) {
                const struct eddy_url_pair *pair = &pairs->items[i];

                if (i > 0)
                        ed_url_sink_char(sink, '&');
                ed_url_quote_to(sink, pair->name, strlen(pair->name), pairs->flags);
                ed_url_sink_char(sink, '=');
                ed_url_quote_to(sink, pair->value, strlen(pair->value), pairs->flags);
        }
}

int64_t eddy_url_query_write(const struct eddy_url_pair *pairs, size_t count, unsigned flags,
                             char *out, size_t room)
{
        struct pairs all = { pairs, count, flags };

        if (flags & ~(unsigned) EDDY_URL_PLUS)
                return -EINVAL;
        for (size_t i = 0; i < count; i++)
                if (!pairs[i].name || !pairs[i].value)
                        return -EINVAL;
        return ed_url_sink_store(pairs_write, &all, out, room);
}

int64_t eddy_url_query_add(char *url, size_t room, const char *name, const char *value)
{
        struct eddy_url_pair pair = { name, value };
        struct pairs one = { &pair, 1, 0 };
        struct ed_url_sink sink = { NULL, 0 };
        size_t bytes, at, mark;
        bool has_mark;

        if (!url || !name || !value)
                return -EINVAL;
        bytes = strlen(url);
        at = strcspn(url, "#");
        mark = strcspn(url, "?#");
        has_mark = mark == at || (mark + 1 != at && url[at - 1] != '&');
        pairs_write(&sink, &one);
        if (bytes + has_mark + sink.bytes >= room)
                return -EMSGSIZE;
        memmove(url + at + has_mark + sink.bytes, url + at, bytes - at + 1);
        if (has_mark)
                url[at] = mark == at ? '?' : '&';
        sink = (struct ed_url_sink){ url + at + has_mark, 0 };
        pairs_write(&sink, &one);
        return (int64_t) (bytes + has_mark + sink.bytes);
}
