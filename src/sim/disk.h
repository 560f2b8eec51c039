/*
 * sim/disk.h - the files of a simulation: folders, contents, and what a crash can leave of them.
 *
 * Programs see the state 'now'. A change of 'now' is recorded until a sync makes it durable:
 * contents by a sync of the file, names by a sync of their folder. A crash keeps the durable state
 * and, of the recorded changes, any that a real disk could keep: of each folder the first n changes
 * of its names, in order, because file systems write those to a journal; of each file any of the
 * writes, each of them whole, torn at a sector or a page, or as zeros, because contents have no
 * order.
 */
#ifndef ED_SIM_DISK_H
#define ED_SIM_DISK_H

#include <stdbool.h>

#include "base/list.h"
#include "eddy/file.h"
#include "eddy/folder.h"

enum {
        ED_DISK_ENTRIES_MAX = 65536,
        ED_DISK_BYTES_MAX = 1 << 28, /* of a file, and of all recorded writes */
};

struct ed_disk_contents {
        char *data;
        size_t bytes;
};

/* A file or a folder. Lives as long as the disk, so that no record points to a freed one. */
struct ed_disk_node {
        struct ed_list link;
        uint64_t number;
        bool is_folder;
        bool is_synced; /* during a sync: its changes of names become durable */
        uint64_t kept;  /* while the power comes back: changes of names that the crash kept */
        uint32_t mode;
        int64_t modified_ns;
        struct ed_disk_contents now, durable, crashed; /* 'crashed': 'durable' at the crash */
};

/* A name in a folder. */
struct ed_disk_entry {
        struct ed_disk_node *folder, *node;
        uint64_t number; /* rising; the place in a listing, which a removed name does not move */
        char name[EDDY_FOLDER_NAME_MAX + 1];
};

struct ed_disk_names {
        struct ed_disk_entry **list;
        size_t count;
        uint64_t numbers;
};

struct ed_disk {
        struct ed_list nodes;   /* the first is the root */
        struct ed_list changes; /* not durable yet, oldest first */
        struct ed_list lost;    /* recorded at the crash */
        struct ed_disk_names now, durable, crashed;
        uint64_t numbers;
        size_t bytes;
        bool is_off; /* crashed, and not on again */
};

/* Errors: -ENOMEM. */
int ed_disk_init(struct ed_disk *disk);
void ed_disk_fini(struct ed_disk *disk);

struct ed_disk_node *ed_disk_root(struct ed_disk *disk);

/*
 * Find the node at a path. Links do not exist, and relative paths begin at the root. Errors:
 * -ENOENT, -ENOTDIR, -ENAMETOOLONG.
 */
int ed_disk_find(struct ed_disk *disk, const char *path, struct ed_disk_node **ret_node);

/* As ed_disk_find(), for a path relative to 'folder'. Returns -EXDEV if the path has a "..". */
int ed_disk_find_beneath(struct ed_disk *disk, struct ed_disk_node *folder, const char *path,
                         struct ed_disk_node **ret_node);

/* Make a file or folder. Errors: -EEXIST, -ENOENT, -ENOTDIR, -ENOSPC, -ENOMEM. */
int ed_disk_make(struct ed_disk *disk, const char *path, bool is_folder, uint32_t mode,
                 struct ed_disk_node **ret_node);
/* Make a file without a name. */
int ed_disk_make_unnamed(struct ed_disk *disk, uint32_t mode, struct ed_disk_node **ret_node);

/* Errors: those of unlink(2) and rmdir(2). */
int ed_disk_remove(struct ed_disk *disk, const char *path, bool is_folder);
int ed_disk_rename(struct ed_disk *disk, const char *from, const char *to, bool keep);

/* Returns the bytes read. */
size_t ed_disk_read(const struct ed_disk_node *node, void *buf, size_t bytes, uint64_t offset);
/* Errors: -ENOSPC, -EFBIG, -ENOMEM. */
int ed_disk_write(struct ed_disk *disk, struct ed_disk_node *node, const void *data, size_t bytes,
                  uint64_t offset);
int ed_disk_truncate(struct ed_disk *disk, struct ed_disk_node *node, uint64_t bytes);

/* Make the recorded changes of a file's contents, or of a folder's names, durable. */
int ed_disk_sync(struct ed_disk *disk, struct ed_disk_node *node);
/* A sync failed: its recorded writes never become durable. */
void ed_disk_lose(struct ed_disk *disk, struct ed_disk_node *node);

/* Store the entries of a folder after '*position' (0: all), at most 'max', and advance it. */
size_t ed_disk_list(const struct ed_disk *disk, const struct ed_disk_node *folder,
                    uint64_t *position, struct eddy_folder_entry *ret_entries, size_t max);
/* Returns true if the node has a name. */
bool ed_disk_has_name(const struct ed_disk *disk, const struct ed_disk_node *node);

/* --- crashes --- */

/*
 * The power fails now. Stores the number of states that the disk can be in; UINT64_MAX: that or
 * more. Errors: -ENOMEM.
 */
int ed_disk_power_off(struct ed_disk *disk, uint64_t *ret_states);
/*
 * The power is back, and the disk is in one of those states, below that number. May be called again
 * for another state of the same crash: changes made since are dropped. Errors: -ENOMEM.
 */
int ed_disk_power_on(struct ed_disk *disk, uint64_t state);

#endif
