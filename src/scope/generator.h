/*
 * scope/generator.h - what a run needs of its generators.
 */
#ifndef ED_SCOPE_GENERATOR_H
#define ED_SCOPE_GENERATOR_H

#include "eddy/generator.h"
#include "scope/task.h"

/*
 * In a deadlock that no cancel has solved: of the tasks below 'top', let one
 * that waits for a generator to clean up go on without.  False: there is none.
 */
bool ed_generator_seize(struct ed_node *top);

#endif
