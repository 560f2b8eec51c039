/*
 * batch/summary_file.c - writes the summary to a file.
 */
#include "batch/summary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/paths.h"
#include "batch/summary.h"
#include "common/console.h"
#include "common/read_some.h"
#include "common/replace.h"

enum { HEAD_BYTES = 64 };

/* Returns true if a file is empty, or begins as a summary does. Other outputs begin differently. */
static bool is_summary(const char *path)
{
        static const char start[] = "{\"id\":\"batch_", kind[] = "\",\"object\":\"batch\",";
        char head[HEAD_BYTES];
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        ssize_t n = fd < 0 ? -1 : ed_read_some(fd, head, sizeof(head), 0);

        if (fd >= 0)
                close(fd);
        return n == 0 ||
               (n > (ssize_t) sizeof(start) && memcmp(head, start, sizeof(start) - 1) == 0 &&
                memmem(head, (size_t) n, kind, sizeof(kind) - 1));
}

static bool is_foreign(const char *path)
{
        return access(path, F_OK) == 0 && !is_summary(path);
}

static int summary_write(const struct ed_batch_command *command)
{
        const char *path = command->opts.summary_file;
        struct ed_draft text = { 0 };
        int err = -ENOMEM;

        ed_summary_add_json(command, &text);
        if (ed_draft_is_whole(&text))
                err = ed_replace_short(path, text.data, text.bytes);
        ed_draft_fini(&text);
        return err;
}

static int fault_say(const char *path, int err)
{
        ed_console_say("batch", "--summary-file %s: %s", path,
                       err == -EBUSY    ? "another eddy is writing to it"
                       : err == -EEXIST ? "another file has this name now, and is kept"
                                        : strerror(-err));
        return err == -EBUSY ? ED_EXIT_BUSY : ED_EXIT_OUTPUT;
}

/* Lock the file, so that another run does not take it. */
static int summary_lock(struct ed_batch_command *command)
{
        int fd = open(command->opts.summary_file, O_RDONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
                return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
                close(fd);
                return -EBUSY;
        }
        command->summary_fd = fd;
        return 0;
}

int ed_summary_file_begin(struct ed_batch_command *command)
{
        const char *path = command->opts.summary_file;
        struct stat st;
        int err;

        if (!path)
                return 0;
        if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
                return ed_console_usage("batch",
                                        "--summary-file %s: this is not a regular file; name "
                                        "another",
                                        path);
        if (is_foreign(path))
                return ed_console_usage("batch",
                                        "--summary-file %s: this is not a summary of eddy batch; "
                                        "name another file, or remove it",
                                        path);
        err = ed_paths_check_summary(command);
        if (err)
                return err;
        err = summary_write(command);
        if (err == 0)
                err = summary_lock(command);
        return err < 0 ? fault_say(path, err) : 0;
}

int ed_summary_file_end(struct ed_batch_command *command)
{
        int err;

        if (command->summary_fd < 0)
                return command->exit_code;
        close(command->summary_fd);
        command->summary_fd = -1;
        /* Another program may have given the name to a file of its own. */
        err = is_foreign(command->opts.summary_file) ? -EEXIST : summary_write(command);
        if (err == 0)
                return command->exit_code;
        (void) fault_say(command->opts.summary_file, err);
        return command->exit_code == ED_EXIT_OK ? ED_EXIT_OUTPUT : command->exit_code;
}
