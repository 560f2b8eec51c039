/*
 * sys/terminal.c - whether a descriptor is a terminal: isatty(3).
 */
#include "sys/terminal.h"

#include <unistd.h>

bool ed_is_terminal(int fd)
{
        return fd >= 0 && isatty(fd) == 1;
}
