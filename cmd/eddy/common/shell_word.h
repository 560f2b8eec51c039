/*
 * common/shell_word.h - a word of a command that a message shows, as a shell reads it. No I/O.
 */
#ifndef ED_CMD_COMMON_SHELL_WORD_H
#define ED_CMD_COMMON_SHELL_WORD_H

#include "common/draft.h"

/* Append a word, in single quotes if a shell would change it. */
void ed_shell_word_add(struct ed_draft *text, const char *word);

#endif
