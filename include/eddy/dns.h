/*
 * eddy/dns.h - names to addresses.
 *
 * Answers are kept for their TTL (at most EDDY_DNS_TTL_MAX_NS), failures for
 * EDDY_DNS_TTL_FAILED_NS, EDDY_DNS_CACHE_MAX names in all, the least recently
 * used going first.  Tasks that ask for one name at a time share one lookup;
 * cancelling one of them harms no other, cancelling all ends the lookup.
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
        uint8_t bytes[16]; /* network order; 4 of them for AF_INET */
};

/*
 * The addresses of 'host': a name (/etc/hosts, then DNS; other than ASCII is
 * converted as IDNA 2008 says), or an address in its canonical form.  Stores at most
 * 'max' of them and returns how many, in the order in which to try them.
 *
 * Suspends: yes.
 * Errors: EDDY_E_DNS_NOT_FOUND, _NO_ADDRESS, _FAILED
 *         EDDY_E_DNS_BAD_NAME  not a name: too long, a NUL or space in it, or
 *                              an IPv4 address in a form such as 127.1
 *         -ECANCELED, -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_dns_lookup(const char *host, struct eddy_address *ret_addresses,
                                           size_t max);

EDDY_END_DECLS

#endif
