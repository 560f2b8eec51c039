/*
 * batch/sort/pair_sort.c - a quicksort with random pivots.
 */
#include "batch/sort/pair_sort.h"

#include "common/random.h"

enum { FEW = 16 };

static void few_sort(struct ed_pair *pairs, size_t count)
{
        for (size_t i = 1; i < count; i++) {
                struct ed_pair pair = pairs[i];
                size_t at = i;

                for (; at > 0 && ed_pair_is_before(&pair, &pairs[at - 1]); at--)
                        pairs[at] = pairs[at - 1];
                pairs[at] = pair;
        }
}

static void pair_swap(struct ed_pair *a, struct ed_pair *b)
{
        struct ed_pair pair = *a;

        *a = *b;
        *b = pair;
}

/* Returns how many pairs are in the left part, where none is after one of the right part. */
static size_t part_split(struct ed_pair *pairs, size_t count, struct ed_random *random)
{
        struct ed_pair pivot;
        size_t left = 0, right = count - 1;

        /* The pivot is not the last one, so the right part is not empty. */
        pair_swap(&pairs[0], &pairs[ed_random_next(random) % count]);
        pivot = pairs[0];
        for (;;) {
                while (ed_pair_is_before(&pairs[left], &pivot))
                        left++;
                while (ed_pair_is_before(&pivot, &pairs[right]))
                        right--;
                if (left >= right)
                        return right + 1;
                pair_swap(&pairs[left++], &pairs[right--]);
        }
}

static void part_sort(struct ed_pair *pairs, size_t count, struct ed_random *random)
{
        while (count > FEW) {
                size_t left = part_split(pairs, count, random);

                /* Recursion into the smaller part only, so it is not deep. */
                if (left < count - left) {
                        part_sort(pairs, left, random);
                        pairs += left;
                        count -= left;
                } else {
                        part_sort(pairs + left, count - left, random);
                        count = left;
                }
        }
        few_sort(pairs, count);
}

void ed_pair_sort(struct ed_pair *pairs, size_t count)
{
        struct ed_random random;

        ed_random_init(&random);
        part_sort(pairs, count, &random);
}
