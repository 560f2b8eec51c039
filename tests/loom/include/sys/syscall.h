/*
 * sys/syscall.h - in place of the system's: of all its calls the search knows the
 * futex, whose word is looked at and slept on in one step, and the write to an
 * eventfd.
 */
#ifndef LOOM_SYS_SYSCALL_H
#define LOOM_SYS_SYSCALL_H

#include_next <sys/syscall.h>

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/eventfd.h"

/* Wait while the word has a value, to the end if there is one; or wake who waits.  One thread waits. */
long loom_futex(_Atomic uint32_t *word, int op, uint32_t value, const void *timeout);

/* A wake of the futex has as many arguments as a write: the number tells them apart. */
#define LOOM_WAKE_OR_WRITE(number, to, op, value)                                                  \
        ((number) == SYS_write ? loom_event_write()                                                \
                               : loom_futex((_Atomic uint32_t *) (uintptr_t) (to),                 \
                                            (int) (uintptr_t) (op), (uint32_t) (value), NULL))
#define LOOM_FUTEX_WAIT(number, word, op, value, time) loom_futex(word, op, value, time)
#define LOOM_SYSCALL(a, b, c, d, e, name, ...)         name
#define syscall(...)                                   LOOM_SYSCALL(__VA_ARGS__, LOOM_FUTEX_WAIT, LOOM_WAKE_OR_WRITE, 0)(__VA_ARGS__)

#endif
