/*
 * batch/request/fault.c - see fault.h.
 */
#include "batch/request/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int ed_fault_set(char error[ED_FAULT_BYTES], const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(error, ED_FAULT_BYTES, format, args);
        va_end(args);
        return -EINVAL;
}
