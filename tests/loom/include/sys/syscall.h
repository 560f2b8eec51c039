/*
 * sys/syscall.h - in place of the system's: of all its calls the futex is known
 * to the search, whose word is looked at and slept on in one step.
 */
#ifndef LOOM_SYS_SYSCALL_H
#define LOOM_SYS_SYSCALL_H

#include_next <sys/syscall.h>

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>

/* Wait while the word has a value, to the end if there is one; or wake who waits.  One thread waits. */
long loom_futex(_Atomic uint32_t *word, int op, uint32_t value, const void *timeout);

#define LOOM_FUTEX_WAKE(number, word, op, value)       loom_futex(word, op, value, NULL)
#define LOOM_FUTEX_WAIT(number, word, op, value, time) loom_futex(word, op, value, time)
#define LOOM_SYSCALL(a, b, c, d, e, name, ...)         name
#define syscall(...)                                   LOOM_SYSCALL(__VA_ARGS__, LOOM_FUTEX_WAIT, LOOM_FUTEX_WAKE, 0)(__VA_ARGS__)

#endif
