/*
 * common/reading.h - how far a large file has been read, while nothing else is shown: before a run
 * begins, and after it has ended.
 */
#ifndef ED_CMD_COMMON_READING_H
#define ED_CMD_COMMON_READING_H

#include <stdint.h>

struct ed_reading {
        const char *path;
        uint64_t total;  /* the bytes of the file; 0: unknown */
        int64_t next_ns; /* the time of the next call of show() */
};

/* Watches the files that this process reads. */
struct ed_reading_watch {
        void (*show)(const struct ed_reading *reading, uint64_t bytes);
        void (*end)(void);
        int64_t interval_ns; /* between two calls of show(); the first one comes after two seconds */
};

/* Watch the files from now on. 'watch' is borrowed until the next call; NULL: none, as at the start */
void ed_reading_watch(const struct ed_reading_watch *watch);

/* 'path' is borrowed until ed_reading_end(). */
void ed_reading_begin(struct ed_reading *reading, const char *path, uint64_t total);
/* The number of bytes that have been read. */
void ed_reading_at(struct ed_reading *reading, uint64_t bytes);
void ed_reading_end(void);

#endif
