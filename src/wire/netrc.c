/*
 * wire/netrc.c - see netrc.h.
 */
#include "wire/netrc.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "wire/chars.h"

/* A file that is read, and the word that was read last. */
struct reading {
        const char *at;
        const char *end;
        size_t line;
        char word[ED_NETRC_WORD_MAX + 1];
        size_t word_bytes;
};

enum keyword {
        KEYWORD_END,
        KEYWORD_MACHINE,
        KEYWORD_DEFAULT,
        KEYWORD_LOGIN,
        KEYWORD_PASSWORD,
        KEYWORD_ACCOUNT,
        KEYWORD_MACDEF,
        KEYWORD_UNKNOWN,
};

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_spaces(struct reading *reading)
{
        for (; reading->at < reading->end && is_space(*reading->at); reading->at++)
                reading->line += *reading->at == '\n';
}

static void skip_line(struct reading *reading)
{
        const char *line = memchr(reading->at, '\n', (size_t) (reading->end - reading->at));

        reading->at = line ? line : reading->end;
}

static bool put(struct reading *reading, char c)
{
        if (reading->word_bytes == ED_NETRC_WORD_MAX || !c)
                return false;
        reading->word[reading->word_bytes++] = c;
        return true;
}

/* Read a word in quotes, from after the first quote. */
static bool read_quoted(struct reading *reading)
{
        while (reading->at < reading->end && *reading->at != '"') {
                char c = *reading->at++;

                if (c == '\n')
                        return false;
                if (c == '\\') {
                        if (reading->at == reading->end)
                                return false;
                        c = *reading->at++;
                        c = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
                }
                if (!put(reading, c))
                        return false;
        }
        if (reading->at == reading->end)
                return false;
        reading->at++;
        return reading->at == reading->end || is_space(*reading->at);
}

/* Read a word. Returns false if there is none, or after a mistake. */
static bool read_word(struct reading *reading)
{
        size_t line = reading->line;

        reading->word_bytes = 0;
        skip_spaces(reading);
        if (reading->at == reading->end) {
                reading->line = line; /* of the word before the one that is missing */
                return false;
        }
        if (*reading->at == '"') {
                reading->at++;
                if (!read_quoted(reading))
                        return false;
        } else {
                for (; reading->at < reading->end && !is_space(*reading->at); reading->at++)
                        if (!put(reading, *reading->at))
                                return false;
        }
        reading->word[reading->word_bytes] = '\0';
        return true;
}

/* Read a word that may be sent: without control characters. */
static bool read_value(struct reading *reading)
{
        if (!read_word(reading))
                return false;
        for (size_t i = 0; i < reading->word_bytes; i++)
                if (!ed_char_is(reading->word[i], ED_CHAR_VALUE) || reading->word[i] == '\t')
                        return false;
        return true;
}

static enum keyword read_keyword(struct reading *reading)
{
        static const struct {
                const char *name;
                enum keyword keyword;
        } list[] = {
                { "machine", KEYWORD_MACHINE },   { "default", KEYWORD_DEFAULT },
                { "login", KEYWORD_LOGIN },       { "user", KEYWORD_LOGIN },
                { "password", KEYWORD_PASSWORD }, { "passwd", KEYWORD_PASSWORD },
                { "account", KEYWORD_ACCOUNT },   { "macdef", KEYWORD_MACDEF },
        };

        for (;;) {
                skip_spaces(reading);
                if (reading->at == reading->end)
                        return KEYWORD_END;
                if (*reading->at != '#')
                        break;
                skip_line(reading);
        }
        if (*reading->at == '"' || !read_word(reading))
                return KEYWORD_UNKNOWN;
        for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
                if (strcasecmp(reading->word, list[i].name) == 0)
                        return list[i].keyword;
        return KEYWORD_UNKNOWN;
}

/* Skip a macro: its name, and lines up to an empty one. */
static bool skip_macro(struct reading *reading)
{
        if (!read_word(reading))
                return false;
        skip_line(reading);
        while (reading->at < reading->end) {
                const char *line = ++reading->at;

                reading->line++;
                skip_line(reading);
                if (reading->at == line || (reading->at == line + 1 && *line == '\r'))
                        return true;
        }
        return true;
}

/* A search for a host, or a check. */
struct search {
        const char *host;       /* NULL: check the whole file */
        bool in_entry;          /* the entry of 'host' is being read */
        bool is_named;          /* any entry has begun */
        char *next;             /* room for a word in the entry */
        char *login, *password; /* found; NULL: not yet */
};

static char *keep(struct search *search, const struct reading *reading)
{
        char *kept = search->next;

        memcpy(kept, reading->word, reading->word_bytes + 1);
        search->next += reading->word_bytes + 1;
        return kept;
}

/* Read what follows a keyword of an entry. */
static bool read_part(struct reading *reading, struct search *search, enum keyword keyword)
{
        if (!search->is_named || !read_value(reading))
                return false;
        if (!search->in_entry)
                return true;
        /* As in curl, the first of several counts. */
        if (keyword == KEYWORD_LOGIN && !search->login)
                search->login = keep(search, reading);
        if (keyword == KEYWORD_PASSWORD && !search->password)
                search->password = keep(search, reading);
        return true;
}

/* Begin an entry. Returns 1 if it matches, 0 if it does not; below 0: a mistake. */
static int begin_entry(struct reading *reading, struct search *search, enum keyword keyword)
{
        search->is_named = true;
        if (keyword == KEYWORD_DEFAULT)
                return search->host != NULL;
        if (!read_value(reading))
                return -1;
        return search->host && strcasecmp(reading->word, search->host) == 0;
}

/* Read entries up to the end of the one that matches. Returns false after a mistake. */
static bool read_entries(struct reading *reading, struct search *search)
{
        enum keyword keyword;
        int matches;

        while ((keyword = read_keyword(reading)) != KEYWORD_END) {
                switch (keyword) {
                case KEYWORD_MACHINE:
                case KEYWORD_DEFAULT:
                        if (search->in_entry)
                                return true;
                        matches = begin_entry(reading, search, keyword);
                        if (matches < 0)
                                return false;
                        search->in_entry = matches > 0;
                        break;
                case KEYWORD_LOGIN:
                case KEYWORD_PASSWORD:
                case KEYWORD_ACCOUNT:
                        if (!read_part(reading, search, keyword))
                                return false;
                        break;
                case KEYWORD_MACDEF:
                        if (!skip_macro(reading))
                                return false;
                        break;
                default:
                        return false;
                }
        }
        return true;
}

static bool run(struct reading *reading, struct search *search)
{
        bool is_valid = read_entries(reading, search);

        explicit_bzero(reading->word, sizeof(reading->word));
        return is_valid;
}

int ed_netrc_check(const char *text, size_t bytes, size_t *ret_line)
{
        struct reading reading = { .at = text, .end = text + bytes, .line = 1 };
        struct search search = { .host = NULL };

        if (run(&reading, &search))
                return 0;
        *ret_line = reading.line;
        return EDDY_E_HTTP_NETRC;
}

int ed_netrc_find(const char *text, size_t bytes, const char *host,
                  struct ed_netrc_entry *ret_entry)
{
        struct reading reading = { .at = text, .end = text + bytes, .line = 1 };
        struct search search = { .host = host, .next = ret_entry->text };

        if (!run(&reading, &search))
                return EDDY_E_HTTP_NETRC;
        ret_entry->login = search.login;
        ret_entry->password = search.password;
        return search.login && search.password;
}
