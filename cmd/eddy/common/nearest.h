/*
 * common/nearest.h - guesses the intended word for a mistyped word.
 */
#ifndef ED_CMD_COMMON_NEAREST_H
#define ED_CMD_COMMON_NEAREST_H

#include <stddef.h>

/*
 * Returns the word among 'n' that needs the fewest edits to become 'word', ignoring case:
 * insertions, deletions, replacements and swaps of neighbours. Returns NULL if every word needs
 * more than one edit per three letters.
 */
const char *ed_nearest(const char *word, const char *const *words, size_t n);

/* The same, if every word needs more than 'edits_max'. */
const char *ed_nearest_within(const char *word, const char *const *words, size_t n,
                              size_t edits_max);

#endif
