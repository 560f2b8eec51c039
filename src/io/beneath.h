/*
 * io/beneath.h - files beneath a folder, which no name leads out of. The folder is a descriptor, which
 * several loops may use.
 */
#ifndef ED_IO_BENEATH_H
#define ED_IO_BENEATH_H

#include "sys/file/files.h"

/*
 * Open the folder. May wait for a disk, also outside of a run.
 *
 * Suspends: no.
 * Errors: those of open(2)
 * Owns: returns a descriptor, to be closed by ed_beneath_close().
 */
ED_SHARED EDDY_MUST_USE int ed_beneath_begin(const char *path);
ED_SHARED void ed_beneath_close(int folder);

/*
 * Open a regular file to read and describe it. 'path' is relative to the folder, 'flags' are
 * ED_BENEATH_NO_LINKS or 0.
 *
 * Suspends: yes.
 * Errors: those of ED_FILE_OPEN_BENEATH and eddy_file_open()
 * Owns: returns (owned) '*ret_file'.
 */
ED_SHARED EDDY_MUST_USE int ed_beneath_file(int folder, const char *path, unsigned flags,
                                            struct eddy_file_info *ret_info, eddy_file **ret_file);

/* Open a folder, to list the names in it. The same. */
ED_SHARED EDDY_MUST_USE int ed_beneath_folder(int folder, const char *path, unsigned flags,
                                              eddy_folder **ret_folder);

#endif
