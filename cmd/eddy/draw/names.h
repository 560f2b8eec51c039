/*
 * draw/names.h - the texts of a trace, each stored once. No I/O.
 */
#ifndef ED_CMD_DRAW_NAMES_H
#define ED_CMD_DRAW_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash_map.h"
#include "eddy/def.h"

/* Bytes of a text with its NUL; a longer text is cut and ends in an ellipsis. */
enum { ED_DRAW_NAME_BYTES = 200 };

/* The number of the empty text. */
#define ED_DRAW_NAMELESS 0u

struct ed_draw_name;

/* Zeroed names hold only the empty text. */
struct ed_draw_names {
        struct ed_draw_name **list; /* each text but the empty one, by number */
        uint32_t count, list_room;
        struct ed_hash_map map;
};

void ed_draw_names_fini(struct ed_draw_names *names);

/*
 * Store a text, and return its number. NULs become spaces.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_draw_names_add(struct ed_draw_names *names, const char *text, size_t bytes,
                                    uint32_t *ret_number);

/* Returns the text of a number. */
const char *ed_draw_names_text(const struct ed_draw_names *names, uint32_t number);

#endif
