/*
 * sys/file/describe.h - what stat(2) stores as the library describes files.
 */
#ifndef ED_SYS_FILE_DESCRIBE_H
#define ED_SYS_FILE_DESCRIBE_H

#include <sys/stat.h>

#include "eddy/file.h"

enum eddy_file_kind ed_file_kind_of(mode_t mode);
void ed_file_describe(const struct stat *found, struct eddy_file_info *ret_info);

#endif
