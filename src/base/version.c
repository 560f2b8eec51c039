/*
 * base/version.c - which eddy this is.
 */
#include "eddy/version.h"

const char *eddy_version(void)
{
        return EDDY_VERSION;
}
