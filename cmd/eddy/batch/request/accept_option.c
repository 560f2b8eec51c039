/*
 * batch/request/accept_option.c - see accept_option.h.
 */
#include "batch/request/accept_option.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/console.h"
#include "common/inputs.h"
#include "common/lines.h"
#include "eddy/error.h"
#include "eddy/json.h"

enum { LINE_BYTES_MAX = 64 << 20 };

/* Returns the bytes of the id in a line of JSON, in 'room'; -ENOENT: the line itself is the id. */
static int64_t id_of_json(const struct ed_line *line, char room[ED_ANSWER_ID_ROOM])
{
        static const struct eddy_json_opts opts = { .depth_max = EDDY_JSON_DEPTH_MAX };
        struct eddy_json_value top, id;

        if (*line->data != '{' || eddy_json_parse(line->data, line->bytes, &opts, &top, NULL) < 0 ||
            eddy_json_get(&top, "custom_id", &id) < 0)
                return -ENOENT;
        return ed_answer_id_read(&id, room);
}

static int line_take(struct ed_accept *accept, const char *command, const char *path,
                     const struct ed_line *line)
{
        char room[ED_ANSWER_ID_ROOM];
        int64_t bytes;

        if (line->bytes == 0)
                return 0;
        bytes = line->is_too_long ? -EINVAL : id_of_json(line, room);
        if (bytes == -ENOENT)
                return ed_accept_name(accept, line->data, line->bytes);
        if (bytes >= 0)
                return ed_accept_name(accept, room, (size_t) bytes);
        ed_console_usage(command, "--accept-failed-ids %s: line %llu %s", path,
                         (unsigned long long) line->number,
                         line->is_too_long ? "is longer than 64 MiB"
                                           : "has a custom_id that is not the id of a request");
        return -EINVAL;
}

static int lines_take(struct ed_accept *accept, const char *command, const char *path, int fd,
                      struct ed_lines *lines)
{
        struct ed_line line;
        ssize_t n = 1;
        int err = 0;

        while (n > 0 && err == 0) {
                size_t bytes;
                char *room = ed_lines_room(lines, &bytes);

                if (!room)
                        return -ENOMEM;
                n = read(fd, room, bytes);
                if (n < 0 && errno == EINTR) {
                        n = 1;
                        continue;
                }
                if (n < 0) {
                        ed_console_usage(command, "--accept-failed-ids %s: %s", path,
                                         eddy_error_text(-errno));
                        return -EINVAL;
                }
                ed_lines_grow(lines, (size_t) n);
                while (err == 0 && ed_lines_next(lines, n == 0, &line))
                        err = line_take(accept, command, path, &line);
        }
        return err;
}

int ed_accept_read_ids(struct ed_accept *accept, const char *command, const char *path)
{
        struct ed_lines lines;
        int fd, err = ed_accept_all_named(accept);

        if (err < 0)
                return err;
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0) {
                ed_console_usage(command, "--accept-failed-ids %s: %s", path, strerror(errno));
                return -EINVAL;
        }
        ed_lines_init(&lines, LINE_BYTES_MAX, false);
        err = ed_inputs_add("--accept-failed-ids", path);
        if (err == 0)
                err = lines_take(accept, command, path, fd, &lines);
        ed_lines_fini(&lines);
        close(fd);
        return err;
}
