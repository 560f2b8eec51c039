/*
 * fetch/part.h - the part of a body that a run leaves for the next one, if it is killed or stopped: a
 * temporary file, and a note with what a request for the rest needs.
 */
#ifndef ED_CMD_FETCH_PART_H
#define ED_CMD_FETCH_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "common/headers.h"
#include "eddy/http_range.h"
#include "fetch/save.h"

enum { ED_PART_BYTES_MIN = 1 << 20 }; /* smaller parts are not kept for the next run */

/* Returns true if bodies may be continued: with GET, and without conditions and ranges of the user. */
bool ed_part_is_possible(const char *method, const struct ed_headers *headers);

/* Write the note of a file, so that a later run continues it. */
void ed_part_note(struct ed_save_dir_file *file, const char *url,
                  const struct eddy_http_range *range);

/*
 * Find the part that an earlier run has left of this body. Returns its bytes, or 0 if there is none;
 * a part that cannot be continued is removed.
 */
uint64_t ed_part_find(struct ed_save *save, const char *url, uint64_t index,
                      struct ed_save_dir_file *file, struct eddy_http_range *range);

#endif
