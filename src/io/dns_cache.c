/*
 * io/dns_cache.c - finding, adding and dropping cached answers. dns.c asks the cache before
 * it begins a query.
 */
#include "io/dns_cache.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

struct entry {
        struct ed_hash_node node;
        struct ed_list link; /* in 'recent' */
        int64_t expires_ns;
        int result;
        const char *name;
        struct eddy_address addresses[]; /* 'result' addresses, followed by the name */
};

static struct entry *entry_of_link(struct ed_list *link)
{
        return ed_container_of(link, struct entry, link);
}

static void drop(struct ed_dns_cache *cache, struct entry *entry)
{
        ed_hash_table_remove(&cache->table, &entry->node);
        ed_list_remove(&entry->link);
        cache->count--;
        ed_free(entry);
}

void ed_dns_cache_init(struct ed_dns_cache *cache, uint64_t seed)
{
        *cache = (struct ed_dns_cache){ .seed = seed };
        ed_list_init(&cache->recent);
}

void ed_dns_cache_fini(struct ed_dns_cache *cache)
{
        while (!ed_list_is_empty(&cache->recent))
                drop(cache, entry_of_link(cache->recent.next));
        ed_hash_table_fini(&cache->table);
}

int ed_dns_hand_out(int result, const struct eddy_address *addresses,
                    struct eddy_address *ret_addresses, size_t max)
{
        size_t n;

        if (result < 0)
                return result;
        n = (size_t) result < max ? (size_t) result : max;
        if (n > 0)
                memcpy(ret_addresses, addresses, n * sizeof(*addresses));
        return (int) n;
}

/* Returns the entry of that name, unless it has expired. */
static struct entry *find(struct ed_dns_cache *cache, const char *name, int64_t now_ns)
{
        uint64_t hash = ed_hash_text(cache->seed, name);

        ed_hash_each (node, &cache->table, hash) {
                struct entry *entry = ed_container_of(node, struct entry, node);

                if (strcmp(entry->name, name) != 0)
                        continue;
                if (now_ns < entry->expires_ns)
                        return entry;
                drop(cache, entry);
                break;
        }
        return NULL;
}

int ed_dns_cache_get(struct ed_dns_cache *cache, const char *name, int64_t now_ns,
                     struct eddy_address *ret_addresses, size_t max)
{
        struct entry *entry = find(cache, name, now_ns);

        if (!entry)
                return -EAGAIN;
        ed_list_remove(&entry->link);
        ed_list_push_front(&cache->recent, &entry->link);
        return ed_dns_hand_out(entry->result, entry->addresses, ret_addresses, max);
}

void ed_dns_cache_put(struct ed_dns_cache *cache, const char *name, int64_t now_ns,
                      const struct ed_dns_answer *answer)
{
        size_t n = answer->result > 0 ? (size_t) answer->result : 0;
        size_t addresses_bytes = n * sizeof(*answer->addresses);
        size_t name_bytes = strlen(name) + 1;
        struct entry *entry = find(cache, name, now_ns);
        char *text;

        if (entry)
                drop(cache, entry);
        if (answer->ttl_ns <= 0)
                return;
        entry = ed_alloc(sizeof(*entry) + addresses_bytes + name_bytes);
        if (!entry)
                return;
        if (cache->count == EDDY_DNS_CACHE_MAX)
                drop(cache, entry_of_link(cache->recent.prev));
        if (n > 0)
                memcpy(entry->addresses, answer->addresses, addresses_bytes);
        text = (char *) entry->addresses + addresses_bytes;
        memcpy(text, name, name_bytes);
        entry->name = text;
        entry->result = answer->result;
        entry->expires_ns = now_ns + answer->ttl_ns;
        ed_hash_table_add(&cache->table, &entry->node, ed_hash_text(cache->seed, name));
        ed_list_push_front(&cache->recent, &entry->link);
        cache->count++;
}
