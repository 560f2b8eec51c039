/*
 * common/nearest.h - the known word that a mistyped word was probably meant to be.
 */
#ifndef ED_CMD_COMMON_NEAREST_H
#define ED_CMD_COMMON_NEAREST_H

#include <stddef.h>

/*
 * Returns the word among 'n' that takes the fewest insertions, deletions,
 * replacements and swaps of neighbours to become 'word', letters in either
 * case; NULL if each takes more than one for three letters.
 */
const char *ed_nearest(const char *word, const char *const *words, size_t n);

#endif
