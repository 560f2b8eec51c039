/*
 * sys/file/describe.h - converts the result of stat(2) to a struct eddy_file_info.
 */
#ifndef ED_SYS_FILE_DESCRIBE_H
#define ED_SYS_FILE_DESCRIBE_H

#include <sys/stat.h>

#include "eddy/file.h"

enum eddy_file_kind ed_file_kind_of(mode_t mode);
void ed_file_describe(const struct stat *found, struct eddy_file_info *ret_info);

#endif
