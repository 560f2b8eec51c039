/*
 * wire/json_fail.c - the details of a failure.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "wire/json.h"

/* Count the lines before the byte. */
static void set_place(struct eddy_json_error *error, const char *text, uint64_t offset)
{
        uint64_t line_at = 0;

        error->offset = offset;
        error->line = 1;
        for (uint64_t i = 0; i < offset; i++)
                if (text[i] == '\n') {
                        error->line++;
                        line_at = i + 1;
                }
        error->column = offset - line_at + 1;
}

/* Copy with "..." at the end if the text is too long. */
static void copy_cut(char *out, size_t room, const char *text)
{
        int n = snprintf(out, room, "%s", text);

        if (n > 0 && (size_t) n >= room)
                memcpy(out + room - 4, "...", 3);
}

void ed_json_make_printable(char *text)
{
        for (; *text; text++)
                if (*text < ' ' || *text > '~')
                        *text = '?';
}

int ed_json_fail(struct eddy_json_error *ret_error, int error, const char *text, uint64_t offset,
                 const struct ed_field_place *place, const char *format, ...)
{
        char sentence[EDDY_JSON_TEXT_BYTES], whole[EDDY_JSON_TEXT_BYTES + EDDY_JSON_PATH_BYTES + 8];
        char path[EDDY_JSON_PATH_BYTES + 1] = "";
        va_list args;

        if (!ret_error)
                return error;
        *ret_error = (struct eddy_json_error){ .error = error };
        if (text)
                set_place(ret_error, text, offset);
        va_start(args, format);
        vsnprintf(sentence, sizeof(sentence), format, args);
        va_end(args);
        if (place)
                ed_field_path(place, path, sizeof(path));
        if (*path) {
                copy_cut(ret_error->path, sizeof(ret_error->path), path);
                ed_json_make_printable(ret_error->path);
                snprintf(whole, sizeof(whole), "%s: %s", ret_error->path, sentence);
        } else if (text) {
                snprintf(whole, sizeof(whole), "line %llu, column %llu: %s",
                         (unsigned long long) ret_error->line,
                         (unsigned long long) ret_error->column, sentence);
        } else {
                snprintf(whole, sizeof(whole), "%s", sentence);
        }
        ed_json_make_printable(whole);
        copy_cut(ret_error->text, sizeof(ret_error->text), whole);
        return error;
}
