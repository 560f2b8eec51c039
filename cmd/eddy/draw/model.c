/*
 * draw/model.c - each row of the trace has a stack of events that began; its top is the state.
 */
#include "draw/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "eddy/alloc.h"

#define GROW(run, items)                                                                           \
        ed_draw_grow(&(run)->items, &(run)->items##_room, (run)->items##_count,                    \
                     sizeof(*(run)->items))

void ed_draw_run_fini(struct ed_draw_run *run)
{
        ed_draw_names_fini(&run->names);
        eddy_free(run->events);
        eddy_free(run->nodes);
        eddy_free(run->segments);
        eddy_free(run->flows);
        eddy_free(run->rows);
        ed_draw_table_fini(&run->row_of);
        ed_draw_table_fini(&run->scope_of);
        ed_draw_table_fini(&run->flow_of);
        ed_draw_table_fini(&run->loop_of);
        memset(run, 0, sizeof(*run));
}

EDDY_PRINTF(2, 3)
static int run_refuse(struct ed_draw_run *run, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(run->fault, sizeof(run->fault), format, args);
        va_end(args);
        return -EINVAL;
}

/* ---- rows and nodes ------------------------------------------------------------------------ */

static int row_find(struct ed_draw_run *run, int64_t loop, int64_t task, uint32_t *ret_row)
{
        uint32_t row = ed_draw_table_get(&run->row_of, (uint64_t) loop, (uint64_t) task);

        if (row == ED_DRAW_NONE) {
                row = run->rows_count;
                if (GROW(run, rows) < 0 ||
                    ed_draw_table_set(&run->row_of, (uint64_t) loop, (uint64_t) task, row) < 0)
                        return -ENOMEM;
                run->rows[run->rows_count++] = (struct ed_draw_row){ .loop = loop,
                                                                     .task = task,
                                                                     .node = ED_DRAW_NONE,
                                                                     .top = ED_DRAW_NONE,
                                                                     .cause = ED_DRAW_NONE };
        }
        *ret_row = row;
        return 0;
}

int ed_draw_run_name(struct ed_draw_run *run, int64_t loop, int64_t task, uint32_t name)
{
        uint32_t row;
        int err = row_find(run, loop, task, &row);

        if (err < 0)
                return err;
        run->rows[row].name = name;
        if (run->rows[row].node != ED_DRAW_NONE && run->nodes[run->rows[row].node].name == 0)
                run->nodes[run->rows[row].node].name = name;
        return 0;
}

uint32_t ed_draw_run_scope(const struct ed_draw_run *run, int64_t loop, int64_t scope)
{
        return ed_draw_table_get(&run->scope_of, (uint64_t) loop, (uint64_t) scope);
}

uint32_t ed_draw_run_task(const struct ed_draw_run *run, int64_t loop, int64_t task)
{
        uint32_t row = ed_draw_table_get(&run->row_of, (uint64_t) loop, (uint64_t) task);

        return row == ED_DRAW_NONE ? ED_DRAW_NONE : run->rows[row].node;
}

/* Append a node that begins at the event that is added. */
static int node_add(struct ed_draw_run *run, const struct ed_draw_event *event,
                    enum ed_draw_kind kind, uint32_t parent)
{
        if (GROW(run, nodes) < 0)
                return -ENOMEM;
        if (parent != ED_DRAW_NONE)
                run->nodes[parent].children++;
        run->nodes[run->nodes_count] = (struct ed_draw_node){
                .kind = (uint8_t) kind,
                .loop = event->loop,
                .number = kind == ED_DRAW_SCOPE ? event->scope : event->task,
                .place = event->place,
                .is_shield = event->is_shield,
                .result = ED_DRAW_ABSENT,
                .parent = parent,
                .owner = run->nodes_count,
                .begin = run->events_count,
                .end = ED_DRAW_NONE,
                .first = ED_DRAW_NONE,
                .last = ED_DRAW_NONE,
        };
        run->nodes_count++;
        run->tasks += kind == ED_DRAW_TASK;
        run->scopes += kind == ED_DRAW_SCOPE;
        return 0;
}

/* Make the node of a row whose task began before the first event that was kept, or of the loop. */
static int node_ensure(struct ed_draw_run *run, struct ed_draw_row *row,
                       const struct ed_draw_event *event)
{
        struct ed_draw_event plain = { .loop = event->loop, .task = event->task };

        if (row->node != ED_DRAW_NONE)
                return 0;
        if (node_add(run, &plain, event->task == 0 ? ED_DRAW_LOOP : ED_DRAW_TASK, ED_DRAW_NONE) < 0)
                return -ENOMEM;
        row->node = run->nodes_count - 1;
        run->nodes[row->node].name = row->name;
        run->nodes[row->node].is_cut = true;
        return 0;
}

/* ---- the states of tasks ------------------------------------------------------------------- */

/* End the state of a task at the event that is added. */
static void segment_end(struct ed_draw_run *run, const struct ed_draw_row *row)
{
        uint32_t last = run->nodes[row->node].last;

        if (last != ED_DRAW_NONE && run->segments[last].end == ED_DRAW_NONE)
                run->segments[last].end = run->events_count;
}

/*
 * Returns true if a task becomes ready that has not run since its wait ended, or since it started:
 * these events happen at the same time.
 */
static bool is_never_run(const struct ed_draw_run *run, const struct ed_draw_node *node,
                         uint32_t state)
{
        const struct ed_draw_segment *last;
        const struct ed_draw_event *begun;

        if (node->last == ED_DRAW_NONE || state == ED_DRAW_NONE ||
            run->events[state].kind != ED_DRAW_READY)
                return false;
        last = &run->segments[node->last];
        begun = &run->events[last->begin];
        return last->state == ED_DRAW_RUNS && last->end == run->events_count &&
               begun->at_ns == run->events[run->events_count].at_ns &&
               ((begun->kind == ED_DRAW_WAIT && begun->phase == 'E') ||
                (begun->kind == ED_DRAW_TASK && begun->phase == 'B'));
}

/* Begin the state that the top of the stack says. */
static int segment_begin(struct ed_draw_run *run, const struct ed_draw_row *row)
{
        struct ed_draw_node *node = &run->nodes[row->node];
        uint32_t state = row->top == ED_DRAW_NONE ? ED_DRAW_NONE : run->events[row->top].state;
        struct ed_draw_segment *segment;
        struct ed_draw_event *begun;

        if (node->kind == ED_DRAW_LOOP || node->end != ED_DRAW_NONE ||
            (state == ED_DRAW_NONE && !node->is_cut))
                return 0;
        if (is_never_run(run, node, state)) {
                run->segments[node->last].state = ED_DRAW_IS_READY;
                run->segments[node->last].end = ED_DRAW_NONE;
                return 0;
        }
        if (GROW(run, segments) < 0)
                return -ENOMEM;
        segment = &run->segments[run->segments_count];
        *segment = (struct ed_draw_segment){ .state = ED_DRAW_RUNS,
                                             .begin = run->events_count,
                                             .end = ED_DRAW_NONE,
                                             .by = ED_DRAW_ABSENT,
                                             .result = ED_DRAW_ABSENT,
                                             .next = ED_DRAW_NONE };
        if (state != ED_DRAW_NONE) {
                begun = &run->events[state];
                if (begun->kind == ED_DRAW_WAIT) {
                        segment->state = ED_DRAW_WAITS;
                        segment->name = begun->name;
                        begun->what = run->segments_count;
                } else if (begun->kind == ED_DRAW_READY) {
                        segment->state = ED_DRAW_IS_READY;
                }
        }
        if (node->last == ED_DRAW_NONE)
                node->first = run->segments_count;
        else
                run->segments[node->last].next = run->segments_count;
        node->last = run->segments_count++;
        return 0;
}

static bool is_state(enum ed_draw_kind kind)
{
        return kind == ED_DRAW_TASK || kind == ED_DRAW_WAIT || kind == ED_DRAW_READY;
}

/* ---- events -------------------------------------------------------------------------------- */

/* Returns the scope or task that surrounds a scope that begins on a row. */
static uint32_t parent_of_scope(const struct ed_draw_run *run, const struct ed_draw_row *row)
{
        uint32_t at = row->top == ED_DRAW_NONE ? ED_DRAW_NONE : run->events[row->top].around;

        return at == ED_DRAW_NONE ? row->node : run->events[at].what;
}

static int task_begin(struct ed_draw_run *run, struct ed_draw_row *row, struct ed_draw_event *event)
{
        uint32_t parent = ED_DRAW_NONE;

        if (event->scope > 0)
                parent = ed_draw_run_scope(run, event->loop, event->scope);
        if (node_add(run, event, ED_DRAW_TASK, parent) < 0)
                return -ENOMEM;
        event->what = row->node = run->nodes_count - 1;
        run->nodes[event->what].name = event->name ? event->name : row->name;
        return 0;
}

static int scope_begin(struct ed_draw_run *run, struct ed_draw_row *row,
                       struct ed_draw_event *event)
{
        if (event->scope == ED_DRAW_ABSENT)
                return run_refuse(run, "the begin of a scope has no \"scope\" in its \"args\"");
        if (ed_draw_run_scope(run, event->loop, event->scope) != ED_DRAW_NONE)
                return run_refuse(run, "scope %" PRId64 " begins twice", event->scope);
        if (node_add(run, event, ED_DRAW_SCOPE, parent_of_scope(run, row)) < 0)
                return -ENOMEM;
        event->what = run->nodes_count - 1;
        run->nodes[event->what].owner = row->node;
        return ed_draw_table_set(&run->scope_of, (uint64_t) event->loop, (uint64_t) event->scope,
                                 event->what);
}

static int begin_add(struct ed_draw_run *run, struct ed_draw_row *row, struct ed_draw_event *event)
{
        enum ed_draw_kind kind = event->kind;
        int err = 0;

        if (kind == ED_DRAW_TASK)
                err = task_begin(run, row, event);
        else
                err = node_ensure(run, row, event);
        if (err == 0 && kind == ED_DRAW_SCOPE)
                err = scope_begin(run, row, event);
        if (err < 0)
                return err;
        event->node = row->node;
        event->below = row->top;
        event->state = row->top == ED_DRAW_NONE ? ED_DRAW_NONE : run->events[row->top].state;
        event->around = row->top == ED_DRAW_NONE ? ED_DRAW_NONE : run->events[row->top].around;
        if (is_state(kind))
                event->state = run->events_count;
        if (kind == ED_DRAW_TASK || kind == ED_DRAW_SCOPE)
                event->around = run->events_count;
        if (kind == ED_DRAW_WAIT)
                run->nodes[row->node].waits++;
        run->events[run->events_count] = *event;
        row->top = run->events_count;
        if (is_state(kind)) {
                segment_end(run, row);
                err = segment_begin(run, row);
        }
        return err;
}

static const char *kind_word(enum ed_draw_kind kind)
{
        static const char *const words[] = {
                [ED_DRAW_OTHER] = "another event", [ED_DRAW_TASK] = "a task",
                [ED_DRAW_SCOPE] = "a scope",       [ED_DRAW_WAIT] = "a wait",
                [ED_DRAW_READY] = "a ready",       [ED_DRAW_WAKE] = "a wake",
                [ED_DRAW_CANCEL] = "a cancel",     [ED_DRAW_DEADLINE] = "a deadline",
                [ED_DRAW_DEADLOCK] = "a deadlock", [ED_DRAW_IO] = "an I/O call",
                [ED_DRAW_LOOP] = "the loop",
        };

        return words[kind];
}

static void node_end(struct ed_draw_run *run, uint32_t at, const struct ed_draw_event *event)
{
        struct ed_draw_node *node = &run->nodes[at];

        node->end = run->events_count;
        node->result = event->result;
        node->error = event->error;
        node->is_open = event->is_open;
}

static int end_add(struct ed_draw_run *run, struct ed_draw_row *row, struct ed_draw_event *event)
{
        struct ed_draw_event *begun = row->top == ED_DRAW_NONE ? NULL : &run->events[row->top];
        struct ed_draw_segment *segment;

        if (!begun)
                return run_refuse(run, "%s of task %" PRId64 " ends but did not begin",
                                  kind_word(event->kind), event->task);
        if (event->kind == ED_DRAW_OTHER)
                event->kind = begun->kind;
        if (event->kind != begun->kind)
                return run_refuse(
                        run, "%s of task %" PRId64 " ends inside %s, which began in line %u",
                        kind_word(event->kind), event->task, kind_word(begun->kind), begun->line);
        event->node = row->node;
        event->what = begun->what;
        if (event->name == ED_DRAW_NAMELESS)
                event->name = begun->name;
        if (event->kind == ED_DRAW_SCOPE)
                event->scope = begun->scope;
        run->events[run->events_count] = *event;
        row->top = begun->below;
        if (event->kind == ED_DRAW_TASK || event->kind == ED_DRAW_SCOPE)
                node_end(run, event->what, event);
        if (event->kind == ED_DRAW_WAIT && event->what != ED_DRAW_NONE) {
                segment = &run->segments[event->what];
                segment->by = event->by;
                segment->result = event->result;
                segment->error = event->error;
        }
        if (!is_state(event->kind))
                return 0;
        segment_end(run, row);
        return segment_begin(run, row);
}

/* Join the two ends of an arrow. The end of an arrow whose begin was dropped stops a task too. */
static int flow_add(struct ed_draw_run *run, const struct ed_draw_event *event)
{
        uint32_t from, cause;

        if (event->phase == 's')
                return ed_draw_table_set(&run->flow_of, event->kind, event->id, run->events_count);
        from = ed_draw_table_get(&run->flow_of, event->kind, event->id);
        if (event->kind == ED_DRAW_CANCEL)
                run->nodes[event->node].is_stopped = true;
        else if (from == ED_DRAW_NONE)
                return 0;
        if (GROW(run, flows) < 0)
                return -ENOMEM;
        cause = from == ED_DRAW_NONE ? ED_DRAW_NONE : run->events[from].what;
        run->flows[run->flows_count++] =
                (struct ed_draw_flow){ event->kind, from, run->events_count, cause };
        return 0;
}

static int point_add(struct ed_draw_run *run, struct ed_draw_row *row, struct ed_draw_event *event)
{
        int err = node_ensure(run, row, event);

        if (err < 0)
                return err;
        event->node = row->node;
        if (event->phase == 'i' &&
            (event->kind == ED_DRAW_CANCEL || event->kind == ED_DRAW_DEADLINE ||
             event->kind == ED_DRAW_DEADLOCK))
                row->cause = run->events_count;
        run->has_deadlock |= event->kind == ED_DRAW_DEADLOCK;
        event->what = event->phase == 's' ? row->cause : ED_DRAW_NONE;
        run->events[run->events_count] = *event;
        /* A task whose begin was dropped runs until its first wait. */
        if (run->nodes[row->node].is_cut && run->nodes[row->node].first == ED_DRAW_NONE)
                err = segment_begin(run, row);
        if (err == 0 && event->phase != 'i')
                err = flow_add(run, event);
        return err;
}

int ed_draw_run_add(struct ed_draw_run *run, const struct ed_draw_event *source)
{
        struct ed_draw_event event = *source;
        struct ed_draw_row *row;
        uint32_t at;
        int err;

        if (GROW(run, events) < 0 || row_find(run, event.loop, event.task, &at) < 0)
                return -ENOMEM;
        row = &run->rows[at];
        if (ed_draw_table_get(&run->loop_of, (uint64_t) event.loop, 0) == ED_DRAW_NONE) {
                if (ed_draw_table_set(&run->loop_of, (uint64_t) event.loop, 0, run->loops) < 0)
                        return -ENOMEM;
                run->loops++;
        }
        if (event.at_ns < row->last_ns)
                return run_refuse(run,
                                  "its time is before that of an earlier event of task %" PRId64,
                                  event.task);
        row->last_ns = event.at_ns;
        event.what = event.below = event.state = ED_DRAW_NONE;
        if (event.phase == 'B')
                err = begin_add(run, row, &event);
        else if (event.phase == 'E')
                err = end_add(run, row, &event);
        else
                err = point_add(run, row, &event);
        if (err < 0)
                return err;
        if (run->events_count == 0 || event.at_ns < run->start_ns)
                run->start_ns = event.at_ns;
        if (run->events_count == 0 || event.at_ns > run->end_ns)
                run->end_ns = event.at_ns;
        run->rows[at].last = run->events_count++;
        return 0;
}

void ed_draw_run_finish(struct ed_draw_run *run)
{
        uint32_t last = run->events_count ? run->events_count - 1 : 0;

        /* The end of a task whose begin was dropped is not in the file. */
        for (uint32_t i = 0; i < run->rows_count; i++) {
                const struct ed_draw_row *row = &run->rows[i];

                if (row->node != ED_DRAW_NONE && run->nodes[row->node].is_cut)
                        run->nodes[row->node].end = row->last;
        }
        for (uint32_t i = 0; i < run->nodes_count; i++) {
                struct ed_draw_node *node = &run->nodes[i];

                if (node->end == ED_DRAW_NONE) {
                        node->end = last;
                        node->is_open = true;
                }
                if (node->last != ED_DRAW_NONE && run->segments[node->last].end == ED_DRAW_NONE)
                        run->segments[node->last].end = node->end;
        }
        if (run->dropped == 0 && run->start_ns > 0)
                run->start_ns = 0;
}
