/*
 * core_eddy.h - what the rows of eddy's side of the core share.
 */
#ifndef CORE_EDDY_H
#define CORE_EDDY_H

#include <eddy/eddy.h>
#include <errno.h>
#include <stdbool.h>

#include "bench.h"

enum { BATCH = 1000 };

struct bench {
        const char *row;
        long count;
        long extra;
        long done;
        long parked;
        int64_t wake_ns;
        struct bench_span span;
        char notes[256];
        eddy_queue there;
        eddy_queue back;
};

/* core_eddy.c */
int row_deadline(struct bench *bench);

/* core_eddy_io.c */
int row_file(struct bench *bench);
int row_echo(struct bench *bench);

/* core_eddy_sync.c */
int row_lock(struct bench *bench);
int row_event(struct bench *bench);
int row_condition(struct bench *bench);
int row_future(struct bench *bench);
int row_generator(struct bench *bench);
int row_select(struct bench *bench);

/* core_switch.c */
int row_switch(struct bench *bench);

/* core_eddy_thread.c */
int row_threadsafe(struct bench *bench);
int row_to_thread(struct bench *bench);
int row_channel(struct bench *bench);
int row_stream(struct bench *bench);

/* core_eddy_many.c */
int row_queue_many(struct bench *bench);
int row_event_many(struct bench *bench);
int row_lock_line(struct bench *bench);
int row_deadline_among(struct bench *bench);
int row_timers_cancel(struct bench *bench);
int row_timers_fire(struct bench *bench);

#endif
