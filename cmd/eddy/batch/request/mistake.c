/*
 * batch/request/mistake.c - sentences about lines that are not requests at all.
 *
 * Most of them are the first sentence that a new user sees, so each names the likely cause.
 */
#include "batch/request/mistake.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "batch/request/fault.h"
#include "eddy/error.h"

#define MISTAKE_PARTS "write each request on one line, as jq -c does"

static bool mistake_is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns the remedy for a character that JSON does not have at this place, or NULL. */
static const char *remedy_of_char(const char *line, size_t at)
{
        size_t before = at;

        while (before > 0 && mistake_is_blank(line[before - 1]))
                before--;
        switch (line[at]) {
        case '\0':
                return ED_FAULT_UTF16;
        case '\'':
                return "write strings in double quotes, as json.dumps() does";
        case 'N':
        case 'T':
        case 'F':
        case 'I':
                return "JSON has null, true and false, but neither NaN nor Infinity";
        case '}':
        case ']':
                return before > 0 && line[before - 1] == ',' ? "remove the comma before it" : NULL;
        default:
                return NULL;
        }
}

static const char *remedy_of(const char *line, size_t bytes, const struct eddy_json_error *fault)
{
        size_t at = fault->offset < bytes ? (size_t) fault->offset : bytes;

        if (fault->error == EDDY_E_JSON_UTF8)
                return ED_FAULT_UTF8;
        if (fault->error == EDDY_E_JSON_DEPTH)
                return NULL;
        if (at == bytes)
                return MISTAKE_PARTS;
        if (fault->error == EDDY_E_JSON_SYNTAX && eddy_json_check(line, at, NULL, NULL) == 0)
                return line[at] == ',' ? "remove the comma" : MISTAKE_PARTS;
        return remedy_of_char(line, at);
}

void ed_mistake_of_json(const char *line, size_t bytes, const struct eddy_json_error *fault,
                        char *text, size_t room)
{
        const char *sentence = strstr(fault->text, ": "), *remedy = remedy_of(line, bytes, fault);

        /* "line 1" would be the line within the line. */
        snprintf(text, room, "the line is not JSON: column %llu: %s%s%s",
                 (unsigned long long) fault->column, sentence ? sentence + 2 : fault->text,
                 remedy ? ": " : "", remedy ? remedy : "");
}

/* Returns true for bytes that no text has. */
static bool is_binary(const char *line, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++)
                if ((unsigned char) line[i] < ' ' && !mistake_is_blank(line[i]))
                        return true;
        return !eddy_json_is_utf8(line, bytes);
}

const char *ed_mistake_of_text(const char *line, size_t bytes)
{
        bool has_mark = bytes >= 2 &&
                        (memcmp(line, "\xff\xfe", 2) == 0 || memcmp(line, "\xfe\xff", 2) == 0);

        /* The first character of UTF-16 is a mark, or has a byte that is zero. */
        if (has_mark || (bytes >= 2 && (!line[0] || !line[1])))
                return "the line is not UTF-8: " ED_FAULT_UTF16;
        if (is_binary(line, bytes))
                return "the line is not text: the input is JSON, URLs or CSV, as it is or "
                       "compressed by gzip or zstd";
        if (line[0] == '[')
                return "the line is an array: write each request on a line of its own, as jq -c "
                       "'.[]' does";
        if (line[0] == '"' || line[0] == '}' || line[0] == ']')
                return "the line is a part of a JSON text: " MISTAKE_PARTS;
        if (line[0] == '/')
                return "the line begins with //: write comments with #, and URLs with http://";
        if (memchr(line, '\t', bytes))
                return "the line has fields that are separated by tabs: " ED_FAULT_COMMAS("\\t");
        return "the line is neither a JSON object nor a URL: begin it with {, http:// or https://, "
               "or give --format csv";
}
