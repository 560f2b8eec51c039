/*
 * folder_test.c - see folder_test.h.
 */
#include "folder_test.h"

#include <stdarg.h>

static struct {
        eddy_http_handler_fn *handler;
        void *arg;
        struct reply reply;
} asked;

TEST_ROOM(char, reply_body, REPLY_BODY_MAX + 1);

void reply_by(eddy_http_handler_fn *handler, void *arg)
{
        asked.handler = handler;
        asked.arg = arg;
}

static void keep_head(const eddy_http_response *response)
{
        struct eddy_http_header header;
        size_t n = (size_t) snprintf(asked.reply.head, sizeof(asked.reply.head), "\n");

        for (size_t i = 0; eddy_http_response_header_at(response, i, &header) == 0; i++) {
                n += (size_t) snprintf(asked.reply.head + n, sizeof(asked.reply.head) - n,
                                       "%s: %s\n", header.name, header.value);
                CHECK(n < sizeof(asked.reply.head));
        }
}

static int ask(const struct eddy_http_request *request)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        const void *body;
        int err = eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = asked.handler,
                                                                        .handler_arg = asked.arg,
                                                                        .redirects_max = 0 },
                                       &client);

        if (err >= 0)
                err = eddy_http_client_send(client, request, &response);
        if (err >= 0)
                err = eddy_http_response_body(response, &body, &asked.reply.bytes);
        if (err < 0)
                return err;
        keep_head(response);
        CHECK(asked.reply.bytes <= REPLY_BODY_MAX);
        memcpy(reply_body, body, asked.reply.bytes);
        reply_body[asked.reply.bytes] = '\0';
        asked.reply.body = reply_body;
        return eddy_http_response_status(response);
}

const struct reply *reply_to(const char *method, const char *path, ...)
{
        struct eddy_http_header headers[REPLY_HEADERS + 1] = { { "Accept-Encoding", "" } };
        struct eddy_http_request request = { .method = method, .headers = headers };
        char url[8192];
        va_list args;
        const char *name;
        size_t n = 1;

        va_start(args, path);
        for (; (name = va_arg(args, const char *)) != NULL; n++) {
                CHECK(n <= REPLY_HEADERS);
                headers[n] = (struct eddy_http_header){ name, va_arg(args, const char *) };
                if (strcmp(name, "Accept-Encoding") == 0) {
                        headers[0] = headers[n];
                        n--;
                }
        }
        va_end(args);
        snprintf(url, sizeof(url), "http://a%s", path);
        request.url = url;
        request.headers_count = n;
        asked.reply.status = ask(&request);
        return &asked.reply;
}

const char *reply_header(const struct reply *reply, const char *name)
{
        static char value[1024];
        char start[64];
        const char *at;

        snprintf(start, sizeof(start), "\n%s: ", name);
        at = strstr(reply->head, start);
        if (!at)
                return "";
        at += strlen(start);
        snprintf(value, sizeof(value), "%.*s", (int) strcspn(at, "\n"), at);
        return value;
}
