/*
 * base/valgrind.h - what Valgrind is told and asked: a few instructions that do
 * nothing anywhere else, if its header was there when the library was built.
 */
#ifndef ED_BASE_VALGRIND_H
#define ED_BASE_VALGRIND_H

#include <stdbool.h>

#ifdef ED_VALGRIND
#include <valgrind/valgrind.h>
#endif

/* Whether the program runs under Valgrind, as far as that can be known. */
static inline bool ed_on_valgrind(void)
{
#ifdef ED_VALGRIND
        return RUNNING_ON_VALGRIND != 0;
#else
        return false;
#endif
}

/* A stack from 'bottom' up to 'top' may be switched to.  Returns its number. */
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

/* What this thread reads between these two is no error. */
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
