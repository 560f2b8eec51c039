/*
 * sys/terminal.h - whether a descriptor is a terminal.
 */
#ifndef ED_SYS_TERMINAL_H
#define ED_SYS_TERMINAL_H

#include <stdbool.h>

/* Returns false for a descriptor below 0. */
bool ed_is_terminal(int fd);

#endif
