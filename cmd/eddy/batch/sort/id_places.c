/*
 * batch/sort/id_places.c - a sorted array of hashes.
 */
#include "batch/sort/id_places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "common/random.h"
#include "eddy/alloc.h"

#define LINE_ID "line-"

enum { ROOM_LEAST = 1024, LINE_DIGITS_MAX = 12 };

void ed_id_places_init(struct ed_id_places *places)
{
        struct ed_random random;

        ed_random_init(&random);
        *places = (struct ed_id_places){ .seed = ed_random_next(&random) };
}

void ed_id_places_fini(struct ed_id_places *places)
{
        eddy_free(places->items);
        ed_bits_fini(&places->lines);
        places->items = NULL;
        places->count = places->room = 0;
}

/* The hash of an id, with the place 0. */
static struct ed_pair hash_of(const struct ed_id_places *places, const char *id, size_t bytes)
{
        XXH128_hash_t hash = XXH3_128bits_withSeed(id, bytes, places->seed);

        return (struct ed_pair){ hash.high64, hash.low64 & ~ED_PLACE_MAX };
}

/* Returns N of "line-N", as the program writes it; 0: another id. */
static uint64_t line_of_id(const char *id, size_t bytes)
{
        size_t head = strlen(LINE_ID);
        uint64_t number = 0;

        if (bytes <= head || bytes > head + LINE_DIGITS_MAX || memcmp(id, LINE_ID, head) != 0 ||
            id[head] == '0')
                return 0;
        for (size_t i = head; i < bytes; i++) {
                if (id[i] < '0' || id[i] > '9')
                        return 0;
                number = number * 10 + (uint64_t) (id[i] - '0');
        }
        return number;
}

int ed_id_places_add(struct ed_id_places *places, const char *id, size_t bytes, uint64_t place)
{
        struct ed_pair item = hash_of(places, id, bytes);
        struct ed_pair *items;
        size_t room;

        if (place == 0 || place > ED_PLACE_MAX)
                return -ERANGE;
        if (line_of_id(id, bytes) == place)
                return ed_id_places_add_line(places, place);
        if (places->count == places->room) {
                room = places->room + places->room / 4 + ROOM_LEAST;
                items = eddy_realloc(places->items, room * sizeof(*items));
                if (!items)
                        return -ENOMEM;
                places->items = items;
                places->room = room;
        }
        places->has_names = places->has_names || line_of_id(id, bytes) > 0;
        item.second |= place;
        places->items[places->count++] = item;
        return 0;
}

int ed_id_places_add_line(struct ed_id_places *places, uint64_t place)
{
        int added;

        if (place == 0 || place > ED_PLACE_MAX)
                return -ERANGE;
        added = ed_bits_add(&places->lines, place);
        return added < 0 ? added : 0;
}

void ed_id_places_seal(struct ed_id_places *places)
{
        ed_pair_sort(places->items, places->count);
}

/* Returns the first place of an id that takes an item, or ED_PLACE_NONE. */
static uint64_t item_find(const struct ed_id_places *places, const char *id, size_t bytes)
{
        struct ed_pair wanted = hash_of(places, id, bytes);
        size_t low = 0, high = places->count;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (ed_pair_is_before(&places->items[middle], &wanted))
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low < places->count && places->items[low].first == wanted.first &&
            (places->items[low].second & ~ED_PLACE_MAX) == wanted.second)
                return places->items[low].second & ED_PLACE_MAX;
        return ED_PLACE_NONE;
}

uint64_t ed_id_places_find(const struct ed_id_places *places, const char *id, size_t bytes)
{
        uint64_t place = item_find(places, id, bytes), line = line_of_id(id, bytes);

        return line < place && ed_bits_has(&places->lines, line) ? line : place;
}

/* Returns the second place of the next id "line-N" that line N and an item have, or 0. */
static uint64_t line_repeated(const struct ed_id_places *places, uint64_t *next)
{
        char id[sizeof(LINE_ID) + 20];

        while (*next < 8 * (uint64_t) places->lines.bytes) {
                uint64_t line = (*next)++, place;

                if (!ed_bits_has(&places->lines, line))
                        continue;
                place = item_find(places, id,
                                  (size_t) snprintf(id, sizeof(id), LINE_ID "%" PRIu64, line));
                if (place != ED_PLACE_NONE)
                        return place > line ? place : line;
        }
        return 0;
}

uint64_t ed_id_places_repeated(const struct ed_id_places *places, struct ed_id_places_walk *walk)
{
        while (walk->item + 1 < places->count) {
                const struct ed_pair *item = &places->items[walk->item++];

                if (item[0].first == item[1].first &&
                    (item[0].second & ~ED_PLACE_MAX) == (item[1].second & ~ED_PLACE_MAX))
                        return item[1].second & ED_PLACE_MAX;
        }
        return places->has_names ? line_repeated(places, &walk->line) : 0;
}
