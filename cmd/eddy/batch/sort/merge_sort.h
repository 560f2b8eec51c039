/*
 * batch/sort/merge_sort.h - sorts lines by a number in limited memory: writes sorted runs to a
 * temporary file, and merges the runs. Lines with equal numbers keep their order. Blocks on the
 * disk.
 */
#ifndef ED_CMD_BATCH_SORT_MERGE_SORT_H
#define ED_CMD_BATCH_SORT_MERGE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

#define ED_MERGE_SORT_MEMORY_MIN ((size_t) 256 << 10)
#define ED_MERGE_SORT_MEMORY_MAX ((size_t) 64 << 30)

struct ed_merge_sort;

/*
 * Make a sorter with 'memory' bytes for lines. A line that is larger is written to the disk at
 * once. The temporary file, which has no name, is made in 'folder' (borrowed) when the memory is
 * full.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_merge_sort_new(size_t memory, const char *folder,
                                    struct ed_merge_sort **ret_sorter);
void ed_merge_sort_free(struct ed_merge_sort *sorter);

/*
 * Add a line, without its line feed. Errors: those of the temporary file. -EFBIG  the line is
 * larger than 4 GiB
 */
EDDY_MUST_USE int ed_merge_sort_add(struct ed_merge_sort *sorter, uint64_t key, const char *line,
                                    size_t bytes);

/*
 * Called with pieces of the sorted text. A piece is a line, or a part of one; 'is_end' is true if it
 * ends the line, with its line feed. 'data' is valid until the next call. A result below 0 ends the
 * output.
 */
typedef int ed_merge_sort_fn(void *arg, uint64_t key, const char *data, size_t bytes, bool is_end);

/*
 * Output all lines, each with a line feed. After this, call only ed_merge_sort_free(). Errors: those
 * of the temporary file, for which '*ret_is_disk' is true; those of fn
 */
EDDY_MUST_USE int ed_merge_sort_finish(struct ed_merge_sort *sorter, ed_merge_sort_fn *fn,
                                       void *arg, bool *ret_is_disk);

#endif
