/*
 * base/version.c - the version of eddy.
 */
#include "eddy/version.h"

const char *eddy_version(void)
{
        return EDDY_VERSION;
}
