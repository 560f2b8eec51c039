/*
 * scope/run_many.h - what a run knows of the other loops of eddy_run_many().
 */
#ifndef ED_SCOPE_RUN_MANY_H
#define ED_SCOPE_RUN_MANY_H

#include <stdbool.h>

struct ed_many;
struct ed_run;

/* Returns true if the main task of each loop must end.  Any thread. */
bool ed_many_is_stopped(const struct ed_many *many);

/* The thread of the run ends before the run does.  The other loops are stopped. */
void ed_many_forsake(struct ed_run *run);

#endif
