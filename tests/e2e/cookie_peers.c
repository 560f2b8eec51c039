/*
 * cookie_peers.c - eddy's cookie jar beside curl's.
 *
 *     cookie_peers CASES [SEED]
 *
 * In each case several hosts set random cookies, and the header Cookie of each request is compared. libcurl
 * sends its requests to a server in this program, which answers for all hosts. A difference must have one
 * of the reasons below, all of which docs/design/cookies.md explains, or the case fails and is shown.
 */
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "eddy/http_cookies.h"

enum {
        REQUESTS = 8,
        LINES_MAX = 3 * REQUESTS,
        LINE_ROOM = 512,
        HEADER_ROOM = 16384,
        COOKIES_MAX = 64
};

/* Why curl's jar may differ. */
enum reason {
        NAMELESS, /* curl ignores cookies without a name */
        PATH, /* curl removes a final '/' and quotes of Path, so "/a/" includes "/a", and takes a Path
                      without '/' for "/" */
        QUOTED,    /* curl accepts quotes around Max-Age */
        LOCALHOST, /* curl trusts http://localhost and 127.0.0.1: Secure is accepted */
        DATE,      /* curl reads dates that RFC 6265bis refuses, and refuses others */
        DOT,       /* Domain with a final dot, or of several dots before it */
        AGE,       /* the value of Max-Age is not a number: curl ends the cookie */
        CASE,      /* "A" replaces "a" in curl */
        SUFFIX,    /* curl sends what a public suffix sets for itself to the hosts below too */
        REASONS,
};
static const char *const reasons[REASONS] = {
        "no name",       "form of Path", "quoted Max-Age",   "localhost",    "date",
        "dot of Domain", "Max-Age",      "case of the name", "public suffix"
};

/* A case uses the hosts of one line. */
enum { HOSTS = 5 };
static const char *const hosts[][HOSTS] = {
        { "a.test", "www.a.test", "x.www.a.test", "ba.test", "test" },
        { "example.co.uk", "w.example.co.uk", "co.uk", "x.github.io", "github.io" },
        { "127.0.0.1", "localhost", "com", "b.com", "w.b.com" },
};
static const char *const paths[] = { "/", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/a?x=/b", "/b/" };
static const char *const domains[] = {
        "a.test", ".a.test",     "A.TEST",    "www.a.test",     "test",          "ba.test",
        ".test",  "co.uk",       "CO.UK",     ".example.co.uk", "example.co.uk", "github.io",
        "io",     "x.github.io", "127.0.0.1", "0.0.1",          "localhost",     "com",
        "",       "b.com",       "a.test.",   "..a.test",
};
static const char *const values[] = { "1", "2", "", "\"q\"", "a=b", "a b", "\xc3\xa9", "x,y" };
static const char *const dates[] = {
        "Wed, 09 Jun 2038 10:18:14 GMT",
        "Wednesday, 09-Jun-38 10:18:14 GMT",
        "Wed Jun  9 10:18:14 2038",
        "Thu, 01 Jan 1970 00:00:01 GMT",
        "Wed, 09 Jun 2021 10:18:14 GMT",
        "09 Jun 2038 10:18:14",
        "tomorrow",
        "Wed, 32 Jun 2038 10:18:14 GMT",
};
enum { GOOD_DATES = 6 };

/* The first is none; "b" to "e" are the most frequent. */
static const char *const names[] = { "",  "b", "c",          "d",        "e",
                                     "a", "A", "__Secure-e", "__Host-f", "__host-g" };
enum { NAMES = sizeof(names) / sizeof(names[0]), PLAIN_NAMES = 5 };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define ANY(list)   ((list)[below(COUNT(list))])

static struct {
        uint64_t random;
        int port;
        const char *answer;       /* of the server's next response: the lines of Set-Cookie */
        char cookie[HEADER_ROOM]; /* of the server's last request */
        char log[LINES_MAX][LINE_ROOM];
        size_t lines, group; /* of hosts */
        unsigned why[NAMES]; /* of the case, by name: 1 << enum reason of each line */
        unsigned *line_why;  /* that of the line that is being made */
        uint64_t compared, with_cookies, differ[REASONS], unequal_order;
} world;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
        va_list list;

        va_start(list, format);
        printf("not ok 1 - the jars agree\n# ");
        vprintf(format, list);
        printf("\n");
        for (size_t i = 0; i < world.lines; i++)
                printf("# %s\n", world.log[i]);
        va_end(list);
        fflush(stdout);
        _exit(1);
}

static uint32_t below(size_t n)
{
        world.random = world.random * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t) ((world.random >> 33) % n);
}

static bool chance(unsigned percent)
{
        return below(100) < percent;
}

/* ---- the server ------------------------------------------------------------ */

static void note_cookie(const char *head)
{
        const char *at = strcasestr(head, "\r\nCookie: ");
        const char *end = at ? strstr(at + 2, "\r\n") : NULL;

        world.cookie[0] = '\0';
        if (end && end - at - 10 < HEADER_ROOM)
                snprintf(world.cookie, sizeof(world.cookie), "%.*s", (int) (end - at - 10),
                         at + 10);
}

static void *serve_one(void *arg)
{
        int fd = (int) (intptr_t) arg;
        char head[HEADER_ROOM + 1024], out[8192];
        size_t bytes = 0;
        ssize_t n;

        while ((n = read(fd, head + bytes, sizeof(head) - 1 - bytes)) > 0) {
                bytes += (size_t) n;
                head[bytes] = '\0';
                if (!strstr(head, "\r\n\r\n"))
                        continue;
                note_cookie(head);
                n = snprintf(out, sizeof(out), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n%s\r\n",
                             world.answer);
                if (write(fd, out, (size_t) n) != n)
                        break;
                bytes = 0;
        }
        close(fd);
        return NULL;
}

static void *serve(void *arg)
{
        int listener = (int) (intptr_t) arg, fd;
        pthread_t thread;

        while ((fd = accept(listener, NULL, NULL)) >= 0)
                if (pthread_create(&thread, NULL, serve_one, (void *) (intptr_t) fd) == 0)
                        pthread_detach(thread);
        return NULL;
}

static void start_server(void)
{
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_addr = { htonl(INADDR_LOOPBACK) } };
        socklen_t bytes = sizeof(address);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        pthread_t thread;

        if (fd < 0 || bind(fd, (struct sockaddr *) &address, bytes) < 0 || listen(fd, 64) < 0 ||
            getsockname(fd, (struct sockaddr *) &address, &bytes) < 0 ||
            pthread_create(&thread, NULL, serve, (void *) (intptr_t) fd) != 0)
                fail("no server: %s", strerror(errno));
        pthread_detach(thread);
        world.port = ntohs(address.sin_port);
}

/* ---- random cookies --------------------------------------------------------- */

struct line {
        char text[LINE_ROOM];
        size_t bytes;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
        va_list list;

        va_start(list, format);
        line->bytes +=
                (size_t) vsnprintf(line->text + line->bytes, LINE_ROOM - line->bytes, format, list);
        va_end(list);
}

static bool is_suffix(const char *host)
{
        static const char *const suffixes[] = { "test", "co.uk", "github.io", "com", "localhost" };

        for (size_t i = 0; i < COUNT(suffixes); i++)
                if (strcmp(host, suffixes[i]) == 0)
                        return true;
        return false;
}

static void add_domain(struct line *line, const char *host)
{
        const char *domain = ANY(domains);
        size_t bytes = strlen(domain);

        if (bytes > 0 && (domain[bytes - 1] == '.' || strncmp(domain, "..", 2) == 0))
                *world.line_why |= 1u << DOT;
        if (strcasecmp(domain + (*domain == '.'), host) == 0 && is_suffix(host))
                *world.line_why |= 1u << SUFFIX;
        add(line, "; Domain=%s", domain);
}

static void add_path(struct line *line)
{
        static const char *const odd[] = { "/a/", "\"/a\"", "/a/b/", "a", "" };
        static const char *const plain[] = { "/", "/a", "/a/b", "/x" };
        bool is_odd = chance(15);

        if (is_odd)
                *world.line_why |= 1u << PATH;
        add(line, "; path=%s", is_odd ? ANY(odd) : ANY(plain));
}

static void add_age(struct line *line)
{
        static const char *const ages[] = { "0", "-1", "10", "86400", "99999999999999999999" };
        static const char *const odd[] = { "x", "1x", "", "+5" };

        if (chance(5)) {
                *world.line_why |= 1u << QUOTED;
                add(line, "; Max-Age=\"100\"");
        } else if (chance(5)) {
                *world.line_why |= 1u << AGE;
                add(line, "; Max-Age=%s", ANY(odd));
        } else {
                add(line, "; max-age=%s", ANY(ages));
        }
}

static void add_date(struct line *line)
{
        size_t i = below(chance(10) ? COUNT(dates) : GOOD_DATES);

        if (i >= GOOD_DATES)
                *world.line_why |= 1u << DATE;
        add(line, "; expires=%s", dates[i]);
}

static void make_line(struct line *line, const char *host)
{
        size_t name = 1 + below(chance(10) ? NAMES - 1 : PLAIN_NAMES);
        const char *value = ANY(values);

        line->bytes = 0;
        if (chance(3)) {
                name = 0;
                value = "1";
        }
        world.line_why = &world.why[name];
        if (name == 0)
                *world.line_why |= 1u << NAMELESS;
        if (strcasecmp(names[name], "a") == 0)
                *world.line_why |= 1u << CASE;
        add(line, chance(10) ? " %s = %s " : "%s=%s", names[name], value);
        if (chance(50))
                add_domain(line, host);
        if (chance(50))
                add_path(line);
        if (chance(20))
                add_age(line);
        if (chance(20))
                add_date(line);
        if (chance(8)) {
                add(line, "; Secure");
                if (strcmp(host, "localhost") == 0 || strcmp(host, "127.0.0.1") == 0)
                        *world.line_why |= 1u << LOCALHOST;
        }
        if (chance(10))
                add(line, "; HttpOnly; SameSite=Lax; Unknown=1");
}

/* ---- comparing --------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Split a header in place. Returns the number of cookies, which are sorted. */
static size_t split(char *header, char *cookies[COOKIES_MAX])
{
        size_t count = 0;
        char *next;

        for (char *at = header; *at && count < COOKIES_MAX; at = next) {
                next = strstr(at, "; ");
                cookies[count++] = at;
                if (next) {
                        *next = '\0';
                        next += 2;
                } else {
                        next = at + strlen(at);
                }
        }
        qsort(cookies, count, sizeof(*cookies), by_text);
        return count;
}

/* Returns the reasons of the lines of a cookie's name. */
static unsigned why_of(const char *cookie)
{
        size_t bytes = strcspn(cookie, "=");

        for (size_t i = 1; i < NAMES && cookie[bytes]; i++)
                if (strlen(names[i]) == bytes && memcmp(names[i], cookie, bytes) == 0)
                        return world.why[i];
        return world.why[0];
}

/*
 * Count why a cookie is in one header alone; curl's have an order of their own among paths of one length.
 * Returns false if there is no reason.
 */
static bool explain(const char *ours, const char *theirs)
{
        char *our_list[COOKIES_MAX], *their_list[COOKIES_MAX];
        char our_text[HEADER_ROOM], their_text[HEADER_ROOM];
        size_t our_count, their_count, i = 0, j = 0;
        bool equal = true;

        snprintf(our_text, sizeof(our_text), "%s", ours);
        snprintf(their_text, sizeof(their_text), "%s", theirs);
        our_count = split(our_text, our_list);
        their_count = split(their_text, their_list);
        while (i < our_count || j < their_count) {
                int order = i == our_count     ? 1
                            : j == their_count ? -1
                                               : strcmp(our_list[i], their_list[j]);
                const char *alone = order < 0 ? our_list[i] : order > 0 ? their_list[j] : NULL;
                unsigned why = alone ? why_of(alone) : 0;

                i += order <= 0;
                j += order >= 0;
                if (!alone)
                        continue;
                equal = false;
                if (!why)
                        return false;
                world.differ[__builtin_ctz(why)]++;
        }
        world.unequal_order += equal;
        return true;
}

static void compare(eddy_http_cookies *jar, const char *url)
{
        char ours[HEADER_ROOM];

        if (eddy_http_cookies_header(jar, url, ours, sizeof(ours)) < 0)
                fail("no header for %s", url);
        world.compared++;
        world.with_cookies += *ours != '\0';
        if (strcmp(ours, world.cookie) != 0 && !explain(ours, world.cookie))
                fail("%s: eddy sends \"%s\", curl \"%s\"", url, ours, world.cookie);
}

/* A request of curl, whose response sets the lines, and the same for eddy's jar. */
static void ask(CURL *curl, eddy_http_cookies *jar)
{
        const char *host = hosts[world.group][below(HOSTS)];
        unsigned count = below(3);
        struct line lines[2];
        char url[128], answer[2 * LINE_ROOM + 64];
        size_t bytes = 0;
        int err;

        snprintf(url, sizeof(url), "http://%s%s", host, ANY(paths));
        snprintf(world.log[world.lines++], LINE_ROOM, "request to %s", url);
        answer[0] = '\0';
        for (unsigned i = 0; i < count; i++) {
                make_line(&lines[i], host);
                bytes += (size_t) snprintf(answer + bytes, sizeof(answer) - bytes,
                                           "Set-Cookie: %s\r\n", lines[i].text);
                snprintf(world.log[world.lines++], LINE_ROOM, "%.500s", lines[i].text);
        }
        world.answer = answer;
        curl_easy_setopt(curl, CURLOPT_URL, url);
        err = curl_easy_perform(curl);
        if (err)
                fail("curl: %s: %s", url, curl_easy_strerror(err));
        compare(jar, url);
        for (unsigned i = 0; i < count; i++)
                if (eddy_http_cookies_set(jar, url, lines[i].text) < 0)
                        fail("%s: \"%s\" is an error", url, lines[i].text);
}

static void run_case(CURL *curl)
{
        eddy_http_cookies *jar;

        world.lines = 0;
        memset(world.why, 0, sizeof(world.why));
        world.group = below(COUNT(hosts));
        curl_easy_setopt(curl, CURLOPT_COOKIELIST, "ALL");
        if (eddy_http_cookies_new(&jar) < 0)
                fail("no memory");
        for (unsigned i = 0; i < REQUESTS; i++)
                ask(curl, jar);
        eddy_http_cookies_free(jar);
}

static size_t drop(void *data, size_t size, size_t count, void *arg)
{
        (void) data;
        (void) arg;
        return size * count;
}

int main(int argc, char **argv)
{
        unsigned long cases = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
        struct curl_slist *to = NULL;
        char everywhere[64];
        CURL *curl;

        world.random = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
        printf("1..1\n");
        start_server();
        snprintf(everywhere, sizeof(everywhere), "::127.0.0.1:%d", world.port);
        to = curl_slist_append(NULL, everywhere);
        curl = curl_easy_init();
        if (!curl || !to)
                fail("no curl");
        curl_easy_setopt(curl, CURLOPT_CONNECT_TO, to);
        curl_easy_setopt(curl, CURLOPT_COOKIEFILE, "");
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
        curl_easy_setopt(curl, CURLOPT_MAXCONNECTS, 64L);
        for (unsigned long i = 0; i < cases; i++)
                run_case(curl);
        curl_easy_cleanup(curl);
        curl_slist_free_all(to);
        printf("ok 1 - the jars agree\n# %lu cases, %llu headers compared, %llu with cookies, %llu "
               "in another order\n",
               cases, (unsigned long long) world.compared, (unsigned long long) world.with_cookies,
               (unsigned long long) world.unequal_order);
        for (unsigned i = 0; i < REASONS; i++)
                printf("# explained by %s: %llu\n", reasons[i],
                       (unsigned long long) world.differ[i]);
        return 0;
}
