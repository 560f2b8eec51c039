/*
 * fetch/resume.c - see resume.h.
 */
#include "fetch/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/console.h"
#include "common/exit.h"
#include "common/lines.h"
#include "common/write_all.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/json.h"

enum { LINE_BYTES_MAX = 1 << 20, URL_BYTES_MAX = 64 << 10, OK_END = 300 };

static int resume_refuse(struct ed_resume *resume, const char *path, int err)
{
        ed_console_say("fetch", "%s %s: %s", resume->option, path, eddy_error_text(err));
        ed_resume_fini(resume);
        return ED_EXIT_OUTPUT;
}

int ed_resume_open(struct ed_resume *resume, const char *path)
{
        struct stat st;

        *resume = (struct ed_resume){ .fd = -1, .option = "-o" };
        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
                return 0; /* as without results of an earlier run */
        resume->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY);
        if (resume->fd < 0)
                return resume_refuse(resume, path, -errno);
        if (flock(resume->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
                ed_console_say("fetch", "-o %s: another eddy is writing to it", path);
                ed_resume_fini(resume);
                return ED_EXIT_BUSY;
        }
        return 0;
}

void ed_resume_record(struct ed_resume *resume, int fd)
{
        *resume = (struct ed_resume){ .fd = fd, .option = "--save" };
}

/* A line of results. Returns false if it is not one. */
static bool line_read(const struct ed_line *line, struct eddy_json_value *url, bool *ret_has_file,
                      char name[ED_SAVE_NAME_BYTES], uint64_t *ret_bytes)
{
        struct eddy_json_value top, index, status, error, file, bytes;
        uint64_t number = 0;

        if (line->is_too_long || eddy_json_parse(line->data, line->bytes, NULL, &top, NULL) < 0 ||
            top.kind != EDDY_JSON_OBJECT || eddy_json_get(&top, "index", &index) < 0 ||
            eddy_json_get(&top, "url", url) < 0 || url->kind != EDDY_JSON_STRING ||
            eddy_json_get(&top, "status", &status) < 0 ||
            eddy_json_get(&top, "bytes", &bytes) < 0 || eddy_json_get(&top, "error", &error) < 0 ||
            eddy_json_uint64(&bytes, ret_bytes) < 0)
                return false;
        *ret_has_file = error.kind == EDDY_JSON_NULL && eddy_json_uint64(&status, &number) == 0 &&
                        number < OK_END && eddy_json_get(&top, "file", &file) == 0 &&
                        file.kind == EDDY_JSON_STRING &&
                        eddy_json_string(&file, name, ED_SAVE_NAME_BYTES) >= 0;
        return true;
}

/* Note a line. Errors: -EINVAL  it is not a line of results; -ENOMEM */
static int line_take(struct ed_resume *resume, const struct ed_save_dir *dir,
                     const struct ed_line *line, char *url_room)
{
        char name[ED_SAVE_NAME_BYTES];
        struct eddy_json_value url;
        struct ed_hash_link *link;
        uint64_t bytes = 0;
        int64_t url_bytes;
        bool has_file;

        if (!line_read(line, &url, &has_file, name, &bytes))
                return -EINVAL;
        if (!has_file || !ed_save_dir_has(dir, name, bytes))
                return 0;
        url_bytes = eddy_json_string(&url, url_room, URL_BYTES_MAX);
        if (url_bytes < 0)
                return 0;
        link = eddy_malloc(sizeof(*link));
        if (!link)
                return -ENOMEM;
        ed_hash_map_add(&resume->map, link, ed_hash_map_hash(url_room, (size_t) url_bytes));
        resume->count++;
        return 0;
}

/* Read all lines, and store where the last whole line with a line feed ends. */
static int lines_take(struct ed_resume *resume, const struct ed_save_dir *dir,
                      struct ed_lines *lines, char *url_room, uint64_t *ret_end)
{
        struct ed_line line;
        ssize_t n;
        int err = 0;

        *ret_end = 0;
        do {
                size_t room_bytes;
                char *room = ed_lines_room(lines, &room_bytes);

                if (!room)
                        return -ENOMEM;
                do
                        n = read(resume->fd, room, room_bytes);
                while (n < 0 && errno == EINTR);
                if (n < 0)
                        return -errno;
                ed_lines_grow(lines, (size_t) n);
                while (err == 0 && ed_lines_next(lines, false, &line)) {
                        err = line_take(resume, dir, &line, url_room);
                        *ret_end = line.next;
                }
        } while (n > 0 && err == 0);
        return err;
}

/* The file has bytes after its last line feed. */
static int end_repair(struct ed_resume *resume, const struct ed_save_dir *dir,
                      struct ed_lines *lines, char *url_room, const char *path, uint64_t end)
{
        static const char begin[] = "{\"index\":";
        struct ed_line line;
        size_t same;

        if (!ed_lines_next(lines, true, &line))
                return 0;
        if (line_take(resume, dir, &line, url_room) == 0)
                return ed_write_all(resume->fd, "\n", 1);
        same = line.bytes < sizeof(begin) - 1 ? line.bytes : sizeof(begin) - 1;
        if (memcmp(line.data, begin, same) != 0)
                return -EINVAL;
        ed_console_say("fetch", "%s: cut off an incomplete last line", path);
        return ftruncate(resume->fd, (off_t) end) < 0 ? -errno : 0;
}

int ed_resume_read(struct ed_resume *resume, const char *path, const struct ed_save_dir *dir)
{
        char *url_room = eddy_malloc(URL_BYTES_MAX);
        struct ed_lines lines;
        uint64_t end;
        int err;

        if (!url_room)
                return resume_refuse(resume, path, -ENOMEM);
        ed_lines_init(&lines, LINE_BYTES_MAX, false);
        err = lines_take(resume, dir, &lines, url_room, &end);
        if (err == 0)
                err = end_repair(resume, dir, &lines, url_room, path, end);
        if (err == -EINVAL)
                ed_console_say("fetch",
                               "%s %s: line %llu is not a result of eddy fetch; name a new %s "
                               "(--force discards its contents)",
                               resume->option, path, (unsigned long long) lines.number,
                               strcmp(resume->option, "-o") == 0 ? "file" : "folder");
        ed_lines_fini(&lines);
        eddy_free(url_room);
        if (err == -EINVAL) {
                ed_resume_fini(resume);
                return ED_EXIT_USAGE;
        }
        if (err < 0)
                return resume_refuse(resume, path, err);
        if (resume->count > 0)
                ed_console_say("fetch", "%s has %llu saved file%s, which %s not fetched again",
                               path, (unsigned long long) resume->count,
                               resume->count == 1 ? "" : "s", resume->count == 1 ? "is" : "are");
        return 0;
}

void ed_resume_fini(struct ed_resume *resume)
{
        if (resume->fd >= 0)
                close(resume->fd);
        resume->fd = -1;
        ed_hash_map_free(&resume->map);
}

bool ed_resume_take(struct ed_resume *resume, const char *url, size_t bytes)
{
        struct ed_hash_link *link =
                resume->count > 0 ? ed_hash_map_find(&resume->map, ed_hash_map_hash(url, bytes))
                                  : NULL;

        if (!link)
                return false;
        ed_hash_map_remove(&resume->map, link);
        eddy_free(link);
        return true;
}
