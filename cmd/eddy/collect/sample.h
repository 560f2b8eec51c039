/*
 * collect/sample.h - the first of many texts, such as ids and names of files, and the number of all. No
 * I/O.
 */
#ifndef ED_CMD_COLLECT_SAMPLE_H
#define ED_CMD_COLLECT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "common/draft.h"

enum { ED_SAMPLE_MAX = 10, ED_SAMPLE_TEXT_BYTES = 160 };

/* A zeroed sample is empty. */
struct ed_sample {
        uint64_t count;                                  /* of all texts */
        char texts[ED_SAMPLE_MAX][ED_SAMPLE_TEXT_BYTES]; /* printable */
};

/* Add a text, which is shortened. */
void ed_sample_add(struct ed_sample *sample, const char *text, size_t bytes);

/* Append the texts: "a, b, c", or "a, b, ..." if there are more. */
void ed_sample_print(const struct ed_sample *sample, struct ed_draft *out);

#endif
