/*
 * io/dns_cache.h - answers that are still good: at most EDDY_DNS_CACHE_MAX
 * names, the least recently used going first.
 */
#ifndef ED_IO_DNS_CACHE_H
#define ED_IO_DNS_CACHE_H

#include <stddef.h>

#include "base/list.h"
#include "eddy/dns.h"
#include "io/dns_table.h"

/* What became of a question. */
struct ed_dns_answer {
        int result;     /* how many addresses, or an error */
        int64_t ttl_ns; /* how long it may be kept; 0: not at all */
        struct eddy_address addresses[EDDY_DNS_ADDRESSES_MAX];
};

struct ed_dns_cache {
        struct ed_dns_table table;
        struct ed_list recent; /* the most recently used first */
        size_t count;
};

void ed_dns_cache_init(struct ed_dns_cache *cache, uint64_t seed);
void ed_dns_cache_fini(struct ed_dns_cache *cache);

/*
 * What is known of 'name' at 'now_ns': stores at most 'max' addresses and
 * returns how many, or the error that is known.  -EAGAIN: nothing is known.
 */
int ed_dns_cache_get(struct ed_dns_cache *cache, const char *name, int64_t now_ns,
                     struct eddy_address *ret_addresses, size_t max);

/* Keep an answer for its time.  Without memory it is not kept. */
void ed_dns_cache_put(struct ed_dns_cache *cache, const char *name, int64_t now_ns,
                      const struct ed_dns_answer *answer);

/* Hand an answer out: at most 'max' addresses.  Returns how many, or the error. */
int ed_dns_hand_out(int result, const struct eddy_address *addresses,
                    struct eddy_address *ret_addresses, size_t max);

#endif
