/*
 * fetch/urls.c - splits a stream of bytes into URLs.
 */
#include "fetch/urls.h"

#include <errno.h>
#include <string.h>

#include "common/outcome.h"
#include "eddy/alloc.h"

int ed_urls_init(struct ed_urls *urls)
{
        *urls = (struct ed_urls){ .data = eddy_malloc(ED_URLS_ROOM) };
        return urls->data ? 0 : -ENOMEM;
}

void ed_urls_fini(struct ed_urls *urls)
{
        eddy_free(urls->data);
        urls->data = NULL;
}

char *ed_urls_room(struct ed_urls *urls, size_t *ret_bytes)
{
        if (urls->start > 0) {
                memmove(urls->data, urls->data + urls->start, urls->end - urls->start);
                urls->end -= urls->start;
                urls->start = 0;
        }
        *ret_bytes = ED_URLS_ROOM - urls->end;
        return urls->data + urls->end;
}

void ed_urls_grow(struct ed_urls *urls, size_t bytes)
{
        urls->end += bytes;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r';
}

/*
 * Returns how many bytes of a refused line may be shown. If the rest may have the '@' that ends a
 * user name and password, nothing after the scheme is shown.
 */
static size_t shown_bytes(const char *data, size_t bytes)
{
        const size_t max = ED_URLS_SHOWN_BYTES_MAX;
        size_t from = 0;

        if (bytes <= max)
                return bytes;
        while (from + 3 <= max && memcmp(data + from, "://", 3) != 0)
                from++;
        from = from + 3 <= max ? from + 3 : 0;
        return memchr(data + from, '/', max - from) || memchr(data + from, '@', max - from) ? max
                                                                                            : from;
}

/*
 * Check a line of 'bytes' bytes, and fill in '*ret_line'. 'cut' means that the line continues after
 * these bytes. Returns false if the line is to be skipped.
 */
static bool line_judge(const char *data, size_t bytes, bool first, bool cut,
                       struct ed_urls_line *ret_line)
{
        if (first && bytes >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
                data += 3;
                bytes -= 3;
        }
        while (bytes > 0 && is_blank(data[0])) {
                data++;
                bytes--;
        }
        while (bytes > 0 && is_blank(data[bytes - 1]))
                bytes--;
        if (bytes > 0 ? data[0] == '#' : !cut)
                return false;
        ret_line->data = data;
        ret_line->bytes = bytes;
        ret_line->error = 0;
        if (cut || bytes > ED_URLS_LINE_BYTES_MAX)
                ret_line->error = ED_E_LINE_TOO_LONG;
        else if (memchr(data, '\0', bytes))
                ret_line->error = ED_E_LINE_NUL;
        if (ret_line->error)
                ret_line->bytes = shown_bytes(data, bytes);
        return true;
}

static void urls_consume(struct ed_urls *urls, size_t bytes)
{
        urls->start += bytes;
        urls->offset += bytes;
}

int ed_urls_next(struct ed_urls *urls, bool at_end, struct ed_urls_line *ret_line)
{
        while (urls->end > urls->start) {
                char *data = urls->data + urls->start;
                size_t held = urls->end - urls->start;
                char *newline = memchr(data, '\n', held);
                size_t bytes = newline ? (size_t) (newline - data) : held;
                bool refused = urls->inside_refused, first = urls->offset == 0;
                bool cut = !newline && !at_end;

                /* Refuse a line after one byte more than its maximum, plus one for a final CR. */
                if (cut && bytes <= ED_URLS_LINE_BYTES_MAX + 1)
                        return 0;
                urls_consume(urls, bytes + (newline ? 1 : 0));
                urls->inside_refused = cut;
                if (refused || !line_judge(data, bytes, first, cut, ret_line))
                        continue;
                ret_line->offset = urls->offset;
                return 1;
        }
        return 0;
}

static bool ends_authority(char c)
{
        return c == '/' || c == '?' || c == '#';
}

size_t ed_urls_hide_password(char *url, size_t bytes, bool refused)
{
        static const char stars[ED_URLS_STARS_BYTES] = "***";
        char *start = memmem(url, bytes, "://", 3), *end = url + bytes, *at = NULL, *hidden;

        start = start ? start + 3 : url;
        for (char *c = start; c < end && (refused || !ends_authority(*c)); c++) {
                if (*c == '@')
                        at = c;
        }
        hidden = at && !refused ? memchr(start, ':', (size_t) (at - start)) : start;
        if (!at || !hidden)
                return bytes;
        hidden += !refused;
        memmove(hidden + sizeof(stars), at, (size_t) (end - at));
        memcpy(hidden, stars, sizeof(stars));
        return (size_t) (hidden - url) + sizeof(stars) + (size_t) (end - at);
}
