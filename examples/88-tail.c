/*
 * 88-tail - tail -f: prints a file, and what is added to it, until its folder is gone.
 *
 * The watch is on the folder, so it follows the name: a file that is truncated is read
 * from its beginning, and after a rotation (the file gets another name, and a new one is made)
 * the rest of the old file is printed and then the new one.  The watch begins before the
 * first look, so no change is missed.
 *
 * Run: d=$(mktemp -d); echo first >$d/log; (sleep .8; echo second >>$d/log; sleep .8; echo rest >>$d/log; mv $d/log $d/log.1; echo third >$d/log; sleep .8; : >$d/log; sleep .8; echo 4 >>$d/log; sleep .8; rm -r $d) & 88-tail $d/log
 * Time: wall 4 s
 * Output:
 *     first
 *     second
 *     rest
 *     third
 *     4
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

struct tail {
        const char *path, *name; /* the name is the last part of the path */
        char folder[4096];
        eddy_file *file; /* NULL: there is no file now */
        uint64_t printed;
};

/* Print what was added; a file that is shorter than before was truncated. */
static int print_new(struct tail *tail)
{
        struct eddy_file_info info;
        static char buf[64 * 1024];
        int64_t n;
        int err;

        if (!tail->file)
                return 0;
        err = eddy_file_stat(tail->file, &info);
        if (err == 0 && (uint64_t) info.bytes < tail->printed) {
                err = eddy_file_seek(tail->file, 0);
                tail->printed = 0;
        }
        while (err == 0 && (n = eddy_file_read(tail->file, buf, sizeof(buf))) != 0) {
                if (n < 0)
                        return (int) n;
                fwrite(buf, 1, (size_t) n, stdout);
                tail->printed += (uint64_t) n;
        }
        fflush(stdout);
        return err;
}

/* Returns 1 if the open file still has the name, so that there is nothing to open. */
static int has_name(const struct tail *tail)
{
        struct eddy_file_info named, ours;
        int err = tail->file ? eddy_path_stat(tail->path, 0, &named) : -ENOENT;

        if (err == 0)
                err = eddy_file_stat(tail->file, &ours);
        if (err < 0)
                return err == -ENOENT ? 0 : err;
        return named.device == ours.device && named.inode == ours.inode;
}

/* Print the rest of the former file, and open the file that has the name now. */
static int reopen(struct tail *tail)
{
        int err = print_new(tail);

        if (err == 0)
                err = has_name(tail);
        if (err != 0)
                return err < 0 ? err : 0;
        eddy_file_close(tail->file);
        tail->file = NULL;
        tail->printed = 0;
        if (err == 0)
                err = eddy_file_open(tail->path, EDDY_FILE_READ, 0, &tail->file);
        if (err == -ENOENT)
                return 0;
        return err < 0 ? err : print_new(tail);
}

/* Returns 1 if the folder is gone. */
static int follow(struct tail *tail, const struct eddy_notify_event *event)
{
        bool is_ours = strcmp(event->name, tail->name) == 0;

        switch (event->kind) {
        case EDDY_NOTIFY_GONE:
                return 1;
        case EDDY_NOTIFY_OVERFLOW:
                return reopen(tail);
        case EDDY_NOTIFY_CHANGED:
                return is_ours ? print_new(tail) : 0;
        default: /* another file has the name, or none has */
                return is_ours || strcmp(event->from, tail->name) == 0 ? reopen(tail) : 0;
        }
}

static int run_tail(void *arg)
{
        EDDY_AUTO(eddy_notify) eddy_notify *notify = NULL;
        struct eddy_notify_event event;
        struct tail *tail = arg;
        int err = eddy_notify_open(NULL, &notify);

        if (err == 0)
                err = eddy_notify_add(notify, tail->folder);
        if (err >= 0)
                err = reopen(tail);
        while (err == 0) {
                err = eddy_notify_next(notify, &event);
                if (err == 0)
                        err = follow(tail, &event);
        }
        eddy_file_close(tail->file);
        return err;
}

int main(int argc, char **argv)
{
        static struct tail tail;
        const char *slash;
        int err;

        if (argc != 2 || strlen(argv[1]) >= sizeof(tail.folder)) {
                fprintf(stderr, "usage: 88-tail FILE\n");
                return 2;
        }
        tail.path = argv[1];
        slash = strrchr(tail.path, '/');
        tail.name = slash ? slash + 1 : tail.path;
        snprintf(tail.folder, sizeof(tail.folder), "%.*s",
                 slash ? (int) (slash - tail.path) + 1 : 1, slash ? tail.path : ".");
        err = eddy_run(run_tail, &tail, NULL);
        if (err < 0)
                fprintf(stderr, "88-tail: %s: %s\n", tail.path, eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
