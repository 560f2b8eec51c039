/*
 * draw/read.c - JSON to events.
 */
#include "draw/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/draft.h"
#include "common/excerpt.h"
#include "eddy/json.h"

/* Three years, in microseconds. */
#define AT_MAX_US 1e14

/* The largest number of a loop, a task or a scope. */
#define NUMBER_MAX ((int64_t) 1 << 53)

/* The state of reading a file. */
struct reader {
        struct ed_draw_run *run;
        const char *counted; /* line feeds before this place are counted */
        uint32_t line;
        struct ed_draft text; /* of a string whose escapes are converted */
        char *fault;
};

/* The members of an event, as written. */
struct members {
        struct eddy_json_value cat, ph, name, at, loop, task, id, args;
};

EDDY_PRINTF(2, 3)
static int reader_refuse(struct reader *reader, const char *format, ...)
{
        va_list args;
        int n = snprintf(reader->fault, ED_DRAW_FAULT_BYTES, "line %" PRIu32 ": ", reader->line);

        va_start(args, format);
        vsnprintf(reader->fault + n, ED_DRAW_FAULT_BYTES - (size_t) n, format, args);
        va_end(args);
        return -EINVAL;
}

/* Make messages name the line of a place in the text. */
static void line_count(struct reader *reader, const char *place)
{
        const char *feed;

        while (reader->counted < place &&
               (feed = memchr(reader->counted, '\n', (size_t) (place - reader->counted)))) {
                reader->line++;
                reader->counted = feed + 1;
        }
        reader->counted = place;
}

/* Store a text; half of a surrogate pair has no UTF-8, so such a text keeps its escapes. */
static int name_read(struct reader *reader, const struct eddy_json_value *value, uint32_t *ret_name)
{
        char *room;
        int64_t bytes;

        if (value->kind != EDDY_JSON_STRING)
                return 0;
        ed_draft_reset(&reader->text, 4096);
        room = ed_draft_room(&reader->text, value->bytes);
        if (!room)
                return -ENOMEM;
        bytes = eddy_json_string(value, room, value->bytes);
        if (bytes < 0)
                return ed_draw_names_add(&reader->run->names, value->text + 1, value->bytes - 2,
                                         ret_name);
        return ed_draw_names_add(&reader->run->names, room, (size_t) bytes, ret_name);
}

/* Read a number of a loop, task or scope, which has to be there. */
static int number_read(struct reader *reader, const struct eddy_json_value *value, const char *name,
                       int64_t *ret_number)
{
        char shown[ED_EXCERPT_BYTES];

        if (value->kind == EDDY_JSON_NONE)
                return reader_refuse(reader, "an event has no \"%s\"", name);
        if (eddy_json_int64(value, ret_number) < 0 || *ret_number < 0 || *ret_number > NUMBER_MAX)
                return reader_refuse(reader, "\"%s\" is %s, not a number from 0 to 2^53", name,
                                     ed_excerpt(shown, value->text, value->bytes));
        return 0;
}

static int at_read(struct reader *reader, const struct eddy_json_value *value, int64_t *ret_ns)
{
        char shown[ED_EXCERPT_BYTES];
        double at_us;

        if (value->kind == EDDY_JSON_NONE)
                return reader_refuse(reader, "an event has no \"ts\"");
        if (eddy_json_double(value, &at_us) < 0 || !(at_us >= 0) || at_us > AT_MAX_US)
                return reader_refuse(reader, "\"ts\" is %s, not microseconds from 0 to 1e14",
                                     ed_excerpt(shown, value->text, value->bytes));
        *ret_ns = (int64_t) (at_us * 1000 + 0.5);
        return 0;
}

static void members_read(const struct eddy_json_value *event, struct members *members)
{
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;

        memset(members, 0, sizeof(*members));
        if (eddy_json_walk(event, &cursor) < 0)
                return;
        while (eddy_json_next(&cursor, &name, &value)) {
                if (eddy_json_is(&name, "ph"))
                        members->ph = value;
                else if (eddy_json_is(&name, "cat"))
                        members->cat = value;
                else if (eddy_json_is(&name, "name"))
                        members->name = value;
                else if (eddy_json_is(&name, "ts"))
                        members->at = value;
                else if (eddy_json_is(&name, "pid"))
                        members->loop = value;
                else if (eddy_json_is(&name, "tid"))
                        members->task = value;
                else if (eddy_json_is(&name, "id"))
                        members->id = value;
                else if (eddy_json_is(&name, "args"))
                        members->args = value;
        }
}

/* Store a number that may be absent. Values of other types count as absent. */
static void optional_read(const struct eddy_json_value *value, int64_t *ret_number)
{
        int64_t number;

        if (eddy_json_int64(value, &number) == 0 && number > ED_DRAW_ABSENT)
                *ret_number = number;
}

static int args_read(struct reader *reader, const struct eddy_json_value *args,
                     struct ed_draw_event *event)
{
        struct eddy_json_value name, value;
        struct eddy_json_cursor cursor;
        int err = 0;

        event->result = event->scope = event->by = event->about = ED_DRAW_ABSENT;
        event->bytes = event->fd = ED_DRAW_ABSENT;
        if (args->kind != EDDY_JSON_OBJECT || eddy_json_walk(args, &cursor) < 0)
                return 0;
        while (err == 0 && eddy_json_next(&cursor, &name, &value)) {
                if (eddy_json_is(&name, "scope"))
                        optional_read(&value, &event->scope);
                else if (eddy_json_is(&name, "task"))
                        optional_read(&value, &event->about);
                else if (eddy_json_is(&name, "result"))
                        optional_read(&value, &event->result);
                else if (eddy_json_is(&name, "by"))
                        optional_read(&value, &event->by);
                else if (eddy_json_is(&name, "holder"))
                        optional_read(&value, &event->by);
                else if (eddy_json_is(&name, "fd"))
                        optional_read(&value, &event->fd);
                else if (eddy_json_is(&name, "bytes"))
                        optional_read(&value, &event->bytes);
                else if (eddy_json_is(&name, "error"))
                        err = name_read(reader, &value, &event->error);
                else if (eddy_json_is(&name, "place"))
                        err = name_read(reader, &value, &event->place);
                else if (eddy_json_is(&name, "open"))
                        event->is_open = value.kind == EDDY_JSON_BOOL && *value.text == 't';
                else if (eddy_json_is(&name, "shield"))
                        event->is_shield = value.kind == EDDY_JSON_BOOL && *value.text == 't';
        }
        return err;
}

static enum ed_draw_kind kind_read(const struct eddy_json_value *cat)
{
        static const struct {
                const char *word;
                enum ed_draw_kind kind;
        } kinds[] = { { "task", ED_DRAW_TASK },
                      { "scope", ED_DRAW_SCOPE },
                      { "wait", ED_DRAW_WAIT },
                      { "ready", ED_DRAW_READY },
                      { "wake", ED_DRAW_WAKE },
                      { "cancel", ED_DRAW_CANCEL },
                      { "deadline", ED_DRAW_DEADLINE },
                      { "deadlock", ED_DRAW_DEADLOCK },
                      { "io", ED_DRAW_IO } };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (eddy_json_is(cat, kinds[i].word))
                        return kinds[i].kind;
        return ED_DRAW_OTHER;
}

/* Returns the phase, or 0 for an event that is not drawn. */
static char phase_of(const struct eddy_json_value *ph, enum ed_draw_kind kind)
{
        char phase = ph->bytes == 3 ? ph->text[1] : '\0';
        bool is_span = kind == ED_DRAW_OTHER || kind == ED_DRAW_TASK || kind == ED_DRAW_SCOPE ||
                       kind == ED_DRAW_WAIT || kind == ED_DRAW_READY;

        switch (phase) {
        case 'M':
                return 'M';
        case 'B':
        case 'E':
                return is_span ? phase : '\0';
        case 's':
        case 'f':
                return kind == ED_DRAW_WAKE || kind == ED_DRAW_CANCEL ? phase : '\0';
        case 'i':
        case 'I':
                return kind == ED_DRAW_CANCEL || kind == ED_DRAW_DEADLINE ||
                                       kind == ED_DRAW_DEADLOCK || kind == ED_DRAW_IO
                               ? 'i'
                               : '\0';
        default:
                return '\0';
        }
}

/* Read the name of a row. */
static int meta_read(struct reader *reader, const struct members *members)
{
        struct eddy_json_value name;
        uint32_t number = ED_DRAW_NAMELESS;
        int64_t loop, task;
        int err;

        if (!eddy_json_is(&members->name, "thread_name") ||
            eddy_json_get(&members->args, "name", &name) < 0)
                return 0;
        err = number_read(reader, &members->loop, "pid", &loop);
        if (err == 0)
                err = number_read(reader, &members->task, "tid", &task);
        if (err == 0)
                err = name_read(reader, &name, &number);
        return err < 0 ? err : ed_draw_run_name(reader->run, loop, task, number);
}

static int id_read(struct reader *reader, const struct eddy_json_value *id, uint64_t *ret_id)
{
        uint32_t name = ED_DRAW_NAMELESS;

        if (id->kind == EDDY_JSON_NONE)
                return reader_refuse(reader, "an arrow has no \"id\"");
        if (eddy_json_uint64(id, ret_id) == 0)
                return 0;
        /* Other writers use strings. */
        if (name_read(reader, id, &name) < 0)
                return -ENOMEM;
        *ret_id = (uint64_t) 1 << 63 | name;
        return 0;
}

static int event_read(struct reader *reader, const struct eddy_json_value *value)
{
        struct ed_draw_event event = { 0 };
        struct members members;
        int err;

        if (value->kind != EDDY_JSON_OBJECT)
                return reader_refuse(reader, "an event is not an object");
        members_read(value, &members);
        if (members.ph.kind != EDDY_JSON_STRING)
                return reader_refuse(reader, "an event has no \"ph\"");
        event.kind = (uint8_t) kind_read(&members.cat);
        event.phase = phase_of(&members.ph, event.kind);
        if (event.phase == '\0')
                return 0;
        if (event.phase == 'M')
                return meta_read(reader, &members);
        event.line = reader->line;
        err = number_read(reader, &members.loop, "pid", &event.loop);
        if (err == 0)
                err = number_read(reader, &members.task, "tid", &event.task);
        if (err == 0)
                err = at_read(reader, &members.at, &event.at_ns);
        if (err == 0)
                err = name_read(reader, &members.name, &event.name);
        if (err == 0)
                err = args_read(reader, &members.args, &event);
        if (err == 0 && (event.phase == 's' || event.phase == 'f'))
                err = id_read(reader, &members.id, &event.id);
        if (err == 0 && reader->run->events_count == ED_DRAW_EVENTS_MAX)
                return reader_refuse(reader,
                                     "more than %d events; trace with a smaller "
                                     "EDDY_TRACE_EVENTS",
                                     ED_DRAW_EVENTS_MAX);
        if (err == 0) {
                err = ed_draw_run_add(reader->run, &event);
                if (err == -EINVAL)
                        reader_refuse(reader, "%s", reader->run->fault);
        }
        return err;
}

/* Read "otherData". */
static int other_read(struct reader *reader, const struct eddy_json_value *top)
{
        struct eddy_json_value value;

        if (eddy_json_get(top, "otherData.dropped", &value) == 0 &&
            eddy_json_uint64(&value, &reader->run->dropped) < 0)
                reader->run->dropped = 0;
        if (eddy_json_get(top, "otherData.clock", &value) == 0)
                return name_read(reader, &value, &reader->run->clock);
        return 0;
}

static int events_read(struct reader *reader, const struct eddy_json_value *top)
{
        struct eddy_json_value events = *top, event;
        struct eddy_json_cursor cursor;
        int err = 0;

        if (top->kind == EDDY_JSON_OBJECT && eddy_json_get(top, "traceEvents", &events) < 0)
                return reader_refuse(reader, "the object has no \"traceEvents\"; name a file that "
                                             "EDDY_TRACE=FILE wrote");
        if (events.kind != EDDY_JSON_ARRAY || eddy_json_walk(&events, &cursor) < 0)
                return reader_refuse(reader, "\"traceEvents\" is not an array");
        if (top->kind == EDDY_JSON_OBJECT)
                err = other_read(reader, top);
        while (err == 0 && eddy_json_next(&cursor, NULL, &event)) {
                line_count(reader, event.text);
                err = event_read(reader, &event);
        }
        if (err == 0 && reader->run->tasks == 0)
                return reader_refuse(reader, "the trace has no tasks");
        return err;
}

int ed_draw_read(struct ed_draw_run *run, const char *text, size_t bytes,
                 char fault[ED_DRAW_FAULT_BYTES])
{
        struct reader reader = { .run = run, .counted = text, .line = 1, .fault = fault };
        struct eddy_json_value top;
        struct eddy_json_error error;
        int err;

        if (eddy_json_parse(text, bytes, NULL, &top, &error) < 0) {
                snprintf(fault, ED_DRAW_FAULT_BYTES, "%s", error.text);
                return -EINVAL;
        }
        err = events_read(&reader, &top);
        ed_draft_fini(&reader.text);
        if (err == 0)
                ed_draw_run_finish(run);
        return err;
}
