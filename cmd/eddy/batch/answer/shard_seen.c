/*
 * batch/answer/shard_seen.c - see shard_seen.h.
 */
#include "batch/answer/shard_seen.h"

#include <string.h>

void ed_shard_seen_add(struct ed_shard_seen *seen, const char *mark)
{
        if (!*seen->mark && seen->others == 0 &&
            ed_shard_mark_parse(mark, &seen->shard, &seen->size))
                memcpy(seen->mark, mark, strlen(mark) + 1);
        else
                seen->others += !*mark || strcmp(mark, seen->mark) != 0;
}

bool ed_shard_seen_is_one(const struct ed_shard_seen *seen)
{
        return *seen->mark && seen->others == 0;
}

bool ed_shard_seen_differs(const struct ed_shard_seen *seen, struct ed_shard shard)
{
        return ed_shard_seen_is_one(seen) &&
               (seen->shard.index != shard.index || seen->shard.count != shard.count);
}

void ed_shard_seen_print(const struct ed_shard_seen *seen, struct ed_draft *out)
{
        ed_draft_add_printf(out, "the output is of shard %u/%u of ", seen->shard.index,
                            seen->shard.count);
        ed_draft_add_grouped(out, seen->size);
        ed_draft_add_str(out, " bytes of requests");
}
