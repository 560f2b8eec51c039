/*
 * http/proxy.c - see proxy.h. Names and choice of a proxy; tunnel.c speaks its protocols.
 */
#include "http/proxy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/userinfo.h"
#include "io/dns_name.h"

/* ---- the URL of a proxy ---------------------------------------------------------- */

enum { PROXY_URL_MAX = 2048, HTTP_BYTES = 7 };

/* Split "USER:PASSWORD". */
static int take_credentials(struct ed_http_proxy *proxy, const struct ed_url *url)
{
        char plain[2 * ED_PROXY_SECRET_MAX + 2], *colon;
        size_t bytes, user_bytes, password_bytes;
        int err;

        if (url->userinfo_bytes > 3 * sizeof(plain))
                return EDDY_E_URL_CREDENTIALS;
        err = ed_http_userinfo_decode(url, plain, sizeof(plain), &bytes);
        if (err < 0)
                return err;
        colon = memchr(plain, ':', bytes);
        user_bytes = (size_t) (colon - plain);
        password_bytes = bytes - user_bytes - 1;
        if (user_bytes == 0 || user_bytes > ED_PROXY_SECRET_MAX ||
            password_bytes > ED_PROXY_SECRET_MAX)
                return EDDY_E_URL_CREDENTIALS;
        memcpy(proxy->user, plain, user_bytes);
        memcpy(proxy->password, colon + 1, password_bytes);
        proxy->has_credentials = true;
        return 0;
}

/* Parse "http://..." of 'bytes' bytes. A proxy's URL has no path but "/". */
static int parse_url(const char *text, size_t bytes, struct ed_http_proxy *proxy)
{
        struct ed_url url;
        int err;

        err = ed_url_parse(text, bytes, &url);
        if (err < 0)
                return err;
        if (url.host_kind == ED_URL_NAME_IDN || url.target_bytes > (url.slash_first ? 0 : 1))
                return EDDY_E_URL_INVALID;
        proxy->port = url.has_port ? url.port : ED_PROXY_PORT;
        memcpy(proxy->host, url.host, sizeof(proxy->host));
        return url.has_userinfo ? take_credentials(proxy, &url) : 0;
}

int ed_http_proxy_parse(const char *text, struct ed_http_proxy *ret_proxy)
{
        struct ed_http_proxy proxy = { .is_socks = false };
        const char *mark = strstr(text, "://"), *authority = mark ? mark + 3 : text;
        size_t scheme_bytes = mark ? (size_t) (mark - text) : 0, bytes = strlen(authority);
        char *plain;
        int err;

        proxy.is_socks = (scheme_bytes == 6 && strncasecmp(text, "socks5", 6) == 0) ||
                         (scheme_bytes == 7 && strncasecmp(text, "socks5h", 7) == 0);
        if (mark && !proxy.is_socks && (scheme_bytes != 4 || strncasecmp(text, "http", 4) != 0))
                return EDDY_E_URL_SCHEME;
        if (bytes > PROXY_URL_MAX)
                return EDDY_E_URL_INVALID;
        plain = ed_alloc(HTTP_BYTES + bytes + 1);
        if (!plain)
                return -ENOMEM;
        memcpy(plain, "http://", HTTP_BYTES);
        memcpy(plain + HTTP_BYTES, authority, bytes + 1);
        err = parse_url(plain, HTTP_BYTES + bytes, &proxy);
        ed_free(plain);
        if (err >= 0)
                *ret_proxy = proxy;
        return err;
}

size_t ed_http_proxy_authorization(const struct ed_http_proxy *proxy,
                                   char out[ED_PROXY_AUTHORIZATION_ROOM])
{
        char plain[2 * ED_PROXY_SECRET_MAX + 2];
        size_t bytes;

        if (!proxy->has_credentials)
                return 0;
        bytes = (size_t) snprintf(plain, sizeof(plain), "%s:%s", proxy->user, proxy->password);
        bytes = ed_http_basic_write(plain, bytes, out);
        out[bytes] = '\0';
        return bytes;
}

/* ---- hosts without a proxy ------------------------------------------------------- */

enum { ADDRESS_TEXT_MAX = 64 };

bool ed_http_proxy_address(const char *text, size_t bytes, struct eddy_address *ret_address)
{
        char copy[ADDRESS_TEXT_MAX];
        struct ed_name name;

        if (bytes > 1 && text[0] == '[' && text[bytes - 1] == ']') {
                text++;
                bytes -= 2;
        }
        if (bytes == 0 || bytes >= sizeof(copy))
                return false;
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        if (ed_name_parse(copy, &name) < 0 || name.kind != ED_NAME_ADDRESS)
                return false;
        *ret_address = name.address;
        return true;
}

/* Returns the number of 1 to 5 digits, or -1 if the text is not one. */
static int number_parse(const char *text, size_t bytes)
{
        int number = 0;

        if (bytes == 0 || bytes > 5)
                return -1;
        for (size_t i = 0; i < bytes; i++) {
                if (text[i] < '0' || text[i] > '9')
                        return -1;
                number = number * 10 + text[i] - '0';
        }
        return number;
}

/* Returns whether the entry has no port or this one, and removes it from the entry. */
static bool entry_has_port(const char *entry, size_t *bytes, uint16_t port)
{
        const char *colon = memrchr(entry, ':', *bytes);
        size_t host_bytes = colon ? (size_t) (colon - entry) : *bytes;
        int number;

        /* An IPv6 address without brackets has no port. */
        if (!colon || (memchr(entry, ':', host_bytes) && colon[-1] != ']'))
                return true;
        number = number_parse(colon + 1, *bytes - host_bytes - 1);
        *bytes = host_bytes;
        return number == port;
}

bool ed_http_same_bits(const uint8_t *a, const uint8_t *b, int bits)
{
        uint8_t mask = (uint8_t) (0xff00 >> bits % 8);

        return memcmp(a, b, (size_t) bits / 8) == 0 &&
               (mask == 0 || ((a[bits / 8] ^ b[bits / 8]) & mask) == 0);
}

static bool entry_has_address(const char *entry, size_t bytes, const struct eddy_address *address)
{
        const char *slash = memchr(entry, '/', bytes);
        size_t text_bytes = slash ? (size_t) (slash - entry) : bytes;
        struct eddy_address network;
        int width, bits;

        if (!ed_http_proxy_address(entry, text_bytes, &network) ||
            network.family != address->family)
                return false;
        width = memchr(entry, ':', text_bytes) ? 128 : 32;
        bits = slash ? number_parse(slash + 1, bytes - text_bytes - 1) : width;
        return bits >= 0 && bits <= width && ed_http_same_bits(network.bytes, address->bytes, bits);
}

/* A dot at the begin or at the end of a name is ignored. "*." means the subdomains only. */
static bool entry_has_name(const char *entry, size_t bytes, const char *host)
{
        size_t host_bytes = strlen(host);
        bool is_wild = bytes > 1 && entry[0] == '*' && entry[1] == '.';

        entry += is_wild;
        bytes -= is_wild;
        if (bytes > 0 && entry[0] == '.') {
                entry++;
                bytes--;
        }
        if (bytes > 0 && entry[bytes - 1] == '.')
                bytes--;
        if (host_bytes > 0 && host[host_bytes - 1] == '.')
                host_bytes--;
        if (bytes == 0 || bytes > host_bytes ||
            strncasecmp(host + host_bytes - bytes, entry, bytes) != 0)
                return false;
        return bytes == host_bytes ? !is_wild : host[host_bytes - bytes - 1] == '.';
}

bool ed_http_no_proxy_has(const char *no_proxy, const char *host, uint16_t port)
{
        struct eddy_address address;
        bool is_address = ed_http_proxy_address(host, strlen(host), &address);
        size_t bytes, host_bytes;

        for (const char *at = no_proxy ? no_proxy : ""; *at; at += bytes) {
                at += strspn(at, ", \t");
                bytes = host_bytes = strcspn(at, ", \t");
                if (!entry_has_port(at, &host_bytes, port))
                        continue;
                if (host_bytes == 1 && *at == '*')
                        return true;
                if (is_address ? entry_has_address(at, host_bytes, &address)
                               : entry_has_name(at, host_bytes, host))
                        return true;
        }
        return false;
}

/* ---- the proxies of a client ----------------------------------------------------- */

/* An empty text means none, as in the environment. */
static int proxy_new(const char *text, struct ed_http_proxy **ret_proxy)
{
        struct ed_http_proxy *proxy;
        int err;

        if (!text || !*text)
                return 0;
        proxy = ed_alloc(sizeof(*proxy));
        if (!proxy)
                return -ENOMEM;
        err = ed_http_proxy_parse(text, proxy);
        if (err < 0)
                ed_free(proxy);
        else
                *ret_proxy = proxy;
        return err;
}

int ed_http_proxies_init(struct ed_http_proxies *proxies, const char *http, const char *https,
                         const char *no_proxy)
{
        size_t bytes = no_proxy ? strlen(no_proxy) + 1 : 0;
        int err;

        *proxies = (struct ed_http_proxies){ .http = NULL };
        err = proxy_new(http, &proxies->http);
        if (err >= 0)
                err = proxy_new(https, &proxies->https);
        if (err < 0 || !no_proxy)
                return err;
        proxies->no_proxy = ed_alloc(bytes);
        if (!proxies->no_proxy)
                return -ENOMEM;
        memcpy(proxies->no_proxy, no_proxy, bytes);
        return 0;
}

void ed_http_proxies_fini(struct ed_http_proxies *proxies)
{
        ed_free(proxies->http);
        ed_free(proxies->https);
        ed_free(proxies->no_proxy);
}

const struct ed_http_proxy *ed_http_proxies_find(const struct ed_http_proxies *proxies,
                                                 bool is_https, const char *host, uint16_t port)
{
        const struct ed_http_proxy *proxy = is_https ? proxies->https : proxies->http;

        return proxy && !ed_http_no_proxy_has(proxies->no_proxy, host, port) ? proxy : NULL;
}
