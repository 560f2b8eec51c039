/*
 * url_results.c - what eddy/url.h answers, for test_urls.py.
 *
 *     url_results < QUESTIONS > ANSWERS
 *
 * A question is a line: a word and hexadecimal texts, with spaces between them. The answer is a line of
 * hexadecimal texts, or the name of the error. An absent part is "-", an empty text ".", a
 * port "port=80".
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/url.h"

enum { TEXTS_MAX = 32, ROOM = 64 << 10 };

static char texts[TEXTS_MAX][4096];
static size_t sizes[TEXTS_MAX];
static char out[ROOM];

static void hex_print(const char *text, size_t bytes)
{
        if (!text || bytes == 0)
                printf(text ? "." : "-");
        for (size_t i = 0; i < bytes; i++)
                printf("%02x", (unsigned char) text[i]);
        printf(" ");
}

static void result_print(int64_t bytes)
{
        if (bytes < 0)
                printf("%s", eddy_error_name((int) bytes));
        else
                hex_print(out, (size_t) bytes);
}

static void parts_print(const char *text, size_t bytes)
{
        struct eddy_url url;
        int err = eddy_url_parse(text, bytes, &url);
        const struct eddy_url_part *const parts[] = { &url.scheme,  &url.user, &url.password,
                                                      &url.host,    &url.path, &url.query,
                                                      &url.fragment };

        if (err < 0) {
                result_print(err);
                return;
        }
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
                hex_print(parts[i]->text, parts[i]->bytes);
        printf("port=%u", url.port);
}

static void pairs_print(const char *text, size_t bytes)
{
        struct eddy_url_part query = { text, bytes };
        struct eddy_url_pair pair;
        int more;

        while ((more = eddy_url_query_next(&query, out, sizeof(out), &pair)) > 0) {
                hex_print(pair.name, strlen(pair.name));
                hex_print(pair.value, strlen(pair.value));
        }
        if (more < 0)
                printf("%s", eddy_error_name(more));
}

static int64_t pairs_write(size_t count)
{
        struct eddy_url_pair pairs[TEXTS_MAX / 2];

        for (size_t i = 0; i < count / 2; i++)
                pairs[i] = (struct eddy_url_pair){ texts[2 * i], texts[2 * i + 1] };
        return eddy_url_query_write(pairs, count / 2, 0, out, sizeof(out));
}

static void answer(const char *word, size_t count)
{
        unsigned flags = strstr(word, "plus")    ? EDDY_URL_PLUS
                         : strstr(word, "slash") ? EDDY_URL_SLASH
                                                 : 0;

        if (strcmp(word, "join") == 0)
                result_print(eddy_url_join(texts[0], texts[1], out, sizeof(out)));
        else if (strcmp(word, "parse") == 0)
                parts_print(texts[0], sizes[0]);
        else if (strcmp(word, "pairs") == 0)
                pairs_print(texts[0], sizes[0]);
        else if (strcmp(word, "write") == 0)
                result_print(pairs_write(count));
        else if (strncmp(word, "quote", 5) == 0)
                result_print(eddy_url_quote(texts[0], sizes[0], flags, out, sizeof(out)));
        else if (strncmp(word, "unquote", 7) == 0)
                result_print(eddy_url_unquote(texts[0], sizes[0], flags, out, sizeof(out)));
        printf("\n");
}

/* Store the bytes of hexadecimal digits, with a NUL. */
static void text_read(const char *digits, size_t index)
{
        unsigned byte;
        size_t n = 0;

        for (; sscanf(digits, "%2x", &byte) == 1 && n + 1 < sizeof(texts[0]); digits += 2)
                texts[index][n++] = (char) byte;
        texts[index][n] = '\0';
        sizes[index] = n;
}

/* Returns the next word of a line; "" at its end. */
static char *word_take(char **next)
{
        char *word = *next + strspn(*next, " \n");

        *next = word + strcspn(word, " \n");
        if (**next)
                *(*next)++ = '\0';
        return word;
}

int main(void)
{
        static char line[256 << 10];

        while (fgets(line, sizeof(line), stdin)) {
                char *next = line, *word = word_take(&next), *digits;
                size_t count = 0;

                while (count < TEXTS_MAX && *(digits = word_take(&next)))
                        text_read(digits, count++);
                if (*word)
                        answer(word, count);
        }
        return 0;
}
