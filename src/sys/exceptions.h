/*
 * sys/exceptions.h - the exceptions that C++ code on this thread handles.
 *
 * A C++ runtime keeps two words for a thread (Itanium C++ ABI, exception
 * handling, 2.2.2): the chain of exceptions that have been caught and whose
 * handlers have not ended, and how many have been thrown and not caught.  Each
 * stack needs its own.
 */
#ifndef ED_SYS_EXCEPTIONS_H
#define ED_SYS_EXCEPTIONS_H

#include "base/def.h"

/* As __cxa_eh_globals of the ABI. */
struct ed_exceptions {
        void *caught;
        unsigned uncaught;
};

/*
 * Those of the calling thread; NULL: no C++ runtime is loaded.  Takes a
 * microsecond or so.
 */
struct ed_exceptions *ed_sys_exceptions(void);

#endif
