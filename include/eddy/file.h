/*
 * eddy/file.h - files on disk, without blocking the loop.
 *
 * A read of at most 256 KiB that are in the kernel's cache is done at once.  All other
 * calls run on a thread of the run's own pool (eddy/thread.h) while the task waits.
 *
 *     eddy_file *file;
 *     int err = eddy_file_open("log.txt", EDDY_FILE_APPEND | EDDY_FILE_CREATE, 0, &file);
 *
 *     if (err < 0)
 *             return err;
 *     err = eddy_file_write(file, "started\n", 8);
 *     if (err == 0)
 *             err = eddy_file_sync(file, 0);
 *     eddy_file_close(file);
 *
 * If the task is cancelled while its operation waits for a thread, the operation is
 * dropped.  If the operation already runs, the call waits for its end and returns its
 * result.  Several tasks may use a file at the same time; calls with an offset do not
 * disturb each other.  Only the loop that opened a file may use it.
 *
 * Calls on a NULL file return -EINVAL, unless their comment says otherwise.  For
 * whole files and replacing one see eddy/file_whole.h; for names see eddy/path.h, for
 * folders eddy/folder.h.
 */
#ifndef EDDY_FILE_H
#define EDDY_FILE_H

#include "eddy/def.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

typedef struct eddy_file eddy_file;

enum {
        EDDY_FILE_READ = 1 << 0,
        EDDY_FILE_WRITE = 1 << 1,
        EDDY_FILE_APPEND = 1 << 2,    /* each write goes to the end of the file; implies WRITE */
        EDDY_FILE_CREATE = 1 << 3,    /* make the file if it does not exist */
        EDDY_FILE_NEW = 1 << 4,       /* fail with -EEXIST if it exists; implies CREATE */
        EDDY_FILE_TRUNCATE = 1 << 5,  /* drop the contents; only with WRITE or APPEND */
        EDDY_FILE_NO_FOLLOW = 1 << 6, /* fail with -ELOOP if the last part is a symbolic link */
        EDDY_FILE_LOCK = 1 << 7,      /* fail with -EBUSY while another open has the lock */
};

enum { EDDY_FILE_SLICES_MAX = EDDY_STREAM_SLICES_MAX };

/*
 * Open a file.  'mode' holds the permissions of a new file, which the umask reduces;
 * 0: 0666.  The descriptor is closed on exec.  A FIFO without a peer keeps a thread
 * until the peer opens it.
 *
 * With EDDY_FILE_LOCK the file is locked until it is closed or the process ends, against other
 * opens with this flag, in this program too, and other users of flock(2); opens without
 * the flag are not stopped.  The locked file is the one that 'path' names: if another program
 * removed or replaced the file before the lock was taken, the open begins again.
 *
 * Suspends: yes.
 * Errors: -EINVAL     no flag to read or to write, EDDY_FILE_TRUNCATE without writing or with
 *                     EDDY_FILE_LOCK, an unknown flag, or a mode above 07777
 *         -EBUSY      the file is locked; a file that was made stays
 *         -ENOLCK, -EOPNOTSUPP  the file system has no locks
 *         -ENOENT, -EEXIST, -EACCES, -EISDIR, -ELOOP, -EMFILE and others of open(2)
 *         -EAGAIN     too many operations wait for a thread, or no thread could be made
 *         -ENOMEM
 *         -ECANCELED  the file was not opened
 * Owns: returns (owned) '*ret_file', to be closed by eddy_file_close().
 */
EDDY_API EDDY_MUST_USE int eddy_file_open(const char *path, unsigned flags, uint32_t mode,
                                          eddy_file **ret_file);

/*
 * Make a file without a name in 'folder' (NULL: the folder of TMPDIR, or /tmp), open
 * for reading and writing, mode 0600.  Closing the file removes it.
 *
 * Suspends: yes.
 * Errors: those of eddy_file_open()
 * Owns: returns (owned) '*ret_file'.
 */
EDDY_API EDDY_MUST_USE int eddy_file_temporary(const char *folder, eddy_file **ret_file);

/*
 * Close and free the file.  Written bytes are in the kernel's cache: call
 * eddy_file_sync() first if they must survive a crash of the machine.  No task may
 * be in a call on the file.  NULL is ignored.
 *
 * Suspends: no.  Only a network file system waits here, and a file without a name,
 * whose bytes are freed now.
 */
EDDY_API void eddy_file_close(eddy_file *file);

/*
 * Read at most 'bytes' bytes (at least 1) at the file's position, and advance it.
 * Returns their number, which may be smaller than 'bytes' before the end; 0 is the
 * end of the file.
 *
 * Suspends: yes.
 * Errors: -EBADF      the file is not open for reading
 *         -EINVAL     'bytes' is 0
 *         -EISDIR, -EIO and others of read(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open(); nothing was read
 */
EDDY_API EDDY_MUST_USE int64_t eddy_file_read(eddy_file *file, void *buf, size_t bytes);

/*
 * Like eddy_file_read(), at an offset; the file's position is unchanged.
 *
 * Suspends: yes.
 * Errors: those of eddy_file_read()
 *         -EINVAL  a negative offset
 *         -ESPIPE  the file cannot seek
 */
EDDY_API EDDY_MUST_USE int64_t eddy_file_read_at(eddy_file *file, void *buf, size_t bytes,
                                                 int64_t offset);

/* Memory for a part of a read. */
struct eddy_space {
        void *data;
        size_t bytes;
};

/*
 * Like eddy_file_read_at(), into up to EDDY_FILE_SLICES_MAX pieces of memory, in
 * order.  'offset' -1: at the file's position.
 *
 * Suspends: yes.
 * Errors: those of eddy_file_read_at()
 *         -EINVAL  no bytes, or too many pieces
 */
EDDY_API EDDY_MUST_USE int64_t eddy_file_readv(eddy_file *file, const struct eddy_space *spaces,
                                               size_t n, int64_t offset);

/*
 * Write all 'bytes' bytes at the file's position (with EDDY_FILE_APPEND: at its end),
 * and advance it.  After an error or a cancel, a part of the bytes may be in the file.
 *
 * Suspends: yes.
 * Errors: -EBADF          the file is not open for writing
 *         EDDY_E_FILE_SYNC  an earlier sync of this file failed
 *         -ENOSPC, -EDQUOT, -EFBIG, -EIO and others of write(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
EDDY_API EDDY_MUST_USE int eddy_file_write(eddy_file *file, const void *data, size_t bytes);

/*
 * Like eddy_file_write(), at an offset; the file's position is unchanged.  A file
 * opened with EDDY_FILE_APPEND is written at its end, whatever the offset is.
 *
 * Suspends: yes.
 * Errors: those of eddy_file_write()
 *         -EINVAL  a negative offset
 *         -ESPIPE  the file cannot seek
 */
EDDY_API EDDY_MUST_USE int eddy_file_write_at(eddy_file *file, const void *data, size_t bytes,
                                              int64_t offset);

/*
 * Like eddy_file_write_at(), from up to EDDY_FILE_SLICES_MAX pieces, in order.
 * 'offset' -1: at the file's position.
 *
 * Suspends: yes.
 * Errors: those of eddy_file_write_at()
 *         -EINVAL  too many pieces
 */
EDDY_API EDDY_MUST_USE int eddy_file_writev(eddy_file *file, const struct eddy_slice *slices,
                                            size_t n, int64_t offset);

enum { EDDY_FILE_DATA_ONLY = 1 << 0 }; /* of eddy_file_sync(): do not sync times, as fdatasync(2) */

/*
 * Wait until the written bytes are on the disk.  The name of a new file is on the disk
 * only after eddy_folder_sync() of its folder.
 *
 * An error is final: the kernel may have dropped the bytes, and a second fsync(2)
 * would report success.  Each later write and sync of this file returns
 * EDDY_E_FILE_SYNC, and so does a sync that another task has begun meanwhile.
 *
 * Suspends: yes.
 * Errors: EDDY_E_FILE_SYNC  an earlier sync of this file failed
 *         -EINVAL           an unknown flag
 *         -EIO, -ENOSPC, -EDQUOT and others of fsync(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open(); not synced
 */
EDDY_API EDDY_MUST_USE int eddy_file_sync(eddy_file *file, unsigned flags);

/*
 * Set the file's size: drop the bytes after it, or add zeros.
 *
 * Suspends: yes.
 * Errors: -EINVAL  a negative size, or not open for writing
 *         EDDY_E_FILE_SYNC, -EFBIG, -EIO and others of ftruncate(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
EDDY_API EDDY_MUST_USE int eddy_file_truncate(eddy_file *file, int64_t bytes);

/*
 * Set the file's permissions exactly, whatever the umask.
 *
 * Suspends: yes.
 * Errors: -EINVAL  a mode above 07777
 *         -EPERM, -EROFS and others of fchmod(2)
 *         -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
EDDY_API EDDY_MUST_USE int eddy_file_chmod(eddy_file *file, uint32_t mode);

/*
 * Set the position of the next read or write, from the start of the file.
 *
 * Suspends: no.
 * Errors: -EINVAL  a negative offset
 *         -ESPIPE  the file cannot seek
 */
EDDY_API int eddy_file_seek(eddy_file *file, int64_t offset);

enum eddy_file_kind {
        EDDY_FILE_REGULAR,
        EDDY_FILE_FOLDER,
        EDDY_FILE_LINK, /* a symbolic link */
        EDDY_FILE_OTHER,
};

struct eddy_file_info {
        enum eddy_file_kind kind;
        uint32_t mode; /* permissions, 0 to 07777 */
        uint32_t user, group;
        int64_t bytes;
        int64_t modified_ns; /* since 1970; a time after 2262 is INT64_MAX */
        uint64_t device, inode;
        uint64_t links;
        uintptr_t reserved[4];
};

/*
 * Describe the file.
 *
 * Suspends: yes.
 * Errors: those of fstat(2); -EAGAIN, -ENOMEM, -ECANCELED  as eddy_file_open()
 */
EDDY_API EDDY_MUST_USE int eddy_file_stat(eddy_file *file, struct eddy_file_info *ret_info);

/*
 * Returns the descriptor, or -1 for NULL.  The file owns the descriptor: do not close it.
 *
 * Suspends: no.
 */
EDDY_API int eddy_file_fd(const eddy_file *file);

/*
 * Make a stream that reads and writes at the file's position, for eddy_reader (lines),
 * eddy_stream_copy() and HTTP bodies.  It reads up to 64 KiB ahead.  The file must
 * outlive the stream; closing the stream leaves the file open unless
 * EDDY_FILE_STREAM_OWN is given.  If another task is in a read or a write of the
 * stream then, its operation still uses the file until that call returns.
 *
 * Suspends: no.
 * Errors: -EINVAL  an unknown flag
 *         -ENOMEM
 * Owns: returns (owned) '*ret_stream'.
 */
enum { EDDY_FILE_STREAM_OWN = 1 << 0 };
EDDY_API EDDY_MUST_USE int eddy_file_stream(eddy_file *file, unsigned flags,
                                            eddy_stream **ret_stream);

static inline void eddy_file_auto_release(eddy_file **file)
{
        eddy_file_close(*file);
}

EDDY_END_DECLS

#endif
