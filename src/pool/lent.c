/*
 * pool/lent.c - the text of a wait for a pool's end, which names the borrowers.
 */
#include "pool/lent.h"

#include "base/text.h"

enum { NAMED_MAX = 4 };

void ed_pool_lent_text(const eddy_pool *pool, char text[ED_POOL_LENT_BYTES])
{
        struct eddy_pool_borrower borrowers[NAMED_MAX];
        uint32_t count = eddy_pool_borrowers(pool, borrowers, NAMED_MAX);
        uint32_t named = count < NAMED_MAX ? count : NAMED_MAX;
        struct ed_text out = { text, ED_POOL_LENT_BYTES };

        ed_text_add(&out, "the end of a pool");
        for (uint32_t i = 0; i < named; i++)
                ed_text_add(&out, "%s%s at %s", i == 0 ? ", whose items are lent to " : ", ",
                            borrowers[i].task, borrowers[i].place);
        if (count > named)
                ed_text_add(&out, " and %u more", count - named);
}
