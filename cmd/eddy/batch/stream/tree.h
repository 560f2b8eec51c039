/*
 * batch/stream/tree.h - assembles a JSON value from pieces: strings become longer, arrays get
 * items, members are replaced. No I/O.
 *
 * Values keep their spelling. Strings are joined without converting their escapes, so the two
 * halves of a surrogate pair may be in different pieces.
 *
 * Functions that change a tree do not return errors. If a tree exceeds a limit or memory is short,
 * the tree keeps this first error, and all further changes do nothing; they accept and return NULL
 * nodes.
 */
#ifndef ED_CMD_BATCH_STREAM_TREE_H
#define ED_CMD_BATCH_STREAM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/draft.h"
#include "eddy/def.h"
#include "eddy/json.h"

enum {
        ED_TREE_BYTES_MAX = 64 << 20, /* of all texts and nodes */
        ED_TREE_MEMBERS_MAX = 256,    /* of one object */
        /* A value that is set must be nested less deeply than JSON may be, as the tree nests it. */
        ED_TREE_DEPTH_MAX = EDDY_JSON_DEPTH_DEFAULT - 8,
};

/* Returns true if a value is null, "", {} or []. */
bool ed_tree_value_is_blank(const struct eddy_json_value *value);

/* Returns true if a value is spelled like 'text'. A string has its quotes. */
bool ed_tree_value_is(const struct eddy_json_value *value, const char *text);

/* Find a member that is not null. Returns false if there is none. */
bool ed_tree_value_get(const struct eddy_json_value *object, const char *path,
                       struct eddy_json_value *ret_value);

struct ed_tree_node;

/* Zero: an empty tree. */
struct ed_tree {
        struct ed_tree_node *root;
        size_t bytes;
        int error; /* -EMSGSIZE: a limit; -ENOMEM; 0 */
};

void ed_tree_fini(struct ed_tree *tree);

/* Returns the root, which is blank at first. */
struct ed_tree_node *ed_tree_root(struct ed_tree *tree);

/* Returns the member of an object, or adds a blank member. 'name' is in quotes. A node that is not
 * an object becomes one. */
struct ed_tree_node *ed_tree_member(struct ed_tree *tree, struct ed_tree_node *node,
                                    const char *name, size_t bytes);
#define ed_tree_member_of(tree, node, name)                                                        \
        ed_tree_member(tree, node, "\"" name "\"", sizeof("\"" name "\"") - 1)

/* Returns the member, or NULL. */
struct ed_tree_node *ed_tree_find(const struct ed_tree_node *node, const char *name);

/* Remove a member, if there is one. */
void ed_tree_remove(struct ed_tree *tree, struct ed_tree_node *node, const char *name);

/*
 * Find or add the item of an array to which an object belongs, by the object's member "index" (0 if
 * it has none), and begin a walk of the object. '*ret_item' is NULL if 'object' is not an object, and
 * after an error, also one of the tree.
 *
 * Errors: -EBADMSG  the index is not a number from 0
 */
EDDY_MUST_USE int ed_tree_item_walk(struct ed_tree *tree, struct ed_tree_node *node,
                                    const struct eddy_json_value *object, size_t max,
                                    struct ed_tree_node **ret_item,
                                    struct eddy_json_cursor *ret_cursor);

/* Returns the item of an array with this index, or adds a blank item if the array has fewer than
 * 'max'. Items are in the order of their indices, which may have gaps. A node that is not an array
 * becomes one. */
struct ed_tree_node *ed_tree_item(struct ed_tree *tree, struct ed_tree_node *node, uint64_t index,
                                  size_t max);

/* Walk over the items of an array, or the members of an object. NULL is the end. */
struct ed_tree_node *ed_tree_first(const struct ed_tree_node *node);
struct ed_tree_node *ed_tree_next(const struct ed_tree_node *child);
struct ed_tree_node *ed_tree_last(const struct ed_tree_node *node);
uint64_t ed_tree_index(const struct ed_tree_node *item);
size_t ed_tree_count(const struct ed_tree_node *node);

/* Returns true if the node is null, "", {}, [], not set yet, or NULL. */
bool ed_tree_is_blank(const struct ed_tree_node *node);

/* Returns true if the node was set to a value that is spelled like 'text'. */
bool ed_tree_is(const struct ed_tree_node *node, const char *text, size_t bytes);

/* Set a node to a value. A blank value does not replace another value; null replaces nothing. */
void ed_tree_set(struct ed_tree *tree, struct ed_tree_node *node,
                 const struct eddy_json_value *value);

/* Set a node to a JSON text, whatever the node was. */
void ed_tree_set_text(struct ed_tree *tree, struct ed_tree_node *node, const char *text,
                      size_t bytes);

/* Set each member of 'object' by ed_tree_set(). */
void ed_tree_set_members(struct ed_tree *tree, struct ed_tree_node *node,
                         const struct eddy_json_value *object);

/* Set a member to a JSON text, whatever the member was. 'name' is in quotes. */
void ed_tree_set_member(struct ed_tree *tree, struct ed_tree_node *node, const char *name,
                        const char *text);

/* Append to a string. A blank node becomes a string, an array gets an item, and any other node is
 * replaced. */
void ed_tree_join(struct ed_tree *tree, struct ed_tree_node *node,
                  const struct eddy_json_value *string);

/* Append an item without an index to an array, before the items with an index. A blank node becomes
 * an array, a string becomes the first item of an array, and any other node is replaced. */
void ed_tree_append(struct ed_tree *tree, struct ed_tree_node *node,
                    const struct eddy_json_value *item);

/* Append the JSON text. */
void ed_tree_write(const struct ed_tree_node *node, struct ed_draft *draft);

#endif
