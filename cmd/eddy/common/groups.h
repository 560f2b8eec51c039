/*
 * common/groups.h - counts members of groups, which have numbers as keys. The number of groups is
 * limited; members of further groups are counted together. No I/O.
 */
#ifndef ED_CMD_COMMON_GROUPS_H
#define ED_CMD_COMMON_GROUPS_H

#include <stdint.h>

enum { ED_GROUPS_MAX = 128 };

/* All zero: empty. Callers keep what else they know of a group under its place in 'items'. */
struct ed_groups {
        unsigned count;
        uint64_t members, beyond; /* of all groups; of groups that are not in 'items' */
        struct ed_group {
                uint64_t key, members;
        } items[ED_GROUPS_MAX];
};

/* Returns the place of the group of the new member, or ED_GROUPS_MAX if the group has none. */
unsigned ed_groups_add(struct ed_groups *groups, uint64_t key);

/* Store the places of the groups, the largest first; of equal ones, the first that was added. */
void ed_groups_order(const struct ed_groups *groups, unsigned places[ED_GROUPS_MAX]);

#endif
