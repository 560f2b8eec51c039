/*
 * scope/generator.h - a run's interface to generators.
 */
#ifndef ED_SCOPE_GENERATOR_H
#define ED_SCOPE_GENERATOR_H

#include "eddy/generator.h"
#include "scope/task.h"

/*
 * Resolves a deadlock that no cancel has resolved: finds a task below 'top' that waits for a
 * generator to clean up, and ends the wait.  Returns false if no task waits like this.
 */
bool ed_generator_seize(struct ed_node *top);

#endif
