/*
 * sys/above_stdio.h - keeping new descriptors off the numbers of the standard streams.
 *
 * If the program has closed a standard stream, the next descriptor gets its number, and what is
 * written to that stream, such as a report, would go to the file or the peer of the descriptor.
 */
#ifndef ED_SYS_ABOVE_STDIO_H
#define ED_SYS_ABOVE_STDIO_H

#include "base/def.h"

/*
 * Takes the result of a call that makes a descriptor. Returns -errno if the call failed, else the
 * descriptor, moved above the standard streams if another number is free. The descriptor is closed
 * on exec if it was moved.
 */
ED_SHARED int ed_fd_above_stdio(int fd);

#endif
