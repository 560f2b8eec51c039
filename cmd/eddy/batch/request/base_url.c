/*
 * batch/request/base_url.c - see base_url.h.
 */
#include "batch/request/base_url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "batch/request/target.h"
#include "batch/request/template.h"
#include "common/url_shown.h"
#include "eddy/alloc.h"

enum { HASHED_BYTES = 256, ROOM_FIRST = 16 };

/* ---- one ------------------------------------------------------------------------------------- */

int ed_base_url_check(const char *url, const char *apart, char why[ED_BASE_URL_WHY_BYTES])
{
        char text[ED_TARGET_FAULT_BYTES];
        int err;

        if (ed_template_is(url)) {
                snprintf(why, ED_BASE_URL_WHY_BYTES,
                         "{{name}} is replaced in --url, --body and -H only: the data would choose "
                         "the host, to which the API key is sent");
                return -EINVAL;
        }
        if (strstr(url, ",http")) {
                snprintf(why, ED_BASE_URL_WHY_BYTES, "this is more than one URL; %s", apart);
                return -EINVAL;
        }
        /* A path is appended to a base URL, so a base URL has neither a query nor a fragment. */
        if (*url == '/' || strpbrk(url, "?#") || !strstr(url, "://")) {
                snprintf(why, ED_BASE_URL_WHY_BYTES,
                         "write http://HOST[:PORT][/PATH] or https, without ? and #");
                return -EINVAL;
        }
        err = ed_target_check(url, text);
        if (err == -EINVAL)
                snprintf(why, ED_BASE_URL_WHY_BYTES, "write http://HOST[:PORT][/PATH] or https: %s",
                         text);
        return err;
}

/* Returns the size of a URL without the slashes at its end. */
static size_t bytes_of(const char *url)
{
        size_t bytes = strlen(url);

        while (bytes > 0 && url[bytes - 1] == '/')
                bytes--;
        return bytes;
}

bool ed_base_url_is_same(const char *a, const char *b)
{
        size_t bytes = bytes_of(a);

        return bytes == bytes_of(b) && strncasecmp(a, b, bytes) == 0;
}

uint64_t ed_base_url_hash(const char *url)
{
        char lower[HASHED_BYTES];
        size_t bytes = bytes_of(url);

        bytes = bytes < sizeof(lower) ? bytes : sizeof(lower);
        for (size_t i = 0; i < bytes; i++)
                lower[i] = url[i] >= 'A' && url[i] <= 'Z' ? (char) (url[i] - 'A' + 'a') : url[i];
        return ed_hash_map_hash(lower, bytes);
}

/* ---- a list ---------------------------------------------------------------------------------- */

void ed_base_urls_fini(struct ed_base_urls *urls)
{
        ed_hash_map_free(&urls->map);
        eddy_free(urls->items);
        *urls = (struct ed_base_urls){ 0 };
}

bool ed_base_urls_have(const struct ed_base_urls *urls, const char *url)
{
        uint64_t hash = ed_base_url_hash(url);

        ed_hash_map_each (link, &urls->map, hash)
                if (ed_base_url_is_same(((struct ed_base_url *) link)->text, url))
                        return true;
        return false;
}

/* Append a base URL (owned), which the list does not have. Errors: -ENOMEM */
static int item_add(struct ed_base_urls *urls, struct ed_base_url *item)
{
        size_t room = urls->room > 0 ? 2 * urls->room : ROOM_FIRST;
        struct ed_base_url **grown;

        if (urls->count == urls->room) {
                grown = eddy_realloc(urls->items, room * sizeof(*grown));
                if (!grown) {
                        eddy_free(item);
                        return -ENOMEM;
                }
                urls->items = grown;
                urls->room = room;
        }
        urls->items[urls->count++] = item;
        ed_hash_map_add(&urls->map, &item->link, ed_base_url_hash(item->text));
        return 0;
}

int ed_base_urls_add(struct ed_base_urls *urls, const char *url)
{
        struct ed_base_url *item;

        if (ed_base_urls_have(urls, url))
                return -EEXIST;
        item = eddy_malloc(sizeof(*item));
        if (!item)
                return -ENOMEM;
        item->text = url;
        return item_add(urls, item);
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r';
}

/* Find the text of a line, without the white space around it. Returns what follows the line. */
static const char *line_find(const char *at, const char *end, const char **ret_from,
                             const char **ret_to)
{
        const char *feed = memchr(at, '\n', (size_t) (end - at)), *to = feed ? feed : end;

        while (at < to && is_blank(*at))
                at++;
        while (to > at && is_blank(to[-1]))
                to--;
        *ret_from = at;
        *ret_to = to;
        return feed ? feed + 1 : end;
}

/* Append the base URL of a line. Errors: -EINVAL, with the fault; -ENOMEM */
static int line_add(struct ed_base_urls *urls, const char *from, const char *to,
                    char fault[ED_BASE_URL_WHY_BYTES])
{
        size_t bytes = (size_t) (to - from);
        struct ed_base_url *item = eddy_malloc(sizeof(*item) + bytes + 1);
        int err;

        if (!item)
                return -ENOMEM;
        memcpy(item->room, from, bytes);
        item->room[bytes] = '\0';
        item->text = item->room;
        err = ed_base_url_check(item->text, "write each on its own line", fault);
        if (err == 0 && strlen(item->text) < bytes) {
                snprintf(fault, ED_BASE_URL_WHY_BYTES, "it has a zero byte");
                err = -EINVAL;
        }
        if (err == 0 && !ed_base_urls_have(urls, item->text)) {
                if (urls->count < ED_BASE_URLS_MAX)
                        return item_add(urls, item);
                snprintf(fault, ED_BASE_URL_WHY_BYTES, "at most 4,096 base URLs are possible");
                err = -EINVAL;
        }
        eddy_free(item);
        return err;
}

int ed_base_urls_read(struct ed_base_urls *urls, const char *text, size_t bytes,
                      char why[ED_BASE_URLS_WHY_BYTES])
{
        const char *at = text, *end = text + bytes, *from, *to;
        char shown[ED_URL_SHOWN_BYTES], fault[ED_BASE_URL_WHY_BYTES];
        int err = 0;

        if (bytes >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
                at += 3; /* a byte order mark */
        for (uint64_t number = 1; err == 0 && at < end; number++) {
                at = line_find(at, end, &from, &to);
                if (from == to || *from == '#')
                        continue;
                err = line_add(urls, from, to, fault);
                if (err == -EINVAL)
                        snprintf(why, ED_BASE_URLS_WHY_BYTES, "line %llu: %s: %s",
                                 (unsigned long long) number,
                                 ed_url_shown(shown, from, (size_t) (to - from)), fault);
        }
        return err;
}

int ed_base_urls_take(struct ed_base_urls *urls, struct ed_base_urls *from,
                      const struct ed_base_urls *but)
{
        int err = 0;

        for (size_t i = 0; i < from->count; i++) {
                struct ed_base_url *item = from->items[i];

                ed_hash_map_remove(&from->map, &item->link);
                if (err == 0 && !ed_base_urls_have(but, item->text))
                        err = item_add(urls, item);
                else
                        eddy_free(item);
        }
        from->count = 0;
        return err;
}
