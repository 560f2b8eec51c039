/*
 * batch/sort/pair_sort.h - sorts pairs of numbers in place, because qsort() may double the memory.
 */
#ifndef ED_CMD_BATCH_SORT_PAIR_SORT_H
#define ED_CMD_BATCH_SORT_PAIR_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ed_pair {
        uint64_t first, second;
};

static inline bool ed_pair_is_before(const struct ed_pair *a, const struct ed_pair *b)
{
        return a->first != b->first ? a->first < b->first : a->second < b->second;
}

/* Sort by the first number, then by the second. No order of the pairs makes it slow. */
void ed_pair_sort(struct ed_pair *pairs, size_t count);

#endif
