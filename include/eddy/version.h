/*
 * eddy/version.h - the version of eddy.
 */
#ifndef EDDY_VERSION_H
#define EDDY_VERSION_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

#define EDDY_VERSION_MAJOR 0
#define EDDY_VERSION_MINOR 3
#define EDDY_VERSION_PATCH 0
#define EDDY_VERSION       "0.3.0"

/* The version of the library in use, "0.3.0".  Suspends: no.  Threads: any. */
EDDY_API const char *eddy_version(void);

EDDY_END_DECLS

#endif
