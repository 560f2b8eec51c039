/*
 * sys/fault/fault.h - faults in the guards of stacks.
 *
 * Signal handlers belong to the process: the former ones are restored when the last loop that
 * wanted the handler has ended.
 */
#ifndef ED_SYS_FAULT_FAULT_H
#define ED_SYS_FAULT_FAULT_H

#include <stdbool.h>

/*
 * Called in the signal handler of a fault, on the faulting thread, on the alternate stack. Returns
 * true if the fault was in a guard and has been reported; the process then dies of the signal.
 * Returns false to call the former handler.
 */
typedef bool ed_fault_fn(const void *address);
/* Install 'fn' for the calling thread; the last function installed is called. Errors: -ENOMEM. */
int ed_sys_fault_install(ed_fault_fn *fn);
void ed_sys_fault_remove(void);

/* Call in a child of fork(), which has none of its parent's loops. */
void ed_sys_fault_forget(void);

#endif
