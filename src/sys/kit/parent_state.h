/*
 * sys/kit/parent_state.h - for sys/kit/process_copies.c: what a copy would change for its parent
 * and for other copies: offsets of open files, and signals.
 */
#ifndef ED_SYS_KIT_PARENT_STATE_H
#define ED_SYS_KIT_PARENT_STATE_H

#include <stdbool.h>

#include "base/def.h"

/* Note the offsets of all open files, and set them again. */
void ed_sys_offsets_note(void);
void ed_sys_offsets_restore(void);

/* Take over the signals of the process, and, in a copy, give them back to the program. */
void ed_sys_signals_take(void);
void ed_sys_signals_return(void);

/* Returns true after a signal that asks the process to end. */
bool ed_sys_is_asked_to_end(void);

#endif
