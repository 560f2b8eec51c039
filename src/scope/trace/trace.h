/*
 * scope/trace/trace.h - timelines: what the tasks of a run did, in a ring of records that becomes a
 * file when the run ends (docs/design/timeline.md).
 *
 * Callers check first that the run is traced, by a flag that they test together with others, so a
 * run that is not traced pays nothing.
 */
#ifndef ED_SCOPE_TRACE_TRACE_H
#define ED_SCOPE_TRACE_TRACE_H

#include "base/hash_table.h"
#include "scope/run_state.h"
#include "scope/scope.h"

enum {
        ED_TRACE_EVENTS = 131072, /* records of a ring, unless EDDY_TRACE_EVENTS says otherwise */
        ED_TRACE_EVENTS_MIN = 1024,
        ED_TRACE_EVENTS_MAX = 1 << 24,
        ED_TRACE_TEXTS = 1024, /* different texts that are kept */
};

struct ed_trace_text {
        struct ed_hash_node node;
        const char *text; /* its address in the program */
        char *copy;       /* owned */
};

enum ed_trace_kind {
        ED_TRACE_START,     /* thing: function; text; place; scope */
        ED_TRACE_NAME,      /* name: given to the task, which is about to end */
        ED_TRACE_READY,     /* by: who made the task ready; number: the result of its wait */
        ED_TRACE_RUN,       /* the task runs */
        ED_TRACE_PARK,      /* text: what it waits for */
        ED_TRACE_END,       /* thing: function; text; number: result */
        ED_TRACE_SCOPE,     /* scope; text: where it began; number: whether it is a shield */
        ED_TRACE_SCOPE_END, /* scope; number: result */
        ED_TRACE_CANCEL,    /* by 'task': of a task (by) or a scope */
        ED_TRACE_STOP,      /* the task was marked by the cancel before */
        ED_TRACE_DEADLINE,  /* scope, of this task, has reached its deadline */
        ED_TRACE_DEADLOCK,  /* of the loop: all tasks wait; of a task: a lock's holder (by) */
        ED_TRACE_ALIVE,     /* as END, of a task that has not ended; place: what it waits for */
        ED_TRACE_IO,        /* text: the call; number: descriptor; bytes: or an error below 0 */
};

struct ed_trace_record {
        int64_t at_ns;
        uint64_t task; /* its row; 0: the loop itself */
        uint8_t kind;  /* enum ed_trace_kind */
        int32_t number;
        union {
                struct {
                        const char *text;
                        union {
                                uint64_t by;
                                const void *thing;
                                int64_t bytes;
                        };
                        const struct ed_scope *scope; /* an address: only to find its begin */
                        const void *place;
                };
                char name[ED_TASK_NAME_BYTES];
        };
};

struct ed_trace {
        struct ed_loop_trace hooks;
        struct ed_run *run;
        int64_t begin_ns;
        int64_t main_ns; /* when main started: 0 in the file; below 0: not yet */
        uint64_t count;  /* records ever made; the newest 'size' of them are kept */
        size_t size;
        char *path;
        unsigned pid;                       /* of the loop in the file */
        const char *clock;                  /* "monotonic", "simulated" */
        bool is_counted;                    /* among the traced runs of the process */
        bool is_watched;                    /* the process has a handler of abort() for it */
        uint64_t supervisor;                /* its task's number */
        const struct ed_sys_socket *socket; /* of the table, below ours */
        const struct ed_sys_datagram *datagram;
        struct ed_sys_socket traced_socket;
        struct ed_sys_datagram traced_datagram;
        struct ed_trace_text texts[ED_TRACE_TEXTS];
        struct ed_hash_table texts_table; /* by address */
        struct ed_trace_record ring[];
};

/*
 * Begins the trace that the options, eddy_trace_file() or the environment request; does nothing if
 * they request none. Errors: -ENOMEM, -EINVAL.
 */
EDDY_MUST_USE int ed_trace_begin(struct ed_run *run);

/* The supervisor exists. */
void ed_trace_supervise(struct ed_run *run);

/* Writes the file, unless the run is not traced, and frees the records.  A failure is reported. */
void ed_trace_end(struct ed_run *run);

/* Writes the file of a run whose tasks have not ended, and keeps the records. */
ED_SHARED void ed_trace_finish(struct ed_run *run);

/*
 * Writes the files of all runs before their end, because the process ends, in copies of the process;
 * 'first' is called there before; NULL: nothing.
 */
ED_SHARED void ed_trace_last_words(void (*first)(void));

/* A run is abandoned: the end of the process writes no file for it. */
void ed_trace_leave(struct ed_run *run);

/* A child of fork() has none of its parent's runs. */
void ed_trace_forget(void);

/* Frees the records of a run that was abandoned, without a file. */
void ed_trace_drop(struct ed_run *run);

/* All tasks wait, and nothing can wake them. */
void ed_trace_deadlock(struct ed_run *run);

void ed_trace_start(struct ed_task *task, const void *place);
void ed_trace_park(struct ed_task *task, const char *waits_for);
void ed_trace_task_end(struct ed_task *task, int result);
void ed_trace_scope_begin(struct ed_scope *scope);
void ed_trace_scope_end(struct ed_scope *scope, int result);
void ed_trace_deadline(struct ed_scope *scope);

/* A node is cancelled; then each node that this marks. */
void ed_trace_cancel(struct ed_node *node);
void ed_trace_stop(struct ed_node *node);

/* A call on a descriptor was made by a task of a traced loop.  'result': bytes, or an error. */
ED_SHARED __attribute__((cold)) void ed_trace_io(struct ed_loop *loop, const char *call, int fd,
                                                 int64_t result);

/* scope/trace/trace_io.c: lets calls of the table record themselves. */
void ed_trace_table_begin(struct ed_trace *trace);

/* scope/trace/trace_ring.c */
char *ed_trace_copy(const char *text); /* NULL: no memory */
const char *ed_trace_keep(struct ed_trace *trace, const char *text);
struct ed_trace_record *ed_trace_add(struct ed_trace *trace, enum ed_trace_kind kind,
                                     uint64_t task);

/* scope/trace/trace_write.c: writes the file.  Errors: -ENOMEM, those of open(2) and write(2). */
EDDY_MUST_USE int ed_trace_write(const struct ed_trace *trace);

#endif
