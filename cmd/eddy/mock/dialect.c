/*
 * mock/dialect.c - fills in the values of a dialect.
 */
#include "mock/dialect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eddy/rfc3339.h"
#include "eddy/time.h"
#include "mock/keys.h"

enum { WORD_BYTES = 32 };

const char *ed_dialect_find(const char *name)
{
        for (const char *const *vendor = ed_vendors; *vendor; vendor++)
                if (strcmp(*vendor, name) == 0)
                        return *vendor;
        return NULL;
}

void ed_dialect_names(struct ed_draft *text)
{
        for (const char *const *vendor = ed_vendors; *vendor; vendor++) {
                if (vendor > ed_vendors)
                        ed_draft_add_str(text, vendor[1] ? ", " : " and ");
                ed_draft_add_str(text, *vendor);
        }
}

/* Returns a time in a larger unit, rounded up, because an earlier retry would be refused again. */
static int64_t in_units(int64_t ns, int64_t unit_ns)
{
        return ns / unit_ns + (ns % unit_ns > 0);
}

static void time_of_day_add(struct ed_draft *text, int64_t at_s)
{
        char value[EDDY_RFC3339_TEXT_BYTES];

        ed_draft_add(text, value, eddy_rfc3339_format(EDDY_SEC(at_s), 0, value));
}

/* Append a time from now in a form. */
static void time_add(struct ed_draft *text, int64_t ns, int64_t now_ns, const char *form)
{
        char value[ED_RESET_TEXT_BYTES];
        int64_t ms = in_units(ns, 1000000);

        if (strcmp(form, "s") == 0) {
                ed_draft_add_printf(text, "%" PRId64, in_units(ns, 1000000000));
        } else if (strcmp(form, "go") == 0) {
                ed_reset_print(ns, value);
                ed_draft_add_str(text, value);
        } else if (strcmp(form, "at") == 0) {
                time_of_day_add(text, in_units(now_ns + ns, 1000000000));
        } else if (strcmp(form, "epoch") == 0) {
                ed_draft_add_printf(text, "%" PRId64, in_units(now_ns + ns, 1000000000));
        } else if (strcmp(form, "epochms") == 0) {
                ed_draft_add_printf(text, "%" PRId64, in_units(now_ns + ns, 1000000));
        } else {
                ed_draft_add_printf(text, "%" PRId64 ".%03d", ms / 1000, (int) (ms % 1000));
        }
}

/* Append a number or a time of a limit. Returns false if the mock has no such limit. */
static bool limit_add(struct ed_draft *text, const struct ed_dialect_limit *limit, const char *name,
                      const char *form, int64_t now_ns)
{
        if (limit->limit == 0)
                return false;
        if (strcmp(name, "limit") == 0)
                ed_draft_add_u64(text, limit->limit);
        else if (strcmp(name, "left") == 0)
                ed_draft_add_u64(text, limit->left);
        else
                time_add(text, limit->reset_ns, now_ns, form);
        return true;
}

/* Append what a word between braces names. */
static bool word_add(struct ed_draft *text, char *word, const struct ed_dialect_facts *facts)
{
        static const char requests[] = "requests.", tokens[] = "tokens.";
        char *form = strchr(word, ':');

        if (form)
                *form++ = '\0';
        else
                form = word + strlen(word);
        if (strncmp(word, requests, sizeof(requests) - 1) == 0)
                return limit_add(text, &facts->requests, word + sizeof(requests) - 1, form,
                                 facts->now_ns);
        if (strncmp(word, tokens, sizeof(tokens) - 1) == 0)
                return limit_add(text, &facts->tokens, word + sizeof(tokens) - 1, form,
                                 facts->now_ns);
        if (strcmp(word, "wait") == 0)
                time_add(text, facts->wait_ns, facts->now_ns, form);
        else
                ed_draft_add_str(text, facts->id);
        return true;
}

/* Returns the bytes of a word between braces, or 0 if a brace is one of JSON. */
static size_t word_of(const char *at, char word[WORD_BYTES])
{
        size_t bytes = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz.:");

        if (*at != '{' || bytes == 0 || bytes >= WORD_BYTES || at[bytes + 1] != '}')
                return 0;
        memcpy(word, at + 1, bytes);
        word[bytes] = '\0';
        return bytes + 2;
}

bool ed_dialect_expand(const char *format, const struct ed_dialect_facts *facts,
                       struct ed_draft *text)
{
        char word[WORD_BYTES];

        while (*format) {
                size_t bytes = word_of(format, word);

                if (bytes > 0 && !word_add(text, word, facts))
                        return false;
                if (bytes == 0)
                        ed_draft_add(text, format, bytes = 1);
                format += bytes;
        }
        return true;
}

bool ed_dialect_has(const struct ed_dialect_header *header, const char *vendor,
                    enum ed_when refusal)
{
        if (strcmp(header->vendor, vendor) != 0)
                return false;
        return header->when == refusal ||
               (header->when == ED_WHEN_REFUSED && refusal != ED_WHEN_ALWAYS);
}

const struct ed_dialect_refusal *ed_dialect_refusal_of(const char *vendor, enum ed_when when)
{
        for (const struct ed_dialect_refusal *refusal = ed_dialect_refusals; refusal->vendor;
             refusal++)
                if (strcmp(refusal->vendor, vendor) == 0 && refusal->when == when)
                        return refusal;
        return NULL;
}
