/*
 * common/condition_parse.c - parses conditions, by recursive descent: one function for each level
 * of the operators. Each returns its node, or 0 after an error.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/condition_tree.h"
#include "common/json_pointer.h"
#include "common/nearest.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

enum { WORD_SHOWN_BYTES = 32, COLUMN_BYTES = 32 };

struct parser {
        struct ed_condition *condition;
        const char *text, *at;
        size_t strings_bytes;
        unsigned depth;
        char *error; /* an empty text: none */
};

static uint16_t or_parse(struct parser *parser);

/* Store what is wrong at 'at', unless an error was found before. Returns 0, as no node. */
static uint16_t refuse(struct parser *parser, const char *at, const char *what)
{
        if (!*parser->error)
                snprintf(parser->error, ED_CONDITION_ERROR_BYTES, "column %zu: %s",
                         (size_t) (at - parser->text) + 1, what);
        return 0;
}

static uint16_t node_new(struct parser *parser, enum ed_condition_kind kind, uint16_t left,
                         uint16_t right)
{
        struct ed_condition *condition = parser->condition;

        if (*parser->error)
                return 0;
        if (condition->count == ED_CONDITION_NODES_MAX)
                return refuse(parser, parser->at, "the condition has too many parts");
        condition->nodes[condition->count] =
                (struct ed_condition_node){ .kind = kind, .left = left, .right = right };
        return condition->count++;
}

/* ---- words and signs ------------------------------------------------------------------------- */

static void space_skip(struct parser *parser)
{
        while (isspace((unsigned char) *parser->at))
                parser->at++;
}

static bool is_word_byte(char c)
{
        return isalnum((unsigned char) c) || c == '_' || c == '-';
}

static size_t word_bytes(const struct parser *parser)
{
        size_t bytes = 0;

        while (is_word_byte(parser->at[bytes]))
                bytes++;
        return bytes;
}

/* Take a word, if it is the next one. */
static bool word_take(struct parser *parser, const char *word)
{
        space_skip(parser);
        if (word_bytes(parser) != strlen(word) || strncmp(parser->at, word, strlen(word)) != 0)
                return false;
        parser->at += strlen(word);
        return true;
}

/* Take a sign, if it is the next one. */
static bool sign_take(struct parser *parser, const char *sign)
{
        space_skip(parser);
        if (strncmp(parser->at, sign, strlen(sign)) != 0)
                return false;
        parser->at += strlen(sign);
        return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Returns room for the text of a node. The text is not longer than its source, so there is room. */
static char *text_room(struct parser *parser)
{
        return parser->condition->strings + parser->strings_bytes;
}

/* The text in text_room() is that of a new node. */
static uint16_t text_node(struct parser *parser, enum ed_condition_kind kind, size_t bytes)
{
        char *text = text_room(parser);
        uint16_t node = node_new(parser, kind, 0, 0);

        text[bytes] = '\0';
        parser->strings_bytes += bytes + 1;
        parser->condition->nodes[node].text = text;
        parser->condition->nodes[node].bytes = bytes;
        return node;
}

/* A string in double quotes is one of JSON. */
static uint16_t json_string_parse(struct parser *parser, enum ed_condition_kind kind)
{
        const char *start = parser->at, *end = start + 1;
        struct eddy_json_value value;
        int64_t bytes;

        while (*end && *end != '"')
                end += *end == '\\' && end[1] ? 2 : 1;
        if (!*end)
                return refuse(parser, start, "a string has no end");
        if (eddy_json_parse(start, (size_t) (end + 1 - start), NULL, &value, NULL) < 0)
                return refuse(parser, start, "the string is not valid JSON");
        bytes = eddy_json_string(&value, text_room(parser), value.bytes);
        if (bytes < 0)
                return refuse(parser, start, "the string has half of a surrogate pair");
        parser->at = end + 1;
        return text_node(parser, kind, (size_t) bytes);
}

/* A string in single quotes has no escapes. */
static uint16_t plain_string_parse(struct parser *parser, enum ed_condition_kind kind)
{
        const char *start = parser->at, *end = strchr(start + 1, '\'');

        if (!end)
                return refuse(parser, start, "a string has no end");
        memcpy(text_room(parser), start + 1, (size_t) (end - start - 1));
        parser->at = end + 1;
        return text_node(parser, kind, (size_t) (end - start - 1));
}

static uint16_t string_parse(struct parser *parser, enum ed_condition_kind kind)
{
        space_skip(parser);
        if (*parser->at == '"')
                return json_string_parse(parser, kind);
        if (*parser->at == '\'')
                return plain_string_parse(parser, kind);
        return refuse(parser, parser->at, "a string in quotes is expected");
}

static uint16_t number_parse(struct parser *parser)
{
        size_t bytes = strspn(parser->at, "+-.0123456789eE");
        struct eddy_json_value value;
        double number;
        uint16_t node;

        if (eddy_json_parse(parser->at, bytes, NULL, &value, NULL) < 0 ||
            eddy_json_double(&value, &number) < 0)
                return refuse(parser, parser->at, "the number is not valid JSON");
        parser->at += bytes;
        node = node_new(parser, ED_CONDITION_NUMBER, 0, 0);
        if (node)
                parser->condition->nodes[node].number = number;
        return node;
}

/* header(NAME), whose name may be in quotes. */
static uint16_t header_parse(struct parser *parser)
{
        uint16_t node = 0;
        size_t bytes;

        if (!sign_take(parser, "("))
                return refuse(parser, parser->at, "header is written as header(NAME)");
        space_skip(parser);
        if (*parser->at == '"' || *parser->at == '\'') {
                node = string_parse(parser, ED_CONDITION_HEADER);
        } else if (word_bytes(parser) > 0) {
                bytes = word_bytes(parser);
                memcpy(text_room(parser), parser->at, bytes);
                parser->at += bytes;
                node = text_node(parser, ED_CONDITION_HEADER, bytes);
        }
        if (!node || !sign_take(parser, ")"))
                return refuse(parser, parser->at, "header is written as header(NAME)");
        return node;
}

/* json("/pointer") */
static uint16_t json_parse(struct parser *parser)
{
        const struct ed_condition_node *nodes = parser->condition->nodes;
        const char *start = parser->at;
        uint16_t node = 0;

        if (sign_take(parser, "("))
                node = string_parse(parser, ED_CONDITION_JSON);
        if (!node || !sign_take(parser, ")"))
                return refuse(parser, start, "json is written as json(\"/name/0\")");
        if (!ed_json_pointer_is_valid(nodes[node].text, nodes[node].bytes))
                return refuse(parser, start,
                              "a JSON Pointer has a \"/\" before each name or index; \"/\" in a "
                              "name is ~1, and \"~\" is ~0 (RFC 6901)");
        return node;
}

static uint16_t word_refuse(struct parser *parser)
{
        static const char *const words[] = { "status", "header", "json", "true", "false",
                                             "null",   "not",    "and",  "or",   "in" };
        char word[WORD_SHOWN_BYTES + 1], what[ED_CONDITION_ERROR_BYTES - COLUMN_BYTES];
        size_t bytes = word_bytes(parser);
        const char *near;

        if (bytes == 0)
                return refuse(parser, parser->at,
                              *parser->at ? "a value is expected"
                                          : "the condition ends where a value is expected");
        snprintf(word, sizeof(word), "%.*s",
                 (int) (bytes < WORD_SHOWN_BYTES ? bytes : WORD_SHOWN_BYTES), parser->at);
        near = ed_nearest(word, words, sizeof(words) / sizeof(words[0]));
        if (near)
                snprintf(what, sizeof(what), "the word %s is unknown; is %s meant?", word, near);
        else
                snprintf(what, sizeof(what),
                         "the word %s is unknown; values are status, header(NAME), "
                         "json(\"/name\"), true, false, null, numbers and \"strings\"",
                         word);
        return refuse(parser, parser->at, what);
}

/* A value, or a condition in parentheses. */
static uint16_t value_parse(struct parser *parser)
{
        uint16_t node;

        space_skip(parser);
        if (*parser->at == '"' || *parser->at == '\'')
                return string_parse(parser, ED_CONDITION_TEXT);
        if (isdigit((unsigned char) *parser->at) || *parser->at == '-')
                return number_parse(parser);
        if (word_take(parser, "status"))
                return node_new(parser, ED_CONDITION_STATUS, 0, 0);
        if (word_take(parser, "header"))
                return header_parse(parser);
        if (word_take(parser, "json"))
                return json_parse(parser);
        if (word_take(parser, "true"))
                return node_new(parser, ED_CONDITION_TRUE, 0, 0);
        if (word_take(parser, "false"))
                return node_new(parser, ED_CONDITION_FALSE, 0, 0);
        if (word_take(parser, "null"))
                return node_new(parser, ED_CONDITION_NULL, 0, 0);
        if (!sign_take(parser, "("))
                return word_refuse(parser);
        node = or_parse(parser);
        return sign_take(parser, ")") ? node : refuse(parser, parser->at, "a \")\" is missing");
}

/* ---- operators ------------------------------------------------------------------------------- */

/* Nodes of one kind, linked by 'right'. */
struct chain {
        enum ed_condition_kind kind;
        uint16_t first, last;
};

/* Add a node for a part. Returns false after an error. */
static bool chain_add(struct parser *parser, struct chain *chain, uint16_t part)
{
        uint16_t node = part ? node_new(parser, chain->kind, part, 0) : 0;

        if (!node)
                return false;
        if (chain->first)
                parser->condition->nodes[chain->last].right = node;
        else
                chain->first = node;
        chain->last = node;
        return true;
}

/* The list of 'in': values in parentheses, with commas between them. */
static uint16_t list_parse(struct parser *parser)
{
        struct chain list = { .kind = ED_CONDITION_LIST };

        do {
                if (!chain_add(parser, &list, value_parse(parser)))
                        return 0;
        } while (sign_take(parser, ","));
        return sign_take(parser, ")")
                       ? list.first
                       : refuse(parser, parser->at, "the list of in must end with \")\"");
}

static uint16_t in_parse(struct parser *parser, uint16_t left)
{
        uint16_t right;

        space_skip(parser);
        right = sign_take(parser, "(") ? list_parse(parser) : value_parse(parser);
        return right ? node_new(parser, ED_CONDITION_IN, left, right) : 0;
}

/* Returns the operator that comes next, and takes it; ED_CONDITION_NULL: none. */
static enum ed_condition_kind operator_take(struct parser *parser)
{
        static const struct {
                const char *sign;
                enum ed_condition_kind kind;
        } signs[] = {
                { "==", ED_CONDITION_EQUAL },   { "!=", ED_CONDITION_UNEQUAL },
                { "<=", ED_CONDITION_AT_MOST }, { ">=", ED_CONDITION_AT_LEAST },
                { "<", ED_CONDITION_LESS },     { ">", ED_CONDITION_MORE },
        };

        for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
                if (sign_take(parser, signs[i].sign))
                        return signs[i].kind;
        if (*parser->at == '=')
                refuse(parser, parser->at, "equality is written ==");
        return ED_CONDITION_NULL;
}

static uint16_t comparison_parse(struct parser *parser)
{
        uint16_t left = value_parse(parser), right, in;
        enum ed_condition_kind kind;

        if (!left)
                return 0;
        if (word_take(parser, "in"))
                return in_parse(parser, left);
        if (word_take(parser, "not")) {
                if (!word_take(parser, "in"))
                        return refuse(parser, parser->at,
                                      "after a value, \"not\" must be followed by in");
                in = in_parse(parser, left);
                return in ? node_new(parser, ED_CONDITION_NOT, in, 0) : 0;
        }
        kind = operator_take(parser);
        if (kind == ED_CONDITION_NULL)
                return *parser->error ? 0 : left;
        right = value_parse(parser);
        return right ? node_new(parser, kind, left, right) : 0;
}

static uint16_t not_parse(struct parser *parser)
{
        uint16_t node;

        if (++parser->depth > ED_CONDITION_DEPTH_MAX)
                return refuse(parser, parser->at, "the condition is nested too deeply");
        if (word_take(parser, "not")) {
                node = not_parse(parser);
                node = node ? node_new(parser, ED_CONDITION_NOT, node, 0) : 0;
        } else {
                node = comparison_parse(parser);
        }
        parser->depth--;
        return node;
}

/* Parts with 'word' between them. */
static uint16_t joined_parse(struct parser *parser, enum ed_condition_kind kind, const char *word,
                             uint16_t (*part_parse)(struct parser *parser))
{
        struct chain parts = { .kind = kind };
        uint16_t part = part_parse(parser);

        if (!part || !word_take(parser, word))
                return part;
        if (!chain_add(parser, &parts, part))
                return 0;
        do {
                if (!chain_add(parser, &parts, part_parse(parser)))
                        return 0;
        } while (word_take(parser, word));
        return parts.first;
}

static uint16_t and_parse(struct parser *parser)
{
        return joined_parse(parser, ED_CONDITION_AND, "and", not_parse);
}

static uint16_t or_parse(struct parser *parser)
{
        return joined_parse(parser, ED_CONDITION_OR, "or", and_parse);
}

int ed_condition_parse(const char *text, struct ed_condition **ret_condition,
                       char error[ED_CONDITION_ERROR_BYTES])
{
        struct parser parser = { .text = text, .at = text, .error = error };

        error[0] = '\0';
        if (strlen(text) > ED_CONDITION_BYTES_MAX) {
                refuse(&parser, text, "the condition is longer than 4096 bytes");
                return -EINVAL;
        }
        parser.condition = eddy_malloc(sizeof(*parser.condition));
        if (!parser.condition)
                return -ENOMEM;
        parser.condition->count = 1;
        parser.condition->root = or_parse(&parser);
        space_skip(&parser);
        if (parser.condition->root && *parser.at)
                refuse(&parser, parser.at,
                       "an operator is expected: and, or, ==, !=, <, <=, >, >=, in, not in");
        if (*error) {
                eddy_free(parser.condition);
                return -EINVAL;
        }
        *ret_condition = parser.condition;
        return 0;
}
