/*
 * collect/shards.h - the shards that lack answers, and the commands that send their requests. No I/O.
 */
#ifndef ED_CMD_COLLECT_SHARDS_H
#define ED_CMD_COLLECT_SHARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/sort/pair_sort.h"
#include "collect/parts.h"
#include "common/bits.h"
#include "common/draft.h"
#include "eddy/def.h"

/* All zero: no shards are known. */
struct ed_shards {
        uint32_t count;    /* 0: not known */
        bool is_begun;     /* the requests are read for them, because one lacks an answer */
        uint32_t given;    /* by the user; 0: not given */
        bool is_marked;    /* by the lines of the outputs, of which none disagrees */
        bool marks_differ; /* the outputs are of shards of several numbers, or of several inputs */
        uint32_t marked_count; /* of the first line with a mark; 0: no line has one */
        uint64_t marked_size;
        uint64_t size;     /* of the file of requests */
        const char *input; /* its name */
        struct ed_bits lacking;
        uint64_t lacking_count;
        struct ed_bits active;  /* a run writes to the output */
        struct ed_bits running; /* those of 'lacking' */
        uint64_t running_count;

        struct ed_pair *checks; /* places of requests, and the numbers of their files; sorted */
        size_t checks_count, at;
        uint64_t wrong_place; /* of a request that is not of the shard of its file; 0: none */
        uint32_t wrong_index, right_index;
};

/* Note the mark of an answer, of batch/answer/shard_mark.h; other texts are ignored. */
void ed_shards_mark(struct ed_shards *shards, const char *mark);

/*
 * Begin, with 'size' set. The number of shards is 'given', or 0: that of the marks, or else of the names,
 * if they have all numbers from 0 on. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_shards_begin(struct ed_shards *shards, const struct ed_parts *parts);

/* Take a line of the requests, each in turn, which begins at 'offset'. Errors: -ENOMEM */
EDDY_MUST_USE int ed_shards_line(struct ed_shards *shards, uint64_t place, uint64_t offset,
                                 bool is_lacking);

/* Append the shards that lack answers, and what to run; or why they are not known. */
void ed_shards_print(const struct ed_shards *shards, const struct ed_parts *parts,
                     struct ed_draft *out);

void ed_shards_fini(struct ed_shards *shards);

#endif
