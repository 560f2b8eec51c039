/*
 * http/download_file.c - see download_file.h.
 */
#include "http/download_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/file_whole.h"
#include "eddy/folder.h"
#include "eddy/path.h"
#include "eddy/scope.h"

#define BOOT_PATH  "/proc/sys/kernel/random/boot_id"
#define NOTE_BEGIN "eddy download 1\n"
#define PART_END   ".part"
#define NOTE_END   ".part.note"

enum { BOOT_BYTES_MAX = 64, NOTE_BYTES_MAX = 4096, HASH_READ_BYTES = 64 << 10 };

/* ---- the beginning and the end ------------------------------------------------------------------ */

/* The names, and the path of the folder. */
static int names_set(struct ed_download_file *file)
{
        size_t bytes = strlen(file->path), front = bytes;
        char *room = ed_alloc(3 * bytes + sizeof(PART_END) + sizeof(NOTE_END) + 2);

        if (!room)
                return -ENOMEM;
        file->part = room;
        memcpy(room, file->path, bytes);
        memcpy(room + bytes, PART_END, sizeof(PART_END));
        file->note = room += bytes + sizeof(PART_END);
        memcpy(room, file->path, bytes);
        memcpy(room + bytes, NOTE_END, sizeof(NOTE_END));
        file->folder = room += bytes + sizeof(NOTE_END);
        while (front > 0 && file->path[front - 1] != '/')
                front--;
        memcpy(room, front > 0 ? file->path : ".", front > 0 ? front : 1);
        room[front > 0 ? front : 1] = '\0';
        return 0;
}

/*
 * The lines that are the same in each note of this URL on this start of the machine. If the
 * number of the start is not known, no later call continues the part.
 */
static int owner_set(struct ed_download_file *file, const char *url)
{
        const struct ed_hash_part whole = { url, strlen(url) };
        char hex[ED_HASH_HEX_ROOM], *boot = NULL;
        size_t bytes = 0;
        int err = ed_hash_hex(ED_HASH_SHA256, &whole, 1, hex);

        if (err < 0)
                return err;
        err = eddy_file_read_whole(BOOT_PATH, BOOT_BYTES_MAX, &boot, &bytes);
        if (err == -ECANCELED || err == -ENOMEM)
                return err;
        file->has_boot = err == 0;
        snprintf(file->owner, sizeof(file->owner), NOTE_BEGIN "%s\n%.*s\n", hex,
                 boot ? (int) strcspn(boot, "\n") : 1, boot ? boot : "-");
        eddy_free(boot);
        return 0;
}

int ed_download_file_init(struct ed_download_file *file, const char *path, const char *url)
{
        int err;

        *file = (struct ed_download_file){ .path = path };
        err = owner_set(file, url);
        return err < 0 ? err : names_set(file);
}

void ed_download_file_fini(struct ed_download_file *file)
{
        eddy_file_close(file->file);
        file->file = NULL;
        ed_free(file->part);
        file->part = NULL;
}

/* ---- the note ----------------------------------------------------------------------------------- */

/* A line of a note, which ends at an LF. Returns the next one, or NULL. */
static const char *line_of(const char *line, size_t *ret_bytes)
{
        *ret_bytes = strcspn(line, "\n");
        return line[*ret_bytes] ? line + *ret_bytes + 1 : NULL;
}

static bool total_read(const char *line, size_t bytes, uint64_t *ret_total)
{
        uint64_t total = 0;

        for (size_t i = 0; i < bytes; i++)
                if (line[i] < '0' || line[i] > '9' || __builtin_mul_overflow(total, 10, &total) ||
                    __builtin_add_overflow(total, (uint64_t) (line[i] - '0'), &total))
                        return false;
        *ret_total = total;
        return bytes > 0;
}

/* Read a note. Returns false if it is of another URL or start of the machine, or not whole. */
static bool note_parse(const struct ed_download_file *file, const char *note,
                       struct eddy_http_range *range)
{
        const char *validator = note + strlen(file->owner), *total, *end;
        size_t bytes, total_bytes;

        if (!file->has_boot || strncmp(note, file->owner, strlen(file->owner)) != 0)
                return false;
        total = line_of(validator, &bytes);
        end = total ? line_of(total, &total_bytes) : NULL;
        if (!end || *end || bytes == 0 || bytes >= sizeof(range->validator) ||
            !total_read(total, total_bytes, &range->total))
                return false;
        memcpy(range->validator, validator, bytes);
        range->validator[bytes] = '\0';
        return true;
}

static int note_write(const struct ed_download_file *file, const struct eddy_http_range *range)
{
        char note[ED_DOWNLOAD_OWNER_BYTES + EDDY_HTTP_RANGE_VALIDATOR_BYTES + 32];

        snprintf(note, sizeof(note), "%s%s\n%llu\n", file->owner, range->validator,
                 (unsigned long long) range->total);
        return eddy_file_write_whole(file->note, note, strlen(note), 0);
}

/* ---- the part ----------------------------------------------------------------------------------- */

static void part_close(struct ed_download_file *file)
{
        eddy_file_close(file->file);
        file->file = NULL;
        file->bytes = 0;
}

/* Open the part. A file with two names, or longer than the whole, is not the part of the note. */
static int part_open(struct ed_download_file *file, const struct eddy_http_range *range)
{
        struct eddy_file_info info;
        int err = eddy_file_open(file->part, EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_NO_FOLLOW,
                                 0, &file->file);

        if (err < 0)
                return err == -ENOENT || err == -ELOOP ? 0 : err;
        err = eddy_file_stat(file->file, &info);
        if (err == 0 && info.kind == EDDY_FILE_REGULAR && info.links == 1 && info.bytes > 0 &&
            (uint64_t) info.bytes <= range->total)
                file->bytes = (uint64_t) info.bytes;
        else
                part_close(file);
        return err;
}

int ed_download_file_find(struct ed_download_file *file, struct eddy_http_range *range)
{
        struct eddy_file_info info;
        size_t bytes;
        char *note;
        int err = eddy_file_read_whole(file->note, NOTE_BYTES_MAX, &note, &bytes);

        if (err == -ENOENT) {
                err = eddy_path_stat(file->part, EDDY_PATH_NO_FOLLOW, &info);
                return err == 0 ? -EEXIST : err == -ENOENT ? 0 : err;
        }
        if (err < 0)
                return err == EDDY_E_FILE_TOO_LARGE ? -EEXIST : err;
        /* A crash of the machine can leave a note without bytes, or with zeros. */
        file->is_ours = *note == '\0' || strncmp(note, NOTE_BEGIN, strlen(NOTE_BEGIN)) == 0;
        if (!file->is_ours)
                err = -EEXIST;
        else if (note_parse(file, note, range))
                err = part_open(file, range);
        eddy_free(note);
        if (file->bytes == 0)
                range->validator[0] = '\0';
        return err;
}

static int name_remove(const char *name)
{
        int err = eddy_path_remove(name);

        return err == -ENOENT ? 0 : err;
}

int ed_download_file_begin(struct ed_download_file *file, const struct eddy_http_range *range)
{
        int err = 0;

        part_close(file);
        /* A part must never be beside the note of another one. */
        if (file->is_ours)
                err = name_remove(file->part);
        if (err == 0) {
                err = note_write(file, range);
                file->is_ours = true;
        }
        if (err == 0)
                err = eddy_file_open(file->part,
                                     EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_NEW |
                                             EDDY_FILE_NO_FOLLOW,
                                     0, &file->file);
        return err;
}

int ed_download_file_cut(struct ed_download_file *file, uint64_t bytes)
{
        int err = eddy_file_truncate(file->file, (int64_t) bytes);

        if (err == 0)
                file->bytes = bytes;
        return err;
}

int ed_download_file_write(struct ed_download_file *file, const void *data, size_t bytes)
{
        int err = eddy_file_write_at(file->file, data, bytes, (int64_t) file->bytes);

        if (err == 0)
                file->bytes += bytes;
        return err;
}

int ed_download_file_hash(struct ed_download_file *file, char out[ED_HASH_HEX_ROOM])
{
        char *buf = ed_alloc(HASH_READ_BYTES);
        struct ed_hashing hashing;
        int64_t n = 0;
        int err;

        if (!buf)
                return -ENOMEM;
        err = ed_hashing_begin(&hashing, ED_HASH_SHA256);
        if (err < 0) {
                ed_free(buf);
                return err;
        }
        for (int64_t at = 0; (n = eddy_file_read_at(file->file, buf, HASH_READ_BYTES, at)) > 0;
             at += n)
                ed_hashing_add(&hashing, buf, (size_t) n);
        err = ed_hashing_end(&hashing, n == 0 ? out : NULL);
        ed_free(buf);
        return n < 0 ? (int) n : err;
}

/* ---- the end ------------------------------------------------------------------------------------ */

static int part_rename(struct ed_download_file *file, bool is_new)
{
        int err = eddy_path_rename(file->part, file->path, is_new ? EDDY_PATH_KEEP : 0);

        if (err < 0)
                return err;
        err = eddy_folder_sync(file->folder);
        if (name_remove(file->note) == 0)
                file->is_ours = false;
        return err;
}

int ed_download_file_keep(struct ed_download_file *file, bool is_new)
{
        eddy_scope shield;
        int err = eddy_file_sync(file->file, 0), end_err;

        if (err < 0)
                return err;
        eddy_file_close(file->file);
        file->file = NULL;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        err = part_rename(file, is_new);
        end_err = eddy_scope_end(&shield);
        /* The disk took more than the time of a shield. */
        return err == -ECANCELED ? -EAGAIN : err < 0 ? err : end_err;
}

void ed_download_file_drop(struct ed_download_file *file)
{
        eddy_scope shield;

        part_close(file);
        if (!file->is_ours)
                return;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        if (name_remove(file->part) == 0 && name_remove(file->note) == 0)
                file->is_ours = false;
        (void) eddy_scope_end(&shield);
}
