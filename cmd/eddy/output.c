/*
 * output.c - result lines into a file or a pipe.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "console.h"
#include "duration.h"
#include "eddy/time.h"

/* A task that writes or waits for its turn; lies in its frame. */
struct ed_output_write {
        eddy_scope shield;
        struct ed_output_write *next;
};

/* Check and empty what was opened.  Returns 0 or the exit code. */
static int file_prepare(struct ed_output *output, const char *command, bool force)
{
        struct stat st;

        if (fstat(output->fd, &st) < 0)
                goto fail_say;
        if (S_ISDIR(st.st_mode)) {
                errno = EISDIR;
                goto fail_say;
        }
        output->regular = S_ISREG(st.st_mode);
        if (!output->regular)
                return 0;
        if (flock(output->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
                ed_console_say(command, "-o %s: another eddy is writing to it", output->name);
                return ED_EXIT_USAGE;
        }
        if (fstat(output->fd, &st) < 0)
                goto fail_say;
        if (st.st_size > 0 && !force) {
                ed_console_say(command,
                               "-o %s: the file is not empty; name a new one, or add --force to "
                               "overwrite it",
                               output->name);
                return ED_EXIT_USAGE;
        }
        if (st.st_size > 0 && ftruncate(output->fd, 0) < 0)
                goto fail_say;
        return 0;

fail_say:
        ed_console_say(command, "-o %s: %s", output->name, strerror(errno));
        return ED_EXIT_OUTPUT;
}

int ed_output_open(struct ed_output *output, const char *command, const char *path, bool force)
{
        int err;

        *output = (struct ed_output){ .fd = STDOUT_FILENO, .name = "standard output" };
        eddy_semaphore_init(&output->turn, 1, EDDY_SEMAPHORE_BOUNDED);
        if (!path)
                return 0;
        output->name = path;
        output->own_fd = true;
        output->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
        if (output->fd < 0) {
                ed_console_say(command, "-o %s: %s", path, strerror(errno));
                return ED_EXIT_OUTPUT;
        }
        err = file_prepare(output, command, force);
        if (err) {
                close(output->fd);
                output->fd = -1;
        }
        return err;
}

int ed_output_begin(struct ed_output *output)
{
        return eddy_stream_from_fd(output->fd, 0, &output->stream);
}

void ed_output_end(struct ed_output *output)
{
        eddy_stream_close(output->stream);
        output->stream = NULL;
}

static void output_unlink(struct ed_output *output, struct ed_output_write *write)
{
        struct ed_output_write **at = &output->writes;

        while (*at != write)
                at = &(*at)->next;
        *at = write->next;
}

/* With the turn taken. */
static int output_put(struct ed_output *output, const char *line, size_t bytes)
{
        int err;

        if (output->err < 0)
                return output->err;
        err = eddy_stream_write(output->stream, line, bytes);
        if (err < 0) {
                output->err = err == -ECANCELED ? -ETIMEDOUT : err;
                if (output->regular && ftruncate(output->fd, (off_t) output->bytes) < 0)
                        return output->err; /* the torn line stays, and is the last */
                return output->err;
        }
        output->lines++;
        output->bytes += bytes;
        return 0;
}

int ed_output_line(struct ed_output *output, const char *line, size_t bytes)
{
        struct ed_output_write write = { .next = output->writes };
        int64_t deadline_ns =
                output->stop_ns ? output->stop_ns : eddy_now() + 100 * ED_DURATION_MAX_NS;
        int err;

        if (output->err < 0)
                return output->err;
        output->writes = &write;
        eddy_scope_begin(&write.shield, &(struct eddy_scope_opts){ .deadline_ns = deadline_ns,
                                                                   .flags = EDDY_SCOPE_SHIELD });
        err = eddy_semaphore_acquire(&output->turn);
        if (err == 0) {
                err = output_put(output, line, bytes);
                eddy_semaphore_release(&output->turn);
        }
        output_unlink(output, &write);
        eddy_scope_end(&write.shield);
        return err == -ECANCELED ? -ETIMEDOUT : err;
}

void ed_output_stop(struct ed_output *output, int64_t deadline_ns)
{
        if (output->stop_ns)
                return;
        output->stop_ns = deadline_ns;
        for (struct ed_output_write *write = output->writes; write; write = write->next)
                eddy_scope_set_deadline(&write->shield, deadline_ns);
}

int ed_output_close(struct ed_output *output)
{
        int fd = output->fd;

        if (!output->own_fd || fd < 0)
                return 0;
        output->fd = -1;
        return close(fd) < 0 ? -errno : 0;
}
