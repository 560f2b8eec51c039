/*
 * common/condition.c - evaluates conditions.
 */
#include "common/condition.h"

#include <errno.h>
#include <string.h>

#include "common/condition_tree.h"
#include "common/json_pointer.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

/* An answer, whose body is parsed when it is first needed. */
struct judged {
        const struct ed_condition *condition;
        const struct ed_condition_answer *answer;
        struct eddy_json_value body; /* of kind EDDY_JSON_NONE: it is not JSON */
        bool is_parsed;
};

enum value_kind { VALUE_NULL, VALUE_BOOL, VALUE_NUMBER, VALUE_TEXT, VALUE_MANY };

struct value {
        enum value_kind kind;
        bool holds; /* alone, as a condition */
        double number;
        const char *text;
        size_t bytes;
        char *owned; /* the text; NULL: borrowed */
};

static int evaluate(struct judged *judged, uint16_t index, struct value *ret_value);

static void value_fini(struct value *value)
{
        eddy_free(value->owned);
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct value value_of_bool(bool holds)
{
        return (struct value){ .kind = VALUE_BOOL, .holds = holds };
}

static struct value value_of_number(double number)
{
        return (struct value){ .kind = VALUE_NUMBER, .holds = number != 0, .number = number };
}

static struct value value_of_text(const char *text, size_t bytes)
{
        return (struct value){
                .kind = VALUE_TEXT, .holds = bytes > 0, .text = text, .bytes = bytes
        };
}

static struct value value_of_header(const struct ed_condition_answer *answer, const char *name)
{
        const char *text = answer->header ? answer->header(answer->header_arg, name) : NULL;

        return text ? value_of_text(text, strlen(text)) : (struct value){ .kind = VALUE_NULL };
}

/* A string of the body without its escapes. A string that is not Unicode keeps them. */
static int string_value(const struct eddy_json_value *json, struct value *ret_value)
{
        char *text = eddy_malloc(json->bytes);
        int64_t bytes;

        if (!text)
                return -ENOMEM;
        bytes = eddy_json_string(json, text, json->bytes);
        if (bytes < 0) {
                memcpy(text, json->text + 1, json->bytes - 2);
                bytes = (int64_t) json->bytes - 2;
        }
        *ret_value = value_of_text(text, (size_t) bytes);
        ret_value->owned = text;
        return 0;
}

static bool has_items(const struct eddy_json_value *json)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value item;

        return eddy_json_walk(json, &cursor) == 0 && eddy_json_next(&cursor, NULL, &item);
}

static int value_of_json(const struct eddy_json_value *json, struct value *ret_value)
{
        bool is_true = false;
        double number = 0;

        if (json->kind == EDDY_JSON_STRING)
                return string_value(json, ret_value);
        if (json->kind == EDDY_JSON_BOOL && eddy_json_bool(json, &is_true) == 0)
                *ret_value = value_of_bool(is_true);
        else if (json->kind == EDDY_JSON_NUMBER && eddy_json_double(json, &number) == 0)
                *ret_value = value_of_number(number);
        else if (json->kind == EDDY_JSON_NULL)
                *ret_value = (struct value){ .kind = VALUE_NULL };
        else /* a number that does not fit is equal to nothing */
                *ret_value = (struct value){ .kind = VALUE_MANY,
                                             .holds = json->kind == EDDY_JSON_NUMBER ||
                                                      has_items(json) };
        return 0;
}

static int body_value(struct judged *judged, const struct ed_condition_node *node,
                      struct value *ret_value)
{
        const struct ed_condition_answer *answer = judged->answer;
        struct eddy_json_value found;

        if (!judged->is_parsed && answer->body &&
            eddy_json_parse(answer->body, answer->body_bytes, NULL, &judged->body, NULL) < 0)
                judged->body.kind = EDDY_JSON_NONE;
        judged->is_parsed = true;
        *ret_value = (struct value){ .kind = VALUE_NULL };
        if (judged->body.kind == EDDY_JSON_NONE ||
            ed_json_pointer_get(&judged->body, node->text, node->bytes, &found) < 0)
                return 0;
        return value_of_json(&found, ret_value);
}

/* ---- operators ------------------------------------------------------------------------------- */

static bool is_equal(const struct value *a, const struct value *b)
{
        if (a->kind != b->kind)
                return false;
        switch (a->kind) {
        case VALUE_NULL:
                return true;
        case VALUE_BOOL:
                return a->holds == b->holds;
        case VALUE_NUMBER:
                return a->number == b->number;
        case VALUE_TEXT:
                return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
        case VALUE_MANY:
                break;
        }
        return false;
}

static bool is_less(const struct value *a, const struct value *b)
{
        size_t shorter = a->bytes < b->bytes ? a->bytes : b->bytes;
        int order;

        if (a->kind != b->kind || (a->kind != VALUE_NUMBER && a->kind != VALUE_TEXT))
                return false;
        if (a->kind == VALUE_NUMBER)
                return a->number < b->number;
        order = memcmp(a->text, b->text, shorter);
        return order != 0 ? order < 0 : a->bytes < b->bytes;
}

static bool is_part(const struct value *part, const struct value *whole)
{
        return part->kind == VALUE_TEXT && whole->kind == VALUE_TEXT &&
               (part->bytes == 0 || memmem(whole->text, whole->bytes, part->text, part->bytes));
}

static bool compare(enum ed_condition_kind kind, const struct value *a, const struct value *b)
{
        switch (kind) {
        case ED_CONDITION_EQUAL:
                return is_equal(a, b);
        case ED_CONDITION_UNEQUAL:
                return !is_equal(a, b);
        case ED_CONDITION_LESS:
                return is_less(a, b);
        case ED_CONDITION_MORE:
                return is_less(b, a);
        case ED_CONDITION_AT_MOST:
                return is_less(a, b) || is_equal(a, b);
        case ED_CONDITION_AT_LEAST:
                return is_less(b, a) || is_equal(a, b);
        default:
                return is_part(a, b);
        }
}

/* Returns 1 if 'left' is an item of the list. */
static int is_listed(struct judged *judged, const struct value *left, uint16_t list)
{
        while (list) {
                const struct ed_condition_node *node = &judged->condition->nodes[list];
                struct value item;
                int err = evaluate(judged, node->left, &item);

                if (err < 0)
                        return err;
                err = is_equal(left, &item);
                value_fini(&item);
                if (err)
                        return 1;
                list = node->right;
        }
        return 0;
}

static int evaluate_comparison(struct judged *judged, const struct ed_condition_node *node)
{
        struct value left, right;
        int result = evaluate(judged, node->left, &left);

        if (result < 0)
                return result;
        if (judged->condition->nodes[node->right].kind == ED_CONDITION_LIST) {
                result = is_listed(judged, &left, node->right);
        } else {
                result = evaluate(judged, node->right, &right);
                if (result == 0) {
                        result = compare(node->kind, &left, &right);
                        value_fini(&right);
                }
        }
        value_fini(&left);
        return result;
}

/* Returns 1 if the value of a node holds as a condition. */
static int holds(struct judged *judged, uint16_t index)
{
        struct value value;
        int result = evaluate(judged, index, &value);

        if (result < 0)
                return result;
        value_fini(&value);
        return value.holds;
}

/* 'and' holds if all parts hold, 'or' if one does. The parts after that are not evaluated. */
static int evaluate_joined(struct judged *judged, const struct ed_condition_node *node)
{
        int decides = node->kind == ED_CONDITION_OR;

        for (;;) {
                int result = holds(judged, node->left);

                if (result < 0 || result == decides)
                        return result;
                if (!node->right)
                        return !decides;
                node = &judged->condition->nodes[node->right];
        }
}

/* An operator: its value is true or false. */
static int evaluate_operator(struct judged *judged, const struct ed_condition_node *node)
{
        int result;

        if (node->kind == ED_CONDITION_OR || node->kind == ED_CONDITION_AND)
                return evaluate_joined(judged, node);
        if (node->kind != ED_CONDITION_NOT)
                return evaluate_comparison(judged, node);
        result = holds(judged, node->left);
        return result < 0 ? result : !result;
}

static int evaluate(struct judged *judged, uint16_t index, struct value *ret_value)
{
        const struct ed_condition_node *node = &judged->condition->nodes[index];
        int result;

        *ret_value = (struct value){ .kind = VALUE_NULL };
        switch (node->kind) {
        case ED_CONDITION_NULL:
                return 0;
        case ED_CONDITION_FALSE:
        case ED_CONDITION_TRUE:
                *ret_value = value_of_bool(node->kind == ED_CONDITION_TRUE);
                return 0;
        case ED_CONDITION_NUMBER:
                *ret_value = value_of_number(node->number);
                return 0;
        case ED_CONDITION_TEXT:
                *ret_value = value_of_text(node->text, node->bytes);
                return 0;
        case ED_CONDITION_STATUS:
                *ret_value = value_of_number(judged->answer->status);
                return 0;
        case ED_CONDITION_HEADER:
                *ret_value = value_of_header(judged->answer, node->text);
                return 0;
        case ED_CONDITION_JSON:
                return body_value(judged, node, ret_value);
        default:
                result = evaluate_operator(judged, node);
                if (result >= 0)
                        *ret_value = value_of_bool(result);
                return result < 0 ? result : 0;
        }
}

/* ---- the calls --------------------------------------------------------------------------------- */

int ed_condition_holds(const struct ed_condition *condition,
                       const struct ed_condition_answer *answer)
{
        struct judged judged = { .condition = condition, .answer = answer };

        return holds(&judged, condition->root);
}

bool ed_condition_needs_headers(const struct ed_condition *condition)
{
        for (uint16_t i = 1; i < condition->count; i++)
                if (condition->nodes[i].kind == ED_CONDITION_HEADER)
                        return true;
        return false;
}

void ed_condition_free(struct ed_condition *condition)
{
        eddy_free(condition);
}
