/*
 * batch/run/sendable.c - see sendable.h.
 */
#include "batch/run/sendable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/request/source.h"

enum { PATH_SHOWN_BYTES = 100 };

/* Returns true if the bytes of a base URL end with a path. */
static bool base_has_path(const char *base, const char *path)
{
        size_t bytes = strlen(base), path_bytes = strcspn(path, "?#");

        while (bytes > 0 && base[bytes - 1] == '/')
                bytes--;
        return path_bytes > 1 && bytes > path_bytes &&
               memcmp(base + bytes - path_bytes, path, path_bytes) == 0;
}

/* Describe why the options make it impossible to send a request, or leave 'text' as it is. */
static void place_check(const struct ed_batch_unit *unit, const struct ed_request *request,
                        char text[ED_REQUEST_ERROR_BYTES])
{
        const struct ed_batch_settings *settings = unit->run->settings;
        size_t bases = ed_bases_count(&settings->bases);
        int bytes;

        if (*request->url != '/')
                return;
        bytes = (int) strcspn(request->url, "?#"); /* a query may have a key */
        bytes = bytes < PATH_SHOWN_BYTES ? bytes : PATH_SHOWN_BYTES;
        if (bases == 0 && request->vendor)
                snprintf(text, ED_REQUEST_ERROR_BYTES,
                         "the line is one of %s, without a host: give --base-url, such as "
                         "--base-url %s",
                         request->vendor->files, request->vendor->url);
        else if (bases == 0)
                snprintf(text, ED_REQUEST_ERROR_BYTES,
                         "the url %.*s is a path: give --base-url, such as "
                         "--base-url http://127.0.0.1:8000",
                         bytes, request->url);
        for (size_t i = 0; i < bases; i++)
                if (base_has_path(ed_bases_at(&settings->bases, i), request->url))
                        snprintf(text, ED_REQUEST_ERROR_BYTES,
                                 "--base-url ends with the path that the line has too: leave "
                                 "%.*s out of --base-url",
                                 bytes, request->url);
}

void ed_sendable_check(const struct ed_batch_unit *unit, const struct ed_request *request,
                       char text[ED_REQUEST_ERROR_BYTES])
{
        place_check(unit, request, text);
        if (unit->run->settings->rows > 1 && !*text && !ed_bundle_can(request))
                snprintf(text, ED_REQUEST_ERROR_BYTES, "%s", ED_BUNDLE_FAULT);
}

/* ---- the whole file ------------------------------------------------------------------------ */

/* The look at the lines of a whole file. */
struct look {
        const struct ed_batch_unit *unit;
        struct ed_sendable *found;
        bool is_done;
};

static int line_look(void *arg, const struct ed_line *line)
{
        struct look *look = arg;
        const struct ed_batch_unit *unit = look->unit;
        char error[ED_REQUEST_ERROR_BYTES] = "";
        struct ed_request *request = NULL;
        int err;

        look->is_done = line->number == 1 && line->bytes > 0 && *line->data == '['; /* an array */
        look->found->is_blank &= !line->is_too_long && !look->is_done;
        if (look->is_done || line->is_too_long)
                return look->is_done ? -ECANCELED : 0;
        err = ed_request_read(&unit->input.rules, line->data, line->bytes, line->number, &request,
                              error);
        look->found->is_blank &= err == 0;
        if (err > 0 && err != ED_REQUEST_EMPTY) {
                ed_sendable_check(unit, request, error);
                look->found->can = look->is_done = !*error;
        }
        ed_request_free(request);
        if (err == -ENOMEM)
                return err;
        return look->is_done ? -ECANCELED : 0;
}

int ed_sendable_look(struct ed_batch_unit *unit, struct ed_sendable *ret_found)
{
        struct look look = { .unit = unit, .found = ret_found };
        struct ed_source source;
        int err;

        *ret_found = (struct ed_sendable){ .is_blank = true };
        err = ed_source_init(&source,
                             &(struct ed_source_opts){ .say = &unit->run->say,
                                                       .path = unit->paths->input,
                                                       .line_bytes_max = ED_SOURCE_LINE_BYTES_MAX,
                                                       .rules = &unit->input.rules,
                                                       .columns = &unit->input.columns,
                                                       .take = line_look,
                                                       .arg = &look });
        if (err == 0)
                err = ed_source_read(&source, unit->input.fd, 0);
        ed_source_fini(&source);
        return look.is_done ? 0 : err;
}
