/*
 * base/valgrind.h - requests to Valgrind: a few instructions without effect elsewhere, compiled in
 * if Valgrind's header was present at build time.
 */
#ifndef ED_BASE_VALGRIND_H
#define ED_BASE_VALGRIND_H

#include <stdbool.h>

#ifdef ED_VALGRIND
#include <valgrind/valgrind.h>
#endif

/* Returns true if the program is known to run under Valgrind. */
static inline bool ed_on_valgrind(void)
{
#ifdef ED_VALGRIND
        return RUNNING_ON_VALGRIND != 0;
#else
        return false;
#endif
}

/* Register the stack from 'bottom' to 'top'. Returns its number. */
static inline unsigned ed_valgrind_stack_add(const void *bottom, const void *top)
{
        (void) bottom;
        (void) top;
#ifdef ED_VALGRIND
        return VALGRIND_STACK_REGISTER(bottom, top);
#else
        return 0;
#endif
}

static inline void ed_valgrind_stack_remove(unsigned number)
{
        (void) number;
#ifdef ED_VALGRIND
        VALGRIND_STACK_DEREGISTER(number);
#endif
}

/* Valgrind ignores errors of this thread's reads between these two calls. */
static inline void ed_valgrind_look_begin(void)
{
#ifdef ED_VALGRIND
        VALGRIND_DISABLE_ERROR_REPORTING;
#endif
}

static inline void ed_valgrind_look_end(void)
{
#ifdef ED_VALGRIND
        VALGRIND_ENABLE_ERROR_REPORTING;
#endif
}

#endif
