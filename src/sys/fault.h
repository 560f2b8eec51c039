/*
 * sys/fault.h - faults in the guards of stacks.
 *
 * Dispositions are the process's: those of before are put back when the last
 * loop that wanted the handler has ended.
 */
#ifndef ED_SYS_FAULT_H
#define ED_SYS_FAULT_H

#include <stdbool.h>

/*
 * Call 'fn' in the signal handler of a fault, on the faulting thread, on a
 * stack of its own; true: the fault was in a guard and has been told of, and
 * the process dies of it; false: the former handler has it.
 */
typedef bool ed_fault_fn(const void *address);
/* For the calling thread; of several that are installed there, the last is called.  Errors: -ENOMEM. */
int ed_sys_fault_install(ed_fault_fn *fn);
void ed_sys_fault_remove(void);

/* In a child of fork(): it has none of the loops of its parent. */
void ed_sys_fault_forget(void);

#endif
