/*
 * fetch/part.c - see part.h.
 */
#include "fetch/part.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/draft.h"
#include "common/url_parts.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

enum { BOOT_BYTES = 40 };

bool ed_part_is_possible(const char *method, const struct ed_headers *headers)
{
        if (strcmp(method, "GET") != 0)
                return false;
        for (size_t i = 0; i < headers->count; i++)
                if (strcasecmp(headers->items[i].name, "Range") == 0 ||
                    strncasecmp(headers->items[i].name, "If-", 3) == 0)
                        return false;
        return true;
}

/*
 * The number of this start of the machine. After another one, the size of a file does not prove that
 * its bytes are on the disk. Returns false if it is not known.
 */
static bool boot_read(char boot[BOOT_BYTES])
{
        int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, boot, BOOT_BYTES - 1);

        if (fd >= 0)
                close(fd);
        while (n > 0 && boot[n - 1] == '\n')
                n--;
        if (n <= 0)
                return false;
        boot[n] = '\0';
        return true;
}

/* Append the URL without user name and password. */
static void url_add(struct ed_draft *text, const char *url)
{
        struct ed_url_parts parts = ed_url_parts(url);
        struct ed_draft plain = { 0 };

        ed_draft_add(&plain, url, (size_t) (parts.authority - url));
        ed_draft_add_str(&plain, parts.host);
        if (ed_draft_is_whole(&plain))
                ed_draft_add_json(text, plain.data, plain.bytes);
        else
                text->failed = true;
        ed_draft_fini(&plain);
}

void ed_part_note(struct ed_save_dir_file *file, const char *url,
                  const struct eddy_http_range *range)
{
        struct ed_draft text = { .max = ED_SAVE_DIR_NOTE_BYTES - 1 };
        char boot[BOOT_BYTES];

        if (!*range->validator || !boot_read(boot))
                return;
        ed_draft_add_str(&text, "{\"url\":");
        url_add(&text, url);
        ed_draft_add_str(&text, ",\"validator\":");
        ed_draft_add_json_str(&text, range->validator);
        ed_draft_add_str(&text, ",\"boot\":");
        ed_draft_add_json_str(&text, boot);
        ed_draft_add_str(&text, ",\"name\":");
        ed_draft_add_json_str(&text, file->names[0]);
        if (range->total != EDDY_HTTP_RANGE_UNKNOWN) {
                ed_draft_add_str(&text, ",\"total\":");
                ed_draft_add_u64(&text, range->total);
        }
        ed_draft_add_str(&text, "}\n");
        /* Without a note, a later run begins the body again. */
        if (ed_draft_is_whole(&text) && ed_save_dir_note(file, text.data, text.bytes) < 0)
                file->has_note = false;
        ed_draft_fini(&text);
}

/* Returns true if a member is a string, which is copied. */
static bool text_get(const struct eddy_json_value *note, const char *name, char *out, size_t room)
{
        struct eddy_json_value value;

        return eddy_json_get(note, name, &value) == 0 && value.kind == EDDY_JSON_STRING &&
               eddy_json_string(&value, out, room) >= 0;
}

/* Returns true if the note is of the URL: the JSON of the URL is the same text. */
static bool is_url(const struct eddy_json_value *note, const char *url)
{
        struct ed_draft text = { .max = ED_SAVE_DIR_NOTE_BYTES };
        struct eddy_json_value value;
        bool same;

        url_add(&text, url);
        same = ed_draft_is_whole(&text) && eddy_json_get(note, "url", &value) == 0 &&
               value.bytes == text.bytes && memcmp(value.text, text.data, text.bytes) == 0;
        ed_draft_fini(&text);
        return same;
}

/* Read a note. Returns false if it is not whole, or of another URL or start of the machine. */
static bool note_read(const char *data, const char *url, struct eddy_http_range *range,
                      char name[ED_SAVE_NAME_BYTES])
{
        struct eddy_json_value note, total;
        char boot[BOOT_BYTES], was[BOOT_BYTES];

        if (eddy_json_parse(data, strlen(data), NULL, &note, NULL) < 0 ||
            note.kind != EDDY_JSON_OBJECT || !is_url(&note, url) || !boot_read(boot) ||
            !text_get(&note, "boot", was, sizeof(was)) || strcmp(boot, was) != 0 ||
            !text_get(&note, "validator", range->validator, sizeof(range->validator)) ||
            !text_get(&note, "name", name, ED_SAVE_NAME_BYTES))
                return false;
        range->total = EDDY_HTTP_RANGE_UNKNOWN;
        return eddy_json_get(&note, "total", &total) < 0 ||
               eddy_json_uint64(&total, &range->total) == 0;
}

uint64_t ed_part_find(struct ed_save *save, const char *url, uint64_t index,
                      struct ed_save_dir_file *file, struct eddy_http_range *range)
{
        char *note, name[ED_SAVE_NAME_BYTES];
        int64_t bytes = 0;

        if (!save->dir.has_notes || save->dir.flags & ED_SAVE_DIR_REPLACES)
                return 0;
        note = eddy_malloc(ED_SAVE_DIR_NOTE_BYTES);
        if (!note)
                return 0;
        bytes = ed_save_file_find(save, url, index, note, file);
        if (bytes > 0 && note_read(note, url, range, name) && (uint64_t) bytes <= range->total)
                ed_save_file_name(file, name);
        else
                bytes = 0;
        if (bytes == 0) {
                range->validator[0] = '\0';
                ed_save_dir_drop(file);
        }
        eddy_free(note);
        return (uint64_t) bytes;
}
