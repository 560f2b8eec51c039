/*
 * report/causes.c - see causes.h.
 */
#include "report/causes.h"

#include <string.h>

#include "common/excerpt.h"

enum { CAUSES_PRINTED = 10 };

void ed_causes_add(struct ed_draft *text, const struct ed_totals *totals)
{
        unsigned places[ED_GROUPS_MAX];
        uint64_t rest = totals->groups.members;
        unsigned count = totals->groups.count;

        ed_groups_order(&totals->groups, places);
        for (unsigned i = 0; i < count && i < CAUSES_PRINTED; i++) {
                const struct ed_totals_entry *example = &totals->examples[places[i]];
                uint64_t members = totals->groups.items[places[i]].members;
                char id[ED_EXCERPT_BYTES], cause[ED_EXCERPT_BYTES],
                        message[ED_RECORD_MESSAGE_BYTES];

                ed_draft_add_grouped(text, members);
                ed_draft_add_printf(text, " failed: %s, such as %s%s%s\n",
                                    ed_excerpt(cause, example->cause, strlen(example->cause)),
                                    ed_excerpt(id, example->id, strlen(example->id)),
                                    *example->message ? ": " : "",
                                    ed_excerpt_within(message, sizeof(message), example->message,
                                                      strlen(example->message)));
                rest -= members;
        }
        if (rest == 0)
                return;
        ed_draft_add_grouped(text, rest);
        ed_draft_add_printf(text, " failed: %s%u other cause%s\n",
                            totals->groups.beyond > 0 ? "more than " : "", count - CAUSES_PRINTED,
                            count - CAUSES_PRINTED == 1 ? "" : "s");
}
