/*
 * sys/process/shared.h - memory that is shared with worker processes.
 */
#ifndef ED_SYS_PROCESS_SHARED_H
#define ED_SYS_PROCESS_SHARED_H

#include "eddy/process_buffer.h"

/* Returns the descriptor to be sent to a worker; it belongs to the buffer. */
int ed_process_buffer_fd(const eddy_process_buffer *buffer);

#endif
