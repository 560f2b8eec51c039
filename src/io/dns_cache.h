/*
 * io/dns_cache.h - cached answers: at most EDDY_DNS_CACHE_MAX names; the least recently used is
 * dropped first.
 */
#ifndef ED_IO_DNS_CACHE_H
#define ED_IO_DNS_CACHE_H

#include <stddef.h>

#include "base/hash_table.h"
#include "base/list.h"
#include "eddy/dns.h"

/* The answer to a query. */
struct ed_dns_answer {
        int result;     /* number of addresses, or an error */
        int64_t ttl_ns; /* time to live; 0: do not cache */
        struct eddy_address addresses[EDDY_DNS_ADDRESSES_MAX];
};

struct ed_dns_cache {
        struct ed_hash_table table; /* by name */
        uint64_t seed;
        struct ed_list recent; /* most recently used first */
        size_t count;
};

void ed_dns_cache_init(struct ed_dns_cache *cache, uint64_t seed);
void ed_dns_cache_fini(struct ed_dns_cache *cache);

/*
 * Look up 'name' at time 'now_ns': stores at most 'max' addresses and returns their number, or the
 * cached error, or -EAGAIN if the name is not cached.
 */
int ed_dns_cache_get(struct ed_dns_cache *cache, const char *name, int64_t now_ns,
                     struct eddy_address *ret_addresses, size_t max);

/* Cache an answer for its time to live. If there is no memory, the answer is not cached. */
void ed_dns_cache_put(struct ed_dns_cache *cache, const char *name, int64_t now_ns,
                      const struct ed_dns_answer *answer);

/* Copy at most 'max' addresses of an answer. Returns their number, or the answer's error. */
int ed_dns_hand_out(int result, const struct eddy_address *addresses,
                    struct eddy_address *ret_addresses, size_t max);

#endif
