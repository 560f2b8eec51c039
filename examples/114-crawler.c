/*
 * 114-crawler - the pages of a host, as its robots.txt allows; a later run continues the crawl.
 *
 * The file STATE has a line for each URL found, with "-" if its page is done, else with "+".  The
 * file is replaced after each four pages, so a crash or Ctrl-C costs at most these.  Redirects are
 * not followed, because they may lead to another host.
 *
 * Run: for n in 3 2; do 114-crawler /tmp/crawl.$$ $n; done; cat /tmp/crawl.$$; rm /tmp/crawl.$$
 * Time: wall 0 s
 * Output: 114-crawler.txt
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { AT_ONCE = 4, URL_BYTES = 1000 };
static char state[1 << 20];             /* "- http://a.test/\n+ http://a.test/b\n" */
static char todo[URL_BYTES + 2] = "+ "; /* "+ http://a.test/": a URL of this host */
static char *const site = todo + 2;
static struct eddy_http_result rules; /* robots.txt */

/* The client's option 'handler', without a URL: a site of endless pages. */
static int answer(eddy_http_exchange *exchange, void *arg)
{
        bool is_robots = strcmp(eddy_http_exchange_path(exchange), "/robots.txt") == 0;
        const char *text = is_robots ? "User-agent: *\nDisallow: /x\n"
                                     : "<a href=/x> <a href='a/'> <a href=\"b#c\"> <a href=//b.a>";

        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, strlen(text));
}

/* Add the URLs of a page's links to the state: those of this host that are new and allowed. */
static void add_links(const char *page, const char *html)
{
        char link[URL_BYTES], line[URL_BYTES + 4] = "+ ";

        while ((html = strstr(html, "href=")) != NULL) {
                const char *end = html[5] == '"' ? "#\"" : "#'> \t\r\n";

                html += html[5] == '"' || html[5] == '\'' ? 6 : 5;
                snprintf(link, sizeof(link), "%.*s", (int) strcspn(html, end), html);
                if (eddy_url_join(page, link, line + 2, URL_BYTES) < 0 ||
                    strncmp(line, todo, strlen(todo)) != 0 ||
                    !eddy_robots_allow(rules.body, rules.body_bytes, "eddy",
                                       line + strlen(todo) - 1))
                        continue;
                memcpy(line + strlen(line), "\n", 2);
                if (!strstr(state, line + 1) && strlen(state) + strlen(line) < sizeof(state))
                        memcpy(state + strlen(state), line, strlen(line) + 1);
        }
}

/* Fetch up to 'n' pages, or AT_ONCE.  Returns the number of pages or an error. */
static int crawl(eddy_http_client *client, const char *path, long n)
{
        static char urls[AT_ONCE][URL_BYTES];
        static struct eddy_http_request requests[AT_ONCE];
        struct eddy_http_result results[AT_ONCE] = { 0 };
        int count = 0, err;

        for (char *at = state; count < n && count < AT_ONCE && (at = strstr(at, todo)); count++) {
                *at = '-';
                snprintf(urls[count], URL_BYTES, "%.*s", (int) strcspn(at + 2, "\n"), at + 2);
                requests[count].url = urls[count];
        }
        err = eddy_http_fetch_many(client, requests, count, 0, results);
        for (int i = 0; i < count && err != -ECANCELED; i++) {
                printf("%s: %s\n", urls[i], eddy_error_text(results[i].error));
                add_links(urls[i], results[i].body ? results[i].body : "");
        }
        eddy_http_results_fini(results, count);
        err = err == -ECANCELED ? err : eddy_file_replace(path, state, strlen(state), 0);
        return err < 0 ? err : count;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        char **args = arg, *text;
        long left = strtol(args[2], NULL, 10);
        struct eddy_http_client_opts opts = { .base_url = site,
                                              .timeouts.total_ns = EDDY_SEC(10),
                                              .body_bytes_max = 1 << 20,
                                              .handler = args[3] ? NULL : answer,
                                              .flags = EDDY_HTTP_STATUS_IS_ERROR };
        struct eddy_http_request request = { .url = "/robots.txt", .redirects_max = 5 };
        const char *url = args[3] ? args[3] : "http://a.test/";
        int64_t err = eddy_url_join(url, "/", site, URL_BYTES);
        size_t bytes;

        err = err < 0 ? err : eddy_http_client_new(&opts, &client);
        err = err < 0 ? err : eddy_http_fetch_many(client, &request, 1, 1, &rules);
        if (err == EDDY_E_HTTP_STATUS && rules.status < 500)
                err = rules.body_bytes = 0; /* there are no rules */
        err = err < 0 ? err : eddy_file_read_whole(args[1], sizeof(state) - 1, &text, &bytes);
        if (err == 0) {
                memcpy(state, text, bytes);
                eddy_free(text);
        }
        err = err == -ENOENT ? 0 : err;
        add_links(url, "href=/ href=''");
        while (err >= 0 && left > 0 && (err = crawl(client, args[1], left)) > 0)
                left -= err;
        eddy_http_results_fini(&rules, 1);
        return err < 0 ? (int) err : 0;
}

int main(int argc, char **argv)
{
        int err = argc == 3 || argc == 4 ? eddy_run(run, argv, NULL) : -EINVAL;

        if (err < 0)
                fprintf(stderr, "114-crawler: %s (usage: 114-crawler STATE PAGES [URL])\n",
                        eddy_error_text(err));
        return err < 0;
}
