/*
 * http/websocket_connect.c - the client's side of a handshake (RFC 6455, 4.1).
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/base64.h"
#include "eddy/error.h"
#include "eddy/http_response.h"
#include "eddy/http_upgrade.h"
#include "eddy/stream.h"
#include "http/fault.h"
#include "http/websocket.h"
#include "loop/loop.h"
#include "scope/suspend.h"

enum {
        KEY_BYTES = 16,
        OWN_HEADERS = 5,
        OWN = OWN_HEADERS - 1, /* without Sec-WebSocket-Protocol */
        PROTOCOLS_BYTES_MAX = 4 << 10,
};

struct offer {
        const struct eddy_websocket_opts *opts;
        char key[ED_WEBSOCKET_KEY_CHARS + 1];
        struct eddy_http_header *headers; /* the caller's, then ours; memory of the texts follows */
        char *url, *protocols;
};

/* Returns whether the handshake writes a header itself. */
static bool is_own(const char *name)
{
        return strncasecmp(name, "Sec-WebSocket-", 14) == 0 || strcasecmp(name, "Upgrade") == 0 ||
               strcasecmp(name, "Connection") == 0;
}

/* Returns the text that replaces a scheme of WebSocket, and moves 'url' after that scheme. */
static const char *scheme_of(const char **url)
{
        if (strncasecmp(*url, "ws:", 3) == 0) {
                *url += 3;
                return "http:";
        }
        if (strncasecmp(*url, "wss:", 4) == 0) {
                *url += 4;
                return "https:";
        }
        return "";
}

/* Errors: -EINVAL: the protocols are too long, or a header is one of the handshake */
static int measure(const struct eddy_websocket_opts *opts, size_t *ret_bytes)
{
        size_t bytes = 1;

        for (size_t i = 0; i < opts->protocols_count && bytes <= PROTOCOLS_BYTES_MAX; i++)
                bytes += strlen(opts->protocols[i]) + 2;
        for (size_t i = 0; i < opts->headers_count; i++)
                if (opts->headers[i].name && is_own(opts->headers[i].name))
                        return -EINVAL;
        if (bytes > PROTOCOLS_BYTES_MAX || opts->headers_count > SIZE_MAX / 64)
                return -EINVAL;
        *ret_bytes = bytes;
        return 0;
}

/* Copy a text with its NUL. Returns the place of the NUL. */
static char *put(char *at, const char *text)
{
        size_t bytes = strlen(text);

        memcpy(at, text, bytes + 1);
        return at + bytes;
}

static void put_headers(struct offer *offer)
{
        const struct eddy_websocket_opts *opts = offer->opts;
        const struct eddy_http_header own[OWN_HEADERS] = {
                { "Upgrade", "websocket" },
                { "Connection", "Upgrade" },
                { "Sec-WebSocket-Version", "13" },
                { "Sec-WebSocket-Key", offer->key },
                { "Sec-WebSocket-Protocol", offer->protocols },
        };
        char *at = offer->protocols;

        for (size_t i = 0; i < opts->protocols_count; i++) {
                if (i > 0)
                        at = put(at, ", ");
                at = put(at, opts->protocols[i]);
        }
        if (opts->headers_count > 0)
                memcpy(offer->headers, opts->headers, opts->headers_count * sizeof(own[0]));
        memcpy(offer->headers + opts->headers_count, own, sizeof(own));
}

/* Write the request's texts. Errors: -EINVAL, -ENOMEM */
static int prepare(struct offer *offer, const char *url)
{
        const char *scheme = scheme_of(&url);
        size_t headers_bytes, url_bytes = strlen(scheme) + strlen(url) + 1, bytes;
        unsigned char key[KEY_BYTES];
        int err = measure(offer->opts, &bytes);

        if (err < 0)
                return err;
        headers_bytes = (offer->opts->headers_count + OWN_HEADERS) * sizeof(*offer->headers);
        offer->headers = ed_alloc(headers_bytes + url_bytes + bytes);
        if (!offer->headers)
                return -ENOMEM;
        offer->url = (char *) offer->headers + headers_bytes;
        offer->protocols = offer->url + url_bytes;
        (void) put(put(offer->url, scheme), url);
        ed_loop_current->sys->poll->random(ed_loop_current->sys, key, sizeof(key));
        offer->key[eddy_base64_encode(key, sizeof(key), offer->key)] = '\0';
        put_headers(offer);
        return 0;
}

/* ---- the answer -------------------------------------------------------------------- */

/* The parts of a handshake that a response has. */
struct answer {
        const char *accept, *protocol, *upgrade;
        unsigned accepts, protocols, upgrades, extensions;
};

static void take_answer(const eddy_http_response *response, struct answer *ret_answer)
{
        struct eddy_http_header header;

        *ret_answer = (struct answer){ .protocol = "" };
        for (size_t i = 0; eddy_http_response_header_at(response, i, &header) == 0; i++) {
                if (strcasecmp(header.name, "Sec-WebSocket-Accept") == 0) {
                        ret_answer->accept = header.value;
                        ret_answer->accepts++;
                } else if (strcasecmp(header.name, "Sec-WebSocket-Protocol") == 0) {
                        ret_answer->protocol = header.value;
                        ret_answer->protocols++;
                } else if (strcasecmp(header.name, "Upgrade") == 0) {
                        ret_answer->upgrade = header.value;
                        ret_answer->upgrades++;
                } else if (strcasecmp(header.name, "Sec-WebSocket-Extensions") == 0) {
                        ret_answer->extensions++;
                }
        }
}

static bool is_offered(const struct eddy_websocket_opts *opts, const char *protocol)
{
        for (size_t i = 0; i < opts->protocols_count; i++)
                if (strcmp(opts->protocols[i], protocol) == 0)
                        return true;
        return false;
}

/* Returns NULL, or the rule that a 101 violates. */
static const char *judge(const struct offer *offer, const struct answer *answer, const char *accept)
{
        if (answer->upgrades != 1 || strcasecmp(answer->upgrade, "websocket") != 0)
                return "the server's header Upgrade is not \"websocket\"";
        if (answer->accepts != 1 || strcmp(answer->accept, accept) != 0)
                return "the server's Sec-WebSocket-Accept does not answer the key";
        if (answer->extensions > 0)
                return "the server uses an extension that was not offered";
        if (answer->protocols > 1 ||
            (answer->protocols == 1 && !is_offered(offer->opts, answer->protocol)))
                return "the server's Sec-WebSocket-Protocol was not offered";
        return NULL;
}

static int refuse(const struct offer *offer, int status, const char *why)
{
        struct eddy_http_fault *fault = offer->opts->ret_fault;

        if (fault)
                ed_http_fault_clear(fault);
        if (why)
                ed_http_fault_note(fault, "%s", why);
        else
                ed_http_fault_note(fault, "the server answered %d instead of 101", status);
        if (fault && !why)
                fault->status = status;
        return EDDY_E_WEBSOCKET_HANDSHAKE;
}

/* Make the WebSocket if the response is a valid handshake. */
static int take(const struct offer *offer, const eddy_http_response *response, eddy_stream *stream,
                eddy_websocket **ret_websocket)
{
        char accept[ED_WEBSOCKET_ACCEPT_CHARS + 1];
        struct answer answer;
        const char *why;
        int err;

        if (!stream)
                return refuse(offer, eddy_http_response_status(response), NULL);
        err = ed_websocket_accept_of(offer->key, accept);
        if (err < 0)
                return err;
        take_answer(response, &answer);
        why = judge(offer, &answer, accept);
        if (why)
                return refuse(offer, 101, why);
        err = ed_websocket_new(offer->opts, answer.protocol, false, ret_websocket);
        if (err == 0)
                (*ret_websocket)->stream = stream;
        return err;
}

/* Returns true if the URL itself has the scheme that is refused, and not that of a redirect. */
static bool is_of_another(const char *url)
{
        return strstr(url, "://") && strncasecmp(url, "http:", 5) != 0 &&
               strncasecmp(url, "https:", 6) != 0;
}

static int ask(eddy_http_client *client, const struct offer *offer, eddy_websocket **ret_websocket)
{
        const struct eddy_websocket_opts *opts = offer->opts;
        struct eddy_http_request request = {
                .url = offer->url,
                .headers = offer->headers,
                .headers_count = opts->headers_count + OWN + (opts->protocols_count > 0),
                .flags = EDDY_HTTP_ANY_STATUS,
                .ret_fault = opts->ret_fault,
        };
        eddy_http_response *response;
        eddy_stream *stream;
        int err = eddy_http_client_upgrade(client, &request, &response, &stream);

        if (err == EDDY_E_URL_SCHEME && is_of_another(offer->url))
                ed_http_fault_note(opts->ret_fault, "url: write ws:// or wss://");
        if (err < 0)
                return err;
        err = take(offer, response, stream, ret_websocket);
        if (err < 0)
                eddy_stream_close(stream);
        eddy_http_response_close(response);
        return err;
}

int eddy_websocket_connect(eddy_http_client *client, const char *url,
                           const struct eddy_websocket_opts *opts, eddy_websocket **ret_websocket)
{
        struct offer offer = { .opts = opts };
        struct ed_task *task;
        int err;

        if (!client || !url || !ret_websocket)
                return -EINVAL;
        if (opts && opts->ret_fault)
                ed_http_fault_clear(opts->ret_fault);
        err = ed_suspend_enter(&task);
        if (err == 0)
                err = ed_websocket_check(&offer.opts);
        if (err == 0)
                err = prepare(&offer, url);
        if (err == 0)
                err = ask(client, &offer, ret_websocket);
        ed_free(offer.headers);
        return err;
}
