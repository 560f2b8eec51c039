/*
 * common/shell_word.h - a word of a command that a message shows, as a shell reads it. No I/O.
 */
#ifndef ED_CMD_COMMON_SHELL_WORD_H
#define ED_CMD_COMMON_SHELL_WORD_H

#include "common/draft.h"

/* Append a word, in single quotes if a shell would change it. */
void ed_shell_word_add(struct ed_draft *text, const char *word);

/*
 * Append "<PATH >COPY" for a command that makes a file of JSON lines from the file 'path'. A shell empties
 * COPY first, so it is never 'path': with the word "ids", that of in.jsonl is in.ids.jsonl.
 */
void ed_shell_copy_add(struct ed_draft *text, const char *path, const char *word);

#endif
