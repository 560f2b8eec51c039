/*
 * co/depth.h - how deep a stack has been used: for debug mode only.
 *
 * A stack that was never used, or was cleared since, holds zeros below what
 * is in use.  So the deepest place that something was stored in is the lowest
 * byte that is not zero.  An array that nobody stored anything but zeros in
 * is not seen, unless its function called another.
 */
#ifndef ED_CO_DEPTH_H
#define ED_CO_DEPTH_H

#include "co/stack.h"

/*
 * From the top of a stack, which begins with its task, to the deepest place
 * that was used since it was cleared; to 16 bytes.  Reads the whole stack.
 */
size_t ed_stack_depth(const struct ed_stack *stack);

/*
 * Whether something was stored within a kilobyte below 'depth'.  Reads that
 * much, which is what makes it cheap.
 */
bool ed_stack_is_deeper(const struct ed_stack *stack, size_t depth);

/*
 * Clear the running stack, which has been used 'depth' bytes deep, below the
 * caller.
 */
void ed_stack_clear(struct ed_stack *stack, size_t depth);

#endif
