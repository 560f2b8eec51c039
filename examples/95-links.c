/*
 * 95-links - the links of a page as URLs, and the pairs of their queries.
 *
 * The argument is the URL of the page, and each line of the input a link.  A link to another
 * host is marked.  The last line searches the site for a text.
 *
 * Run: printf 'a/b?page=2&q=caf%%C3%%A9+noir#top\n../c\n//Other.example\nx y\n' | 95-links https://example.com/docs/
 * Time: wall 0 s
 * Output:
 *     https://example.com/docs/a/b?page=2&q=caf%C3%A9+noir
 *         page: 2
 *         q: café noir
 *     https://example.com/c
 *     https://Other.example (another host)
 *     "x y" is not a URL
 *     search: https://example.com/find/all%2Fany?q=black%20%26%20white&page=1
 * Run: echo a | 95-links example.com; echo $?
 * Time: wall 0 s
 * Output:
 *     example.com: the URL is not valid
 *     1
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "eddy/eddy.h"

enum { ROOM = 2048 };

static bool is_same_host(const struct eddy_url *a, const struct eddy_url *b)
{
        return a->host.text && a->host.bytes == b->host.bytes &&
               strncasecmp(a->host.text, b->host.text, a->host.bytes) == 0;
}

static void print_query(struct eddy_url_part query)
{
        struct eddy_url_pair pair;
        static char room[ROOM];

        while (eddy_url_query_next(&query, room, sizeof(room), &pair) > 0)
                printf("    %s: %s\n", pair.name, pair.value);
}

static int print_link(const char *page, const struct eddy_url *page_url, const char *link)
{
        static char joined[ROOM], text[ROOM];
        int64_t bytes = eddy_url_join(page, link, joined, sizeof(joined));
        struct eddy_url url;

        if (bytes >= 0)
                bytes = eddy_url_parse(joined, (size_t) bytes, &url);
        if (bytes < 0)
                return (int) bytes;
        /* Links that differ only in the fragment lead to one page. */
        url.fragment.text = NULL;
        bytes = eddy_url_format(&url, text, sizeof(text));
        if (bytes < 0)
                return (int) bytes;
        printf("%s%s\n", text, is_same_host(&url, page_url) ? "" : " (another host)");
        print_query(url.query);
        return 0;
}

static int print_search(const char *page, const char *folder, const char *words)
{
        static char path[ROOM], url[ROOM];
        size_t used = (size_t) snprintf(path, sizeof(path), "/find/");
        int64_t bytes = eddy_url_quote(folder, strlen(folder), 0, path + used, sizeof(path) - used);

        if (bytes >= 0)
                bytes = eddy_url_join(page, path, url, sizeof(url));
        if (bytes >= 0)
                bytes = eddy_url_query_add(url, sizeof(url), "q", words);
        if (bytes >= 0)
                bytes = eddy_url_query_add(url, sizeof(url), "page", "1");
        if (bytes >= 0)
                printf("search: %s\n", url);
        return bytes < 0 ? (int) bytes : 0;
}

int main(int argc, char **argv)
{
        const char *page = argc > 1 ? argv[1] : "https://example.com/";
        struct eddy_url page_url;
        static char line[ROOM];
        int err = eddy_url_parse(page, strlen(page), &page_url);

        if (err == 0 && !page_url.host.text)
                err = EDDY_E_URL_INVALID;
        while (err == 0 && fgets(line, sizeof(line), stdin)) {
                line[strcspn(line, "\n")] = '\0';
                if (print_link(page, &page_url, line) < 0)
                        printf("\"%s\" is not a URL\n", line);
        }
        if (err == 0)
                err = print_search(page, "all/any", "black & white");
        if (err < 0)
                printf("%s: %s\n", page, eddy_error_text(err));
        return err < 0;
}
