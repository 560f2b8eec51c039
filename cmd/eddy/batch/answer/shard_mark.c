/*
 * batch/answer/shard_mark.c - see shard_mark.h.
 */
#include "batch/answer/shard_mark.h"

#include <stdio.h>
#include <string.h>

void ed_shard_mark_print(struct ed_shard shard, uint64_t size, char mark[ED_SHARD_MARK_BYTES])
{
        snprintf(mark, ED_SHARD_MARK_BYTES, "%u/%u of %llu bytes", shard.index, shard.count,
                 (unsigned long long) size);
}

/* Find the mark, a text. */
static bool mark_find(const struct ed_answer_seen *seen, struct eddy_json_value *ret_value)
{
        return seen->meta.kind == EDDY_JSON_OBJECT &&
               eddy_json_get(&seen->meta, "shard", ret_value) == 0 &&
               ret_value->kind == EDDY_JSON_STRING;
}

enum ed_shard_mark ed_shard_mark_compare(const struct ed_answer_seen *seen, const char *mark)
{
        char seen_mark[ED_SHARD_MARK_BYTES]; /* another program may write it with escapes */
        struct eddy_json_value value;

        if (!mark_find(seen, &value))
                return ED_SHARD_MARK_NONE;
        return eddy_json_string(&value, seen_mark, sizeof(seen_mark)) >= 0 &&
                               strcmp(seen_mark, mark) == 0
                       ? ED_SHARD_MARK_SAME
                       : ED_SHARD_MARK_OTHER;
}

void ed_shard_mark_read(const struct ed_answer_seen *seen, char mark[ED_SHARD_MARK_BYTES])
{
        struct eddy_json_value value;

        if (!mark_find(seen, &value) || eddy_json_string(&value, mark, ED_SHARD_MARK_BYTES) < 0)
                *mark = '\0';
}

bool ed_shard_mark_parse(const char *mark, struct ed_shard *ret_shard, uint64_t *ret_size)
{
        const char *of = strchr(mark, ' ');
        char head[ED_SHARD_MARK_BYTES], whole[ED_SHARD_MARK_BYTES];
        struct ed_shard shard;
        unsigned long long size;

        if (!of || (size_t) (of - mark) >= sizeof(head) ||
            sscanf(of, " of %20llu bytes", &size) != 1)
                return false;
        memcpy(head, mark, (size_t) (of - mark));
        head[of - mark] = '\0';
        if (!ed_shard_read(head, &shard))
                return false;
        ed_shard_mark_print(shard, size, whole);
        if (strcmp(mark, whole) != 0)
                return false;
        *ret_shard = shard;
        *ret_size = size;
        return true;
}
