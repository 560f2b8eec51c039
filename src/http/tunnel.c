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

/* A tunnel that is being opened. */
struct tunnel {
        const struct ed_http_proxy *proxy;
        eddy_stream *stream;
        const char *reason; /* for an answer that is not valid */
        int status;         /* of an answer that refuses; 0: none */
};

static int invalid(struct tunnel *tunnel, const char *reason)
{
        tunnel->reason = reason;
        return EDDY_E_HTTP_PROXY_INVALID;
}

static int ended(struct tunnel *tunnel)
{
        return invalid(tunnel, "it ended before its answer was whole");
}

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

static int write_connect(const struct tunnel *tunnel, const char *host, uint16_t port)
{
        static const char name[] = "Proxy-Authorization: ";
        bool is_ipv6 = strchr(host, ':') != NULL;
        const char *open = is_ipv6 ? "[" : "", *close = is_ipv6 ? "]" : "";
        char authorization[ED_PROXY_AUTHORIZATION_ROOM], text[REQUEST_BYTES_MAX];
        size_t bytes = ed_http_proxy_authorization(tunnel->proxy, authorization);
        int n = snprintf(text, sizeof(text), "CONNECT %s%s%s:%u HTTP/1.1\r\nHost: %s%s%s:%u\r\n",
                         open, host, close, port, open, host, close, port);
        struct eddy_slice slices[] = {
                { text, (size_t) n },
                { name, bytes > 0 ? sizeof(name) - 1 : 0 },
                { authorization, bytes },
                { "\r\n\r\n", bytes > 0 ? 4 : 2 },
        };

        return eddy_stream_writev(tunnel->stream, slices, sizeof(slices) / sizeof(slices[0]));
}

/* Read the next head. Returns its status. The bytes after the head remain. */
static int read_head(struct tunnel *tunnel, struct answer *answer)
{
        int64_t n;

        ed_http1_response_init(&answer->head, answer->fields, &answer_limits, ED_HTTP1_TO_CONNECT);
        while ((n = ed_http1_head_parse(&answer->head, answer->data, answer->bytes)) == 0) {
                if (answer->bytes == sizeof(answer->data))
                        return invalid(tunnel, ed_http1_fault_text(ED_HTTP1_FAULT_HEAD_TOO_LARGE));
                n = eddy_stream_read(tunnel->stream, answer->data + answer->bytes,
                                     sizeof(answer->data) - answer->bytes);
                if (n < 0)
                        return (int) n;
                if (n == 0)
                        return ended(tunnel);
                answer->bytes += (size_t) n;
        }
        if (n < 0)
                return invalid(tunnel, ed_http1_fault_text(answer->head.fault));
        answer->heads_bytes += (size_t) n;
        answer->bytes -= (size_t) n;
        memmove(answer->data, answer->data + n, answer->bytes);
        return answer->head.status;
}

/* Read the answer. Returns its status. Interim responses are skipped (RFC 9110, 15.2). */
static int read_answer(struct tunnel *tunnel, struct answer *answer)
{
        int status;

        answer->bytes = answer->heads_bytes = 0;
        do
                status = read_head(tunnel, answer);
        while (status / 100 == 1 && status != 101 &&
               answer->heads_bytes <= ED_HTTP1_INTERIM_BYTES_MAX);
        if (status / 100 == 2 && answer->bytes > 0)
                return invalid(tunnel, "bytes follow the head");
        if (status == 101)
                return invalid(tunnel, ed_http1_fault_text(ED_HTTP1_FAULT_UPGRADE));
        if (status / 100 == 1)
                return invalid(tunnel, ed_http1_fault_text(ED_HTTP1_FAULT_INTERIM_TOO_LARGE));
        return status;
}

static int connect_through(struct tunnel *tunnel, const char *host, uint16_t port)
{
        struct answer *answer;
        int status;

        status = write_connect(tunnel, host, port);
        if (status < 0)
                return status;
        answer = ed_alloc(sizeof(*answer));
        if (!answer)
                return -ENOMEM;
        status = read_answer(tunnel, answer);
        ed_free(answer);
        if (status < 0 || status / 100 == 2)
                return status < 0 ? status : 0;
        tunnel->status = status;
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
static int read_exactly(struct tunnel *tunnel, uint8_t *buf, size_t bytes)
{
        while (bytes > 0) {
                int64_t n = eddy_stream_read(tunnel->stream, buf, bytes);

                if (n <= 0)
                        return n < 0 ? (int) n : ended(tunnel);
                buf += n;
                bytes -= (size_t) n;
        }
        return 0;
}

static int write_password(struct tunnel *tunnel)
{
        const struct ed_http_proxy *proxy = tunnel->proxy;
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
        err = eddy_stream_write(tunnel->stream, message, (size_t) (at - message));
        if (err >= 0)
                err = read_exactly(tunnel, reply, sizeof(reply));
        if (err < 0)
                return err;
        if (reply[0] != SOCKS_PASSWORD_VERSION)
                return invalid(tunnel, "its answer to the password is not of RFC 1929");
        return reply[1] == 0 ? 0 : EDDY_E_HTTP_PROXY_AUTH;
}

/* Agree on a method, and authenticate. */
static int greet(struct tunnel *tunnel)
{
        bool has_credentials = tunnel->proxy->has_credentials;
        uint8_t greeting[] = { SOCKS_VERSION, 1, SOCKS_NO_AUTH, SOCKS_PASSWORD }, reply[2];
        int err;

        if (has_credentials)
                greeting[1] = 2;
        err = eddy_stream_write(tunnel->stream, greeting, 2 + greeting[1]);
        if (err >= 0)
                err = read_exactly(tunnel, reply, sizeof(reply));
        if (err < 0)
                return err;
        if (reply[0] != SOCKS_VERSION)
                return invalid(tunnel, "its answer is not SOCKS5");
        if (reply[1] == SOCKS_NO_AUTH)
                return 0;
        if (reply[1] == SOCKS_PASSWORD && has_credentials)
                return write_password(tunnel);
        return reply[1] == SOCKS_NO_METHOD
                       ? EDDY_E_HTTP_PROXY_AUTH
                       : invalid(tunnel, "it chose a way to log in that was not offered");
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
static int read_reply(struct tunnel *tunnel)
{
        uint8_t reply[5], bound[SOCKS_NAME_MAX + 2];
        size_t bytes;
        int err;

        /* The fifth byte is the first of the address, or the length of a name. */
        err = read_exactly(tunnel, reply, sizeof(reply));
        if (err < 0)
                return err;
        if (reply[0] != SOCKS_VERSION)
                return invalid(tunnel, "its answer is not SOCKS5");
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
                return invalid(tunnel, "its answer has an unknown kind of address");
        }
        return read_exactly(tunnel, bound, bytes);
}

static int socks_through(struct tunnel *tunnel, const char *host, uint16_t port)
{
        uint8_t request[3 + 2 + SOCKS_NAME_MAX + 2] = { SOCKS_VERSION, SOCKS_CONNECT, 0 };
        size_t bytes = 3;
        int err;

        err = greet(tunnel);
        if (err < 0)
                return err;
        bytes += put_host(request + bytes, host);
        request[bytes++] = (uint8_t) (port >> 8);
        request[bytes++] = (uint8_t) port;
        err = eddy_stream_write(tunnel->stream, request, bytes);
        return err < 0 ? err : read_reply(tunnel);
}

/* ---- both ------------------------------------------------------------------------ */

int ed_http_proxy_tunnel(const struct ed_http_proxy *proxy, eddy_stream *stream, const char *host,
                         uint16_t port, const char **ret_reason, int *ret_status)
{
        struct tunnel tunnel = { .proxy = proxy, .stream = stream };
        int err;

        if (strlen(host) > ED_URL_HOST_MAX)
                return EDDY_E_URL_INVALID;
        err = proxy->is_socks ? socks_through(&tunnel, host, port)
                              : connect_through(&tunnel, host, port);
        if (err == EDDY_E_HTTP_PROXY_INVALID)
                *ret_reason = tunnel.reason;
        if (tunnel.status > 0)
                *ret_status = tunnel.status;
        return err;
}
