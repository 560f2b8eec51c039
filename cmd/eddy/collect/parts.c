/*
 * collect/parts.c - see parts.h.
 */
#include "collect/parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "batch/answer/errors_name.h"
#include "common/console.h"
#include "common/pack.h"
#include "eddy/alloc.h"

/* A file that was found. */
struct seen_file {
        struct ed_hash_link link;
        dev_t device;
        ino_t number;
};

static int say_memory(void)
{
        ed_console_say("collect", "out of memory");
        return ED_EXIT_FAILED;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool name_is_errors(const char *name)
{
        static const char end[] = ".errors.jsonl";
        size_t bytes = ed_pack_stem_bytes(name), end_bytes = sizeof(end) - 1;

        return bytes >= end_bytes && memcmp(name + bytes - end_bytes, end, end_bytes) == 0;
}

/* Returns true if all outputs have names of a form. */
static bool form_fits(const struct ed_parts *parts, const struct ed_numbered *form)
{
        for (size_t i = 0; i < parts->names_count; i++)
                if (!name_is_errors(parts->names[i]) && ed_numbered_read(form, parts->names[i]) < 0)
                        return false;
        return true;
}

/* Find the number in which the names differ. */
static void form_find(struct ed_parts *parts)
{
        struct ed_numbered form = { 0 };
        const char *name = NULL;

        for (size_t i = 0; i < parts->names_count && !name; i++)
                if (!name_is_errors(parts->names[i]))
                        name = parts->names[i];
        while (name && ed_numbered_find(name, &form)) {
                if (form_fits(parts, &form)) {
                        parts->form = form;
                        return;
                }
        }
}

bool ed_part_path(const struct ed_parts *parts, const struct ed_part *part,
                  char room[ED_PART_PATH_BYTES])
{
        const char *name = parts->names[part->name];
        char output[ED_PART_PATH_BYTES / 4];

        if (!part->is_found)
                return ed_numbered_is_form(name)
                               ? ed_numbered_write(name, part->index, room, ED_PART_PATH_BYTES)
                               : snprintf(room, ED_PART_PATH_BYTES, "%s", name) <
                                         ED_PART_PATH_BYTES;
        if (!ed_numbered_is_form(name))
                return ed_errors_find(name, room, ED_PART_PATH_BYTES);
        return ed_numbered_write(name, part->index, output, sizeof(output)) &&
               ed_errors_find(output, room, ED_PART_PATH_BYTES);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int part_add(struct ed_parts *parts, const struct ed_part *part)
{
        if (parts->count == ED_PARTS_MAX) {
                ed_console_say("collect", "more than %d files; collect a part of them first",
                               (int) ED_PARTS_MAX);
                return ED_EXIT_USAGE;
        }
        if (parts->count == parts->room) {
                size_t room = parts->room * 2 + 16;
                struct ed_part *items = eddy_realloc(parts->items, room * sizeof(*items));

                if (!items)
                        return say_memory();
                parts->items = items;
                parts->room = room;
        }
        parts->items[parts->count++] = *part;
        return 0;
}

/* Note a file. Returns 1, or 0 if it was seen before. Errors: -ENOMEM */
static int seen_add(struct ed_parts *parts, const struct stat *st)
{
        const uint64_t key[] = { (uint64_t) st->st_dev, (uint64_t) st->st_ino };
        uint64_t hash = ed_hash_map_hash(key, sizeof(key));
        struct seen_file *file;

        if (!S_ISREG(st->st_mode))
                return 1;
        ed_hash_map_each (link, &parts->seen, hash) {
                file = (struct seen_file *) link;
                if (file->device == st->st_dev && file->number == st->st_ino)
                        return 0;
        }
        file = eddy_malloc(sizeof(*file));
        if (!file)
                return -ENOMEM;
        *file = (struct seen_file){ .device = st->st_dev, .number = st->st_ino };
        ed_hash_map_add(&parts->seen, &file->link, hash);
        return 1;
}

/* Refuse a file that the command writes, or reads for its requests. Returns 0 or the exit code. */
static int taboos_check(const struct ed_parts_taboo *taboos, const char *path,
                        const struct stat *st)
{
        struct stat other;

        for (; taboos->fault; taboos++)
                if (taboos->path && stat(taboos->path, &other) == 0 && S_ISREG(other.st_mode) &&
                    other.st_dev == st->st_dev && other.st_ino == st->st_ino)
                        return ed_console_usage("collect", "%s: %s", path, taboos->fault);
        return 0;
}

/* Refuse a file that cannot be found. Returns the exit code. */
static int absent_refuse(const char *path)
{
        int err = errno;

        ed_console_say("collect", "%s: %s%s", path, strerror(err),
                       err == ENOENT && strpbrk(path, "*?[") ? "; no file has a name of this form"
                                                             : "");
        return ED_EXIT_INPUT;
}

/* Add a file that exists, unless it was added. Returns 0 or the exit code. */
static int file_add(struct ed_parts *parts, const struct ed_parts_taboo *taboos, const char *path,
                    const struct stat *st, const struct ed_part *part)
{
        int exit_code = taboos_check(taboos, path, st), added;

        if (exit_code)
                return exit_code;
        added = seen_add(parts, st);
        if (added < 0)
                return say_memory();
        if (added == 0 && !part->is_errors)
                ed_sample_add(&parts->again, path, strlen(path));
        return added == 0 ? 0 : part_add(parts, part);
}

/* Add an output and its errors file. Returns 0 or the exit code. */
static int output_add(struct ed_parts *parts, const struct ed_parts_taboo *taboos, const char *path,
                      struct ed_part part)
{
        static char errors[ED_PART_PATH_BYTES];
        bool is_stdin = strcmp(path, "-") == 0;
        struct stat st;
        int exit_code;

        if (is_stdin)
                return part_add(parts, &part);
        if (stat(path, &st) < 0) {
                if (errno != ENOENT || !ed_numbered_is_form(parts->names[part.name]))
                        return absent_refuse(path);
                ed_sample_add(&parts->absent, path, strlen(path));
        } else {
                exit_code = file_add(parts, taboos, path, &st, &part);
                if (exit_code)
                        return exit_code;
        }
        if (part.is_errors || !ed_errors_find(path, errors, sizeof(errors)) ||
            stat(errors, &st) < 0)
                return 0;
        part.is_errors = part.is_found = true;
        return file_add(parts, taboos, errors, &st, &part);
}

/* Add the outputs of a name, which may have the place of a number. Returns 0 or the exit code. */
static int name_add(struct ed_parts *parts, const struct ed_parts_taboo *taboos, uint32_t number)
{
        static char path[ED_PART_PATH_BYTES / 4];
        const char *name = parts->names[number];
        struct ed_part part = { .name = number, .is_errors = name_is_errors(name) };
        bool is_form = ed_numbered_is_form(name);
        int64_t index = parts->form.name ? ed_numbered_read(&parts->form, name) : -1;
        int exit_code = 0;

        if (!is_form) {
                part.has_index = index >= 0;
                part.index = part.has_index ? (uint32_t) index : 0;
                return output_add(parts, taboos, name, part);
        }
        part.has_index = true;
        for (uint32_t i = 0; exit_code == 0 && i < parts->shards; i++) {
                part.index = i;
                if (!ed_numbered_write(name, i, path, sizeof(path)))
                        return ed_console_usage("collect", "%s: the name is too long", name);
                exit_code = output_add(parts, taboos, path, part);
        }
        return exit_code;
}

int ed_parts_find(struct ed_parts *parts, const struct ed_parts_taboo *taboos)
{
        int exit_code = 0;

        form_find(parts);
        for (size_t i = 0; exit_code == 0 && i < parts->names_count; i++)
                exit_code = name_add(parts, taboos, (uint32_t) i);
        if (exit_code == 0 && parts->count == 0 && parts->absent.count > 0) {
                ed_console_say("collect", "%s: none of these files exists", parts->names[0]);
                exit_code = ED_EXIT_INPUT;
        }
        ed_hash_map_free(&parts->seen);
        return exit_code;
}

void ed_parts_fini(struct ed_parts *parts)
{
        ed_hash_map_free(&parts->seen);
        eddy_free(parts->items);
        parts->items = NULL;
        parts->count = parts->room = 0;
}
