/*
 * batch/checkpoint.c - opens the files of a run, and cleans them after it.
 */
#include "batch/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/console.h"
#include "eddy/error.h"
#include "eddy/thread.h"
#include "eddy/time.h"

#define SYNC_NS EDDY_SEC(1)

/* A walk over the lines of a file. */
struct scan {
        struct ed_batch_run *run;
        uint64_t offset;    /* of the line */
        uint64_t old_bytes; /* of the file, before the run */
        bool dirty;         /* some lines must go */
        char id[ED_ANSWER_ID_ROOM];
};

/* A line of the output: its id has an answer. */
static int answer_scan(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_batch_run *run = scan->run;
        struct ed_answer_seen seen;
        int flags;

        if (ed_answer_read(line, bytes, scan->id, &seen) < 0)
                return 0;
        if (!seen.is_ok) {
                scan->dirty = true;
                return 0;
        }
        flags = ed_ids_add(run->ids, seen.id, seen.id_bytes, seen.mark, ED_IDS_ANSWERED, NULL);
        if (flags < 0)
                return flags;
        if (!(flags & ED_IDS_ANSWERED)) {
                run->answered_before++;
                return 0;
        }
        /* A run that was killed had sent a changed request again: its answer is the last one. */
        scan->dirty = true;
        ed_ids_set_hash(run->ids, seen.id, seen.id_bytes, seen.mark);
        return 0;
}

/* Keep an answer to the last request of each id. READ marks the ids of those that were kept. */
static bool answer_keep(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_answer_seen seen;
        bool same;

        if (ed_answer_read(line, bytes, scan->id, &seen) < 0)
                return true;
        if (!seen.is_ok ||
            ed_ids_add(scan->run->ids, seen.id, seen.id_bytes, seen.mark, 0, &same) < 0 || !same)
                return false;
        return !(ed_ids_add(scan->run->ids, seen.id, seen.id_bytes, 0, ED_IDS_READ, NULL) &
                 ED_IDS_READ);
}

/* A line of the errors file: its id is tried again. */
static int failure_scan(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_batch_run *run = scan->run;
        struct ed_answer_seen seen;
        int flags = 0;

        if (ed_answer_read(line, bytes, scan->id, &seen) < 0 ||
            ed_ids_flags(run->ids, seen.id, seen.id_bytes) & ED_IDS_ANSWERED)
                return 0;
        run->failed_before++;
        if (strncmp(seen.id, "line-", 5) == 0) {
                if (!run->bad_lines && ed_ids_new(&run->bad_lines) < 0)
                        return -ENOMEM;
                flags = ed_ids_add(run->bad_lines, seen.id, seen.id_bytes, 0, ED_IDS_FAILED, NULL);
        }
        if (run->only && flags >= 0)
                flags = ed_ids_add(run->only, seen.id, seen.id_bytes, 0, ED_IDS_FAILED, NULL);
        return flags < 0 ? flags : 0;
}

static int file_fault(const char *path, int err)
{
        ed_console_say("batch", "%s: %s", path, eddy_error_text(err));
        return err == -ENOMEM ? ED_EXIT_FAILED : ED_EXIT_OUTPUT;
}

/* Make a locked file an output of the run. The lock is kept until the file is closed twice. */
static int output_make(struct ed_output *output, const struct ed_answers *answers)
{
        int fd = fcntl(answers->fd, F_DUPFD_CLOEXEC, 0);
        int err;

        if (fd < 0)
                return file_fault(answers->path, -errno);
        err = ed_output_adopt(output, fd, answers->path);
        if (err < 0)
                close(fd);
        return err < 0 ? file_fault(answers->path, err) : 0;
}

/* Read a file; in the output, remove lines that are not the first answer of their id. */
static int file_read(struct ed_batch_run *run, struct ed_answers *answers, ed_answers_fn *fn)
{
        struct scan scan = { .run = run };
        int err = ed_answers_each(answers, fn, &scan);

        if (err == 0 && scan.dirty) {
                err = ed_answers_prune(answers, answer_keep, &scan, NULL);
                ed_ids_clear(run->ids, ED_IDS_READ);
        }
        return err < 0 ? file_fault(answers->path, err) : 0;
}

static bool line_drop(void *arg, const char *line, size_t bytes)
{
        (void) arg, (void) line, (void) bytes;
        return false;
}

/* Empty an errors file whose ids all have answers. On a full disk that may be the room for more. */
static int failures_drop(struct ed_batch_run *run)
{
        int err;

        if (run->failures.bytes == 0 || run->failed_before > 0)
                return 0;
        err = ed_answers_prune(&run->failures, line_drop, NULL, NULL);
        return err < 0 ? file_fault(run->failures.path, err) : 0;
}

/* Report what was repaired. */
static void found_say(const char *path, const struct ed_answers_found *found)
{
        if (found->torn > 0)
                ed_console_say("batch", "%s: cut off %llu bytes of a line that was not whole", path,
                               (unsigned long long) found->torn);
        if (found->damaged > 0)
                ed_console_say("batch", "%s: moved %llu lines that are not answers to %s.damaged",
                               path, (unsigned long long) found->damaged, path);
}

int ed_checkpoint_open(struct ed_batch_run *run)
{
        const struct ed_batch_opts *opts = &run->opts;
        struct ed_answers_found found = { 0 }, failures_found = { 0 };
        int err;

        run->answers.fd = run->failures.fd = -1;
        if (!opts->output)
                return ed_output_open(&run->output, "batch", NULL, false);
        err = ed_answers_open(&run->answers, "batch", "-o", opts->output, &found);
        if (err)
                return err;
        found_say(opts->output, &found);
        err = ed_answers_open(&run->failures, "batch", "--errors", opts->errors, &failures_found);
        if (err)
                return err;
        found_say(opts->errors, &failures_found);
        err = file_read(run, &run->answers, answer_scan);
        if (err == 0)
                err = file_read(run, &run->failures, failure_scan);
        if (err == 0)
                err = failures_drop(run);
        if (err == 0)
                err = output_make(&run->output, &run->answers);
        if (err == 0)
                err = output_make(&run->errors, &run->failures);
        run->failures_bytes = run->failures.bytes;
        run->answers_bytes = run->answers.bytes;
        return err;
}

/* ---- during the run ------------------------------------------------------------------------ */

/* On a thread of the pool. */
static int disk_wait(void *arg)
{
        const struct ed_output *output = arg;

        return fdatasync(output->fd) < 0 && errno != EINVAL ? -errno : 0;
}

int ed_checkpoint_sync(void *arg)
{
        struct ed_batch_run *run = arg;
        uint64_t bytes = 0;
        int err = 0;

        while (run->opts.output && err == 0 && eddy_sleep(SYNC_NS) == 0) {
                if (run->output.bytes == bytes)
                        continue;
                bytes = run->output.bytes;
                err = eddy_to_thread(disk_wait, &run->output);
                if (err == -EAGAIN)
                        err = 0; /* no thread; the next turn tries again */
        }
        if (err < 0 && err != -ECANCELED) {
                run->output.save_err = err;
                ed_batch_stop(run, ED_STOP_OUTPUT, 0, NULL);
        }
        return 0;
}

/* ---- after the run ------------------------------------------------------------------------- */

/* Keep failures of ids that have neither succeeded nor failed again in this run. */
static bool failure_keep(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_answer_seen seen;
        bool is_new = scan->offset >= scan->old_bytes;
        unsigned flags;

        scan->offset += bytes + 1;
        if (is_new || ed_answer_read(line, bytes, scan->id, &seen) < 0)
                return true;
        flags = ed_ids_flags(scan->run->ids, seen.id, seen.id_bytes);
        return !(flags & (ED_IDS_ANSWERED | ED_IDS_FAILED));
}

/* Keep answers, but not those to a former request of an id that was sent again. */
static bool answer_keep_last(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_answer_seen seen;
        bool is_new = scan->offset >= scan->old_bytes;

        scan->offset += bytes + 1;
        if (is_new || ed_answer_read(line, bytes, scan->id, &seen) < 0)
                return true;
        return !(ed_ids_flags(scan->run->ids, seen.id, seen.id_bytes) & ED_IDS_AGAIN);
}

static int file_clean(struct ed_batch_run *run, struct ed_answers *answers, uint64_t old_bytes,
                      ed_answers_keep_fn *keep)
{
        struct scan scan = { .run = run, .old_bytes = old_bytes };
        uint64_t removed;
        int err = ed_answers_prune(answers, keep, &scan, &removed);

        return err < 0 ? file_fault(answers->path, err) : 0;
}

/* Returns true if the errors file is empty, and still the file with its name. */
static bool failures_are_gone(const struct ed_batch_run *run)
{
        struct stat named, st;

        return ed_answers_place(&run->failures) == ED_ANSWERS_HERE &&
               fstat(run->failures.fd, &st) == 0 && st.st_size == 0 &&
               lstat(run->opts.errors, &named) == 0 && S_ISREG(named.st_mode);
}

/* Report files that a program moved away during the run. Returns true if there is one. */
static bool moved_say(const struct ed_batch_run *run)
{
        const struct ed_answers *const files[] = { &run->answers, &run->failures };
        bool found = false;

        for (size_t i = 0; i < 2; i++) {
                if (ed_answers_place(files[i]) != ED_ANSWERS_MOVED)
                        continue;
                ed_console_say(
                        "batch",
                        "%s was moved during the run: its lines, also those of this run, are "
                        "in the moved file; move it back before the next run",
                        files[i]->path);
                found = true;
        }
        return found;
}

/* Wait until all lines are on the disk. Returns 0 or the exit code. */
static int files_sync(const struct ed_batch_run *run)
{
        int err = ed_answers_sync(&run->answers);

        if (err < 0)
                return file_fault(run->answers.path, err);
        err = ed_answers_sync(&run->failures);
        return err < 0 ? file_fault(run->failures.path, err) : 0;
}

/*
 * Remove old lines. The lines in their place must be on the disk before: a crash of the machine
 * could take them back, but not the removal.
 */
static int files_clean(struct ed_batch_run *run)
{
        bool cleans_answers = run->opts.changed_ok && run->answers_bytes > 0;
        bool cleans_failures =
                run->failures_bytes > 0 && ed_answers_place(&run->failures) == ED_ANSWERS_HERE;
        int err = 0, clean_err;

        if (!(cleans_failures || cleans_answers) ||
            ed_answers_place(&run->answers) != ED_ANSWERS_HERE)
                return 0;
        err = files_sync(run);
        if (err)
                return err;
        if (cleans_failures)
                err = file_clean(run, &run->failures, run->failures_bytes, failure_keep);
        if (cleans_answers) {
                clean_err = file_clean(run, &run->answers, run->answers_bytes, answer_keep_last);
                err = err ? err : clean_err;
        }
        return err;
}

void ed_checkpoint_abandon(const struct ed_batch_run *run)
{
        if (failures_are_gone(run))
                unlink(run->opts.errors);
}

int ed_checkpoint_close(struct ed_batch_run *run, bool sync)
{
        int err = 0;

        ed_output_close(&run->output, sync);
        if (!run->opts.output)
                return 0;
        ed_output_close(&run->errors, sync);
        if (moved_say(run))
                err = ED_EXIT_OUTPUT;
        else if (run->output.save_err == 0 && run->errors.save_err == 0)
                err = files_clean(run);
        if (failures_are_gone(run))
                unlink(run->opts.errors);
        ed_answers_close(&run->answers);
        ed_answers_close(&run->failures);
        return err;
}
