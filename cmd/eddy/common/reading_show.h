/*
 * common/reading_show.h - shows on stderr how far a large file has been read.
 */
#ifndef ED_CMD_COMMON_READING_SHOW_H
#define ED_CMD_COMMON_READING_SHOW_H

#include "common/show.h"

/* Show the files that this process reads from now on. Before this call, nothing is shown. */
void ed_reading_show(const char *command, enum ed_show_mode mode);

#endif
