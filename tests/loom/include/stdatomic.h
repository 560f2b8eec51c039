/*
 * stdatomic.h - in place of the compiler's: each operation is a scheduling
 * point of the search (dfs.h).
 *
 * One before each, and one more after those that write, so that what a thread
 * does between two operations is one with neither.
 */
#ifndef LOOM_STDATOMIC_H
#define LOOM_STDATOMIC_H

#include_next <stdatomic.h>

#include "dfs.h"

#undef atomic_init
#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or

/* The type of what an atomic object holds. */
#define LOOM_VALUE(object) __typeof__((void) 0, *(object))

/* Store 'next', made of loom_old and loom_value; the value before. */
#define LOOM_CHANGE(object, value, next)                                                           \
        ({                                                                                         \
                LOOM_VALUE(object) loom_value = (LOOM_VALUE(object))(value), loom_old;             \
                                                                                                   \
                dfs_point();                                                                       \
                loom_old = *(object);                                                              \
                *(object) = (LOOM_VALUE(object))(next);                                            \
                dfs_write();                                                                       \
                dfs_point();                                                                       \
                loom_old;                                                                          \
        })

/* No other thread has it yet. */
#define atomic_init(object, value) ((void) (*(object) = (value)))

#define atomic_load(object)             (dfs_point(), *(object))
#define atomic_store(object, value)     ((void) LOOM_CHANGE(object, value, loom_value))
#define atomic_exchange(object, value)  LOOM_CHANGE(object, value, loom_value)
#define atomic_fetch_add(object, value) LOOM_CHANGE(object, value, loom_old + loom_value)
#define atomic_fetch_sub(object, value) LOOM_CHANGE(object, value, loom_old - loom_value)
#define atomic_fetch_or(object, value)  LOOM_CHANGE(object, value, loom_old | loom_value)

#define atomic_compare_exchange_strong(object, expected, value)                                    \
        ({                                                                                         \
                bool loom_same;                                                                    \
                                                                                                   \
                dfs_point();                                                                       \
                loom_same = *(object) == *(expected);                                              \
                if (loom_same)                                                                     \
                        *(object) = (value);                                                       \
                else                                                                               \
                        *(expected) = *(object);                                                   \
                dfs_write();                                                                       \
                dfs_point();                                                                       \
                loom_same;                                                                         \
        })

#define atomic_load_explicit(object, order)             atomic_load(object)
#define atomic_store_explicit(object, value, order)     atomic_store(object, value)
#define atomic_exchange_explicit(object, value, order)  atomic_exchange(object, value)
#define atomic_fetch_add_explicit(object, value, order) atomic_fetch_add(object, value)
#define atomic_fetch_sub_explicit(object, value, order) atomic_fetch_sub(object, value)

#endif
