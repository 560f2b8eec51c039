/*
 * sys/thread/exceptions.h - the exceptions that C++ code on this thread handles.
 *
 * A C++ runtime keeps two words per thread (Itanium C++ ABI, exception handling, 2.2.2): the chain
 * of caught exceptions whose handlers are still running, and the number of exceptions thrown but
 * not caught. Each stack needs its own two words.
 */
#ifndef ED_SYS_THREAD_EXCEPTIONS_H
#define ED_SYS_THREAD_EXCEPTIONS_H

#include "base/def.h"

/* Same layout as __cxa_eh_globals in the ABI. */
struct ed_exceptions {
        void *caught;
        unsigned uncaught;
};

/*
 * Returns the words of the calling thread, or NULL if no C++ runtime is loaded. Takes about a
 * microsecond.
 */
struct ed_exceptions *ed_sys_exceptions(void);

#endif
