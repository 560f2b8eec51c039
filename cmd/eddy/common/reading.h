/*
 * common/reading.h - shows on stderr how far a large file has been read, where nothing else is shown:
 * before a run begins, and after it has ended.
 */
#ifndef ED_CMD_COMMON_READING_H
#define ED_CMD_COMMON_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/show.h"

struct ed_reading {
        const char *path;
        uint64_t total;  /* the bytes of the file; 0: unknown */
        int64_t next_ns; /* the time of the next line */
        bool has_bar;    /* a line is on the terminal */
};

/* Show the files that this process reads from now on. Before this call, nothing is shown. */
void ed_reading_show(const char *command, enum ed_show_mode mode);

/* 'path' is borrowed until ed_reading_end(). */
void ed_reading_begin(struct ed_reading *reading, const char *path, uint64_t total);
/* The number of bytes that have been read. The first line is shown after two seconds. */
void ed_reading_at(struct ed_reading *reading, uint64_t bytes);
void ed_reading_end(struct ed_reading *reading);

#endif
