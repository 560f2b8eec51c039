/*
 * wire/field_errors.c - a list of errors. Each entry has one piece of memory for its steps, path,
 * message and names, which begins with the steps.
 */
#include "wire/field_errors.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "wire/json.h"

enum { INDEX_BYTES = 22 /* of "[18446744073709551615]" */ };

/* The bytes that an entry needs. */
struct room {
        size_t steps, path, message, names;
};

bool ed_field_errors_has_room(const struct eddy_field_errors *errors)
{
        return errors->count < (errors->max ? errors->max : EDDY_FIELD_ERRORS_DEFAULT);
}

static struct room measure(const struct ed_field_place *place, const char *message)
{
        struct room room = { .path = 1, .message = strlen(message) + 1 };

        for (; place; place = place->up) {
                room.steps += (place->has_index ? 2 : 1) * sizeof(struct eddy_field_step);
                room.path += place->name_bytes + 1 + (place->has_index ? INDEX_BYTES : 0);
                room.names += place->name_bytes + 1;
        }
        return room;
}

/* Write the name without the escapes of JSON, if it can be a C string then. */
static void copy_name(const struct ed_field_place *place, char *out)
{
        /* An escaped name is between its quotes. */
        struct eddy_json_value quoted = { place->name - place->is_escaped, place->name_bytes + 2,
                                          EDDY_JSON_STRING };
        int64_t bytes = -1;

        if (place->is_escaped)
                bytes = eddy_json_string(&quoted, out, place->name_bytes + 1);
        if (bytes >= 0 && memchr(out, '\0', (size_t) bytes) == NULL)
                return;
        memcpy(out, place->name, place->name_bytes);
        out[place->name_bytes] = '\0';
}

/* From the last step to the first. */
static void copy_steps(const struct ed_field_place *place, struct eddy_field_step *end, char *names)
{
        for (; place; place = place->up) {
                if (place->has_index)
                        *--end = (struct eddy_field_step){ .index = place->index };
                copy_name(place, names);
                *--end = (struct eddy_field_step){ .name = names };
                names += place->name_bytes + 1;
        }
}

/* The list has room for a power of two. */
static int make_room(struct eddy_field_errors *errors)
{
        size_t count = errors->count;
        void *list;

        if (count > 0 && (count & (count - 1)) != 0)
                return 0;
        list = ed_realloc(errors->list, (count ? 2 * count : 1) * sizeof(*errors->list));
        if (!list)
                return -ENOMEM;
        errors->list = list;
        return 0;
}

int ed_field_errors_add(struct eddy_field_errors *errors, int error, uint64_t offset,
                        const struct ed_field_place *place, const char *message)
{
        struct room room = measure(place, message);
        size_t bytes = room.steps + room.path + room.message + room.names;
        char *memory, *path, *sentence;

        errors->all++;
        if (!ed_field_errors_has_room(errors) || bytes > EDDY_FIELD_ERRORS_BYTES - errors->bytes)
                return error;
        memory = make_room(errors) < 0 ? NULL : ed_alloc(bytes);
        if (!memory)
                return -ENOMEM;
        path = memory + room.steps;
        sentence = path + room.path;
        ed_field_path(place, path, room.path);
        ed_json_make_printable(path);
        memcpy(sentence, message, room.message);
        ed_json_make_printable(sentence);
        copy_steps(place, (struct eddy_field_step *) (void *) path, sentence + room.message);
        errors->list[errors->count++] = (struct eddy_field_error){
                .error = error,
                .offset = offset,
                .path = path,
                .message = sentence,
                .steps = (struct eddy_field_step *) (void *) memory,
                .steps_count = room.steps / sizeof(struct eddy_field_step),
        };
        errors->bytes += bytes;
        return error;
}

void eddy_field_errors_fini(struct eddy_field_errors *errors)
{
        if (!errors)
                return;
        for (size_t i = 0; i < errors->count; i++)
                ed_free((void *) (uintptr_t) errors->list[i].steps);
        ed_free(errors->list);
        *errors = (struct eddy_field_errors){ .max = errors->max };
}
