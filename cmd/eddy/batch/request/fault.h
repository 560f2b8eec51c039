/*
 * batch/request/fault.h - the sentence about a fault of a line, of an option, or of the first row.
 */
#ifndef ED_CMD_BATCH_REQUEST_FAULT_H
#define ED_CMD_BATCH_REQUEST_FAULT_H

#include "eddy/def.h"

enum { ED_FAULT_BYTES = 320 };

/* Write a sentence; a long one is cut. Returns -EINVAL. */
int ed_fault_set(char error[ED_FAULT_BYTES], const char *format, ...) EDDY_PRINTF(2, 3);

#endif
