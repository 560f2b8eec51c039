/*
 * common/text_form.c - folds a message from its begin to its end.
 */
#include "common/text_form.h"

#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

enum { HEX_LETTERS_MIN = 8 };

struct form {
        char *out;
        size_t bytes;
        bool ends_in_mark; /* the last part is '#' or '""', and 'mark_end' is after it */
        size_t mark_end;
        char mark;
};

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
        return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (unsigned char) c >= 0x80;
}

static bool is_word(char c)
{
        return is_digit(c) || is_letter(c) || c == '_' || c == '-';
}

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns true if all after the last mark is a separator: the next mark of its kind adds nothing. */
static bool continues_row(const struct form *form, char mark)
{
        const char *between = form->out + form->mark_end;

        if (!form->ends_in_mark || form->mark != mark)
                return false;
        for (size_t i = form->mark_end; i < form->bytes; i++, between++)
                if (*between != ',' && *between != ' ')
                        return false;
        return true;
}

/* Append '#', or '""', unless it goes on with a row. */
static void mark_add(struct form *form, char mark)
{
        if (continues_row(form, mark)) {
                form->bytes = form->mark_end;
                return;
        }
        form->out[form->bytes++] = mark;
        if (mark == '"')
                form->out[form->bytes++] = mark;
        form->ends_in_mark = true;
        form->mark = mark;
        form->mark_end = form->bytes;
}

/* Returns true for the first quote of a part: not for the apostrophe in a word, or after one. */
static bool is_quote(const char *text, const char *at)
{
        return *at == '"' || *at == '`' || (*at == '\'' && (at == text || !is_word(at[-1])));
}

/* Returns the end of a quoted part, after its first quote; without an end, that of the text. */
static const char *quote_end(const char *at, const char *end, char quote)
{
        for (; at < end; at++)
                if (*at == quote && (quote != '\'' || at + 1 == end || !is_word(at[1])))
                        return at + 1;
        return end;
}

/* Returns the end of a word, which may have points and the like between digits. */
static const char *word_end(const char *at, const char *end, bool *ret_folds)
{
        bool has_digit = false, is_hex = true;
        const char *from = at;

        for (; at < end; at++) {
                bool joins = strchr(".,:/", *at) && at > from && is_digit(at[-1]) && at + 1 < end &&
                             is_digit(at[1]);

                if (!is_word(*at) && !joins)
                        break;
                has_digit |= is_digit(*at);
                is_hex &= (*at | 0x20) >= 'a' && (*at | 0x20) <= 'f';
        }
        *ret_folds = has_digit || (is_hex && at - from >= HEX_LETTERS_MIN);
        return at;
}

size_t ed_text_form_write(const char *text, size_t bytes, char out[ED_TEXT_FORM_BYTES])
{
        const char *at = text, *end;
        struct form form = { .out = out };
        bool folds;

        end = text + (bytes < ED_TEXT_FORM_COUNTED ? bytes : ED_TEXT_FORM_COUNTED);
        while (at < end) {
                const char *next = at + 1;

                if (is_quote(text, at)) {
                        next = quote_end(next, end, *at);
                        mark_add(&form, '"');
                } else if (is_word(*at)) {
                        next = word_end(at, end, &folds);
                        if (folds) {
                                mark_add(&form, '#');
                        } else {
                                memcpy(out + form.bytes, at, (size_t) (next - at));
                                form.bytes += (size_t) (next - at);
                        }
                } else if (!is_space(*at)) {
                        out[form.bytes++] = *at;
                } else if (form.bytes > 0 && out[form.bytes - 1] != ' ') {
                        out[form.bytes++] = ' ';
                }
                at = next;
        }
        return form.bytes;
}

uint64_t ed_text_form(const char *kind, const char *text, size_t bytes)
{
        char form[ED_TEXT_FORM_BYTES];

        bytes = ed_text_form_write(text, bytes, form);
        return XXH3_64bits_withSeed(form, bytes, XXH3_64bits(kind, strlen(kind)));
}
