/*
 * sys/random_bytes.h - random bytes of the kernel: a function of the table.
 */
#ifndef ED_SYS_RANDOM_BYTES_H
#define ED_SYS_RANDOM_BYTES_H

#include "sys/sys.h"

/* Does not fail. */
void ed_random_bytes(struct ed_sys *sys, void *buf, size_t bytes);

#endif
