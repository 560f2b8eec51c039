/*
 * scope/trace/trace_write.c - a ring of records as a file in the trace event format
 * (docs/design/timeline.md).
 *
 * The records of a ring may begin in the middle. A task that started before begins in the file with
 * the first record; its scopes and waits from before have no begin in the file, and so get no end
 * either.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "eddy/version.h"
#include "scope/trace/trace.h"
#include "sys/fault/symbol.h"
#include "sys/output.h"

enum { OUT_BYTES = 65536, EVENT_BYTES = 2048, NAME_BYTES = 256, PLACE_BYTES = 200 };
enum { LATER_MAX = 499 }; /* less than half of a nanosecond */

/* The last time on a row, and how many of its events before had the same. */
struct moment {
        int64_t at_ns;
        int count;
};

/* A task in the file. */
struct row {
        struct ed_hash_node node;
        uint64_t number;
        struct moment last;
        const struct ed_trace_record *function; /* its start or its end */
        const struct ed_trace_record *name;     /* NULL: it has none but its function's */
        uint32_t scopes;                        /* open in the file */
        const char *waits_for;                  /* NULL: it does not wait */
        bool is_begun, is_ready;
        bool is_late;  /* its start was dropped */
        uint8_t first; /* the kind of its first record, if it is late */
};

/* A scope that is open in the file. */
struct open_scope {
        struct ed_hash_node node;
        const struct ed_scope *scope; /* its address, which a later scope may have too */
        uint64_t number;
};

struct writer {
        const struct ed_trace *trace;
        struct row *rows; /* by number */
        size_t rows_count;
        struct ed_hash_table by_number; /* rows */
        struct open_scope *opened;      /* room for all scopes of the trace */
        struct ed_hash_table by_scope;  /* those of 'opened' that are open */
        uint64_t scopes, flows;
        uint64_t cancel_task;                      /* the row of the last cancel */
        const struct ed_trace_record *cancel_held; /* a cancel of the run: not written yet */
        bool is_deadlock;                          /* the next cancel of the run is its end */
        int64_t at_ns;
        struct moment last; /* of the row of the loop */
        struct ed_sys_output output;
        int err;
        size_t used;
        bool is_first;
        char line[EVENT_BYTES]; /* of event() */
        char out[OUT_BYTES];
};

/* --- tables --- */

static struct row *row_of(const struct writer *writer, uint64_t number)
{
        uint64_t hash = ed_hash_number(number);

        ed_hash_each (node, &writer->by_number, hash) {
                struct row *row = ed_container_of(node, struct row, node);

                if (row->number == number)
                        return row;
        }
        return NULL;
}

/* The row of a task: the task of the run itself, which starts main, is part of the loop. */
static uint64_t shown(const struct writer *writer, uint64_t number)
{
        return number == writer->trace->supervisor ? 0 : number;
}

static struct open_scope *scope_of(const struct writer *writer, const struct ed_scope *scope)
{
        uint64_t hash = ed_hash_address(scope);

        ed_hash_each (node, &writer->by_scope, hash) {
                struct open_scope *known = ed_container_of(node, struct open_scope, node);

                if (known->scope == scope)
                        return known;
        }
        return NULL;
}

/* The number of an open scope, or 0: the run's own. */
static uint64_t scope_number(const struct writer *writer, const struct ed_scope *scope)
{
        const struct open_scope *known = scope_of(writer, scope);

        return known ? known->number : 0;
}

static void scope_close(struct writer *writer, const struct ed_scope *scope)
{
        struct open_scope *known = scope_of(writer, scope);

        if (known)
                ed_hash_table_remove(&writer->by_scope, &known->node);
}

/* Returns the number of a scope that begins. The end of one at the same address may be missing. */
static uint64_t scope_open(struct writer *writer, const struct ed_scope *scope)
{
        struct open_scope *known = &writer->opened[writer->scopes++];

        scope_close(writer, scope);
        known->scope = scope;
        known->number = writer->scopes;
        ed_hash_table_add(&writer->by_scope, &known->node, ed_hash_address(scope));
        return known->number;
}

/* --- output --- */

static void flush(struct writer *writer)
{
        size_t done = 0;

        while (done < writer->used && writer->err == 0) {
                int64_t n = ed_sys_write_quietly(writer->output.fd, writer->out + done,
                                                 writer->used - done);

                if (n >= 0)
                        done += (size_t) n;
                else if (n != -EINTR)
                        writer->err = (int) n;
        }
        writer->used = 0;
}

static void put(struct writer *writer, const char *text)
{
        size_t bytes = strlen(text);

        if (writer->used + bytes > sizeof(writer->out))
                flush(writer);
        memcpy(writer->out + writer->used, text, bytes);
        writer->used += bytes;
}

/*
 * Appends text as the contents of a JSON string, cut after 'bytes_max' bytes; control characters
 * and what is not UTF-8 become '?'.
 */
static void quote(struct ed_text *text, const char *raw, size_t bytes_max)
{
        const unsigned char *p = (const unsigned char *) (raw ? raw : "?");
        size_t bytes = strlen((const char *) p), length, done = 0;

        for (; bytes > 0; p += length, bytes -= length) {
                bool is_escaped = *p == '"' || *p == '\\';

                length = ed_utf8_length(p, bytes);
                done += length + is_escaped;
                if (done > bytes_max)
                        return;
                if (length == 0 || *p < ' ' || *p == 0x7f) {
                        ed_text_add(text, "?");
                        length = 1;
                } else {
                        ed_text_add(text, "%s%.*s", is_escaped ? "\\" : "", (int) length,
                                    (const char *) p);
                }
        }
}

/* A place in the program; of a long path the end is kept. */
static void place_add(struct ed_text *text, const char *place)
{
        size_t bytes = strlen(place);

        ed_text_add(text, ",\"place\":\"");
        quote(text, bytes > PLACE_BYTES ? place + bytes - PLACE_BYTES : place, 2 * PLACE_BYTES);
        ed_text_add(text, "\"");
}

/*
 * Returns picoseconds that are added to the time of an event: viewers that sort the events of a row
 * by time then keep their order.
 */
static int later(struct writer *writer, uint64_t task)
{
        struct row *row = row_of(writer, task);
        struct moment *last = row ? &row->last : &writer->last;

        if (last->at_ns != writer->at_ns)
                *last = (struct moment){ writer->at_ns, 0 };
        return last->count < LATER_MAX ? last->count++ : LATER_MAX;
}

/* Writes an event. 'args' is a JSON object, or NULL; 'more' are further members, or "". */
static void event(struct writer *writer, char ph, const char *cat, const char *name, uint64_t task,
                  const char *more, const char *args)
{
        char quoted[2 * NAME_BYTES];
        struct ed_text text = { writer->line, sizeof(writer->line) },
                       string = { quoted, sizeof(quoted) };

        quoted[0] = '\0';
        quote(&string, name, NAME_BYTES);
        ed_text_add(&text, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%llu,\"ts\":%lld.%03d%03d",
                    writer->is_first ? "\n" : ",\n", ph, writer->trace->pid,
                    (unsigned long long) task, (long long) (writer->at_ns / 1000),
                    (int) (writer->at_ns % 1000), later(writer, task));
        if (*name)
                ed_text_add(&text, ",\"name\":\"%s\"", quoted);
        if (*cat)
                ed_text_add(&text, ",\"cat\":\"%s\"", cat);
        ed_text_add(&text, "%s", more);
        if (args)
                ed_text_add(&text, ",\"args\":%s", args);
        ed_text_add(&text, "}");
        writer->is_first = false;
        put(writer, writer->line);
}

static void begin(struct writer *writer, const char *cat, const char *name, uint64_t task,
                  const char *args)
{
        event(writer, 'B', cat, name, task, "", args);
}

static void end(struct writer *writer, const char *cat, const char *name, uint64_t task,
                const char *args)
{
        event(writer, 'E', cat, name, task, "", args);
}

static void flow(struct writer *writer, const char *name, uint64_t id, uint64_t from, uint64_t to)
{
        char more[64];

        snprintf(more, sizeof(more), ",\"id\":%llu", (unsigned long long) id);
        event(writer, 's', name, name, from, more, NULL);
        snprintf(more, sizeof(more), ",\"id\":%llu,\"bp\":\"e\"", (unsigned long long) id);
        event(writer, 'f', name, name, to, more, NULL);
}

static void result_write(char *args, size_t bytes, int result)
{
        struct ed_text text = { args, bytes };

        ed_text_add(&text, "{\"result\":%d", result);
        if (result < 0)
                ed_text_add(&text, ",\"error\":\"%s\"", eddy_error_name(result));
        ed_text_add(&text, "}");
}

/* --- rows --- */

static void row_name(const struct row *row, char *name, size_t bytes)
{
        if (row->name)
                snprintf(name, bytes, "%s", row->name->name);
        else
                ed_sys_function_in(row->function->thing, row->function->text, name, bytes);
}

static void ready_begin(struct writer *writer, struct row *row)
{
        if (!row->is_ready)
                begin(writer, "ready", "ready", row->number, NULL);
        row->is_ready = true;
}

static void ready_end(struct writer *writer, struct row *row)
{
        if (row->is_ready)
                end(writer, "ready", "ready", row->number, NULL);
        row->is_ready = false;
}

/* 'record' is the start; NULL: it was dropped. */
static void row_begin(struct writer *writer, struct row *row, const struct ed_trace_record *record)
{
        char name[ED_TASK_CALLED_BYTES], args[1024], place[96] = "";
        struct ed_text text = { args, sizeof(args) };

        row_name(row, name, sizeof(name));
        ed_text_add(&text, "{\"name\":\"");
        quote(&text, name, NAME_BYTES);
        ed_text_add(&text, "\"}");
        event(writer, 'M', "", "thread_name", row->number, "", args);
        text = (struct ed_text){ args, sizeof(args) };
        ed_text_add(&text, "{\"scope\":%llu%s",
                    (unsigned long long) scope_number(writer, record ? record->scope : NULL),
                    record ? "" : ",\"dropped\":true");
        if (record && record->place) {
                ed_sys_symbol(record->place, place, sizeof(place));
                place_add(&text, place);
        }
        ed_text_add(&text, "}");
        begin(writer, "task", name, row->number, args);
        row->is_begun = true;
        if (record)
                ready_begin(writer, row);
}

/* A task that started before the first record. Its own first record says what it did then. */
static void late_row_begin(struct writer *writer, struct row *row)
{
        row_begin(writer, row, NULL);
        if (row->first == ED_TRACE_RUN)
                ready_begin(writer, row);
        if (row->first == ED_TRACE_READY)
                row->waits_for = "an event whose record was dropped";
        else if (row->first == 0 && row->function->kind == ED_TRACE_ALIVE)
                row->waits_for = row->function->place;
        if (row->waits_for)
                begin(writer, "wait", row->waits_for, row->number, NULL);
}

static void wait_end(struct writer *writer, struct row *row, const struct ed_trace_record *record)
{
        char args[128];
        struct ed_text text = { args, sizeof(args) };

        if (!row->waits_for)
                return;
        ed_text_add(&text, "{\"result\":%d,\"by\":%llu}", record->number,
                    (unsigned long long) shown(writer, record->by));
        end(writer, "wait", row->waits_for, row->number, args);
        row->waits_for = NULL;
        if (row_of(writer, record->by) && record->number != -ECANCELED)
                flow(writer, "wake", ++writer->flows, record->by, row->number);
}

static void on_task_end(struct writer *writer, struct row *row,
                        const struct ed_trace_record *record)
{
        char args[128], name[ED_TASK_CALLED_BYTES];

        result_write(args, sizeof(args), record->number);
        row_name(row, name, sizeof(name));
        end(writer, "task", name, row->number, args);
        row->is_begun = false;
}

static void on_scope(struct writer *writer, struct row *row, const struct ed_trace_record *record)
{
        uint64_t number = scope_open(writer, record->scope);
        char args[1024];
        struct ed_text text = { args, sizeof(args) };

        ed_text_add(&text, "{\"scope\":%llu,\"shield\":%s", (unsigned long long) number,
                    record->number ? "true" : "false");
        if (record->text)
                place_add(&text, record->text);
        ed_text_add(&text, "}");
        begin(writer, "scope", "scope", row->number, args);
        row->scopes++;
}

static void on_scope_end(struct writer *writer, struct row *row,
                         const struct ed_trace_record *record)
{
        char args[128];

        scope_close(writer, record->scope);
        if (row->scopes == 0)
                return;
        result_write(args, sizeof(args), record->number);
        end(writer, "scope", "scope", row->number, args);
        row->scopes--;
}

/* --- what has no row of its own, or needs none --- */

static void mark(struct writer *writer, const char *cat, uint64_t task, const char *args)
{
        event(writer, 'i', cat, cat, task, ",\"s\":\"t\"", args);
}

static void cancel_write(struct writer *writer, const struct ed_trace_record *record)
{
        char args[64];

        writer->cancel_held = NULL;
        if (record->scope)
                snprintf(args, sizeof(args), "{\"scope\":%llu}",
                         (unsigned long long) scope_number(writer, record->scope));
        else
                snprintf(args, sizeof(args), "{\"task\":%llu}", (unsigned long long) record->by);
        mark(writer, "cancel", writer->cancel_task, args);
}

/* The run also cancels its own scopes when it ends: this is written only if it stops a task. */
static void on_cancel(struct writer *writer, const struct ed_trace_record *record)
{
        writer->cancel_task = shown(writer, record->task);
        writer->cancel_held = writer->is_deadlock ? NULL : record;
        writer->is_deadlock = false;
        if (!record->scope || scope_number(writer, record->scope) > 0)
                cancel_write(writer, record);
}

/* A task at the end of its scope continues to wait there. */
static void on_stop(struct writer *writer, const struct row *row)
{
        if (row->waits_for && strcmp(row->waits_for, ED_WAITS_FOR_SCOPE) == 0)
                return;
        if (writer->cancel_held)
                cancel_write(writer, writer->cancel_held);
        flow(writer, "cancel", ++writer->flows, writer->cancel_task, row->number);
}

static void on_io(struct writer *writer, const struct ed_trace_record *record)
{
        char args[128];
        struct ed_text text = { args, sizeof(args) };

        ed_text_add(&text, "{\"fd\":%d,\"bytes\":%lld", record->number,
                    (long long) (record->bytes < 0 ? 0 : record->bytes));
        if (record->bytes < 0)
                ed_text_add(&text, ",\"error\":\"%s\"", eddy_error_name((int) record->bytes));
        ed_text_add(&text, "}");
        event(writer, 'i', "io", record->text, shown(writer, record->task), ",\"s\":\"t\"", args);
}

/* The cancel of the run that follows is not written: the deadlock stops the tasks. */
static void on_deadlock(struct writer *writer, const struct ed_trace_record *record)
{
        char args[64] = "{}";

        if (record->task != 0)
                snprintf(args, sizeof(args), "{\"holder\":%llu}",
                         (unsigned long long) shown(writer, record->by));
        mark(writer, "deadlock", shown(writer, record->task), args);
        writer->is_deadlock = true;
}

static void on_deadline(struct writer *writer, const struct ed_trace_record *record)
{
        char args[64];

        snprintf(args, sizeof(args), "{\"scope\":%llu}",
                 (unsigned long long) scope_number(writer, record->scope));
        mark(writer, "deadline", record->task, args);
}

/* --- records --- */

/* Records of a task that has begun in the file. */
static void on_row(struct writer *writer, struct row *row, const struct ed_trace_record *record)
{
        switch (record->kind) {
        case ED_TRACE_READY:
                wait_end(writer, row, record);
                ready_begin(writer, row);
                break;
        case ED_TRACE_RUN:
                ready_end(writer, row);
                break;
        case ED_TRACE_PARK:
                begin(writer, "wait", record->text, row->number, NULL);
                row->waits_for = record->text;
                break;
        case ED_TRACE_END:
                on_task_end(writer, row, record);
                break;
        case ED_TRACE_SCOPE:
                on_scope(writer, row, record);
                break;
        case ED_TRACE_SCOPE_END:
                on_scope_end(writer, row, record);
                break;
        case ED_TRACE_STOP:
                on_stop(writer, row);
                break;
        default:
                break;
        }
}

static void time_set(struct writer *writer, const struct ed_trace_record *record)
{
        int64_t main_ns = writer->trace->main_ns;

        writer->at_ns = main_ns > 0 ? record->at_ns - main_ns : record->at_ns;
        if (writer->at_ns < 0)
                writer->at_ns = 0;
}

static void on_record(struct writer *writer, const struct ed_trace_record *record)
{
        struct row *row = row_of(writer, record->task);

        time_set(writer, record);
        if (record->kind == ED_TRACE_CANCEL)
                on_cancel(writer, record);
        else if (record->kind == ED_TRACE_IO)
                on_io(writer, record);
        else if (record->kind == ED_TRACE_DEADLOCK && (record->task == 0 || row))
                on_deadlock(writer, record);
        else if (record->kind == ED_TRACE_DEADLINE && row)
                on_deadline(writer, record);
        else if (record->kind == ED_TRACE_START && row)
                row_begin(writer, row, record);
        else if (row && row->is_begun)
                on_row(writer, row, record);
}

static const struct ed_trace_record *record_at(const struct ed_trace *trace, uint64_t i)
{
        return &trace->ring[i % trace->size];
}

static uint64_t first_record(const struct ed_trace *trace)
{
        return trace->count > trace->size ? trace->count - trace->size : 0;
}

static struct row *row_add(struct writer *writer, uint64_t number)
{
        struct row *row = &writer->rows[writer->rows_count++];

        *row = (struct row){ .number = number };
        ed_hash_table_add(&writer->by_number, &row->node, ed_hash_number(number));
        return row;
}

static int rows_compare(const void *a, const void *b)
{
        const struct row *x = a, *y = b;

        return (x->number > y->number) - (x->number < y->number);
}

static void rows_sort(struct writer *writer)
{
        /* The rows move. */
        ed_hash_table_fini(&writer->by_number);
        qsort(writer->rows, writer->rows_count, sizeof(*writer->rows), rows_compare);
        for (size_t i = 0; i < writer->rows_count; i++)
                ed_hash_table_add(&writer->by_number, &writer->rows[i].node,
                                  ed_hash_number(writer->rows[i].number));
}

static bool is_of_row(const struct ed_trace_record *record)
{
        return record->kind == ED_TRACE_START || record->kind == ED_TRACE_NAME ||
               record->kind == ED_TRACE_END || record->kind == ED_TRACE_ALIVE;
}

/* Finds the tasks that start or end in the ring, and their names, which are known at the end. */
static int rows_make(struct writer *writer)
{
        const struct ed_trace *trace = writer->trace;
        uint64_t first = first_record(trace);
        size_t tasks = 0, scopes = 0;

        for (uint64_t i = first; i < trace->count; i++) {
                tasks += is_of_row(record_at(trace, i));
                scopes += record_at(trace, i)->kind == ED_TRACE_SCOPE;
        }
        writer->rows = ed_alloc_debug((tasks + 1) * sizeof(*writer->rows));
        writer->opened = ed_alloc_debug((scopes + 1) * sizeof(*writer->opened));
        if (!writer->rows || !writer->opened)
                return -ENOMEM;
        for (uint64_t i = first; i < trace->count; i++) {
                const struct ed_trace_record *record = record_at(trace, i);
                struct row *row = row_of(writer, record->task);

                if (record->task == trace->supervisor || !is_of_row(record))
                        continue;
                if (!row) {
                        row = row_add(writer, record->task);
                        row->is_late = record->kind != ED_TRACE_START;
                }
                if (record->kind == ED_TRACE_NAME)
                        row->name = record;
                else
                        row->function = record;
        }
        rows_sort(writer);
        for (uint64_t i = trace->count; i-- > first;) {
                const struct ed_trace_record *record = record_at(trace, i);
                struct row *row = row_of(writer, record->task);

                if (row && (record->kind == ED_TRACE_READY || record->kind == ED_TRACE_RUN ||
                            record->kind == ED_TRACE_PARK))
                        row->first = record->kind;
        }
        return 0;
}

static void late_rows_begin(struct writer *writer)
{
        for (size_t i = 0; i < writer->rows_count; i++)
                if (writer->rows[i].is_late)
                        late_row_begin(writer, &writer->rows[i]);
}

/* Ends what has not ended, from the innermost on. */
static void rows_end(struct writer *writer)
{
        static const char open[] = "{\"open\":true}";
        char name[ED_TASK_CALLED_BYTES];

        for (size_t i = 0; i < writer->rows_count; i++) {
                struct row *row = &writer->rows[i];

                if (!row->is_begun)
                        continue;
                ready_end(writer, row);
                if (row->waits_for)
                        end(writer, "wait", row->waits_for, row->number, open);
                for (; row->scopes > 0; row->scopes--)
                        end(writer, "scope", "scope", row->number, open);
                row_name(row, name, sizeof(name));
                end(writer, "task", name, row->number, open);
        }
}

static void write_all(struct writer *writer)
{
        const struct ed_trace *trace = writer->trace;
        uint64_t first = first_record(trace);
        char line[256];

        snprintf(line, sizeof(line),
                 "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"eddy\":\"%s\",\"clock\":\"%s\","
                 "\"events\":%llu,\"dropped\":%llu},\"traceEvents\":[",
                 eddy_version(), trace->clock, (unsigned long long) (trace->count - first),
                 (unsigned long long) first);
        put(writer, line);
        writer->is_first = true;
        event(writer, 'M', "", "process_name", 0, "", "{\"name\":\"eddy\"}");
        event(writer, 'M', "", "thread_name", 0, "", "{\"name\":\"(loop)\"}");
        if (trace->count > first)
                time_set(writer, record_at(trace, first));
        late_rows_begin(writer);
        for (uint64_t i = first; i < trace->count; i++)
                on_record(writer, record_at(trace, i));
        rows_end(writer);
        put(writer, "\n]}\n");
        flush(writer);
}

int ed_trace_write(const struct ed_trace *trace)
{
        struct writer *writer = ed_alloc_debug(sizeof(*writer));
        int err = -ENOMEM;

        if (!writer)
                return err;
        writer->trace = trace;
        writer->by_number.is_debug = writer->by_scope.is_debug = true;
        err = rows_make(writer);
        if (err == 0)
                err = ed_sys_output_open(&writer->output, trace->path);
        if (err == 0) {
                write_all(writer);
                err = ed_sys_output_close(&writer->output, writer->err);
        }
        ed_free(writer->rows);
        ed_free(writer->opened);
        ed_hash_table_fini(&writer->by_number);
        ed_hash_table_fini(&writer->by_scope);
        ed_free(writer);
        return err;
}
