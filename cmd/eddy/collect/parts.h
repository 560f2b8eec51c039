/*
 * collect/parts.h - the files to collect: the outputs, and the errors files that belong to them. They are
 * found before the first is read; at most one is open at a time.
 */
#ifndef ED_CMD_COLLECT_PARTS_H
#define ED_CMD_COLLECT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/numbered.h"
#include "collect/sample.h"
#include "common/hash_map.h"
#include "eddy/def.h"

enum { ED_PARTS_MAX = 1 << 20, ED_PART_PATH_BYTES = 4096 };

struct ed_part {
        uint32_t name; /* its number on the command line */
        bool is_errors;
        bool is_found;  /* an errors file that the command line does not name */
        bool has_index; /* the name of the output has the number of a shard */
        uint32_t index; /* that number */
        bool is_active; /* a run writes to it; set by the reader, as all that follows */
        bool has_answer;
        bool is_marked;        /* its first answer names its shard */
        uint32_t marked_index; /* the number of that shard */
        uint64_t first, last;  /* the places of its requests; 0: none */
};

/* Zero but for the names. */
struct ed_parts {
        char *const *names; /* borrowed */
        size_t names_count;
        uint32_t shards;       /* of names with ED_NUMBERED_PLACE */
        struct ed_part *items; /* owned */
        size_t count, room;
        struct ed_numbered form; /* of the names, if each of them has a number */
        struct ed_sample absent; /* names of shards that do not exist */
        struct ed_sample again;  /* files that are named twice */
        struct ed_hash_map seen;
};

/* A file that cannot be collected. */
struct ed_parts_taboo {
        const char *path;  /* NULL: none */
        const char *fault; /* the rest of the message */
};

/*
 * Find the files. A file that has several names is collected once. Returns 0 or the exit code, after a
 * message: a file does not exist, or is one of 'taboos', which end with an entry without a fault.
 */
EDDY_MUST_USE int ed_parts_find(struct ed_parts *parts, const struct ed_parts_taboo *taboos);

/* Write the name of a file. Returns false if it no longer exists, for an errors file. */
bool ed_part_path(const struct ed_parts *parts, const struct ed_part *part,
                  char room[ED_PART_PATH_BYTES]);

void ed_parts_fini(struct ed_parts *parts);

#endif
