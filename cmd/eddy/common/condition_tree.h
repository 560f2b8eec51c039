/*
 * common/condition_tree.h - a condition as a tree: made by condition_parse.c, evaluated by
 * condition.c.
 */
#ifndef ED_CMD_COMMON_CONDITION_TREE_H
#define ED_CMD_COMMON_CONDITION_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "common/condition.h"

enum { ED_CONDITION_NODES_MAX = 512, ED_CONDITION_DEPTH_MAX = 32 };

enum ed_condition_kind {
        ED_CONDITION_NULL,
        ED_CONDITION_FALSE,
        ED_CONDITION_TRUE,
        ED_CONDITION_NUMBER,
        ED_CONDITION_TEXT,
        ED_CONDITION_STATUS,
        ED_CONDITION_HEADER, /* 'text' is its name */
        ED_CONDITION_JSON,   /* 'text' is the pointer */
        ED_CONDITION_NOT,    /* of 'left' */
        ED_CONDITION_EQUAL,  /* of 'left' and 'right', like those that follow */
        ED_CONDITION_UNEQUAL,
        ED_CONDITION_LESS,
        ED_CONDITION_MORE,
        ED_CONDITION_AT_MOST,
        ED_CONDITION_AT_LEAST,
        ED_CONDITION_IN,
        ED_CONDITION_OR, /* 'left' is a part, and 'right' the next part's node, as below */
        ED_CONDITION_AND,
        ED_CONDITION_LIST,
};

struct ed_condition_node {
        enum ed_condition_kind kind;
        uint16_t left, right; /* 0: none; node 0 is not used */
        size_t bytes;         /* of 'text', which has a NUL too */
        const char *text;
        double number;
};

struct ed_condition {
        uint16_t root, count;
        struct ed_condition_node nodes[ED_CONDITION_NODES_MAX];
        char strings[2 * ED_CONDITION_BYTES_MAX]; /* the texts of nodes */
};

#endif
