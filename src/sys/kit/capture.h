/*
 * sys/kit/capture.h - standard output in memory for the duration of a run.
 */
#ifndef ED_SYS_KIT_CAPTURE_H
#define ED_SYS_KIT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Redirect descriptor 1 to a file in memory, after flushing stdout. The process has one capture.
 * Errors: those of memfd_create() and dup2().
 */
int ed_sys_capture_begin(void);

/*
 * Restore descriptor 1, after flushing stdout, and store the first 'bytes' bytes of the output.
 * Returns the size of all output.
 */
int64_t ed_sys_capture_end(char *buf, size_t bytes);

/*
 * Restore descriptor 1 and write the captured output to it, if there is a capture. Safe in signal
 * handlers. Output in stdout's buffer is written as soon as stdout is flushed.
 */
void ed_sys_capture_give_up(void);

#endif
