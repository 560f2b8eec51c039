/*
 * io/file_op.h - doing an operation on a file: at once, on a thread, or by the table.
 */
#ifndef ED_IO_FILE_OP_H
#define ED_IO_FILE_OP_H

#include "sys/file/files.h"

/*
 * Do an operation and return its result. Suspends: yes. Errors: -ECANCELED: not done; -EAGAIN: too
 * many wait for a thread; -ENOMEM; EDDY_E_RUN_NOT_RUNNING; those of the call.
 */
EDDY_MUST_USE int64_t ed_file_do(struct ed_file_op *op);

#endif
