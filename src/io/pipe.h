/*
 * io/pipe.h - a stream over this process's end of a pipe, or of a pseudo-terminal.
 */
#ifndef ED_IO_PIPE_H
#define ED_IO_PIPE_H

#include "io/fd_stream.h"

/* A terminal reports its end as -EIO, has no end to shut down, and raises no SIGPIPE. */
enum ed_pipe_kind { ED_PIPE, ED_PIPE_TERMINAL };

/* Make a stream without a descriptor, so that nothing can fail later. Returns NULL without memory. */
eddy_stream *ed_pipe_new(struct ed_loop *loop, enum ed_pipe_kind kind);

/* Attach a non-blocking descriptor, which the stream owns from now on. */
void ed_pipe_attach(eddy_stream *stream, int fd);

#endif
