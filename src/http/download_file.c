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
#include "eddy/time.h"

#define BOOT_PATH  "/proc/sys/kernel/random/boot_id"
#define NOTE_BEGIN "eddy download 1\n"
#define PART_END   ".part"
#define NOTE_END   ".part.note"

enum {
        BOOT_BYTES_MAX = 64,
        NOTE_ROOM = ED_DOWNLOAD_OWNER_BYTES + EDDY_HTTP_RANGE_VALIDATOR_BYTES + 32,
        OPEN_TRIES = 10,
        REMOVE_TRIES = 10,
        HASH_READ_BYTES = 64 << 10
};

#define REMOVE_WAIT_NS EDDY_MS(10)

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
        eddy_file_close(file->lock);
        file->file = file->lock = NULL;
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

/* Fits NOTE_ROOM, so that a longer file is not a note. */
static int note_write(const struct ed_download_file *file, const struct eddy_http_range *range)
{
        char note[NOTE_ROOM];
        int err;

        snprintf(note, sizeof(note), "%s%s\n%llu\n", file->owner, range->validator,
                 (unsigned long long) range->total);
        err = eddy_file_truncate(file->lock, 0);
        return err < 0 ? err : eddy_file_write_at(file->lock, note, strlen(note), 0);
}

/* Read the note. Returns its bytes, with a NUL after them, or -EEXIST if it is not ours. */
static int64_t note_read(const struct ed_download_file *file, char note[NOTE_ROOM])
{
        int64_t bytes = eddy_file_read_at(file->lock, note, NOTE_ROOM, 0);
        size_t begin = strlen(NOTE_BEGIN);

        if (bytes < 0)
                return bytes;
        if (bytes == NOTE_ROOM)
                return -EEXIST;
        note[bytes] = '\0';
        /* A crash can leave a note without bytes, with zeros, or with only the first bytes. */
        if ((size_t) bytes < begin)
                begin = (size_t) bytes;
        return *note == '\0' || memcmp(note, NOTE_BEGIN, begin) == 0 ? bytes : -EEXIST;
}

/* Some file systems have no locks. */
static int note_open_once(struct ed_download_file *file, unsigned flags)
{
        int err;

        flags |= EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_NO_FOLLOW;
        err = eddy_file_open(file->note, flags | EDDY_FILE_LOCK, 0, &file->lock);
        if (err == -ENOLCK || err == -EOPNOTSUPP)
                err = eddy_file_open(file->note, flags & ~(unsigned) EDDY_FILE_NEW, 0, &file->lock);
        return err == -ELOOP ? -EEXIST : err;
}

/*
 * Make the note. A part without a note is a file of the user: -EEXIST. Returns 1 if another call has
 * made the note.
 */
static int note_make(struct ed_download_file *file)
{
        struct eddy_file_info info;
        int err = eddy_path_stat(file->part, EDDY_PATH_NO_FOLLOW, &info);

        if (err != -ENOENT)
                return err == 0 ? -EEXIST : err;
        err = note_open_once(file, EDDY_FILE_NEW);
        return err == -EEXIST ? 1 : err;
}

/* Open or make the note. Another call may make or remove it meanwhile. */
static int note_open(struct ed_download_file *file, bool *ret_is_new)
{
        int err = 1;

        for (int i = 0; i < OPEN_TRIES && err == 1; i++) {
                err = note_open_once(file, 0);
                *ret_is_new = err == -ENOENT;
                if (err == -ENOENT)
                        err = note_make(file);
        }
        return err == 1 ? -EBUSY : err;
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
        char note[NOTE_ROOM];
        int64_t bytes;
        bool is_new;
        int err = note_open(file, &is_new);

        if (err < 0 || is_new)
                return err;
        bytes = note_read(file, note);
        if (bytes < 0) {
                eddy_file_close(file->lock);
                file->lock = NULL;
                return (int) bytes;
        }
        if (note_parse(file, note, range))
                err = part_open(file, range);
        if (file->bytes == 0)
                range->validator[0] = '\0';
        return err;
}

static int name_remove(const char *name)
{
        int err = eddy_path_remove(name);

        return err == -ENOENT ? 0 : err;
}

/* Likewise, also if there is no memory or no thread for a moment. */
static int name_remove_surely(const char *name)
{
        int err = name_remove(name);

        for (int i = 1; i < REMOVE_TRIES && (err == -ENOMEM || err == -EAGAIN); i++) {
                err = eddy_sleep(REMOVE_WAIT_NS);
                if (err == 0 || err == -ENOMEM)
                        err = name_remove(name);
        }
        return err;
}

int ed_download_file_begin(struct ed_download_file *file, const struct eddy_http_range *range)
{
        int err;

        part_close(file);
        /* A part must never be beside the note of another one. */
        err = name_remove(file->part);
        if (err == 0)
                err = note_write(file, range);
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

/* Remove the note, and then release its lock, so that no other call finds a note that is removed. */
static void note_remove(struct ed_download_file *file)
{
        /* A note that stays is harmless: the next call finds no part beside it. */
        (void) name_remove_surely(file->note);
        eddy_file_close(file->lock);
        file->lock = NULL;
}

static int part_rename(struct ed_download_file *file, bool is_new)
{
        int err = eddy_path_rename(file->part, file->path, is_new ? EDDY_PATH_KEEP : 0);

        if (err < 0)
                return err;
        err = eddy_folder_sync(file->folder);
        note_remove(file);
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

void ed_download_file_empty(struct ed_download_file *file)
{
        eddy_scope shield;

        part_close(file);
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        (void) name_remove_surely(file->part);
        (void) eddy_scope_end(&shield);
}

void ed_download_file_drop(struct ed_download_file *file)
{
        eddy_scope shield;

        part_close(file);
        if (!file->lock)
                return;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        if (name_remove_surely(file->part) == 0)
                note_remove(file);
        (void) eddy_scope_end(&shield);
}
