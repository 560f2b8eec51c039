/*
 * collect/sample.c - see sample.h.
 */
#include "collect/sample.h"

#include "common/excerpt.h"

void ed_sample_add(struct ed_sample *sample, const char *text, size_t bytes)
{
        if (sample->count < ED_SAMPLE_MAX)
                ed_excerpt_within(sample->texts[sample->count], ED_SAMPLE_TEXT_BYTES, text, bytes);
        sample->count++;
}

void ed_sample_print(const struct ed_sample *sample, struct ed_draft *out)
{
        for (uint64_t i = 0; i < sample->count && i < ED_SAMPLE_MAX; i++) {
                ed_draft_add_str(out, i > 0 ? ", " : "");
                ed_draft_add_str(out, sample->texts[i]);
        }
        if (sample->count > ED_SAMPLE_MAX)
                ed_draft_add_str(out, ", ...");
}
