/*
 * common/nearest.h - guessing the intended word for a mistyped one.
 */
#ifndef ED_CMD_COMMON_NEAREST_H
#define ED_CMD_COMMON_NEAREST_H

#include <stddef.h>

/*
 * Returns the word among 'n' that needs the fewest insertions, deletions, replacements and swaps of
 * neighbours to become 'word', ignoring case; NULL if every word needs more than one per three
 * letters.
 */
const char *ed_nearest(const char *word, const char *const *words, size_t n);

#endif
