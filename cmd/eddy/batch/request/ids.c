/*
 * batch/request/ids.c - a hash table that stays dense while it grows.
 *
 * The table is split into shards, which grow one after the other, each by a quarter and in its own
 * memory. A shard is an array sorted by hash with gaps: an entry is at its home, which is
 * proportional to its hash, or after it without a gap between. A search ends at the first larger
 * hash, so it stays short even if nine of ten slots are used.
 */
#include "batch/request/ids.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "common/random.h"
#include "eddy/alloc.h"

enum {
        SHARD_BITS = 6,
        SHARDS = 1 << SHARD_BITS,
        HOMES_FIRST = 8,
        HOMES_MAX = 1 << 26, /* of a shard: 3.8 billion ids in all */
        SPARE_MAX = 32,      /* slots after the last home */
        FLAG_BITS = 4,
        REQUEST_BITS = 28,
        FLAGS_ALL = (1 << FLAG_BITS) - 1,
};

struct id_slot {
        uint64_t high; /* of the hash; 0: the slot is free */
        uint32_t low;
        uint32_t word; /* 28 bits of the request's hash, and the flags */
};

_Static_assert(sizeof(struct id_slot) == 16, "an id takes 16 bytes in a full table");

struct shard {
        struct id_slot
                *slots; /* homes, and some more for entries that are moved off the last ones */
        uint32_t homes;
        uint32_t room;
        uint32_t count;
};

struct ed_ids {
        struct shard shards[SHARDS];
        uint64_t seed;
};

int ed_ids_new(struct ed_ids **ret_ids)
{
        struct ed_ids *ids = eddy_malloc(sizeof(*ids));
        struct ed_random random;

        if (!ids)
                return -ENOMEM;
        memset(ids, 0, sizeof(*ids));
        ed_random_init(&random);
        ids->seed = ed_random_next(&random);
        *ret_ids = ids;
        return 0;
}

void ed_ids_free(struct ed_ids *ids)
{
        if (!ids)
                return;
        for (int i = 0; i < SHARDS; i++)
                eddy_free(ids->shards[i].slots);
        eddy_free(ids);
}

static struct id_slot slot_of(const struct ed_ids *ids, const char *id, size_t bytes)
{
        XXH128_hash_t hash = XXH3_128bits_withSeed(id, bytes, ids->seed);

        return (struct id_slot){ .high = hash.high64 ? hash.high64 : 1,
                                 .low = (uint32_t) hash.low64 };
}

/* 28 bits of a request's hash; 0 only for 0. */
static uint32_t request_bits(uint64_t hash)
{
        uint32_t bits = (uint32_t) (hash >> (32 + FLAG_BITS));

        return bits == 0 && hash != 0 ? 1 : bits;
}

static bool slot_is_before(const struct id_slot *a, const struct id_slot *b)
{
        return a->high != b->high ? a->high < b->high : a->low < b->low;
}

static uint32_t slot_home(const struct id_slot *slot, uint32_t homes)
{
        return (uint32_t) ((((slot->high << SHARD_BITS) >> 32) * homes) >> 32);
}

/* Returns the place of the entry, or where it belongs; 'room' if that is after all slots. */
static uint32_t shard_find(const struct shard *shard, const struct id_slot *wanted, bool *ret_found)
{
        uint32_t at = shard->room ? slot_home(wanted, shard->homes) : 0;

        *ret_found = false;
        while (at < shard->room && shard->slots[at].high != 0 &&
               slot_is_before(&shard->slots[at], wanted))
                at++;
        if (at < shard->room)
                *ret_found = shard->slots[at].high == wanted->high &&
                             shard->slots[at].low == wanted->low;
        return at;
}

/* Returns the number of slots that the entries would need with this number of homes. */
static uint64_t shard_span(const struct shard *shard, uint32_t homes)
{
        uint64_t next = 0;

        for (uint32_t i = 0; i < shard->room; i++) {
                uint32_t home;

                if (shard->slots[i].high == 0)
                        continue;
                home = slot_home(&shard->slots[i], homes);
                next = (home > next ? home : next) + 1;
        }
        return next;
}

/*
 * Move all entries to their places for the present homes, in place: first to the end of the slots,
 * then, in order, each to its place, which is never after the place it is taken from.
 */
static void shard_spread(struct shard *shard)
{
        uint32_t packed = shard->room, next = 0;

        for (uint32_t i = shard->room; i-- > 0;) {
                struct id_slot slot = shard->slots[i];

                if (slot.high == 0)
                        continue;
                shard->slots[i].high = 0;
                shard->slots[--packed] = slot;
        }
        for (uint32_t i = packed; i < shard->room; i++) {
                struct id_slot slot = shard->slots[i];
                uint32_t home = slot_home(&slot, shard->homes);

                shard->slots[i].high = 0;
                next = home > next ? home : next;
                shard->slots[next++] = slot;
        }
}

/* Grow by a quarter; on failure the shard is unchanged. */
static int shard_grow(struct shard *shard)
{
        uint32_t homes = shard->homes, room;
        struct id_slot *slots;

        do {
                if (homes > HOMES_MAX - HOMES_MAX / 4)
                        return -ENOMEM;
                homes = homes ? homes + homes / 4 : HOMES_FIRST;
                room = homes + (homes / 8 < SPARE_MAX ? homes / 8 : SPARE_MAX);
        } while (shard_span(shard, homes) > room);
        slots = eddy_realloc(shard->slots, room * sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        memset(slots + shard->room, 0, (room - shard->room) * sizeof(*slots));
        shard->slots = slots;
        shard->homes = homes;
        shard->room = room;
        shard_spread(shard);
        return 0;
}

/* Insert an entry at its place by moving those up to the next gap. Returns false without a gap. */
static bool shard_insert(struct shard *shard, uint32_t at, const struct id_slot *slot)
{
        uint32_t gap = at;

        /* A tenth of the slots is free. */
        if (shard->count + 1 > shard->homes - shard->homes / 10)
                return false;
        while (gap < shard->room && shard->slots[gap].high != 0)
                gap++;
        if (gap >= shard->room)
                return false;
        memmove(&shard->slots[at + 1], &shard->slots[at], (gap - at) * sizeof(*slot));
        shard->slots[at] = *slot;
        shard->count++;
        return true;
}

/* Update a known entry. Returns its flags before. */
static int slot_update(struct id_slot *slot, uint32_t request, unsigned flags, bool *ret_same)
{
        uint32_t known = slot->word >> FLAG_BITS;
        unsigned before = slot->word & FLAGS_ALL;

        if (known == 0)
                known = request;
        if (ret_same)
                *ret_same = request == 0 || request == known;
        slot->word = known << FLAG_BITS | before | flags;
        return (int) before;
}

int ed_ids_add(struct ed_ids *ids, const char *id, size_t bytes, uint64_t hash, unsigned flags,
               bool *ret_same)
{
        struct id_slot slot = slot_of(ids, id, bytes);
        struct shard *shard = &ids->shards[slot.high >> (64 - SHARD_BITS)];
        bool found;
        uint32_t at = shard_find(shard, &slot, &found);

        flags &= FLAGS_ALL;
        if (found)
                return slot_update(&shard->slots[at], request_bits(hash), flags, ret_same);
        slot.word = request_bits(hash) << FLAG_BITS | flags;
        while (!shard_insert(shard, at, &slot)) {
                if (shard_grow(shard) < 0)
                        return -ENOMEM;
                at = shard_find(shard, &slot, &found);
        }
        if (ret_same)
                *ret_same = true;
        return 0;
}

void ed_ids_set_hash(struct ed_ids *ids, const char *id, size_t bytes, uint64_t hash)
{
        struct id_slot slot = slot_of(ids, id, bytes);
        struct shard *shard = &ids->shards[slot.high >> (64 - SHARD_BITS)];
        bool found;
        uint32_t at = shard_find(shard, &slot, &found);

        if (found)
                shard->slots[at].word =
                        request_bits(hash) << FLAG_BITS | (shard->slots[at].word & FLAGS_ALL);
}

void ed_ids_set_line(struct ed_ids *ids, const char *id, size_t bytes, uint64_t number)
{
        ed_ids_set_hash(ids, id, bytes,
                        number < 1 << REQUEST_BITS ? number << (64 - REQUEST_BITS) : 0);
}

uint64_t ed_ids_line(const struct ed_ids *ids, const char *id, size_t bytes)
{
        struct id_slot slot = slot_of(ids, id, bytes);
        const struct shard *shard = &ids->shards[slot.high >> (64 - SHARD_BITS)];
        bool found;
        uint32_t at = shard_find(shard, &slot, &found);

        return found ? shard->slots[at].word >> FLAG_BITS : 0;
}

/* Returns the slot of an id, or NULL if the id is not in the set. */
static struct id_slot *slot_find(const struct ed_ids *ids, const char *id, size_t bytes)
{
        struct id_slot slot = slot_of(ids, id, bytes);
        const struct shard *shard = &ids->shards[slot.high >> (64 - SHARD_BITS)];
        bool found;
        uint32_t at = shard_find(shard, &slot, &found);

        return found ? &shard->slots[at] : NULL;
}

void ed_ids_flag(struct ed_ids *ids, const char *id, size_t bytes, unsigned flags)
{
        struct id_slot *slot = slot_find(ids, id, bytes);

        if (slot)
                slot->word |= flags & FLAGS_ALL;
}

void ed_ids_remove(struct ed_ids *ids, const char *id, size_t bytes, unsigned flags)
{
        struct id_slot *slot = slot_find(ids, id, bytes);

        if (slot)
                slot->word &= ~(uint32_t) (flags & FLAGS_ALL);
}

unsigned ed_ids_flags(const struct ed_ids *ids, const char *id, size_t bytes)
{
        struct id_slot slot = slot_of(ids, id, bytes);
        const struct shard *shard = &ids->shards[slot.high >> (64 - SHARD_BITS)];
        bool found;
        uint32_t at = shard_find(shard, &slot, &found);

        return found ? shard->slots[at].word & FLAGS_ALL : 0;
}

void ed_ids_clear(struct ed_ids *ids, unsigned flags)
{
        flags &= FLAGS_ALL;
        for (int i = 0; i < SHARDS; i++) {
                for (uint32_t at = 0; at < ids->shards[i].room; at++)
                        ids->shards[i].slots[at].word &= ~(uint32_t) flags;
        }
}
