/*
 * disk_calls.h - the system's calls on files, on a simulated disk.
 *
 * A test that is linked with --wrap for these calls has names that begin with "/sim/" on the disk of
 * sim/disk.h; all others are real. Every change of the disk is recorded, so that the disk can be
 * made again as it was after each of them.
 */
#ifndef ED_TEST_DISK_CALLS_H
#define ED_TEST_DISK_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/disk.h"

#define DISK_FOLDER "/sim"

enum disk_op_kind { DISK_MAKE, DISK_WRITE, DISK_TRUNCATE, DISK_SYNC, DISK_RENAME, DISK_REMOVE };

enum { DISK_NAME_BYTES = 48 };

struct disk_op {
        enum disk_op_kind kind;
        uint64_t node; /* its number: the same in every disk on which the same was done */
        uint64_t offset;
        size_t bytes;
        char *data;
        char name[DISK_NAME_BYTES], to[DISK_NAME_BYTES];
};

struct disk_log {
        struct disk_op *ops;
        size_t count, room;
};

extern struct ed_disk disk;

/* Make an empty disk in place of the present one, and close all files on it. */
void disk_make(void);

/* Record the changes from now on; NULL: do not. */
void disk_record(struct disk_log *log);
void disk_log_free(struct disk_log *log);

/* Make the first 'count' changes of a log again. */
void disk_replay(const struct disk_log *log, size_t count);

/* Crash, and return in one of the states that this can leave. Closes all files. */
uint64_t disk_crash(void);
void disk_enter(uint64_t state);

/* Returns the file, or NULL; 'name' without the folder. */
const struct ed_disk_node *disk_file(const char *name);
/* Returns the name of a file, or NULL. */
const char *disk_name(uint64_t node);

/*
 * Let a call fail: the one after 'calls' others that change the disk, and if 'forever' all later
 * ones. 'calls' -1: none.
 */
void disk_fail(long calls, int error, bool forever);
/* Returns the kinds of the calls that failed since then: a bit for each enum disk_op_kind. */
int disk_failed(void);

/* Returns the descriptors that are open. */
int disk_open_count(void);

#endif
