/*
 * common/url_shown.c - see url_shown.h.
 */
#include "common/url_shown.h"

#include <string.h>

#include "common/excerpt.h"

/* The scheme, "***@", the host and the path, and "?***" are put together from these parts. */
struct shown {
        char *room;
        size_t used, room_bytes;
};

static void part_add(struct shown *shown, const char *text, size_t bytes)
{
        size_t left = shown->room_bytes - shown->used;

        if (left < sizeof("..."))
                return;
        ed_excerpt_within(shown->room + shown->used, left, text, bytes);
        shown->used += strlen(shown->room + shown->used);
}

/* Returns the size of "http://", or 0 if the text has no such beginning before 'end'. */
static size_t scheme_bytes(const char *url, const char *end)
{
        const char *mark = memmem(url, (size_t) (end - url), "://", 3);

        return mark ? (size_t) (mark + 3 - url) : 0;
}

const char *ed_url_shown(char room[ED_URL_SHOWN_BYTES], const char *url, size_t bytes)
{
        struct shown shown = { .room = room, .room_bytes = ED_URL_SHOWN_BYTES };
        const char *end = url + bytes, *query = url, *at = memrchr(url, '@', bytes), *host;

        while (query < end && *query != '?' && *query != '#')
                query++;
        host = url + scheme_bytes(url, at && at < query ? at : query);
        room[0] = '\0';
        part_add(&shown, url, (size_t) (host - url));
        if (at && at > query) {
                /* A password with a question mark, or a query with an @. */
                part_add(&shown, "***", 3);
                return room;
        }
        if (at) {
                part_add(&shown, "***", 3);
                host = at;
        }
        part_add(&shown, host, (size_t) (query - host));
        if (query < end) {
                part_add(&shown, query, 1);
                part_add(&shown, "***", 3);
        }
        return room;
}
