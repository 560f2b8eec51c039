/*
 * test_dns_cache.c - the cache of names: time, room, order of leaving.
 */
#include <errno.h>
#include <sys/socket.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "io/dns_cache.h"
#include "starve.h"
#include "test.h"

static struct ed_dns_cache cache;
static struct eddy_address out[EDDY_DNS_ADDRESSES_MAX];

static void put(const char *name, int64_t now_ns, int result, int64_t ttl_ns)
{
        struct ed_dns_answer answer = { .result = result, .ttl_ns = ttl_ns };

        for (int i = 0; i < result; i++) {
                answer.addresses[i].family = AF_INET;
                answer.addresses[i].bytes[3] = (uint8_t) (i + 1);
        }
        ed_dns_cache_put(&cache, name, now_ns, &answer);
}

static int get(const char *name, int64_t now_ns)
{
        return ed_dns_cache_get(&cache, name, now_ns, out, EDDY_DNS_ADDRESSES_MAX);
}

TEST(an_answer_is_good_for_its_time)
{
        ed_dns_cache_init(&cache, 1);
        CHECK_EQ(get("a", 0), -EAGAIN);
        put("a", 100, 3, 10);
        CHECK_EQ(get("a", 109), 3);
        CHECK_EQ(out[2].bytes[3], 3);
        CHECK_EQ(get("b", 109), -EAGAIN);
        CHECK_EQ(get("a", 110), -EAGAIN);
        CHECK_EQ(cache.count, 0);
        put("a", 0, EDDY_E_DNS_NOT_FOUND, 5);
        CHECK_EQ(get("a", 4), EDDY_E_DNS_NOT_FOUND);
        CHECK_EQ(get("a", 5), -EAGAIN);
        put("a", 0, 1, 0);
        CHECK_EQ(get("a", 0), -EAGAIN);
        ed_dns_cache_fini(&cache);
}

TEST(a_new_answer_takes_the_place_of_the_old)
{
        ed_dns_cache_init(&cache, 2);
        put("a", 0, 3, 100);
        put("a", 1, 2, 100);
        CHECK_EQ(cache.count, 1);
        CHECK_EQ(get("a", 2), 2);
        put("a", 3, 1, 0);
        CHECK_EQ(get("a", 3), -EAGAIN);
        ed_dns_cache_fini(&cache);
}

TEST(at_most_the_maximum_of_addresses_is_handed_out)
{
        ed_dns_cache_init(&cache, 3);
        put("a", 0, EDDY_DNS_ADDRESSES_MAX, 100);
        memset(out, 0, sizeof(out));
        CHECK_EQ(ed_dns_cache_get(&cache, "a", 1, out, 2), 2);
        CHECK_EQ(out[1].bytes[3], 2);
        CHECK_EQ(out[2].family, 0);
        CHECK_EQ(ed_dns_cache_get(&cache, "a", 1, NULL, 0), 0);
        CHECK_EQ(get("a", 1), EDDY_DNS_ADDRESSES_MAX);
        ed_dns_cache_fini(&cache);
}

/* B16: bounded, and the least recently used goes first. */
TEST(the_least_recently_used_name_goes_first)
{
        char name[16];

        ed_dns_cache_init(&cache, 4);
        for (int i = 0; i < EDDY_DNS_CACHE_MAX; i++) {
                snprintf(name, sizeof(name), "n%d", i);
                put(name, 0, 1, 100);
        }
        CHECK_EQ(cache.count, EDDY_DNS_CACHE_MAX);
        CHECK_EQ(get("n0", 1), 1); /* used: n1 is the oldest now */
        put("one-more", 1, 1, 100);
        CHECK_EQ(cache.count, EDDY_DNS_CACHE_MAX);
        CHECK_EQ(get("n1", 1), -EAGAIN);
        CHECK_EQ(get("n0", 1), 1);
        CHECK_EQ(get("one-more", 1), 1);
        for (int i = 2; i < EDDY_DNS_CACHE_MAX; i++) {
                snprintf(name, sizeof(name), "n%d", i);
                CHECK_EQ(get(name, 1), 1);
        }
        ed_dns_cache_fini(&cache);
        CHECK_EQ(cache.count, 0);
}

TEST(without_memory_nothing_is_kept)
{
        ed_dns_cache_init(&cache, 5);
        put("a", 0, 1, 100);
        allocations_left = 0;
        eddy_alloc_set(starve, NULL);
        put("b", 0, 1, 100);
        put("a", 1, 1, 100);
        eddy_alloc_set(NULL, NULL);
        CHECK_EQ(get("b", 1), -EAGAIN);
        CHECK_EQ(get("a", 1), -EAGAIN); /* the old answer is known to be old */
        ed_dns_cache_fini(&cache);
}
