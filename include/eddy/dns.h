/*
 * eddy/dns.h - from host names to addresses.
 *
 * Answers are cached for their TTL (at most EDDY_DNS_TTL_MAX_NS), failures for
 * EDDY_DNS_TTL_FAILED_NS.  The cache holds EDDY_DNS_CACHE_MAX names and drops
 * the least recently used one first.  Tasks that look up the same name at the
 * same time share one lookup: cancelling one task does not affect the others,
 * cancelling all ends the lookup.
 */
#ifndef EDDY_DNS_H
#define EDDY_DNS_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_DNS_ADDRESSES_MAX = 16, EDDY_DNS_CACHE_MAX = 1024, EDDY_DNS_NAME_MAX = 253 };

#define EDDY_DNS_TTL_MAX_NS    ((int64_t) 300 * 1000000000)
#define EDDY_DNS_TTL_FAILED_NS ((int64_t) 1000000000)

struct eddy_address {
        uint16_t family;   /* AF_INET or AF_INET6 */
        uint16_t reserved; /* zero */
        uint32_t scope_id; /* of a link-local IPv6 address, else 0 */
        uint8_t bytes[16]; /* network order; AF_INET uses the first 4 */
};

/*
 * Look up the addresses of 'host': a name (in /etc/hosts, then in DNS; names
 * outside ASCII are converted by IDNA 2008), or an address in its canonical
 * form.  Stores at most 'max' addresses, in the order in which to try them, and
 * returns their number.  IPv6 addresses that arrive more than 50 ms after the IPv4
 * addresses are not returned; a later call returns them.
 *
 * Suspends: yes.
 * Errors: EDDY_E_DNS_NOT_FOUND, _NO_ADDRESS, _FAILED
 *         EDDY_E_DNS_BAD_NAME  not a name: too long, contains a NUL or a space, or
 *                              is an IPv4 address in a form such as 127.1
 *         -ECANCELED, -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_dns_lookup(const char *host, struct eddy_address *ret_addresses,
                                           size_t max);

EDDY_END_DECLS

#endif
