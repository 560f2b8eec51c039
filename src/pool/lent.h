/*
 * pool/lent.h - the text of a wait for a pool's end, which names the borrowers.
 */
#ifndef ED_POOL_LENT_H
#define ED_POOL_LENT_H

#include "eddy/pool.h"

enum { ED_POOL_LENT_BYTES = 400 };

/* Write "the end of a pool, whose items are lent to TASK at FILE:LINE, ...". */
void ed_pool_lent_text(const eddy_pool *pool, char text[ED_POOL_LENT_BYTES]);

#endif
