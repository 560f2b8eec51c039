/*
 * common/shell_word.c - see shell_word.h.
 */
#include "common/shell_word.h"

#include <string.h>

void ed_shell_word_add(struct ed_draft *text, const char *word)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_-./:=@,+%";

        if (*word && strspn(word, plain) == strlen(word)) {
                ed_draft_add_str(text, word);
                return;
        }
        ed_draft_add_str(text, "'");
        for (; *word; word++) {
                if (*word == '\'')
                        ed_draft_add_str(text, "'\\''");
                else
                        ed_draft_add(text, word, 1);
        }
        ed_draft_add_str(text, "'");
}
