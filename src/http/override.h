/*
 * http/override.h - addresses that a client's options give for hosts, instead of DNS.
 */
#ifndef ED_HTTP_OVERRIDE_H
#define ED_HTTP_OVERRIDE_H

#include "eddy/dns.h"
#include "wire/url.h"

enum { ED_HTTP_OVERRIDE_ADDRESSES_MAX = 8 };

struct ed_http_override {
        char host[ED_URL_HOST_MAX + 1]; /* "*": any */
        uint16_t port;
        int n; /* addresses, at least 1 */
        struct eddy_address addresses[ED_HTTP_OVERRIDE_ADDRESSES_MAX];
};

/* Owned; all zero: none. */
struct ed_http_overrides {
        struct ed_http_override *list;
        size_t count;
};

/*
 * Parse 'count' texts "HOST:PORT:ADDRESS[,ADDRESS]...".
 *
 * Errors: -EINVAL, -ENOMEM; nothing was made
 */
EDDY_MUST_USE int ed_http_overrides_init(struct ed_http_overrides *overrides,
                                         const char *const *texts, size_t count);
void ed_http_overrides_fini(struct ed_http_overrides *overrides);

/* Store the addresses for a host and port. Returns their number; 0: no override. */
int ed_http_overrides_find(const struct ed_http_overrides *overrides, const char *host,
                           uint16_t port,
                           struct eddy_address ret_addresses[ED_HTTP_OVERRIDE_ADDRESSES_MAX]);

#endif
