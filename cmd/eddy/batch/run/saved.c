/*
 * batch/run/saved.c - see saved.h.
 */
#include "batch/run/saved.h"

#include <string.h>

#include "eddy/json.h"

enum { FIRST_BYTES = 16 }; /* the first member of a body begins there, also with spaces */

void ed_saved_add(struct ed_saved *saved, const char *type)
{
        const char *ending = ed_save_ending(type);
        unsigned i = 0;

        if (!*ending)
                ending = ".bin";
        saved->files++;
        while (i < saved->kinds_count && strcmp(saved->kinds[i].ending, ending) != 0)
                i++;
        if (i == ED_SAVED_KINDS)
                return;
        if (i == saved->kinds_count)
                saved->kinds[saved->kinds_count++] = (struct ed_saved_kind){ .ending = ending };
        saved->kinds[i].files++;
}

/* Read the name and the size of the file of a line. Returns false if it has none. */
static bool file_read(const struct ed_answer_seen *line, char name[ED_SAVE_NAME_BYTES],
                      uint64_t *ret_bytes)
{
        static const char first[] = "\"_file\"";
        struct eddy_json_value body, file, bytes;

        return line->response.kind == EDDY_JSON_OBJECT &&
               eddy_json_get(&line->response, "body", &body) == 0 &&
               body.kind == EDDY_JSON_OBJECT && body.bytes > FIRST_BYTES &&
               memmem(body.text, FIRST_BYTES, first, sizeof(first) - 1) &&
               eddy_json_get(&body, "_file", &file) == 0 && file.kind == EDDY_JSON_STRING &&
               eddy_json_get(&body, "bytes", &bytes) == 0 &&
               eddy_json_uint64(&bytes, ret_bytes) == 0 &&
               eddy_json_string(&file, name, ED_SAVE_NAME_BYTES) >= 0;
}

static void file_note(struct ed_saved_files *files, const char name[ED_SAVE_NAME_BYTES])
{
        if (files->count++ == 0)
                memcpy(files->first, name, ED_SAVE_NAME_BYTES);
}

void ed_saved_note_missing(struct ed_saved *saved, const struct ed_save_dir *dir,
                           const struct ed_answer_seen *line)
{
        char name[ED_SAVE_NAME_BYTES];
        uint64_t bytes;

        if (dir->path && file_read(line, name, &bytes) && !ed_save_dir_has(dir, name, bytes))
                file_note(&saved->missing, name);
}

void ed_saved_note_old(struct ed_saved *saved, const struct ed_save_dir *dir,
                       const struct ed_answer_seen *line)
{
        char name[ED_SAVE_NAME_BYTES];
        uint64_t bytes;

        if (dir->path && file_read(line, name, &bytes) && ed_save_dir_has(dir, name, bytes))
                file_note(&saved->old, name);
}

void ed_saved_print(const struct ed_saved *saved, const char *path, struct ed_draft *text)
{
        const char *before = " (";

        if (!path || saved->files + saved->json + saved->empty == 0)
                return;
        ed_draft_add_printf(text, "files saved in %s: ", path);
        ed_draft_add_grouped(text, saved->files);
        for (unsigned i = 0; i < saved->kinds_count; i++) {
                ed_draft_add_printf(text, "%s%s: ", before, saved->kinds[i].ending);
                ed_draft_add_grouped(text, saved->kinds[i].files);
                before = ", ";
        }
        if (saved->kinds_count > 0)
                ed_draft_add_str(text, ")");
        before = "; answers without a file: ";
        if (saved->empty > 0) {
                ed_draft_add_str(text, before);
                ed_draft_add_grouped(text, saved->empty);
                ed_draft_add_str(text, " empty");
                before = ", ";
        }
        if (saved->json > 0) {
                ed_draft_add_str(text, before);
                ed_draft_add_grouped(text, saved->json);
                ed_draft_add_str(text, " JSON");
        }
        ed_draft_add_str(text, "\n");
}

static void member_add(struct ed_draft *text, const char *name, uint64_t value)
{
        ed_draft_add_str(text, name);
        ed_draft_add_u64(text, value);
}

void ed_saved_print_json(const struct ed_saved *saved, struct ed_draft *text)
{
        member_add(text, "{\"files\":", saved->files);
        ed_draft_add_str(text, ",\"kinds\":{");
        for (unsigned i = 0; i < saved->kinds_count; i++) {
                ed_draft_add_str(text, i > 0 ? "," : "");
                ed_draft_add_json_str(text, saved->kinds[i].ending);
                member_add(text, ":", saved->kinds[i].files);
        }
        member_add(text, "},\"json\":", saved->json);
        member_add(text, ",\"empty\":", saved->empty);
        member_add(text, ",\"missing\":", saved->missing.count);
        member_add(text, ",\"old\":", saved->old.count);
        ed_draft_add_str(text, "}");
}
