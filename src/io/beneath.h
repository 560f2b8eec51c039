/*
 * io/beneath.h - opens files beneath a folder; no name can lead outside the folder. The folder is a
 * descriptor, which several loops may share.
 */
#ifndef ED_IO_BENEATH_H
#define ED_IO_BENEATH_H

#include "sys/file/files.h"

/*
 * Open the folder, inside or outside of a run. May wait for a disk.
 *
 * Suspends: no.
 * Errors: those of open(2)
 * Owns: returns a descriptor, to be closed by ed_beneath_close().
 */
ED_SHARED EDDY_MUST_USE int ed_beneath_begin(const char *path);
ED_SHARED void ed_beneath_close(int folder);

/*
 * Open a regular file for reading, and describe the file. 'path' is relative to the folder; 'flags'
 * are ED_BENEATH_NO_LINKS or 0.
 *
 * Suspends: yes.
 * Errors: those of ED_FILE_OPEN_BENEATH and eddy_file_open()
 * Owns: returns (owned) '*ret_file'.
 */
ED_SHARED EDDY_MUST_USE int ed_beneath_file(int folder, const char *path, unsigned flags,
                                            struct eddy_file_info *ret_info, eddy_file **ret_file);

/* Open a folder, to list its names; otherwise as ed_beneath_file(). */
ED_SHARED EDDY_MUST_USE int ed_beneath_folder(int folder, const char *path, unsigned flags,
                                              eddy_folder **ret_folder);

#endif
