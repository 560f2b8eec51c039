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

/* Returns the bytes of a path without the ending that follows the last dot of its name. */
static size_t stem_bytes(const char *path, size_t bytes)
{
        const char *dot = memrchr(path, '.', bytes), *slash = memrchr(path, '/', bytes);
        const char *name = slash ? slash + 1 : path;

        return dot && dot > name ? (size_t) (dot - path) : bytes;
}

void ed_shell_copy_add(struct ed_draft *text, const char *path, const char *word)
{
        size_t bytes = stem_bytes(path, strlen(path));
        struct ed_draft name = { 0 };

        if (strcmp(path + bytes, ".gz") == 0 || strcmp(path + bytes, ".zst") == 0)
                bytes = stem_bytes(path, bytes);
        ed_draft_add(&name, path, bytes);
        ed_draft_add_printf(&name, ".%s.jsonl", word);
        ed_draft_add(&name, "", 1);
        ed_draft_add_str(text, "<");
        ed_shell_word_add(text, path);
        ed_draft_add_str(text, " >");
        ed_shell_word_add(text, ed_draft_is_whole(&name) ? name.data : "NEW.jsonl");
        ed_draft_fini(&name);
}
