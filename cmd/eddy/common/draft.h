/*
 * common/draft.h - a growing run of bytes in which lines are put together.
 *
 * Appending never fails at once: a text that ran out of memory or over its
 * maximum stays marked, and whoever uses it asks ed_draft_is_whole() once, at
 * the end.
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
        size_t max; /* of bytes; 0: ED_DRAFT_BYTES_MAX */
        bool failed;
};

/* Holds the JSON form of the largest body that --body keeps: six bytes each. */
#define ED_DRAFT_BYTES_MAX ((size_t) 512 << 20)

void ed_draft_fini(struct ed_draft *text);

/* Empty and no longer failed.  Memory is kept, up to 'keep_bytes' of it. */
void ed_draft_reset(struct ed_draft *text, size_t keep_bytes);

static inline bool ed_draft_is_whole(const struct ed_draft *text)
{
        return !text->failed;
}

void ed_draft_add(struct ed_draft *text, const void *data, size_t bytes);
void ed_draft_add_str(struct ed_draft *text, const char *str);
void ed_draft_add_printf(struct ed_draft *text, const char *format, ...) EDDY_PRINTF(2, 3);

/* A number in decimal, much faster than printf. */
void ed_draft_add_u64(struct ed_draft *text, uint64_t value);

/* With commas between groups of three digits, for people. */
void ed_draft_add_grouped(struct ed_draft *text, uint64_t value);

/* Nanoseconds as milliseconds with one decimal: "1000.3". */
void ed_draft_add_ms(struct ed_draft *text, int64_t duration_ns);

/*
 * As a JSON string, quotes included.  Bytes that are no UTF-8 become U+FFFD,
 * so that the result always is.
 */
void ed_draft_add_json(struct ed_draft *text, const void *data, size_t bytes);
void ed_draft_add_json_str(struct ed_draft *text, const char *str);

/* The same where the bytes are UTF-8 text, else {"_base64":"..."}. */
void ed_draft_add_json_body(struct ed_draft *text, const void *data, size_t bytes);

/* Whether it is UTF-8 (RFC 3629: shortest form, no surrogates). */
bool ed_draft_is_utf8(const void *data, size_t bytes);

#endif
