/*
 * sys/file/path_lock.h - a lock for a path among processes, by a file "PATH.eddy-lock" that exists
 * while the lock is held.
 */
#ifndef ED_SYS_FILE_PATH_LOCK_H
#define ED_SYS_FILE_PATH_LOCK_H

/* Not ".lock": programs often have a lock or a process number of their own in such a file. */
#define ED_PATH_LOCK_END ".eddy-lock"

/*
 * Lock the path of a socket. Never waits. Returns a descriptor for ed_path_unlock().
 *
 * Errors: -EADDRINUSE  another process holds the lock
 *         those of open(2) and flock(2)
 */
int ed_path_lock(const char *path);

/* Remove the file and release the lock. */
void ed_path_unlock(const char *path, int fd);

#endif
