/*
 * batch/stream/tree.c - a JSON value that is put together from pieces.
 *
 * Most nodes are never touched again, and keep the text that they were set to. A text is opened,
 * into the pieces of a string, an array or an object, when the first addition needs it.
 */
#include "batch/stream/tree.h"

#include <errno.h>
#include <string.h>

#include "eddy/alloc.h"

enum { TEXT_ROOM_FIRST = 16 };

enum node_kind {
        NODE_UNSET,
        NODE_TEXT,   /* 'text' is the JSON text */
        NODE_STRING, /* without its quotes */
        NODE_ARRAY,  /* 'text' has the items without an index, with commas; the children follow */
        NODE_OBJECT, /* the children are the members */
};

struct ed_tree_node {
        struct ed_tree_node *next, *first, *last;
        size_t count; /* of children */
        uint64_t index;
        char *text;
        size_t bytes, room;
        enum node_kind kind;
        size_t name_bytes;
        char name[]; /* with quotes */
};

/* ---- memory ----------------------------------------------------------------------------------- */

/* Count bytes before they are added. */
static bool tree_charge(struct ed_tree *tree, size_t bytes)
{
        if (tree->error == 0 && bytes > ED_TREE_BYTES_MAX - tree->bytes)
                tree->error = -EMSGSIZE;
        if (tree->error < 0)
                return false;
        tree->bytes += bytes;
        return true;
}

static struct ed_tree_node *tree_node_new(struct ed_tree *tree, const char *name, size_t bytes)
{
        struct ed_tree_node *node;

        if (!tree_charge(tree, sizeof(*node) + bytes))
                return NULL;
        node = eddy_malloc(sizeof(*node) + bytes);
        if (!node) {
                tree->error = -ENOMEM;
                return NULL;
        }
        *node = (struct ed_tree_node){ .name_bytes = bytes };
        if (bytes > 0)
                memcpy(node->name, name, bytes);
        return node;
}

static void tree_node_free(struct ed_tree *tree, struct ed_tree_node *node);

/* Remove all from a node but its name and index. */
static void tree_node_clear(struct ed_tree *tree, struct ed_tree_node *node, enum node_kind kind)
{
        struct ed_tree_node *child = node->first, *next;

        for (; child; child = next) {
                next = child->next;
                tree_node_free(tree, child);
        }
        node->first = NULL;
        node->last = NULL;
        node->count = 0;
        tree->bytes -= node->bytes;
        node->bytes = 0;
        node->kind = kind;
}

/* Depth: see ed_tree_write(). */
static void tree_node_free(struct ed_tree *tree, struct ed_tree_node *node)
{
        tree_node_clear(tree, node, NODE_UNSET);
        tree->bytes -= sizeof(*node) + node->name_bytes;
        eddy_free(node->text);
        eddy_free(node);
}

void ed_tree_fini(struct ed_tree *tree)
{
        if (tree->root)
                tree_node_free(tree, tree->root);
        *tree = (struct ed_tree){ 0 };
}

static void tree_node_add(struct ed_tree *tree, struct ed_tree_node *node, const char *text,
                          size_t bytes)
{
        if (!tree_charge(tree, bytes))
                return;
        if (bytes > node->room - node->bytes) {
                size_t room = node->room > 0 ? 2 * node->room : TEXT_ROOM_FIRST;
                char *grown;

                if (room < node->bytes + bytes)
                        room = node->bytes + bytes;
                grown = eddy_realloc(node->text, room);
                if (!grown) {
                        tree->error = -ENOMEM;
                        tree->bytes -= bytes;
                        return;
                }
                node->text = grown;
                node->room = room;
        }
        if (bytes > 0)
                memcpy(node->text + node->bytes, text, bytes);
        node->bytes += bytes;
}

/* ---- texts ------------------------------------------------------------------------------------ */

/* Returns whether a JSON text is null, "", {} or []. */
static bool text_is_blank(const char *text, size_t bytes)
{
        if (bytes < 2)
                return false;
        if (*text == 'n')
                return true;
        if (*text == '"')
                return bytes == 2;
        if (*text != '{' && *text != '[')
                return false;
        for (size_t i = 1; i < bytes - 1; i++) {
                if (!strchr(" \t\r\n", text[i]))
                        return false;
        }
        return true;
}

bool ed_tree_value_is_blank(const struct eddy_json_value *value)
{
        return text_is_blank(value->text, value->bytes);
}

bool ed_tree_value_is(const struct eddy_json_value *value, const char *text)
{
        return value->bytes == strlen(text) && memcmp(value->text, text, value->bytes) == 0;
}

bool ed_tree_value_get(const struct eddy_json_value *object, const char *path,
                       struct eddy_json_value *ret_value)
{
        return object->kind == EDDY_JSON_OBJECT && eddy_json_get(object, path, ret_value) == 0 &&
               ret_value->kind != EDDY_JSON_NULL;
}

bool ed_tree_is_blank(const struct ed_tree_node *node)
{
        if (!node || node->kind == NODE_UNSET)
                return true;
        if (node->kind == NODE_TEXT)
                return text_is_blank(node->text, node->bytes);
        return node->bytes == 0 && node->count == 0;
}

bool ed_tree_is(const struct ed_tree_node *node, const char *text, size_t bytes)
{
        return node && node->kind == NODE_TEXT && node->bytes == bytes &&
               memcmp(node->text, text, bytes) == 0;
}

void ed_tree_set_text(struct ed_tree *tree, struct ed_tree_node *node, const char *text,
                      size_t bytes)
{
        if (!node || tree->error < 0 || ed_tree_is(node, text, bytes))
                return;
        tree_node_clear(tree, node, NODE_TEXT);
        tree_node_add(tree, node, text, bytes);
        if (tree->error < 0)
                node->kind = NODE_UNSET;
}

void ed_tree_set(struct ed_tree *tree, struct ed_tree_node *node,
                 const struct eddy_json_value *value)
{
        if (!node)
                return;
        if (node->kind != NODE_UNSET && text_is_blank(value->text, value->bytes) &&
            (value->kind == EDDY_JSON_NULL || !ed_tree_is_blank(node)))
                return;
        ed_tree_set_text(tree, node, value->text, value->bytes);
}

void ed_tree_set_members(struct ed_tree *tree, struct ed_tree_node *node,
                         const struct eddy_json_value *object)
{
        struct eddy_json_cursor cursor;
        struct eddy_json_value name, value;

        if (object->kind != EDDY_JSON_OBJECT || eddy_json_walk(object, &cursor) < 0)
                return;
        while (tree->error == 0 && eddy_json_next(&cursor, &name, &value))
                ed_tree_set(tree, ed_tree_member(tree, node, name.text, name.bytes), &value);
}

/* Returns whether the node is a text that begins with this character, and is not blank. */
static bool text_begins(const struct ed_tree_node *node, char c)
{
        return node->kind == NODE_TEXT && node->text[0] == c && !ed_tree_is_blank(node);
}

/* Remove the quotes or brackets of a text. */
static void text_strip(struct ed_tree *tree, struct ed_tree_node *node, enum node_kind kind)
{
        memmove(node->text, node->text + 1, node->bytes - 2);
        node->bytes -= 2;
        tree->bytes -= 2;
        node->kind = kind;
}

/* ---- strings and arrays ----------------------------------------------------------------------- */

void ed_tree_join(struct ed_tree *tree, struct ed_tree_node *node,
                  const struct eddy_json_value *string)
{
        if (!node || tree->error < 0)
                return;
        if (node->kind == NODE_ARRAY || text_begins(node, '[')) {
                ed_tree_append(tree, node, string);
                return;
        }
        if (text_begins(node, '"'))
                text_strip(tree, node, NODE_STRING);
        else if (node->kind != NODE_STRING)
                tree_node_clear(tree, node, NODE_STRING);
        tree_node_add(tree, node, string->text + 1, string->bytes - 2);
}

/* Put quotes around a string. Returns false on failure. */
static bool string_close(struct ed_tree *tree, struct ed_tree_node *node)
{
        tree_node_add(tree, node, "\"\"", 2);
        if (tree->error < 0)
                return false;
        memmove(node->text + 1, node->text, node->bytes - 2);
        node->text[0] = '"';
        node->text[node->bytes - 1] = '"';
        node->kind = NODE_TEXT;
        return true;
}

/* Make a node an array. Returns false on failure. */
static bool array_open(struct ed_tree *tree, struct ed_tree_node *node)
{
        if (!node || tree->error < 0)
                return false;
        if (node->kind == NODE_ARRAY)
                return true;
        if (node->kind == NODE_STRING && node->bytes > 0 && !string_close(tree, node))
                return false;
        if (text_begins(node, '['))
                text_strip(tree, node, NODE_ARRAY);
        else if (text_begins(node, '"'))
                node->kind = NODE_ARRAY;
        else
                tree_node_clear(tree, node, NODE_ARRAY);
        return true;
}

void ed_tree_append(struct ed_tree *tree, struct ed_tree_node *node,
                    const struct eddy_json_value *item)
{
        if (!array_open(tree, node))
                return;
        if (node->bytes > 0)
                tree_node_add(tree, node, ",", 1);
        tree_node_add(tree, node, item->text, item->bytes);
}

/* ---- children --------------------------------------------------------------------------------- */

/* Insert a child after 'before'; NULL: as the first. */
static void child_insert(struct ed_tree_node *node, struct ed_tree_node *child,
                         struct ed_tree_node *before)
{
        child->next = before ? before->next : node->first;
        if (before)
                before->next = child;
        else
                node->first = child;
        if (!child->next)
                node->last = child;
        node->count++;
}

struct ed_tree_node *ed_tree_item(struct ed_tree *tree, struct ed_tree_node *node, uint64_t index,
                                  size_t max)
{
        struct ed_tree_node *before = NULL, *item;

        if (!array_open(tree, node))
                return NULL;
        if (node->last && node->last->index < index) {
                before = node->last;
        } else {
                for (item = node->first; item && item->index <= index; item = item->next) {
                        if (item->index == index)
                                return item;
                        before = item;
                }
        }
        if (node->count >= max) {
                tree->error = -EMSGSIZE;
                return NULL;
        }
        item = tree_node_new(tree, NULL, 0);
        if (item) {
                item->index = index;
                child_insert(node, item, before);
        }
        return item;
}

int ed_tree_item_walk(struct ed_tree *tree, struct ed_tree_node *node,
                      const struct eddy_json_value *object, size_t max,
                      struct ed_tree_node **ret_item, struct eddy_json_cursor *ret_cursor)
{
        struct eddy_json_value member;
        uint64_t index = 0;

        *ret_item = NULL;
        if (object->kind != EDDY_JSON_OBJECT || eddy_json_walk(object, ret_cursor) < 0)
                return 0;
        if (ed_tree_value_get(object, "index", &member) && eddy_json_uint64(&member, &index) < 0)
                return -EBADMSG;
        *ret_item = ed_tree_item(tree, node, index, max);
        return 0;
}

static struct ed_tree_node *member_find(const struct ed_tree_node *node, const char *name,
                                        size_t bytes)
{
        struct ed_tree_node *child = node && node->kind == NODE_OBJECT ? node->first : NULL;

        while (child && (child->name_bytes != bytes || memcmp(child->name, name, bytes) != 0))
                child = child->next;
        return child;
}

struct ed_tree_node *ed_tree_find(const struct ed_tree_node *node, const char *name)
{
        return member_find(node, name, strlen(name));
}

/* Make a node an object. Returns false on failure. */
static bool object_open(struct ed_tree *tree, struct ed_tree_node *node)
{
        struct eddy_json_value object;
        char *text;

        if (!node || tree->error < 0)
                return false;
        if (node->kind == NODE_OBJECT)
                return true;
        if (!text_begins(node, '{')) {
                tree_node_clear(tree, node, NODE_OBJECT);
                return true;
        }
        text = node->text;
        object = (struct eddy_json_value){ text, node->bytes, EDDY_JSON_OBJECT };
        tree_node_clear(tree, node, NODE_OBJECT);
        node->text = NULL;
        node->room = 0;
        ed_tree_set_members(tree, node, &object);
        eddy_free(text);
        return tree->error == 0;
}

struct ed_tree_node *ed_tree_member(struct ed_tree *tree, struct ed_tree_node *node,
                                    const char *name, size_t bytes)
{
        struct ed_tree_node *child;

        if (!object_open(tree, node))
                return NULL;
        child = member_find(node, name, bytes);
        if (child)
                return child;
        if (node->count >= ED_TREE_MEMBERS_MAX) {
                tree->error = -EMSGSIZE;
                return NULL;
        }
        child = tree_node_new(tree, name, bytes);
        if (child)
                child_insert(node, child, node->last);
        return child;
}

void ed_tree_set_member(struct ed_tree *tree, struct ed_tree_node *node, const char *name,
                        const char *text)
{
        ed_tree_set_text(tree, ed_tree_member(tree, node, name, strlen(name)), text, strlen(text));
}

void ed_tree_remove(struct ed_tree *tree, struct ed_tree_node *node, const char *name)
{
        struct ed_tree_node *gone = ed_tree_find(node, name), *before = NULL;

        if (!gone)
                return;
        for (struct ed_tree_node *child = node->first; child != gone; child = child->next)
                before = child;
        if (before)
                before->next = gone->next;
        else
                node->first = gone->next;
        if (node->last == gone)
                node->last = before;
        node->count--;
        tree_node_free(tree, gone);
}

struct ed_tree_node *ed_tree_root(struct ed_tree *tree)
{
        if (!tree->root)
                tree->root = tree_node_new(tree, NULL, 0);
        return tree->root;
}

struct ed_tree_node *ed_tree_first(const struct ed_tree_node *node)
{
        return node ? node->first : NULL;
}

struct ed_tree_node *ed_tree_last(const struct ed_tree_node *node)
{
        return node ? node->last : NULL;
}

struct ed_tree_node *ed_tree_next(const struct ed_tree_node *child)
{
        return child->next;
}

uint64_t ed_tree_index(const struct ed_tree_node *item)
{
        return item->index;
}

size_t ed_tree_count(const struct ed_tree_node *node)
{
        return node ? node->count : 0;
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* Recursive: as deep as objects and arrays were opened, not as the texts are nested. */
void ed_tree_write(const struct ed_tree_node *node, struct ed_draft *draft)
{
        static const char opening[] = {
                [NODE_STRING] = '"', [NODE_ARRAY] = '[', [NODE_OBJECT] = '{'
        };
        static const char closing[] = {
                [NODE_STRING] = '"', [NODE_ARRAY] = ']', [NODE_OBJECT] = '}'
        };
        bool follows = node->bytes > 0;

        if (node->kind == NODE_UNSET) {
                ed_draft_add_str(draft, "null");
                return;
        }
        if (node->kind == NODE_TEXT) {
                ed_draft_add(draft, node->text, node->bytes);
                return;
        }
        ed_draft_add(draft, &opening[node->kind], 1);
        ed_draft_add(draft, node->text, node->bytes);
        for (const struct ed_tree_node *child = node->first; child; child = child->next) {
                if (follows)
                        ed_draft_add(draft, ",", 1);
                follows = true;
                if (node->kind == NODE_OBJECT) {
                        ed_draft_add(draft, child->name, child->name_bytes);
                        ed_draft_add(draft, ":", 1);
                }
                ed_tree_write(child, draft);
        }
        ed_draft_add(draft, &closing[node->kind], 1);
}
