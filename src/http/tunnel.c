/*
 * http/tunnel.c - a connection through a proxy: CONNECT (RFC 9110, 9.3.6) and SOCKS5 (RFC 1928).
 *
 * The host speaks only after the client, so bytes that follow the proxy's answer are an error: a
 * proxy could make them seem to be the host's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/proxy.h"
#include "wire/http1.h"

/* ---- CONNECT --------------------------------------------------------------------- */

enum {
        ANSWER_BYTES_MAX = 16 << 10, /* of the head */
        ANSWER_FIELDS_MAX = 64,
        REQUEST_BYTES_MAX = 64 + 2 * ED_URL_AUTHORITY_ROOM, /* without credentials */
};

struct answer {
        struct ed_http1_head head;
        struct ed_http1_field fields[ANSWER_FIELDS_MAX];
        size_t heads_bytes; /* of all heads that were read */
        size_t bytes;       /* in 'data' */
        char data[ANSWER_BYTES_MAX];
};

static const struct ed_http1_limits answer_limits = { .head_bytes_max = ANSWER_BYTES_MAX,
                                                      .fields_max = ANSWER_FIELDS_MAX };

static int write_connect(const struct ed_http_proxy *proxy, eddy_stream *stream, const char *host,
                         uint16_t port)
{
        static const char name[] = "Proxy-Authorization: ";
        bool is_ipv6 = strchr(host, ':') != NULL;
        const char *open = is_ipv6 ? "[" : "", *close = is_ipv6 ? "]" : "";
        char authorization[ED_PROXY_AUTHORIZATION_ROOM], text[REQUEST_BYTES_MAX];
        size_t bytes = ed_http_proxy_authorization(proxy, authorization);
        int n = snprintf(text, sizeof(text), "CONNECT %s%s%s:%u HTTP/1.1\r\nHost: %s%s%s:%u\r\n",
                         open, host, close, port, open, host, close, port);
        struct eddy_slice slices[] = {
                { text, (size_t) n },
                { name, bytes > 0 ? sizeof(name) - 1 : 0 },
                { authorization, bytes },
                { "\r\n\r\n", bytes > 0 ? 4 : 2 },
        };

        return eddy_stream_writev(stream, slices, sizeof(slices) / sizeof(slices[0]));
}

/* Read the next head. Returns its status. The bytes after the head remain. */
static int read_head(struct answer *answer, eddy_stream *stream)
{
        int64_t n;

        ed_http1_response_init(&answer->head, answer->fields, &answer_limits, ED_HTTP1_TO_CONNECT);
        while ((n = ed_http1_head_parse(&answer->head, answer->data, answer->bytes)) == 0) {
                if (answer->bytes == sizeof(answer->data))
                        return EDDY_E_HTTP_PROXY_INVALID;
                n = eddy_stream_read(stream, answer->data + answer->bytes,
                                     sizeof(answer->data) - answer->bytes);
                if (n < 0)
                        return (int) n;
                if (n == 0)
                        return EDDY_E_HTTP_PROXY_INVALID;
                answer->bytes += (size_t) n;
        }
        if (n < 0)
                return EDDY_E_HTTP_PROXY_INVALID;
        answer->heads_bytes += (size_t) n;
        answer->bytes -= (size_t) n;
        memmove(answer->data, answer->data + n, answer->bytes);
        return answer->head.status;
}

/* Read the answer. Returns its status. Interim responses are skipped (RFC 9110, 15.2). */
static int read_answer(struct answer *answer, eddy_stream *stream)
{
        int status;

        answer->bytes = answer->heads_bytes = 0;
        do
                status = read_head(answer, stream);
        while (status / 100 == 1 && status != 101 &&
               answer->heads_bytes <= ED_HTTP1_INTERIM_BYTES_MAX);
        if (status / 100 == 2 && answer->bytes > 0)
                return EDDY_E_HTTP_PROXY_INVALID;
        return status;
}

static int connect_through(const struct ed_http_proxy *proxy, eddy_stream *stream, const char *host,
                           uint16_t port)
{
        struct answer *answer;
        int status;

        status = write_connect(proxy, stream, host, port);
        if (status < 0)
                return status;
        answer = ed_alloc(sizeof(*answer));
        if (!answer)
                return -ENOMEM;
        status = read_answer(answer, stream);
        ed_free(answer);
        if (status < 0 || status / 100 == 2)
                return status < 0 ? status : 0;
        if (status < 200)
                return EDDY_E_HTTP_PROXY_INVALID;
        /* tinyproxy answers 401 to wrong credentials. */
        return status == 407 || status == 401 ? EDDY_E_HTTP_PROXY_AUTH : EDDY_E_HTTP_PROXY_REFUSED;
}

/* ---- SOCKS5 ---------------------------------------------------------------------- */

enum {
        SOCKS_VERSION = 5,
        SOCKS_NO_AUTH = 0,
        SOCKS_PASSWORD = 2,
        SOCKS_PASSWORD_VERSION = 1,
        SOCKS_NO_METHOD = 0xff,
        SOCKS_CONNECT = 1,
        SOCKS_IPV4 = 1,
        SOCKS_NAME = 3,
        SOCKS_IPV6 = 4,
        SOCKS_NAME_MAX = 255,
};

/* Read exactly 'bytes': the proxy must not send more than its answer. */
static int read_exactly(eddy_stream *stream, uint8_t *buf, size_t bytes)
{
        while (bytes > 0) {
                int64_t n = eddy_stream_read(stream, buf, bytes);

                if (n <= 0)
                        return n < 0 ? (int) n : EDDY_E_HTTP_PROXY_INVALID;
                buf += n;
                bytes -= (size_t) n;
        }
        return 0;
}

static int write_password(const struct ed_http_proxy *proxy, eddy_stream *stream)
{
        uint8_t message[3 + 2 * ED_PROXY_SECRET_MAX], reply[2], *at = message;
        size_t user_bytes = strlen(proxy->user), password_bytes = strlen(proxy->password);
        int err;

        *at++ = SOCKS_PASSWORD_VERSION;
        *at++ = (uint8_t) user_bytes;
        memcpy(at, proxy->user, user_bytes);
        at += user_bytes;
        *at++ = (uint8_t) password_bytes;
        memcpy(at, proxy->password, password_bytes);
        at += password_bytes;
        err = eddy_stream_write(stream, message, (size_t) (at - message));
        if (err >= 0)
                err = read_exactly(stream, reply, sizeof(reply));
        if (err < 0)
                return err;
        if (reply[0] != SOCKS_PASSWORD_VERSION)
                return EDDY_E_HTTP_PROXY_INVALID;
        return reply[1] == 0 ? 0 : EDDY_E_HTTP_PROXY_AUTH;
}

/* Agree on a method, and authenticate. */
static int greet(const struct ed_http_proxy *proxy, eddy_stream *stream)
{
        uint8_t greeting[] = { SOCKS_VERSION, 1, SOCKS_NO_AUTH, SOCKS_PASSWORD }, reply[2];
        int err;

        if (proxy->has_credentials)
                greeting[1] = 2;
        err = eddy_stream_write(stream, greeting, 2 + greeting[1]);
        if (err >= 0)
                err = read_exactly(stream, reply, sizeof(reply));
        if (err < 0)
                return err;
        if (reply[0] != SOCKS_VERSION)
                return EDDY_E_HTTP_PROXY_INVALID;
        if (reply[1] == SOCKS_NO_AUTH)
                return 0;
        if (reply[1] == SOCKS_PASSWORD && proxy->has_credentials)
                return write_password(proxy, stream);
        return reply[1] == SOCKS_NO_METHOD ? EDDY_E_HTTP_PROXY_AUTH : EDDY_E_HTTP_PROXY_INVALID;
}

/* Write the host as an address or a name. Returns the number of bytes. */
static size_t put_host(uint8_t *at, const char *host)
{
        size_t bytes = strlen(host);
        struct eddy_address address;

        if (ed_http_proxy_address(host, bytes, &address)) {
                size_t n = strchr(host, ':') ? 16 : 4;

                at[0] = n == 4 ? SOCKS_IPV4 : SOCKS_IPV6;
                memcpy(at + 1, address.bytes, n);
                return 1 + n;
        }
        at[0] = SOCKS_NAME;
        at[1] = (uint8_t) bytes;
        memcpy(at + 2, host, bytes);
        return 2 + bytes;
}

/* Read the reply, whose end depends on the kind of the address in it. */
static int read_reply(eddy_stream *stream)
{
        uint8_t reply[5], bound[SOCKS_NAME_MAX + 2];
        size_t bytes;
        int err;

        /* The fifth byte is the first of the address, or the length of a name. */
        err = read_exactly(stream, reply, sizeof(reply));
        if (err < 0)
                return err;
        if (reply[0] != SOCKS_VERSION)
                return EDDY_E_HTTP_PROXY_INVALID;
        if (reply[1] != 0)
                return EDDY_E_HTTP_PROXY_REFUSED;
        switch (reply[3]) {
        case SOCKS_IPV4:
                bytes = 4 - 1 + 2;
                break;
        case SOCKS_IPV6:
                bytes = 16 - 1 + 2;
                break;
        case SOCKS_NAME:
                bytes = (size_t) reply[4] + 2;
                break;
        default:
                return EDDY_E_HTTP_PROXY_INVALID;
        }
        return read_exactly(stream, bound, bytes);
}

static int socks_through(const struct ed_http_proxy *proxy, eddy_stream *stream, const char *host,
                         uint16_t port)
{
        uint8_t request[3 + 2 + SOCKS_NAME_MAX + 2] = { SOCKS_VERSION, SOCKS_CONNECT, 0 };
        size_t bytes = 3;
        int err;

        err = greet(proxy, stream);
        if (err < 0)
                return err;
        bytes += put_host(request + bytes, host);
        request[bytes++] = (uint8_t) (port >> 8);
        request[bytes++] = (uint8_t) port;
        err = eddy_stream_write(stream, request, bytes);
        return err < 0 ? err : read_reply(stream);
}

/* ---- both ------------------------------------------------------------------------ */

int ed_http_proxy_tunnel(const struct ed_http_proxy *proxy, eddy_stream *stream, const char *host,
                         uint16_t port)
{
        if (strlen(host) > ED_URL_HOST_MAX)
                return EDDY_E_URL_INVALID;
        return proxy->is_socks ? socks_through(proxy, stream, host, port)
                               : connect_through(proxy, stream, host, port);
}
