/*
 * eddy/file_whole.h - whole files: reading one into memory, writing one, replacing one
 * so that a crash leaves the former or the new contents.
 *
 *     char *text;
 *     size_t bytes;
 *     int err = eddy_file_read_whole("config.json", 1 << 20, &text, &bytes);
 *
 *     if (err < 0)
 *             return err;
 *     ...
 *     eddy_free(text);
 */
#ifndef EDDY_FILE_WHOLE_H
#define EDDY_FILE_WHOLE_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/*
 * Read a file into memory, followed by a NUL that 'ret_bytes' does not count.  A file
 * that cannot report its size (/proc, a pipe) is read to its end.
 *
 * Suspends: yes.
 * Errors: EDDY_E_FILE_TOO_LARGE  more than 'bytes_max' bytes
 *         -ENOMEM
 *         those of eddy_file_open() and eddy_file_read()
 * Owns: returns (owned) '*ret_data', to be freed by eddy_free().
 */
EDDY_API EDDY_MUST_USE int eddy_file_read_whole(const char *path, size_t bytes_max, char **ret_data,
                                                size_t *ret_bytes);

/*
 * Write a file: make it if it does not exist, and drop its former contents.  'mode' is
 * as in eddy_file_open().  A crash or an error can leave a part of the contents;
 * eddy_file_replace() cannot.
 *
 * Suspends: yes.
 * Errors: those of eddy_file_open() and eddy_file_write()
 */
EDDY_API EDDY_MUST_USE int eddy_file_write_whole(const char *path, const void *data, size_t bytes,
                                                 uint32_t mode);

/*
 * Replace a file's contents, or make the file: write a temporary file in the same
 * folder, sync it, rename it, and sync the folder.  Readers and a crash of the machine
 * see the former or the new contents, never a mixture.  After a return of 0 the new
 * contents survive a crash.
 *
 * The new file has the permissions 'mode'; 0: those of the former file, or 0666 less
 * the umask.  It is a new inode: owner, hard links and extended attributes are not
 * kept.  A symbolic link, a FIFO or a device at 'path' is replaced itself.
 *
 * Suspends: yes.  After a cancel the call still removes its temporary file or, if it
 * has renamed that, syncs the folder; the wait for a thread is at most 5 s.
 * Errors: -ECANCELED  the file is unchanged
 *         -EINVAL     an empty path, or a mode above 07777
 *         those of eddy_file_open(), eddy_file_write() and eddy_file_sync(): the file is
 *         unchanged
 *         those of eddy_path_rename(): the file is unchanged
 *         those of eddy_folder_sync(): the file has the new contents, but a crash can
 *         still restore the former contents
 */
EDDY_API EDDY_MUST_USE int eddy_file_replace(const char *path, const void *data, size_t bytes,
                                             uint32_t mode);

EDDY_END_DECLS

#endif
