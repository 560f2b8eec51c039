/*
 * draw/model.h - a traced run: events become tasks, scopes, and the states of tasks. No I/O.
 *
 * All arrays are indexed by numbers, and ED_DRAW_NONE means none. A node is a task or a scope; its
 * parent is the scope of the task, or the scope or task around the scope, so parents precede
 * children. The loop (tid 0) is a node of kind ED_DRAW_LOOP if it has events.
 */
#ifndef ED_CMD_DRAW_MODEL_H
#define ED_CMD_DRAW_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "draw/names.h"
#include "draw/table.h"
#include "eddy/def.h"

enum ed_draw_kind {
        ED_DRAW_OTHER, /* of another program; kept only for the nesting */
        ED_DRAW_TASK,
        ED_DRAW_SCOPE,
        ED_DRAW_WAIT,
        ED_DRAW_READY,
        ED_DRAW_WAKE,
        ED_DRAW_CANCEL,
        ED_DRAW_DEADLINE,
        ED_DRAW_DEADLOCK,
        ED_DRAW_IO,
        ED_DRAW_LOOP,
};

/* The number of a member that an event does not have. */
#define ED_DRAW_ABSENT INT64_MIN

struct ed_draw_event {
        char phase;   /* B, E, i, s or f */
        uint8_t kind; /* enum ed_draw_kind */
        bool is_open, is_shield;
        uint32_t line;
        int64_t at_ns;
        int64_t loop, task; /* pid and tid */
        uint32_t name, error, place;
        int64_t result, scope, by, about; /* about: the task of a cancel */
        int64_t bytes, fd;
        uint64_t id;     /* of s and f */
        uint32_t node;   /* the task's node */
        uint32_t what;   /* of B and E: the node of a scope or task, the segment of a wait */
        uint32_t below;  /* of B: the B around it on the same row */
        uint32_t state;  /* of B: the innermost B of a task, wait or ready */
        uint32_t around; /* of B: the innermost B of a scope or task */
};

struct ed_draw_node {
        uint8_t kind;
        bool is_cut;     /* its begin was dropped */
        bool is_open;    /* its end is that of the run */
        bool is_stopped; /* a cancel stopped the task */
        bool is_shield;
        int64_t loop, number;
        uint32_t name, place, error;
        int64_t result;
        uint32_t parent;
        uint32_t owner; /* the task of a scope; of a task: itself */
        uint32_t children;
        uint32_t begin, end;  /* events */
        uint32_t first, last; /* segments */
        uint32_t waits;
};

/* A time in which a task does not change its state: it runs, waits, or is ready. */
enum ed_draw_state { ED_DRAW_RUNS, ED_DRAW_WAITS, ED_DRAW_IS_READY, ED_DRAW_STATES };

struct ed_draw_segment {
        uint8_t state;
        uint32_t begin, end; /* events */
        uint32_t name;       /* of what the task waits for */
        int64_t by, result;  /* of the wait; 'by' 0: the loop */
        uint32_t error;
        uint32_t next; /* of the task */
};

/* An arrow from an event to another. 'from' is ED_DRAW_NONE if it was dropped. */
struct ed_draw_flow {
        uint8_t kind; /* ED_DRAW_WAKE or ED_DRAW_CANCEL */
        uint32_t from, to;
        uint32_t cause; /* the event of the cancel or of the deadline */
};

struct ed_draw_row {
        int64_t loop, task;
        uint32_t name;  /* of the thread_name */
        uint32_t node;  /* the task now */
        uint32_t top;   /* the innermost B that has no E yet */
        uint32_t cause; /* the last cancel or deadline */
        uint32_t last;  /* its last event */
        int64_t last_ns;
};

struct ed_draw_run {
        struct ed_draw_names names;
        struct ed_draw_event *events;
        struct ed_draw_node *nodes;
        struct ed_draw_segment *segments;
        struct ed_draw_flow *flows;
        struct ed_draw_row *rows;
        uint32_t events_count, events_room, nodes_count, nodes_room, segments_count, segments_room;
        uint32_t flows_count, flows_room, rows_count, rows_room;
        uint32_t tasks, scopes, loops;
        int64_t start_ns, end_ns;
        uint64_t dropped;
        bool has_deadlock;
        uint32_t clock; /* a name */
        struct ed_draw_table row_of, scope_of, flow_of, loop_of;
        char fault[200]; /* why an event was refused */
};

void ed_draw_run_fini(struct ed_draw_run *run);

/* Set the name of the row of a task. Errors: -ENOMEM */
EDDY_MUST_USE int ed_draw_run_name(struct ed_draw_run *run, int64_t loop, int64_t task,
                                   uint32_t name);

/*
 * Add an event, in their order.
 *
 * Errors: -EINVAL  and run->fault says why;  -ENOMEM
 */
EDDY_MUST_USE int ed_draw_run_add(struct ed_draw_run *run, const struct ed_draw_event *event);

/* End what has not ended. */
void ed_draw_run_finish(struct ed_draw_run *run);

/* Returns the node of a scope's number, or ED_DRAW_NONE. */
uint32_t ed_draw_run_scope(const struct ed_draw_run *run, int64_t loop, int64_t scope);

/* Returns the node of a task's number, or ED_DRAW_NONE. */
uint32_t ed_draw_run_task(const struct ed_draw_run *run, int64_t loop, int64_t task);

/* Returns the text of a name. */
static inline const char *ed_draw_text(const struct ed_draw_run *run, uint32_t name)
{
        return ed_draw_names_text(&run->names, name);
}

/* Where events are on the axis: at their times, or one after the other. */
struct ed_draw_scale {
        bool is_order;
        double start, end; /* end is above start */
};

static inline double ed_draw_at(const struct ed_draw_scale *scale, const struct ed_draw_run *run,
                                uint32_t event)
{
        return scale->is_order ? event : (double) run->events[event].at_ns;
}

/* Returns the place of an event, from 0 at the start of the axis to 1 at its end. */
static inline double ed_draw_part(const struct ed_draw_scale *scale, const struct ed_draw_run *run,
                                  uint32_t event)
{
        return (ed_draw_at(scale, run, event) - scale->start) / (scale->end - scale->start);
}

#endif
