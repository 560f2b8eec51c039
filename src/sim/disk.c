/*
 * sim/disk.c - the files of a simulation, and what a crash can leave of them.
 */
#include "sim/disk.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"

enum { SECTOR_BYTES = 512, PAGE_BYTES = 4096, TEARS_MAX = 4 };

enum change_kind {
        CHANGE_WRITE,    /* node, offset, bytes, data */
        CHANGE_TRUNCATE, /* node, offset: the size */
        CHANGE_ADD,      /* folder, name, node */
        CHANGE_REMOVE,   /* folder, name */
        CHANGE_RENAME,   /* folder, name, to_folder, to_name, node */
};

struct change {
        struct ed_list link;
        enum change_kind kind;
        struct ed_disk_node *node, *folder, *to_folder;
        uint64_t offset;
        size_t bytes;
        bool is_synced; /* by the sync that is in progress */
        char name[EDDY_FOLDER_NAME_MAX + 1], to_name[EDDY_FOLDER_NAME_MAX + 1];
        char data[];
};

static bool is_of_names(const struct change *change)
{
        return change->kind >= CHANGE_ADD;
}

static struct change *change_of(struct ed_list *link)
{
        return ed_container_of(link, struct change, link);
}

/* --- contents --- */

static void contents_free(struct ed_disk_contents *contents)
{
        ed_free(contents->data);
        *contents = (struct ed_disk_contents){ 0 };
}

/* Set the size; new bytes are zeros. Errors: -ENOMEM. */
static int contents_resize(struct ed_disk_contents *contents, size_t bytes)
{
        char *data;

        if (bytes == 0) {
                contents_free(contents);
                return 0;
        }
        data = ed_realloc(contents->data, bytes);
        if (!data)
                return -ENOMEM;
        if (bytes > contents->bytes)
                memset(data + contents->bytes, 0, bytes - contents->bytes);
        *contents = (struct ed_disk_contents){ data, bytes };
        return 0;
}

static int contents_copy(struct ed_disk_contents *to, const struct ed_disk_contents *from)
{
        int err = contents_resize(to, from->bytes);

        if (err == 0 && from->bytes > 0)
                memcpy(to->data, from->data, from->bytes);
        return err;
}

/* 'data' NULL: zeros. */
static int contents_write(struct ed_disk_contents *contents, const char *data, size_t bytes,
                          uint64_t offset)
{
        uint64_t end = offset + bytes;
        int err = end > contents->bytes ? contents_resize(contents, (size_t) end) : 0;

        if (err < 0 || bytes == 0)
                return err;
        if (data)
                memcpy(contents->data + offset, data, bytes);
        else
                memset(contents->data + offset, 0, bytes);
        return 0;
}

/* --- names --- */

static size_t names_find(const struct ed_disk_names *names, const struct ed_disk_node *folder,
                         const char *name)
{
        size_t i;

        for (i = 0; i < names->count; i++)
                if (names->list[i]->folder == folder && strcmp(names->list[i]->name, name) == 0)
                        break;
        return i;
}

static struct ed_disk_node *names_get(const struct ed_disk_names *names,
                                      const struct ed_disk_node *folder, const char *name)
{
        size_t i = names_find(names, folder, name);

        return i < names->count ? names->list[i]->node : NULL;
}

static void names_remove(struct ed_disk_names *names, const struct ed_disk_node *folder,
                         const char *name)
{
        size_t i = names_find(names, folder, name);

        if (i == names->count)
                return;
        ed_free(names->list[i]);
        memmove(&names->list[i], &names->list[i + 1], (--names->count - i) * sizeof(*names->list));
}

/* Add a name, or give it another node. Errors: -ENOMEM, -ENOSPC. */
static int names_set(struct ed_disk_names *names, struct ed_disk_node *folder, const char *name,
                     struct ed_disk_node *node)
{
        size_t i = names_find(names, folder, name);
        struct ed_disk_entry **list, *entry;

        if (i < names->count) {
                names->list[i]->node = node;
                return 0;
        }
        if (names->count == ED_DISK_ENTRIES_MAX)
                return -ENOSPC;
        list = ed_realloc(names->list, (names->count + 1) * sizeof(*list));
        if (!list)
                return -ENOMEM;
        names->list = list;
        entry = ed_alloc_zero(sizeof(*entry));
        if (!entry)
                return -ENOMEM;
        entry->folder = folder;
        entry->node = node;
        entry->number = ++names->numbers;
        memcpy(entry->name, name, strlen(name) + 1);
        list[names->count++] = entry;
        return 0;
}

static void names_clear(struct ed_disk_names *names)
{
        for (size_t i = 0; i < names->count; i++)
                ed_free(names->list[i]);
        ed_free(names->list);
        *names = (struct ed_disk_names){ 0 };
}

static int names_copy(struct ed_disk_names *to, const struct ed_disk_names *from)
{
        int err = 0;

        names_clear(to);
        for (size_t i = 0; i < from->count && err == 0; i++)
                err = names_set(to, from->list[i]->folder, from->list[i]->name,
                                from->list[i]->node);
        return err;
}

static bool names_has_any(const struct ed_disk_names *names, const struct ed_disk_node *folder)
{
        for (size_t i = 0; i < names->count; i++)
                if (names->list[i]->folder == folder)
                        return true;
        return false;
}

/* Change names. Cannot fail for a name that exists already. */
static int names_apply(struct ed_disk_names *names, const struct change *change)
{
        int err = 0;

        if (change->kind == CHANGE_ADD)
                return names_set(names, change->folder, change->name, change->node);
        if (change->kind == CHANGE_RENAME)
                err = names_set(names, change->to_folder, change->to_name, change->node);
        if (err == 0)
                names_remove(names, change->folder, change->name);
        return err;
}

/* --- paths --- */

/* A path that was taken apart: its folder and its last name, "" for the root itself. */
struct place {
        struct ed_disk_node *folder;
        char name[EDDY_FOLDER_NAME_MAX + 1];
};

struct ed_disk_node *ed_disk_root(struct ed_disk *disk)
{
        return ed_container_of(disk->nodes.next, struct ed_disk_node, link);
}

/* Take the next name of a path, without "." and empty ones; "" at the end. */
static int next_name(const char **path, char *name)
{
        size_t n;

        do {
                *path += strspn(*path, "/");
                n = strcspn(*path, "/");
                if (n > EDDY_FOLDER_NAME_MAX)
                        return -ENAMETOOLONG;
                memcpy(name, *path, n);
                name[n] = '\0';
                *path += n;
        } while (strcmp(name, ".") == 0);
        return strcmp(name, "..") == 0 ? -EINVAL : 0;
}

/* The path begins at 'folder'. */
static int place_beneath(struct ed_disk *disk, struct ed_disk_node *folder, const char *path,
                         struct place *place)
{
        char next[EDDY_FOLDER_NAME_MAX + 1];
        int err;

        if (!*path)
                return -ENOENT;
        place->folder = folder;
        err = next_name(&path, place->name);
        while (err == 0 && (err = next_name(&path, next)) == 0 && next[0]) {
                place->folder = names_get(&disk->now, place->folder, place->name);
                if (!place->folder)
                        return -ENOENT;
                if (!place->folder->is_folder)
                        return -ENOTDIR;
                memcpy(place->name, next, sizeof(next));
        }
        return err;
}

static int place_of(struct ed_disk *disk, const char *path, struct place *place)
{
        return place_beneath(disk, ed_disk_root(disk), path, place);
}

/* Returns the node at a place, or NULL. */
static struct ed_disk_node *node_at(struct ed_disk *disk, const struct place *place)
{
        if (!place->name[0])
                return place->folder;
        return names_get(&disk->now, place->folder, place->name);
}

int ed_disk_find(struct ed_disk *disk, const char *path, struct ed_disk_node **ret_node)
{
        struct place place;
        int err = place_of(disk, path, &place);

        if (err < 0)
                return err;
        *ret_node = node_at(disk, &place);
        return *ret_node ? 0 : -ENOENT;
}

int ed_disk_find_beneath(struct ed_disk *disk, struct ed_disk_node *folder, const char *path,
                         struct ed_disk_node **ret_node)
{
        struct place place;
        int err = place_beneath(disk, folder, path, &place);

        if (err < 0)
                return err == -EINVAL ? -EXDEV : err;
        *ret_node = node_at(disk, &place);
        return *ret_node ? 0 : -ENOENT;
}

/* --- records --- */

static struct change *change_new(enum change_kind kind, const void *data, size_t bytes)
{
        struct change *change = ed_alloc_zero(sizeof(*change) + bytes);

        if (!change)
                return NULL;
        ed_list_init(&change->link);
        change->kind = kind;
        change->bytes = bytes;
        if (bytes > 0)
                memcpy(change->data, data, bytes);
        return change;
}

static void change_free(struct ed_disk *disk, struct change *change)
{
        ed_list_remove(&change->link);
        disk->bytes -= change->bytes;
        ed_free(change);
}

/* Change the names that programs see, and record it. Takes ownership of 'change'. */
static int change_names(struct ed_disk *disk, struct change *change)
{
        int err = names_apply(&disk->now, change);

        if (err < 0)
                ed_free(change);
        else
                ed_list_push_back(&disk->changes, &change->link);
        return err;
}

static void changes_free(struct ed_disk *disk, struct ed_list *changes)
{
        while (!ed_list_is_empty(changes))
                change_free(disk, change_of(changes->next));
}

/* --- making and removing --- */

static int node_new(struct ed_disk *disk, bool is_folder, uint32_t mode,
                    struct ed_disk_node **ret_node)
{
        struct ed_disk_node *node = ed_alloc_zero(sizeof(*node));

        if (!node)
                return -ENOMEM;
        node->number = ++disk->numbers;
        node->is_folder = is_folder;
        node->mode = mode;
        ed_list_push_back(&disk->nodes, &node->link);
        *ret_node = node;
        return 0;
}

int ed_disk_make_unnamed(struct ed_disk *disk, uint32_t mode, struct ed_disk_node **ret_node)
{
        return node_new(disk, false, mode, ret_node);
}

int ed_disk_make(struct ed_disk *disk, const char *path, bool is_folder, uint32_t mode,
                 struct ed_disk_node **ret_node)
{
        struct change *change;
        struct place place;
        int err = place_of(disk, path, &place);

        if (err < 0)
                return err;
        if (node_at(disk, &place))
                return -EEXIST;
        change = change_new(CHANGE_ADD, NULL, 0);
        if (!change)
                return -ENOMEM;
        err = node_new(disk, is_folder, mode, &change->node);
        if (err < 0) {
                ed_free(change);
                return err;
        }
        *ret_node = change->node;
        change->folder = place.folder;
        memcpy(change->name, place.name, sizeof(change->name));
        return change_names(disk, change);
}

/* Errors: why 'node' cannot be removed or replaced by a folder or (false) a file. */
static int check_removable(struct ed_disk *disk, const struct ed_disk_node *node, bool by_folder)
{
        if (node->is_folder && !by_folder)
                return -EISDIR;
        if (!node->is_folder && by_folder)
                return -ENOTDIR;
        return node->is_folder && names_has_any(&disk->now, node) ? -ENOTEMPTY : 0;
}

int ed_disk_remove(struct ed_disk *disk, const char *path, bool is_folder)
{
        const struct ed_disk_node *node;
        struct change *change;
        struct place place;
        int err = place_of(disk, path, &place);

        if (err < 0)
                return err;
        node = node_at(disk, &place);
        if (!node || node == ed_disk_root(disk))
                return node ? -EBUSY : -ENOENT;
        err = check_removable(disk, node, is_folder);
        if (err < 0)
                return err;
        change = change_new(CHANGE_REMOVE, NULL, 0);
        if (!change)
                return -ENOMEM;
        change->folder = place.folder;
        memcpy(change->name, place.name, sizeof(change->name));
        return change_names(disk, change);
}

/* Returns true if 'folder' is 'node', or inside of it. */
static bool is_inside(struct ed_disk *disk, const struct ed_disk_node *folder,
                      const struct ed_disk_node *node)
{
        while (folder && folder != node) {
                const struct ed_disk_node *outer = NULL;

                for (size_t i = 0; i < disk->now.count; i++)
                        if (disk->now.list[i]->node == folder)
                                outer = disk->now.list[i]->folder;
                folder = outer;
        }
        return folder;
}

static int check_rename(struct ed_disk *disk, const struct place *from, const struct place *to,
                        bool keep)
{
        const struct ed_disk_node *node = node_at(disk, from), *former = node_at(disk, to);

        if (!node)
                return -ENOENT;
        if (node == ed_disk_root(disk) || former == ed_disk_root(disk))
                return -EBUSY;
        if (former && keep)
                return -EEXIST;
        if (is_inside(disk, to->folder, node))
                return -EINVAL;
        return former ? check_removable(disk, former, node->is_folder) : 0;
}

int ed_disk_rename(struct ed_disk *disk, const char *from, const char *to, bool keep)
{
        struct place place, to_place;
        struct change *change;
        int err = place_of(disk, from, &place);

        if (err == 0)
                err = place_of(disk, to, &to_place);
        if (err == 0)
                err = check_rename(disk, &place, &to_place, keep);
        if (err < 0 || node_at(disk, &place) == node_at(disk, &to_place))
                return err;
        change = change_new(CHANGE_RENAME, NULL, 0);
        if (!change)
                return -ENOMEM;
        change->node = node_at(disk, &place);
        change->folder = place.folder;
        change->to_folder = to_place.folder;
        memcpy(change->name, place.name, sizeof(change->name));
        memcpy(change->to_name, to_place.name, sizeof(change->to_name));
        return change_names(disk, change);
}

bool ed_disk_has_name(const struct ed_disk *disk, const struct ed_disk_node *node)
{
        for (size_t i = 0; i < disk->now.count; i++)
                if (disk->now.list[i]->node == node)
                        return true;
        return false;
}

size_t ed_disk_list(const struct ed_disk *disk, const struct ed_disk_node *folder,
                    uint64_t *position, struct eddy_folder_entry *ret_entries, size_t max)
{
        size_t n = 0;

        for (size_t i = 0; i < disk->now.count && n < max; i++) {
                const struct ed_disk_entry *entry = disk->now.list[i];

                if (entry->folder != folder || entry->number <= *position)
                        continue;
                *position = entry->number;
                ret_entries[n].kind = entry->node->is_folder ? EDDY_FILE_FOLDER : EDDY_FILE_REGULAR;
                ret_entries[n].inode = entry->node->number;
                memcpy(ret_entries[n++].name, entry->name, sizeof(entry->name));
        }
        return n;
}

/* --- contents that programs see --- */

size_t ed_disk_read(const struct ed_disk_node *node, void *buf, size_t bytes, uint64_t offset)
{
        if (bytes == 0 || offset >= node->now.bytes)
                return 0;
        if (bytes > node->now.bytes - offset)
                bytes = node->now.bytes - (size_t) offset;
        memcpy(buf, node->now.data + offset, bytes);
        return bytes;
}

/* Record a change of contents that was made. */
static void record(struct ed_disk *disk, struct change *change, struct ed_disk_node *node,
                   uint64_t offset)
{
        change->node = node;
        change->offset = offset;
        disk->bytes += change->bytes;
        ed_list_push_back(&disk->changes, &change->link);
}

int ed_disk_write(struct ed_disk *disk, struct ed_disk_node *node, const void *data, size_t bytes,
                  uint64_t offset)
{
        struct change *change;
        int err;

        if (bytes == 0)
                return 0;
        if (offset > ED_DISK_BYTES_MAX)
                return -EFBIG;
        if (disk->bytes + bytes > ED_DISK_BYTES_MAX)
                return -ENOSPC;
        change = change_new(CHANGE_WRITE, data, bytes);
        if (!change)
                return -ENOMEM;
        err = contents_write(&node->now, data, bytes, offset);
        if (err < 0) {
                ed_free(change);
                return err;
        }
        record(disk, change, node, offset);
        return 0;
}

int ed_disk_truncate(struct ed_disk *disk, struct ed_disk_node *node, uint64_t bytes)
{
        struct change *change;
        int err;

        if (bytes > ED_DISK_BYTES_MAX)
                return -EFBIG;
        change = change_new(CHANGE_TRUNCATE, NULL, 0);
        if (!change)
                return -ENOMEM;
        err = contents_resize(&node->now, (size_t) bytes);
        if (err < 0) {
                ed_free(change);
                return err;
        }
        record(disk, change, node, bytes);
        return 0;
}

/* --- syncs --- */

/*
 * Mark the changes that a sync of 'node' makes durable. A rename from another folder takes the
 * earlier changes of that folder along, because a journal keeps their order.
 */
static void mark_synced(struct ed_disk *disk, struct ed_disk_node *node)
{
        node->is_synced = true;
        for (struct ed_list *link = disk->changes.prev; link != &disk->changes; link = link->prev) {
                struct change *change = change_of(link);
                bool renames = change->kind == CHANGE_RENAME;

                if (!is_of_names(change)) {
                        change->is_synced = change->node == node;
                        continue;
                }
                change->is_synced =
                        change->folder->is_synced || (renames && change->to_folder->is_synced);
                if (change->is_synced && renames)
                        change->folder->is_synced = change->to_folder->is_synced = true;
        }
        ed_list_each (link, &disk->nodes)
                ed_container_of(link, struct ed_disk_node, link)->is_synced = false;
}

static int contents_apply(struct ed_disk_node *node, const struct change *change)
{
        if (change->kind == CHANGE_TRUNCATE)
                return contents_resize(&node->durable, (size_t) change->offset);
        return contents_write(&node->durable, change->data, change->bytes, change->offset);
}

int ed_disk_sync(struct ed_disk *disk, struct ed_disk_node *node)
{
        mark_synced(disk, node);
        ed_list_each_safe (link, &disk->changes) {
                struct change *change = change_of(link);
                int err;

                if (!change->is_synced)
                        continue;
                err = is_of_names(change) ? names_apply(&disk->durable, change)
                                          : contents_apply(node, change);
                if (err < 0)
                        return err;
                change_free(disk, change);
        }
        return 0;
}

void ed_disk_lose(struct ed_disk *disk, struct ed_disk_node *node)
{
        ed_list_each_safe (link, &disk->changes) {
                struct change *change = change_of(link);

                if (!is_of_names(change) && change->node == node)
                        change_free(disk, change);
        }
}

/* --- crashes --- */

/*
 * A crash loses a write, keeps it, keeps its length and only zeros, or tears it at a place: then it
 * keeps what is before the place, or what is after it.
 */
enum { WRITE_LOST, WRITE_WHOLE, WRITE_ZEROS, WRITE_TORN };

/*
 * Store where a crash can tear a write, as numbers of its bytes. A sector is written whole or not at
 * all, a page often. All sectors of a long write would be too many states: its ends are enough.
 */
static size_t tears_of(const struct change *change, size_t places[TEARS_MAX])
{
        const uint64_t start = change->offset, end = start + change->bytes;
        const uint64_t all[TEARS_MAX] = { start / SECTOR_BYTES * SECTOR_BYTES + SECTOR_BYTES,
                                          start / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES,
                                          (end - 1) / PAGE_BYTES * PAGE_BYTES,
                                          (end - 1) / SECTOR_BYTES * SECTOR_BYTES };
        size_t n = 0;

        for (size_t i = 0; i < TEARS_MAX; i++)
                if (all[i] > start + (n ? places[n - 1] : 0) && all[i] < end)
                        places[n++] = (size_t) (all[i] - start);
        return n;
}

/* Returns in how many ways a crash can treat a change of contents. */
static uint64_t ways_of(const struct change *change)
{
        size_t places[TEARS_MAX];

        if (change->kind == CHANGE_TRUNCATE)
                return WRITE_WHOLE + 1;
        return WRITE_TORN + 2 * tears_of(change, places);
}

/* Returns how many changes of a folder's names are recorded; each belongs to its first folder. */
static uint64_t names_changed(const struct ed_disk *disk, const struct ed_disk_node *folder)
{
        uint64_t n = 0;

        ed_list_each (link, &disk->lost)
                n += is_of_names(change_of(link)) && change_of(link)->folder == folder;
        return n;
}

/* Take one choice of 'ways' from a state. */
static uint64_t choice(uint64_t *state, uint64_t ways)
{
        uint64_t chosen = *state % ways;

        *state /= ways;
        return chosen;
}

static uint64_t count_states(const struct ed_disk *disk)
{
        uint64_t states = 1;
        bool many = false;

        ed_list_each (link, &disk->lost)
                if (!is_of_names(change_of(link)))
                        many |= __builtin_mul_overflow(states, ways_of(change_of(link)), &states);
        ed_list_each (link, &disk->nodes) {
                const struct ed_disk_node *node = ed_container_of(link, struct ed_disk_node, link);

                many |= __builtin_mul_overflow(states, names_changed(disk, node) + 1, &states);
        }
        return many ? UINT64_MAX : states;
}

/* Keep the durable state as the crashed one, or (false) take it back. */
static int copy_durable(struct ed_disk *disk, bool to_crashed)
{
        int err = to_crashed ? names_copy(&disk->crashed, &disk->durable)
                             : names_copy(&disk->durable, &disk->crashed);

        ed_list_each (link, &disk->nodes) {
                struct ed_disk_node *node = ed_container_of(link, struct ed_disk_node, link);

                if (err == 0)
                        err = to_crashed ? contents_copy(&node->crashed, &node->durable)
                                         : contents_copy(&node->durable, &node->crashed);
        }
        return err;
}

int ed_disk_power_off(struct ed_disk *disk, uint64_t *ret_states)
{
        int err = copy_durable(disk, true);

        if (err < 0)
                return err;
        changes_free(disk, &disk->lost);
        while (!ed_list_is_empty(&disk->changes))
                ed_list_push_back(&disk->lost, ed_list_pop_front(&disk->changes));
        disk->is_off = true;
        *ret_states = count_states(disk);
        return 0;
}

/* Keep a part of a write, as 'way' says. */
static int apply_write(const struct change *change, uint64_t way)
{
        struct ed_disk_contents *to = &change->node->durable;
        size_t places[TEARS_MAX], torn;

        switch (way) {
        case WRITE_LOST:
                return 0;
        case WRITE_WHOLE:
                return contents_write(to, change->data, change->bytes, change->offset);
        case WRITE_ZEROS:
                return contents_write(to, NULL, change->bytes, change->offset);
        default:
                break;
        }
        tears_of(change, places);
        torn = places[(way - WRITE_TORN) / 2];
        if ((way - WRITE_TORN) % 2 == 0)
                return contents_write(to, change->data, torn, change->offset);
        return contents_write(to, change->data + torn, change->bytes - torn, change->offset + torn);
}

static int apply_contents(struct ed_disk *disk, uint64_t *state)
{
        int err = 0;

        ed_list_each (link, &disk->lost) {
                const struct change *change = change_of(link);
                uint64_t way;

                if (is_of_names(change) || err < 0)
                        continue;
                way = choice(state, ways_of(change));
                if (change->kind == CHANGE_WRITE)
                        err = apply_write(change, way);
                else if (way == WRITE_WHOLE)
                        err = contents_resize(&change->node->durable, (size_t) change->offset);
        }
        return err;
}

/* Apply the changes of names that are kept, of each folder the first ones, in order of time. */
static int apply_names(struct ed_disk *disk, uint64_t *state)
{
        int err = 0;

        ed_list_each (link, &disk->nodes) {
                struct ed_disk_node *node = ed_container_of(link, struct ed_disk_node, link);

                node->kept = choice(state, names_changed(disk, node) + 1);
        }
        ed_list_each (link, &disk->lost) {
                const struct change *change = change_of(link);

                if (err < 0 || !is_of_names(change) || change->folder->kept == 0)
                        continue;
                change->folder->kept--;
                err = names_apply(&disk->durable, change);
        }
        return err;
}

int ed_disk_power_on(struct ed_disk *disk, uint64_t state)
{
        int err = copy_durable(disk, false);

        changes_free(disk, &disk->changes);
        if (err == 0)
                err = apply_contents(disk, &state);
        if (err == 0)
                err = apply_names(disk, &state);
        if (err == 0)
                err = names_copy(&disk->now, &disk->durable);
        ed_list_each (link, &disk->nodes) {
                struct ed_disk_node *node = ed_container_of(link, struct ed_disk_node, link);

                if (err == 0)
                        err = contents_copy(&node->now, &node->durable);
        }
        disk->is_off = err < 0;
        return err;
}

/* --- the disk --- */

int ed_disk_init(struct ed_disk *disk)
{
        struct ed_disk_node *node;

        *disk = (struct ed_disk){ 0 };
        ed_list_init(&disk->nodes);
        ed_list_init(&disk->changes);
        ed_list_init(&disk->lost);
        return node_new(disk, true, 0755, &node);
}

void ed_disk_fini(struct ed_disk *disk)
{
        struct ed_list *link;

        changes_free(disk, &disk->changes);
        changes_free(disk, &disk->lost);
        names_clear(&disk->now);
        names_clear(&disk->durable);
        names_clear(&disk->crashed);
        while ((link = ed_list_pop_front(&disk->nodes))) {
                struct ed_disk_node *node = ed_container_of(link, struct ed_disk_node, link);

                contents_free(&node->now);
                contents_free(&node->durable);
                contents_free(&node->crashed);
                ed_free(node);
        }
}
