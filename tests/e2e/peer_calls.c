/*
 * peer_calls.c - calls of eddy's client to the servers of others, for test_http_peers.py.
 *
 *     peer_calls [--proxy URL] [--ca FILE] [--by h1|h2|h2c] get URL PATH
 *     peer_calls [--proxy URL] [--ca FILE] [--by h1|h2|h2c] put URL PATH [chunked]
 *     peer_calls [--ca FILE] events URL
 *     peer_calls [--ca FILE] upgrade URL BYTES
 *     peer_calls stray URL COUNT [CONTROL]
 *     peer_calls [--ca FILE] [--by h1|h2|h2c] many URL [COUNT]
 *     peer_calls [--ca FILE] [--by h1|h2|h2c] cancel URL COUNT
 *     peer_calls [--ca FILE] [--by h1|h2|h2c] until URL FILE
 *     peer_calls [--ca FILE] [--by h1|h2|h2c] parts URL MILLISECONDS
 *
 * --by h1: HTTP/2 is not offered; h2c: HTTP/2 is used for http URLs without an offer.
 *
 * Output:
 *     get     the SHA-256 of the file that was saved
 *     put     the status and the body of the response
 *     events  a line for each event, then the number of connections
 *     upgrade the bytes that came back
 *     stray   how many answers were right and wrong, and how many requests failed
 *     many    sends COUNT requests, 100 at once: the answers by status and version, the bytes, and the
 *             connections
 *     cancel  reads 1 KiB of each of COUNT answers, four at once, and beside them some whole: their bytes,
 *             and the connections
 *     until   the same as many, until FILE exists; the first line comes when 100 were answered
 *     parts   sends "abc", for which it waits for "100 Continue" for MILLISECONDS, and a trailer X-Sum, to
 *             URL/expect, and asks for URL/parts: the version, the status, the body and the trailer X-Sum of
 *             both
 * The last line of get, put, events and upgrade is the peak of resident memory in KiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { PIECE_BYTES = 16 << 10, CANCELLING = 4, CANCELS_BESIDE = 50 };

static struct {
        struct eddy_http_client_opts opts;
        struct eddy_tls_opts tls;
        eddy_http_client *client;
        struct eddy_http_fault fault;
        char **words; /* after the call's name */
} call;

/* ---- a file in each direction --------------------------------------------------------- */

static int get(void)
{
        struct eddy_http_request request = { .url = call.words[0], .ret_fault = &call.fault };
        struct eddy_http_download_result result;
        struct eddy_http_download_opts opts = { .flags = EDDY_HTTP_DOWNLOAD_HASH,
                                                .ret_result = &result };
        int err = eddy_http_download(call.client, &request, call.words[1], &opts);

        if (err == 0)
                printf("%s\n", result.hash);
        return err;
}

static int64_t file_read(void *arg, void *buf, size_t bytes)
{
        return eddy_file_read(arg, buf, bytes);
}

static int put(void)
{
        EDDY_AUTO(eddy_file) eddy_file *file = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_body_source source = { .read = file_read, .bytes = -1 };
        struct eddy_http_request request = { .method = "PUT",
                                             .url = call.words[0],
                                             .body_source = &source,
                                             .ret_fault = &call.fault };
        struct eddy_file_info info;
        const void *body;
        size_t bytes;
        int err = eddy_file_open(call.words[1], EDDY_FILE_READ, 0, &file);

        source.arg = file;
        if (err == 0)
                err = eddy_file_stat(file, &info);
        if (err == 0 && !call.words[2])
                source.bytes = (int64_t) info.bytes;
        if (err == 0)
                err = eddy_http_client_send(call.client, &request, &response);
        if (err == 0)
                err = eddy_http_response_body(response, &body, &bytes);
        if (err < 0)
                return err;
        printf("%d ", eddy_http_response_status(response));
        fwrite(body, 1, bytes, stdout);
        puts("");
        return 0;
}

/* ---- events ----------------------------------------------------------------------------- */

static int events(void)
{
        EDDY_AUTO(eddy_http_sse) eddy_http_sse *sse = NULL;
        struct eddy_http_request request = { .url = call.words[0], .ret_fault = &call.fault };
        struct eddy_http_sse_event event;
        struct eddy_http_sse_info info;
        int err = eddy_http_sse_open(call.client, &request, NULL, &sse);

        while (err >= 0 && (err = eddy_http_sse_next(sse, &event)) > 0)
                printf("%s %s %s\n", event.type, event.id, event.data);
        eddy_http_sse_info(sse, &info);
        printf("%llu connections\n", (unsigned long long) info.connections);
        return err;
}

/* ---- another protocol --------------------------------------------------------------------- */

struct sending {
        eddy_stream *stream;
        size_t bytes;
};

static int send_bytes(void *arg)
{
        const struct sending *sending = arg;
        char piece[1000];
        int err = 0;

        for (size_t sent = 0, n; err == 0 && sent < sending->bytes; sent += n) {
                n = sending->bytes - sent < sizeof(piece) ? sending->bytes - sent : sizeof(piece);
                for (size_t i = 0; i < n; i++)
                        piece[i] = (char) ((sent + i) % 251);
                err = eddy_stream_write(sending->stream, piece, n);
        }
        return err == 0 ? eddy_stream_shutdown(sending->stream) : err;
}

/* Returns the number of bytes up to the end, of which byte i is i % 251. */
static int64_t read_echo(eddy_stream *stream)
{
        static char buf[PIECE_BYTES];
        int64_t n, got = 0;

        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                for (int64_t i = 0; i < n; i++, got++)
                        if (buf[i] != (char) (got % 251))
                                return -EBADMSG;
        return n < 0 ? n : got;
}

static int upgrade(void)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        static const struct eddy_http_header offered = { "Upgrade", "echo" };
        struct eddy_http_request request = { .url = call.words[0],
                                             .headers = &offered,
                                             .headers_count = 1,
                                             .ret_fault = &call.fault };
        int err = eddy_http_client_upgrade(call.client, &request, &response, &stream);
        struct sending sending = { stream, strtoul(call.words[1], NULL, 10) };
        eddy_scope scope;
        int64_t got;

        if (err < 0)
                return err;
        if (!stream)
                return EDDY_E_HTTP_STATUS;
        printf("%s ", eddy_http_response_header(response, "upgrade"));
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, send_bytes, &sending);
        got = read_echo(stream);
        if (got < 0)
                eddy_scope_cancel(&scope);
        err = eddy_scope_end(&scope);
        if (got >= 0)
                printf("%lld\n", (long long) got);
        return got < 0 ? (int) got : err;
}

/* ---- answers to their requests -------------------------------------------------------------- */

/* Returns whether the answer to a request is its number. */
static int ask(const char *url, unsigned number, bool *ret_is_right)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        char expected[16];
        const void *body;
        size_t bytes;
        int err = eddy_http_client_send(call.client, &request, &response);

        if (err == 0)
                err = eddy_http_response_body(response, &body, &bytes);
        if (err < 0)
                return err;
        snprintf(expected, sizeof(expected), "%u", number);
        *ret_is_right = bytes == strlen(expected) && memcmp(body, expected, bytes) == 0;
        return 0;
}

/* With CONTROL, a request of another server comes between two requests. */
static int stray(void)
{
        unsigned count = (unsigned) strtoul(call.words[1], NULL, 10), right = 0, wrong = 0,
                 failed = 0;
        char url[256];
        bool is_right;

        for (unsigned i = 0; i < count; i++) {
                snprintf(url, sizeof(url), "%s/%u", call.words[0], i);
                if (ask(url, i, &is_right) < 0)
                        failed++;
                else if (is_right)
                        right++;
                else
                        wrong++;
                if (call.words[2] && ask(call.words[2], 0, &is_right) < 0)
                        return -EIO;
        }
        printf("%u %u %u\n", right, wrong, failed);
        return 0;
}

/* ---- many streams --------------------------------------------------------------------------- */

enum { AT_ONCE = 100 };

static struct {
        unsigned left, done;
        const char *until; /* a file; NULL: 'left' counts */
        uint64_t bytes;
        int status, version; /* of all answers; -1: they differ */
} asked;

static void note_answer(const eddy_http_response *response, size_t bytes)
{
        struct eddy_http_response_info info;
        int status = eddy_http_response_status(response);

        eddy_http_response_info(response, &info);
        asked.status = asked.done > 0 && asked.status != status ? -1 : status;
        asked.version = asked.done > 0 && asked.version != info.version ? -1 : info.version;
        asked.done++;
        asked.bytes += bytes;
}

/* Note if the file exists that ends the requests. */
static void look_for_end(void)
{
        struct eddy_file_info info;

        if (asked.done == AT_ONCE) {
                puts("begun");
                fflush(stdout);
        }
        if (asked.left > 0 && eddy_path_stat(asked.until, 0, &info) == 0)
                asked.left = 0;
}

static int ask_in_turn(void *arg)
{
        struct eddy_http_request request = { .url = arg };
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        int err = 0;

        while (err == 0 && asked.left > 0) {
                asked.left -= asked.until == NULL;
                err = eddy_http_client_send(call.client, &request, &response);
                if (err < 0)
                        return err;
                err = eddy_http_response_body(response, &body, &bytes);
                if (err == 0)
                        note_answer(response, bytes);
                eddy_http_response_close(response);
                if (err == 0 && asked.until)
                        look_for_end();
        }
        return err;
}

static void print_answers(void)
{
        struct eddy_http_client_stats stats;

        eddy_http_client_stats(call.client, &stats);
        printf("%u of %d by %d, %llu bytes, %llu connections\n", asked.done, asked.status,
               asked.version, (unsigned long long) asked.bytes,
               (unsigned long long) stats.connections);
}

static int ask_at_once(void)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < AT_ONCE; i++)
                eddy_scope_start(&scope, ask_in_turn, call.words[0]);
        err = eddy_scope_end(&scope);
        print_answers();
        return err;
}

static int many(void)
{
        unsigned count = call.words[1] ? (unsigned) strtoul(call.words[1], NULL, 10) : 1;
        int err;

        /* Before all open connections the client has a second to learn the protocol: a busy machine may need more. */
        asked.left = 1;
        err = ask_in_turn(call.words[0]);
        if (err < 0)
                return err;
        asked.left = count - 1;
        return ask_at_once();
}

static int until(void)
{
        asked.until = call.words[1];
        asked.left = 1;
        return ask_at_once();
}

/* Read a piece of an answer, and close the answer. */
static int ask_in_part(void)
{
        struct eddy_http_request request = { .url = call.words[0], .ret_fault = &call.fault };
        eddy_http_response *response;
        char piece[1024];
        int64_t n;
        int err = eddy_http_client_send(call.client, &request, &response);

        if (err < 0)
                return err;
        n = eddy_http_response_read(response, piece, sizeof(piece));
        if (n < 0)
                fprintf(stderr, "an answer: %s\n", eddy_http_response_fault_text(response));
        eddy_http_response_close(response);
        return n > 0 ? 0 : n < 0 ? (int) n : -EBADMSG;
}

static int cancel_in_turn(void *left)
{
        int err = 0;

        while (err == 0 && *(unsigned *) left > 0) {
                --*(unsigned *) left;
                err = ask_in_part();
        }
        return err;
}

static int cancel(void)
{
        unsigned left = (unsigned) strtoul(call.words[1], NULL, 10);
        eddy_scope scope;
        int err;

        asked.left = left / CANCELS_BESIDE + 1;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CANCELLING; i++)
                eddy_scope_start(&scope, cancel_in_turn, &left);
        eddy_scope_start(&scope, ask_in_turn, call.words[0]);
        err = eddy_scope_end(&scope);
        print_answers();
        return err;
}

/* ---- the parts of messages ----------------------------------------------------------------- */

static int64_t abc_read(void *arg, void *buf, size_t bytes)
{
        size_t *left = arg, n = *left < bytes ? *left : bytes;

        memcpy(buf, "abc", n);
        *left -= n;
        return (int64_t) n;
}

static int ask_part(struct eddy_http_request *request, const char *path)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_response_info info;
        char url[256];
        const char *sum;
        const void *body;
        size_t bytes;
        int err;

        snprintf(url, sizeof(url), "%s%s", call.words[0], path);
        request->url = url;
        request->ret_fault = &call.fault;
        err = eddy_http_client_send(call.client, request, &response);
        if (err == 0)
                err = eddy_http_response_body(response, &body, &bytes);
        if (err < 0)
                return err;
        eddy_http_response_info(response, &info);
        sum = eddy_http_response_trailer(response, "x-sum");
        printf("%d %d %.*s %s\n", info.version, eddy_http_response_status(response), (int) bytes,
               (const char *) body, sum ? sum : "none");
        return 0;
}

static int parts(void)
{
        static const struct eddy_http_header trailer = { "X-Sum", "3" };
        size_t left = 3;
        struct eddy_http_body_source source = { .read = abc_read,
                                                .arg = &left,
                                                .bytes = -1,
                                                .trailers = &trailer,
                                                .trailers_count = 1 };
        struct eddy_http_request sent = { .method = "POST",
                                          .body_source = &source,
                                          .expect_continue_ns =
                                                  EDDY_MS(strtol(call.words[1], NULL, 10)) };
        struct eddy_http_request got = { .method = NULL };
        int err = ask_part(&sent, "/expect");

        return err < 0 ? err : ask_part(&got, "/parts");
}

/* ---- the program ------------------------------------------------------------------------------ */

static void print_peak(void)
{
        FILE *file = fopen("/proc/self/status", "r");
        char line[256];
        long kib;

        while (file && fgets(line, sizeof(line), file))
                if (sscanf(line, "VmHWM: %ld", &kib) == 1)
                        printf("%ld\n", kib);
        if (file)
                fclose(file);
}

static int run(void *arg)
{
        static const struct {
                const char *name;
                int (*fn)(void);
                bool has_peak;
        } calls[] = { { "get", get, true },        { "put", put, true },
                      { "events", events, true },  { "upgrade", upgrade, true },
                      { "stray", stray, false },   { "many", many, false },
                      { "cancel", cancel, false }, { "until", until, false },
                      { "parts", parts, false } };
        const char *name = arg;
        int err = -EINVAL;

        if (call.tls.ca_file)
                err = eddy_tls_config_new(&call.tls, NULL, &call.opts.tls);
        if (!call.tls.ca_file || err == 0)
                err = eddy_http_client_new(&call.opts, &call.client);
        for (size_t i = 0; err == 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
                if (strcmp(calls[i].name, name) == 0) {
                        err = calls[i].fn();
                        if (calls[i].has_peak)
                                print_peak();
                }
        }
        eddy_http_client_close(call.client);
        eddy_tls_config_close(call.opts.tls);
        if (err < 0)
                fprintf(stderr, "%s: %s %s\n", name, eddy_error_text(err), call.fault.text);
        return err;
}

int main(int argc, char **argv)
{
        /* A machine that is busy with other tests is not a task that holds the loop. */
        static const struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG };

        (void) argc;
        for (argv++; argv[0] && strncmp(argv[0], "--", 2) == 0; argv += 2) {
                if (strcmp(argv[0], "--proxy") == 0)
                        call.opts.http_proxy = call.opts.https_proxy = argv[1];
                else if (strcmp(argv[0], "--by") == 0)
                        call.opts.flags |= strcmp(argv[1], "h1") == 0 ? EDDY_HTTP_CLIENT_HTTP1_ONLY
                                           : strcmp(argv[1], "h2c") == 0 ? EDDY_HTTP_CLIENT_H2C
                                                                         : 0;
                else
                        call.tls.ca_file = argv[1];
        }
        call.words = argv + 1;
        return eddy_run(run, argv[0], &opts) < 0;
}
