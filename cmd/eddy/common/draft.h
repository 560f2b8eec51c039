/*
 * common/draft.h - a growing buffer for building lines.
 *
 * Functions that append do not return errors. If memory is short, or the text exceeds its maximum,
 * the text is marked as failed, and the caller checks ed_draft_is_whole() once, at the end.
 */
#ifndef ED_CMD_COMMON_DRAFT_H
#define ED_CMD_COMMON_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

struct ed_draft {
        char *data;
        size_t bytes;
        size_t room;
        size_t max; /* maximum bytes; 0: ED_DRAFT_BYTES_MAX */
        bool failed;
};

/* Enough for the JSON form of the largest body that --body keeps: up to six bytes per byte. */
#define ED_DRAFT_BYTES_MAX ((size_t) 512 << 20)

void ed_draft_fini(struct ed_draft *text);

/* Empty the text and clear the mark. Keeps up to 'keep_bytes' of memory. */
void ed_draft_reset(struct ed_draft *text, size_t keep_bytes);

static inline bool ed_draft_is_whole(const struct ed_draft *text)
{
        return !text->failed;
}

/*
 * Returns room for 'bytes' more bytes at the end. The caller writes to it, and adds the number of
 * bytes to text->bytes. On failure, marks the text as failed and returns NULL.
 */
char *ed_draft_room(struct ed_draft *text, size_t bytes);

void ed_draft_add(struct ed_draft *text, const void *data, size_t bytes);
void ed_draft_add_str(struct ed_draft *text, const char *str);
void ed_draft_add_printf(struct ed_draft *text, const char *format, ...) EDDY_PRINTF(2, 3);

/* Append a decimal number; much faster than printf. */
void ed_draft_add_u64(struct ed_draft *text, uint64_t value);

enum { ED_GROUPED_BYTES = 27 };

/* Write a number with commas between groups of three digits. Returns its text in 'room'. */
const char *ed_grouped(uint64_t value, char room[ED_GROUPED_BYTES]);

/* Append a number in this form. */
void ed_draft_add_grouped(struct ed_draft *text, uint64_t value);

/* Append nanoseconds as milliseconds with one decimal: "1000.3". */
void ed_draft_add_ms(struct ed_draft *text, int64_t duration_ns);

/*
 * Append a JSON string, including quotes. Bytes that are not UTF-8 become U+FFFD, so the result is
 * always UTF-8.
 */
void ed_draft_add_json(struct ed_draft *text, const void *data, size_t bytes);
void ed_draft_add_json_str(struct ed_draft *text, const char *str);

/* Append a JSON string if the bytes are UTF-8, else {"_base64":"..."}. */
void ed_draft_add_json_body(struct ed_draft *text, const void *data, size_t bytes);

#endif
