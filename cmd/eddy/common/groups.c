/*
 * common/groups.c - few groups, in a list.
 */
#include "common/groups.h"

unsigned ed_groups_add(struct ed_groups *groups, uint64_t key)
{
        unsigned place = 0;

        groups->members++;
        while (place < groups->count && groups->items[place].key != key)
                place++;
        if (place == ED_GROUPS_MAX) {
                groups->beyond++;
                return ED_GROUPS_MAX;
        }
        if (place == groups->count)
                groups->items[groups->count++] = (struct ed_group){ .key = key };
        groups->items[place].members++;
        return place;
}

void ed_groups_order(const struct ed_groups *groups, unsigned places[ED_GROUPS_MAX])
{
        for (unsigned i = 0; i < groups->count; i++) {
                uint64_t members = groups->items[i].members;
                unsigned at = i;

                for (; at > 0 && groups->items[places[at - 1]].members < members; at--)
                        places[at] = places[at - 1];
                places[at] = i;
        }
}
