/*
 * sys/eventfd.h - in place of the system's: one eventfd, to be waited for in
 * the search as an edge-triggered poller does it.
 */
#ifndef LOOM_SYS_EVENTFD_H
#define LOOM_SYS_EVENTFD_H

#include_next <sys/eventfd.h>

#include <stdbool.h>
#include <unistd.h>

enum { LOOM_EVENT_FD = 1000 };

/* Whether it was written to since it was taken. */
extern bool loom_event_written;

int loom_event_write(void);
/* Wait for a write if there was none, and take it. */
void loom_event_wait(void);

#define eventfd(count, flags) ((void) (count), (void) (flags), (int) LOOM_EVENT_FD)
#define close(fd)             ((void) (fd))

#endif
