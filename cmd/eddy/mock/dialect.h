/*
 * mock/dialect.h - the headers and refusals of a vendor's API (vendor/table.h).
 */
#ifndef ED_CMD_MOCK_DIALECT_H
#define ED_CMD_MOCK_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/draft.h"
#include "vendor/table.h"

/* A limit per minute. 'limit' 0: none. */
struct ed_dialect_limit {
        uint64_t limit, left;
        int64_t reset_ns;
};

/* The facts that the values of a dialect may name. */
struct ed_dialect_facts {
        struct ed_dialect_limit requests, tokens;
        int64_t wait_ns;
        int64_t now_ns; /* the time of day */
        const char *id;
};

/* Returns the name of a vendor as the table has it, or NULL. */
const char *ed_dialect_find(const char *name);

/* Append the names of all vendors: "a, b and c". */
void ed_dialect_names(struct ed_draft *text);

/*
 * Append a value or a body of the table, with the facts. Returns false if it names a limit that does
 * not exist.
 */
bool ed_dialect_expand(const char *format, const struct ed_dialect_facts *facts,
                       struct ed_draft *text);

/* Returns true if a header is sent with a refusal; 'refusal' ED_WHEN_ALWAYS: with another answer. */
bool ed_dialect_has(const struct ed_dialect_header *header, const char *vendor,
                    enum ed_when refusal);

/* Returns the refusal of a vendor. */
const struct ed_dialect_refusal *ed_dialect_refusal_of(const char *vendor, enum ed_when when);

#endif
