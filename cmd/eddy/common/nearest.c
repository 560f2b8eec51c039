/*
 * common/nearest.c - edit distances between short words.
 */
#include "common/nearest.h"

#include <ctype.h>
#include <string.h>

enum { WORD_BYTES_MAX = 32 };

static size_t smaller(size_t a, size_t b)
{
        return a < b ? a : b;
}

/*
 * Compute the distance with three rows of the table of distances between the prefixes of 'a' and
 * 'b'.
 */
static size_t distance(const char *a, const char *b)
{
        size_t rows[3][WORD_BYTES_MAX + 1] = { 0 };
        size_t *before = rows[0], *last = rows[1], *row = rows[2], *free;
        size_t bytes = strlen(b);

        for (size_t j = 0; j <= bytes; j++)
                last[j] = j;
        for (size_t i = 1; a[i - 1]; i++) {
                row[0] = i;
                for (size_t j = 1; j <= bytes; j++) {
                        int x = tolower((unsigned char) a[i - 1]);
                        int y = tolower((unsigned char) b[j - 1]);

                        row[j] = smaller(smaller(last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
                        if (i > 1 && j > 1 && x == tolower((unsigned char) b[j - 2]) &&
                            y == tolower((unsigned char) a[i - 2]))
                                row[j] = smaller(row[j], before[j - 2] + 1);
                }
                free = before;
                before = last;
                last = row;
                row = free;
        }
        return last[bytes];
}

const char *ed_nearest(const char *word, const char *const *words, size_t n)
{
        return ed_nearest_within(word, words, n, (strlen(word) + 2) / 3);
}

const char *ed_nearest_within(const char *word, const char *const *words, size_t n,
                              size_t edits_max)
{
        size_t least = edits_max + 1;
        const char *nearest = NULL;

        if (strlen(word) > WORD_BYTES_MAX)
                return NULL;
        for (size_t i = 0; i < n; i++) {
                size_t edits = strlen(words[i]) > WORD_BYTES_MAX ? least : distance(word, words[i]);

                if (edits >= least)
                        continue;
                least = edits;
                nearest = words[i];
        }
        return nearest;
}
