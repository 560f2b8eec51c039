/*
 * collect/pick.c - see pick.h.
 */
#include "collect/pick.h"

#include <errno.h>
#include <string.h>

enum { KEEP_BYTES = 1 << 20 };

/* Output the line that is held, if there is one. */
static int held_output(struct ed_pick *pick)
{
        struct ed_draft *held = &pick->held;

        if (held->bytes == 0)
                return 0;
        return pick->fn(pick->arg, pick->held_key >> 1, pick->held_key & 1, held->data,
                        held->bytes);
}

/* Take a whole line, with its line feed. */
static int line_hold(struct ed_pick *pick, uint64_t key, const char *line, size_t bytes)
{
        struct ed_draft *held = &pick->held;
        int err = 0;

        if (held->bytes > 0 && key >> 1 != pick->held_key >> 1)
                err = held_output(pick);
        else if (key == pick->held_key && key & 1 && bytes == held->bytes)
                pick->equal += memcmp(line, held->data, bytes) == 0;
        if (err < 0)
                return err;
        ed_draft_reset(held, KEEP_BYTES);
        held->max = ED_DRAFT_BYTES_MAX + 1; /* with the line feed */
        ed_draft_add(held, line, bytes);
        pick->held_key = key;
        return ed_draft_is_whole(held) ? 0 : -ENOMEM;
}

int ed_pick_take(void *arg, uint64_t key, const char *data, size_t bytes, bool is_end)
{
        struct ed_pick *pick = arg;
        struct ed_draft *coming = &pick->coming;
        int err;

        if (coming->bytes == 0 && is_end)
                return line_hold(pick, key, data, bytes);
        coming->max = ED_DRAFT_BYTES_MAX + 1;
        ed_draft_add(coming, data, bytes);
        if (!ed_draft_is_whole(coming))
                return -ENOMEM;
        if (!is_end)
                return 0;
        err = line_hold(pick, key, coming->data, coming->bytes);
        ed_draft_reset(coming, KEEP_BYTES);
        return err;
}

int ed_pick_finish(struct ed_pick *pick)
{
        return held_output(pick);
}

void ed_pick_fini(struct ed_pick *pick)
{
        ed_draft_fini(&pick->coming);
        ed_draft_fini(&pick->held);
}
