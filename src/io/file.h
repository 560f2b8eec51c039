/*
 * io/file.h - the struct of an open file.
 */
#ifndef ED_IO_FILE_H
#define ED_IO_FILE_H

#include "eddy/file.h"
#include "sys/files.h"

struct ed_loop;

struct eddy_file {
        struct ed_loop *loop;
        int fd;
        bool is_lost; /* a sync failed: written bytes may be lost */
};

#endif
