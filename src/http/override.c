/*
 * http/override.c - addresses for hosts, instead of DNS: parsing and finding.
 */
#include "http/override.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "http/proxy.h"

_Static_assert((int) ED_HTTP_OVERRIDE_ADDRESSES_MAX <= (int) EDDY_DNS_ADDRESSES_MAX,
               "an override has more addresses than a connect takes");

/* Parse addresses separated by commas. */
static int addresses_parse(const char *text, struct ed_http_override *override)
{
        for (;;) {
                size_t bytes = strcspn(text, ",");

                if (override->n == ED_HTTP_OVERRIDE_ADDRESSES_MAX ||
                    !ed_http_proxy_address(text, bytes, &override->addresses[override->n]))
                        return -EINVAL;
                override->n++;
                if (text[bytes] == '\0')
                        return 0;
                text += bytes + 1;
        }
}

/* Parse "HOST:PORT:" with digits only in the port. Returns the text after it, or NULL. */
static const char *host_port_parse(const char *text, struct ed_http_override *override)
{
        bool brackets = *text == '[';
        unsigned port = 0;
        int digits = 0;
        size_t bytes;

        text += brackets;
        bytes = strcspn(text, brackets ? "]" : ":");
        if (bytes == 0 || bytes > ED_URL_HOST_MAX)
                return NULL;
        memcpy(override->host, text, bytes);
        override->host[bytes] = '\0';
        if (strcmp(override->host, "*") != 0 && ed_url_host_check(text, bytes) < 0)
                return NULL;
        text += bytes;
        if ((brackets && *text++ != ']') || *text++ != ':')
                return NULL;
        for (; *text >= '0' && *text <= '9' && digits < 5; text++, digits++)
                port = 10 * port + (unsigned) (*text - '0');
        if (digits == 0 || port == 0 || port > UINT16_MAX || *text != ':')
                return NULL;
        override->port = (uint16_t) port;
        return text + 1;
}

int ed_http_overrides_init(struct ed_http_overrides *overrides, const char *const *texts,
                           size_t count)
{
        struct ed_http_overrides made = { NULL, count };
        int err = 0;

        if (count > 0 && !texts)
                return -EINVAL;
        if (count > 0) {
                made.list = ed_alloc_zero(count * sizeof(*made.list));
                if (!made.list)
                        return -ENOMEM;
        }
        for (size_t i = 0; i < count && err == 0; i++) {
                const char *rest = texts[i] ? host_port_parse(texts[i], &made.list[i]) : NULL;

                err = rest ? addresses_parse(rest, &made.list[i]) : -EINVAL;
        }
        if (err < 0)
                ed_free(made.list);
        else
                *overrides = made;
        return err;
}

void ed_http_overrides_fini(struct ed_http_overrides *overrides)
{
        ed_free(overrides->list);
        *overrides = (struct ed_http_overrides){ NULL, 0 };
}

int ed_http_overrides_find(const struct ed_http_overrides *overrides, const char *host,
                           uint16_t port,
                           struct eddy_address ret_addresses[ED_HTTP_OVERRIDE_ADDRESSES_MAX])
{
        for (size_t i = 0; i < overrides->count; i++) {
                const struct ed_http_override *override = &overrides->list[i];

                if (override->port == port &&
                    (strcmp(override->host, "*") == 0 || strcasecmp(override->host, host) == 0)) {
                        memcpy(ret_addresses, override->addresses, sizeof(override->addresses));
                        return override->n;
                }
        }
        return 0;
}
