/*
 * co/depth.h - how deep a stack has been used; only for debug mode.
 *
 * A stack that is new or was cleared contains zeros below the part in use, so the deepest byte that
 * was written is the lowest one that is not zero.  An array that was only filled with zeros is not
 * detected, unless its function called another.
 */
#ifndef ED_CO_DEPTH_H
#define ED_CO_DEPTH_H

#include "co/stack.h"

/*
 * Returns the distance from the top of a stack, which holds its task, to the deepest byte that was
 * used since the stack was cleared, with a precision of 16 bytes.  Reads the whole stack.
 */
size_t ed_stack_depth(const struct ed_stack *stack);

/*
 * Returns true if the kilobyte below 'depth' was written to.  Reads only that kilobyte, so it is
 * cheap.
 */
bool ed_stack_is_deeper(const struct ed_stack *stack, size_t depth);

/* Clears the running stack, which has been used 'depth' bytes deep, below the caller's frame. */
void ed_stack_clear(struct ed_stack *stack, size_t depth);

#endif
