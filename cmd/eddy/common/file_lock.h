/*
 * common/file_lock.h - whether another process has locked a file, as a run locks its output.
 */
#ifndef ED_CMD_COMMON_FILE_LOCK_H
#define ED_CMD_COMMON_FILE_LOCK_H

#include <stdbool.h>

/*
 * Returns true if another process has locked the open file with flock(2). The file is not locked when
 * this returns, but is for a moment: call this once for a file.
 */
bool ed_file_lock_is_held(int fd);

#endif
