/*
 * batch/run/checkpoint.c - opens the files of a run, and cleans them after it.
 */
#include "batch/run/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/run/shard.h"
#include "batch/run/stop.h"
#include "common/exit.h"
#include "eddy/error.h"
#include "eddy/thread.h"
#include "eddy/time.h"

#define SYNC_NS EDDY_SEC(1)

/* Returns true if a failure may be a refusal: of the key, or for a time. */
static bool is_refusal(int status)
{
        return status == 401 || status == 403 || status == 420 || status == 429 || status == 498;
}

/* A walk over the lines of a file. */
struct scan {
        struct ed_batch_unit *unit;
        uint64_t offset;         /* of the line */
        uint64_t old_end;        /* lines before this were there before the run */
        uint64_t new_end;        /* lines from here were moved to the file, and are old too */
        uint64_t stray, strange; /* failures whose id is in the input; whose id is not */
        uint64_t left;           /* failures that are kept */
        uint64_t answers;        /* ids of the input whose only answer is in the errors file */
        bool is_output;          /* the file is the output, not the errors file */
        int refused;             /* an exit code: it has answers of another shard */
        int err;                 /* of a line; further lines are not taken */
        char id[ED_ANSWER_ID_ROOM];
};

/* Add an id to a set, which is made for its first id. */
static int set_add(struct ed_ids **set, const struct ed_answer_seen *seen)
{
        if (!*set && ed_ids_new(set) < 0)
                return -ENOMEM;
        return ed_ids_add(*set, seen->id, seen->id_bytes, 0, ED_IDS_FAILED, NULL);
}

/*
 * Returns true for the error of a line that was not a request, which has the number of the line as its
 * id. A request may have such an id too.
 */
static bool is_bad_line(const struct ed_answer_seen *seen)
{
        static const char code[] = "\"invalid_request_line\"";

        return strncmp(seen->id, "line-", 5) == 0 && seen->code_bytes == sizeof(code) - 1 &&
               memcmp(seen->code, code, sizeof(code) - 1) == 0;
}

/* Remember a failure, whose request is tried again. */
static int failure_note(struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        int flags = ed_accept_note(unit->run->accept, seen);

        if (flags < 0)
                return flags;
        if (is_bad_line(seen))
                flags = set_add(&unit->sink.bad_lines, seen);
        if (is_refusal(seen->status) && flags >= 0)
                flags = set_add(&unit->sink.refused, seen);
        if (unit->sink.only && flags >= 0)
                flags = set_add(&unit->sink.only, seen);
        return flags < 0 ? flags : 0;
}

/* A success: its id has an answer. Returns 1 if another line had the id before, or an error. */
static int success_note(struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        int flags = ed_ids_add(unit->sink.ids, seen->id, seen->id_bytes, seen->mark,
                               ED_IDS_ANSWERED, NULL);

        if (flags < 0)
                return flags;
        if (!(flags & ED_IDS_ANSWERED)) {
                unit->sink.held.answered++;
                return 0;
        }
        /* A killed run had sent the changed request again; its answer is the last one. */
        if (seen->mark)
                ed_ids_set_hash(unit->sink.ids, seen->id, seen->id_bytes, seen->mark);
        return 1;
}

/*
 * A success in the errors file. If the output has an answer of this id, that one counts. Returns as
 * success_note() does.
 */
static int errors_success_note(struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        struct ed_batch_sink *sink = &unit->sink;
        int flags;

        if (!sink->errors_only && ed_ids_new(&sink->errors_only) < 0)
                return -ENOMEM;
        if (ed_ids_flags(sink->ids, seen->id, seen->id_bytes) & ED_IDS_ANSWERED &&
            ed_ids_flags(sink->errors_only, seen->id, seen->id_bytes) == 0)
                return 1;
        flags = ed_ids_add(sink->errors_only, seen->id, seen->id_bytes, 0, ED_IDS_ANSWERED, NULL);
        return flags < 0 ? flags : success_note(unit, seen);
}

/* An answer whose request decides if it is a success: ed_reader_check() or the run finds that. */
static int doubt_note(struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        int flags = ed_ids_add(unit->sink.ids, seen->id, seen->id_bytes, seen->mark, ED_IDS_DOUBTED,
                               NULL);

        unit->sink.held.doubted++;
        return flags < 0 ? flags : 0;
}

/* A line of the output. */
static int answer_note(struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        int judged = ed_rule_judge_line(&unit->run->settings->rule, seen, true), known;

        if (judged < 0)
                return judged;
        if (judged != ED_RULE_LINE_FAILED)
                ed_saved_note_missing(&unit->sink.saved, &unit->sink.save, seen);
        if (judged == ED_RULE_LINE_DOUBTED)
                return doubt_note(unit, seen);
        if (judged == ED_RULE_LINE_FAILED) {
                unit->sink.held.output_failures++;
                unit->sink.held.not_ok += seen->is_ok;
                return failure_note(unit, seen);
        }
        known = success_note(unit, seen);
        unit->sink.held.repeated += known > 0;
        return known < 0 ? known : 0;
}

/*
 * Returns true if the id of a failure has an answer. An answer to another request does not count: the
 * request may have changed, and then failed.
 */
static bool is_answered(const struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        struct ed_ids *ids = unit->sink.ids;
        bool same;

        if (!(ed_ids_flags(ids, seen->id, seen->id_bytes) & ED_IDS_ANSWERED))
                return false;
        return ed_ids_add(ids, seen->id, seen->id_bytes, seen->mark, 0, &same) < 0 || same;
}

/* A line of the errors file: its id is tried again. */
static int errors_note(struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        int judged = ed_rule_judge_line(&unit->run->settings->rule, seen, false), err;
        unsigned flags;

        if (judged < 0)
                return judged;
        if (judged == ED_RULE_LINE_OK) {
                unit->sink.held.errors_answers++;
                err = errors_success_note(unit, seen);
                unit->sink.held.errors_answered += err == 0;
                return err < 0 ? err : 0;
        }
        if (is_answered(unit, seen))
                return 0;
        flags = ed_ids_flags(unit->sink.ids, seen->id, seen->id_bytes);
        unit->sink.held.outdated += (flags & ED_IDS_ANSWERED) != 0;
        unit->sink.held.failed++;
        return failure_note(unit, seen);
}

static void line_take(void *arg, const struct ed_answer_seen *seen)
{
        struct scan *scan = arg;

        if (scan->refused)
                return;
        if (scan->is_output && ed_unit_answer_is_foreign(scan->unit, seen)) {
                scan->refused = ed_unit_shard_refuse(scan->unit, seen);
                return;
        }
        if (scan->unit->run->settings->shard.count > 0)
                ed_spent_note(&scan->unit->run->spent, seen);
        if (scan->err == 0)
                scan->err = scan->is_output ? answer_note(scan->unit, seen)
                                            : errors_note(scan->unit, seen);
}

static int file_fault(const struct ed_batch_unit *unit, const char *path, int err)
{
        ed_say(&unit->run->say, "%s: %s", path, eddy_error_text(err));
        return err == -ENOMEM ? ED_EXIT_FAILED : ED_EXIT_OUTPUT;
}

/* Make a locked file an output of the run. The lock is kept until the file is closed twice. */
static int output_make(const struct ed_batch_unit *unit, struct ed_output *output,
                       const struct ed_answers_file *answers)
{
        int fd = fcntl(answers->fd, F_DUPFD_CLOEXEC, 0);
        int err;

        if (fd < 0)
                return file_fault(unit, answers->path, -errno);
        err = ed_output_adopt(output, fd, answers->path);
        if (err < 0)
                close(fd);
        return err < 0 ? file_fault(unit, answers->path, err) : 0;
}

static bool line_drop(void *arg, const char *line, size_t bytes)
{
        (void) arg, (void) line, (void) bytes;
        return false;
}

/* Empty an errors file whose ids all have answers. On a full disk, this may make room. */
static int failures_drop(struct ed_batch_unit *unit)
{
        int err;

        if (unit->sink.failures.bytes == 0 || unit->sink.held.failed > 0 ||
            unit->sink.held.errors_answers > 0)
                return 0;
        err = ed_answers_file_prune(&unit->sink.failures, line_drop, NULL, NULL);
        return err < 0 ? file_fault(unit, unit->sink.failures.path, err) : 0;
}

static const char *plural(uint64_t count)
{
        return count == 1 ? "" : "s";
}

/* Report what was repaired. */
static void found_say(struct ed_batch_unit *unit, const char *path,
                      const struct ed_answers_file_found *found)
{
        unit->sink.held.rejected += found->rejected + (found->torn > 0);
        if (found->ended)
                ed_say(&unit->run->say, "%s: the last line had no line feed, and has one now",
                       path);
        if (found->torn > 0)
                ed_say(&unit->run->say,
                       "%s: moved an incomplete last line, of %llu byte%s, to %s.rejected", path,
                       (unsigned long long) found->torn, plural(found->torn), path);
        if (found->rejected > 0)
                ed_say(&unit->run->say, "%s: moved %llu %s to %s.rejected", path,
                       (unsigned long long) found->rejected,
                       found->rejected == 1 ? "line that is not an answer"
                                            : "lines that are not answers",
                       path);
}

/* Open and repair a file, and take its lines. Returns 0 or the exit code. */
static int file_open(struct ed_batch_unit *unit, struct ed_answers_file *answers,
                     const char *option, const char *path)
{
        struct scan scan = { .unit = unit, .is_output = answers == &unit->sink.answers };
        struct ed_answers_file_found found = { 0 };
        int err = ed_answers_file_open(answers, &unit->run->say, option, path, &found, line_take,
                                       &scan);

        if (err)
                return err;
        found_say(unit, path, &found);
        if (scan.refused)
                return scan.refused;
        return scan.err < 0 ? file_fault(unit, path, scan.err) : 0;
}

/* Refuse a link to the output, which may have been made only now. Returns 0 or the exit code. */
static int errors_check(const struct ed_batch_unit *unit)
{
        struct stat out, errors;

        if (fstat(unit->sink.answers.fd, &out) < 0 || stat(unit->paths->errors, &errors) < 0 ||
            out.st_dev != errors.st_dev || out.st_ino != errors.st_ino)
                return 0;
        return ed_refuse(&unit->run->say, "--errors %s: this is the output; name another file",
                         unit->paths->errors);
}

/*
 * Returns true if a request may have an answer. The requests of a file are compared with the answers later.
 * Those of a pipe are not known, so an answer counts unless its request has changed and failed since.
 */
static bool has_answers(const struct ed_batch_unit *unit)
{
        const struct ed_batch_held *held = &unit->sink.held;
        bool compares = unit->run->settings->changed_ok && !unit->input.is_file;

        return held->answered > (compares ? held->outdated : 0) || held->doubted > 0;
}

int ed_checkpoint_open(struct ed_batch_unit *unit)
{
        int err;

        unit->sink.answers.fd = unit->sink.failures.fd = -1;
        if (ed_ids_new(&unit->sink.ids) < 0 ||
            (unit->run->settings->only_failed && ed_ids_new(&unit->sink.only) < 0))
                return ED_EXIT_FAILED;
        if (!unit->paths->output)
                return ed_output_open(&unit->sink.output, &unit->run->say, NULL, false);
        if (unit->paths->save)
                ed_save_dir_look(&unit->sink.save, unit->paths->save);
        unit->sink.held.had_output = access(unit->paths->output, F_OK) == 0;
        err = file_open(unit, &unit->sink.answers, "-o", unit->paths->output);
        ed_save_dir_close(&unit->sink.save);
        if (err)
                return err;
        err = errors_check(unit);
        if (err)
                return err;
        err = file_open(unit, &unit->sink.failures, "--errors", unit->paths->errors);
        if (err)
                return err;
        ed_accept_settle(unit->run->accept, has_answers(unit));
        return failures_drop(unit);
}

/* ---- the ids of the input are known -------------------------------------------------------- */

/* Returns true for the error of a line that is a request now, with another id. */
static bool is_corrected(const struct ed_batch_sink *sink, const struct ed_answer_seen *seen)
{
        return sink->bad_lines && is_bad_line(seen) &&
               ed_ids_flags(sink->bad_lines, seen->id, seen->id_bytes) & ED_IDS_READ;
}

/* Returns true if the input has the id, or a request in the line with that number. */
static bool is_of_input(const struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        return ed_ids_flags(unit->sink.ids, seen->id, seen->id_bytes) & ED_IDS_READ ||
               is_corrected(&unit->sink, seen);
}

/* Returns true for a success, and if memory is too short to judge, so that the line stays. */
static bool line_is_ok(const struct scan *scan, const struct ed_answer_seen *seen)
{
        const struct ed_batch_unit *unit = scan->unit;
        int judged = ed_rule_judge_line(&unit->run->settings->rule, seen, scan->is_output);
        unsigned flags;

        if (judged != ED_RULE_LINE_DOUBTED)
                return judged != ED_RULE_LINE_FAILED;
        if (!scan->is_output)
                return false;
        flags = ed_ids_flags(unit->sink.ids, seen->id, seen->id_bytes);
        return !(flags & ED_IDS_READ) || !(flags & ED_IDS_DOUBTED);
}

static bool line_is_new(struct scan *scan, size_t bytes)
{
        uint64_t offset = scan->offset;

        scan->offset += bytes + 1;
        return offset >= scan->old_end && offset < scan->new_end;
}

/*
 * Keep a success in the errors file, but not one whose id the input has if the output has an answer
 * of this id, if its request has changed and was sent again, or after another one that is kept.
 */
static bool errors_success_keep(struct scan *scan, const struct ed_answer_seen *seen)
{
        struct ed_batch_sink *sink = &scan->unit->sink;
        bool is_known = sink->errors_only != NULL &&
                        ed_ids_flags(sink->errors_only, seen->id, seen->id_bytes) != 0;
        bool is_read = ed_ids_flags(sink->ids, seen->id, seen->id_bytes) & ED_IDS_READ, same = true;
        int flags;

        if (!is_known)
                return !is_read ||
                       !(ed_ids_flags(sink->ids, seen->id, seen->id_bytes) & ED_IDS_ANSWERED);
        if (is_read && ed_ids_add(sink->ids, seen->id, seen->id_bytes, seen->mark, 0, &same) >= 0 &&
            !same)
                return false;
        flags = ed_ids_add(sink->errors_only, seen->id, seen->id_bytes, 0, ED_IDS_READ, NULL);
        if (flags >= 0 && flags & ED_IDS_READ)
                return !is_read;
        scan->answers += is_read;
        return true;
}

/* Keep lines of this run, failures, and what errors_success_keep() keeps. */
static bool errors_answer_keep(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_answer_seen seen;

        return line_is_new(scan, bytes) || ed_answer_read(line, bytes, scan->id, &seen) < 0 ||
               !line_is_ok(scan, &seen) || errors_success_keep(scan, &seen);
}

/* Keep failures, and answers whose only line is here but whose id the input does not have. */
static bool errors_answer_stays(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        const struct ed_batch_sink *sink = &scan->unit->sink;
        struct ed_answer_seen seen;

        return ed_answer_read(line, bytes, scan->id, &seen) < 0 || !line_is_ok(scan, &seen) ||
               ed_ids_flags(sink->errors_only, seen.id, seen.id_bytes) == 0 ||
               !(ed_ids_flags(sink->ids, seen.id, seen.id_bytes) & ED_IDS_READ);
}

/* Returns the number of the bytes of a file. */
static uint64_t size_of(const struct ed_answers_file *answers)
{
        struct stat st;

        return fstat(answers->fd, &st) == 0 ? (uint64_t) st.st_size : answers->bytes;
}

/*
 * The ids of the input are marked ED_IDS_READ: move their successes from the errors file to the
 * output, and remove those that have an answer there. Returns 0 or the exit code.
 */
static int errors_answers_move(struct ed_batch_unit *unit)
{
        struct ed_batch_held *held = &unit->sink.held;
        struct ed_answers_file *failures = &unit->sink.failures;
        struct scan scan = { .unit = unit, .old_end = held->failures_bytes, .new_end = UINT64_MAX };
        uint64_t bytes = size_of(failures), removed = 0, moved = 0;
        int err;

        if (held->errors_answers == 0)
                return 0;
        err = ed_answers_file_prune(failures, errors_answer_keep, &scan, &removed);
        if (err == 0 && unit->sink.errors_only)
                err = ed_answers_file_move(failures, &unit->sink.answers, true, errors_answer_stays,
                                           &scan, &moved);
        if (err < 0)
                return file_fault(unit, failures->path, err);
        held->failures_bytes -= bytes - size_of(failures);
        held->errors_answers -= removed + moved;
        held->errors_answered = 0; /* of the ids of the input */
        if (moved > 0)
                ed_say(&unit->run->say, "%s: moved %llu answer%s, whose ids %s has, to %s",
                       failures->path, (unsigned long long) moved, plural(moved),
                       unit->paths->input, unit->sink.answers.path);
        return 0;
}

static int strays_count(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_answer_seen seen;

        if (ed_answer_read(line, bytes, scan->id, &seen) < 0 || line_is_ok(scan, &seen))
                return 0;
        if (is_of_input(scan->unit, &seen))
                scan->stray++;
        else
                scan->strange++;
        return 0;
}

/* Keep answers, and failures whose id the input does not have. */
static bool stray_keep(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_answer_seen seen;

        return ed_answer_read(line, bytes, scan->id, &seen) < 0 || line_is_ok(scan, &seen) ||
               !is_of_input(scan->unit, &seen);
}

static void strange_say(struct ed_batch_unit *unit, const char *path, uint64_t count,
                        const char *what)
{
        if (count > 0 && (unit->checked.total_is_known || unit->run->settings->limit == 0))
                ed_say(&unit->run->say, "%s: %llu %s%s with an id that %s%s does not have: kept",
                       path, (unsigned long long) count, what, plural(count),
                       *unit->input.shard ? "this shard of " : "", unit->paths->input);
}

/* Count the failures of a file. Returns 0 or the exit code. */
static int failures_count(struct ed_batch_unit *unit, struct ed_answers_file *answers,
                          uint64_t *ret_stray, uint64_t *ret_strange)
{
        struct scan scan = { .unit = unit, .is_output = answers == &unit->sink.answers };
        int err = ed_answers_file_each(answers, strays_count, &scan);

        if (err < 0)
                return file_fault(unit, answers->path, err);
        *ret_stray = scan.stray;
        *ret_strange = scan.strange;
        unit->sink.held.strange += scan.strange;
        strange_say(unit, answers->path, scan.strange, "failure");
        return 0;
}

/*
 * The ids of the input are marked ED_IDS_READ: move their failures from the output to the errors
 * file, and report lines with other ids, which stay. Returns 0 or the exit code.
 */
static int strays_move(struct ed_batch_unit *unit)
{
        struct scan scan = { .unit = unit, .is_output = true };
        uint64_t stray = 0, moved = 0, ignored;
        int err = 0;

        if (unit->sink.held.answered > unit->checked.known)
                strange_say(unit, unit->sink.answers.path,
                            unit->sink.held.answered - unit->checked.known, "answer");
        if (unit->sink.held.output_failures > 0)
                err = failures_count(unit, &unit->sink.answers, &stray, &ignored);
        if (err == 0 && unit->sink.held.failures_bytes > 0)
                err = failures_count(unit, &unit->sink.failures, &ignored,
                                     &unit->sink.held.failed_strange);
        if (err || stray == 0)
                return err;
        err = ed_answers_file_move(&unit->sink.answers, &unit->sink.failures, false, stray_keep,
                                   &scan, &moved);
        if (err < 0)
                return file_fault(unit, unit->sink.answers.path, err);
        ed_say(&unit->run->say, "%s: moved %llu failure%s, whose ids %s has, to %s",
               unit->sink.answers.path, (unsigned long long) moved, plural(moved),
               unit->paths->input, unit->sink.failures.path);
        return 0;
}

int ed_checkpoint_begin(struct ed_batch_unit *unit)
{
        int err;

        if (!unit->paths->output)
                return 0;
        unit->sink.held.failures_bytes = unit->sink.failures.bytes;
        err = ed_unit_shard_judge(unit);
        if (err == 0 && unit->checked.total_is_known)
                err = errors_answers_move(unit);
        if (err == 0 && unit->checked.total_is_known)
                err = strays_move(unit);
        if (err == 0)
                err = output_make(unit, &unit->sink.output, &unit->sink.answers);
        if (err == 0)
                err = output_make(unit, &unit->sink.errors, &unit->sink.failures);
        unit->sink.held.failures_bytes = unit->sink.failures.bytes;
        unit->sink.held.answers_bytes = unit->sink.answers.bytes;
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
        struct ed_batch_unit *unit = arg;
        uint64_t bytes = 0;
        int err = 0;

        while (unit->paths->output && err == 0 && eddy_sleep(SYNC_NS) == 0) {
                if (unit->sink.output.bytes == bytes)
                        continue;
                bytes = unit->sink.output.bytes;
                err = eddy_to_thread(disk_wait, &unit->sink.output);
                if (err == -EAGAIN)
                        err = 0; /* no thread; the next turn tries again */
        }
        if (err < 0 && err != -ECANCELED) {
                unit->sink.output.save_err = err;
                ed_batch_stop(unit->run, ED_STOP_OUTPUT, 0, NULL);
        }
        return 0;
}

/* ---- after the run ------------------------------------------------------------------------- */

/*
 * Keep failures of ids that have neither succeeded nor failed again in this run, but not of corrected
 * lines, and answers, as errors_success_keep() decides.
 */
static bool failure_keep(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_answer_seen seen;
        unsigned flags;

        if (line_is_new(scan, bytes) || ed_answer_read(line, bytes, scan->id, &seen) < 0)
                return true;
        if (line_is_ok(scan, &seen))
                return errors_success_keep(scan, &seen);
        flags = ed_ids_flags(scan->unit->sink.ids, seen.id, seen.id_bytes);
        if (flags & ED_IDS_FAILED || (flags & ED_IDS_ANSWERED && flags & ED_IDS_READ) ||
            is_answered(scan->unit, &seen) || is_corrected(&scan->unit->sink, &seen))
                return false;
        scan->left++;
        return true;
}

/*
 * Keep answers, but not those to a former request of an id that the input has, if there is a later
 * answer.
 */
static bool answer_keep_last(void *arg, const char *line, size_t bytes)
{
        struct scan *scan = arg;
        struct ed_ids *ids = scan->unit->sink.ids;
        struct ed_answer_seen seen;
        bool same;

        if (line_is_new(scan, bytes) || ed_answer_read(line, bytes, scan->id, &seen) < 0 ||
            !line_is_ok(scan, &seen) || !seen.mark ||
            !(ed_ids_flags(ids, seen.id, seen.id_bytes) & ED_IDS_READ))
                return true;
        if (ed_ids_add(ids, seen.id, seen.id_bytes, seen.mark, 0, &same) < 0 || same)
                return true;
        ed_saved_note_old(&scan->unit->sink.saved, &scan->unit->sink.save, &seen);
        return false;
}

/* Remove lines. Returns 0 or the exit code. */
static int file_clean(struct ed_answers_file *answers, struct scan *scan,
                      ed_answers_file_keep_fn *keep, uint64_t *ret_removed)
{
        int err = ed_answers_file_prune(answers, keep, scan, ret_removed);

        return err < 0 ? file_fault(scan->unit, answers->path, err) : 0;
}

/*
 * Returns true if a file is empty, and still the file with its name, so that it may be removed: its lock is
 * held, and another run that has opened it sees that the name is gone.
 */
static bool is_empty(const struct ed_answers_file *answers)
{
        struct stat named, st;

        return ed_answers_file_place(answers) == ED_ANSWERS_FILE_HERE &&
               fstat(answers->fd, &st) == 0 && st.st_size == 0 &&
               lstat(answers->path, &named) == 0 && S_ISREG(named.st_mode);
}

/* Report files that another program moved during the run. Returns true if there is one. */
static bool moved_say(const struct ed_batch_unit *unit)
{
        const struct ed_answers_file *const files[] = { &unit->sink.answers, &unit->sink.failures };
        bool found = false;

        for (size_t i = 0; i < 2; i++) {
                if (ed_answers_file_place(files[i]) != ED_ANSWERS_FILE_MOVED)
                        continue;
                ed_say(&unit->run->say,
                       "%s was moved during the run: its lines, also those of this run, are "
                       "in the moved file; move it back before the next run",
                       files[i]->path);
                found = true;
        }
        return found;
}

/* Wait until all lines are on the disk. Returns 0 or the exit code. */
static int files_sync(const struct ed_batch_unit *unit)
{
        int err = ed_answers_file_sync(&unit->sink.answers);

        if (err < 0)
                return file_fault(unit, unit->sink.answers.path, err);
        err = ed_answers_file_sync(&unit->sink.failures);
        return err < 0 ? file_fault(unit, unit->sink.failures.path, err) : 0;
}

static int failures_clean(struct ed_batch_unit *unit, uint64_t new_end)
{
        struct scan scan = { .unit = unit,
                             .old_end = unit->sink.held.failures_bytes,
                             .new_end = new_end };
        uint64_t removed;
        int err;

        if (unit->sink.errors_only)
                ed_ids_clear(unit->sink.errors_only, ED_IDS_READ); /* a walk marks them */
        err = file_clean(&unit->sink.failures, &scan, failure_keep, &removed);
        if (err == 0)
                unit->sink.held.errors_answered = scan.answers;
        if (scan.left > unit->sink.held.failed_strange)
                unit->sink.failed_left = scan.left - unit->sink.held.failed_strange;
        return err;
}

/* Name the files of answers that were removed: no line names them now. */
static void old_files_say(const struct ed_batch_unit *unit)
{
        const struct ed_saved_files *old = &unit->sink.saved.old;

        if (old->count == 1)
                ed_say(&unit->run->say, "%s: the file of the removed answer stays: %s",
                       unit->paths->save, old->first);
        else if (old->count > 1)
                ed_say(&unit->run->say,
                       "%s: the files of %llu removed answers stay, such as %s; to list all: see "
                       "--save in eddy-batch(1)",
                       unit->paths->save, (unsigned long long) old->count, old->first);
}

static int answers_clean(struct ed_batch_unit *unit)
{
        struct scan scan = { .unit = unit,
                             .is_output = true,
                             .old_end = unit->sink.held.answers_bytes,
                             .new_end = UINT64_MAX };
        uint64_t removed = 0;
        int err = file_clean(&unit->sink.answers, &scan, answer_keep_last, &removed);

        if (removed > 0)
                ed_say(&unit->run->say,
                       "%s: removed %llu answer%s to requests that have changed since "
                       "(--on-changed send)",
                       unit->sink.answers.path, (unsigned long long) removed, plural(removed));
        old_files_say(unit);
        return err;
}

/* The input was a pipe, whose ids are known only now. Stores where the moved failures begin. */
static int strays_move_late(struct ed_batch_unit *unit, uint64_t *ret_new_end)
{
        struct stat st;
        int err = errors_answers_move(unit);

        if (err)
                return err;
        if (fstat(unit->sink.failures.fd, &st) < 0)
                return file_fault(unit, unit->sink.failures.path, -errno);
        *ret_new_end = (uint64_t) st.st_size;
        err = strays_move(unit);
        /* All failures of the output are old lines. */
        if (unit->sink.failures.bytes > *ret_new_end)
                unit->sink.held.answers_bytes -= unit->sink.failures.bytes - *ret_new_end;
        return err;
}

/*
 * Remove old lines. The lines in their place must be on the disk before: a crash of the machine
 * could take them back, but not the removal.
 */
static int files_clean(struct ed_batch_unit *unit)
{
        bool has_failures = ed_answers_file_place(&unit->sink.failures) == ED_ANSWERS_FILE_HERE;
        bool is_late = !unit->checked.total_is_known && unit->input.whole && has_failures;
        bool cleans_answers = unit->run->settings->changed_ok && unit->sink.held.answers_bytes > 0;
        uint64_t new_end = UINT64_MAX;
        int err = 0, clean_err;

        if (ed_answers_file_place(&unit->sink.answers) != ED_ANSWERS_FILE_HERE)
                return 0;
        if (is_late || cleans_answers || unit->sink.held.failures_bytes > 0)
                err = files_sync(unit);
        if (err)
                return err;
        if (is_late)
                err = strays_move_late(unit, &new_end);
        if (err)
                return err;
        if (has_failures && (unit->sink.held.failures_bytes > 0 || new_end != UINT64_MAX))
                err = failures_clean(unit, new_end);
        if (cleans_answers) {
                clean_err = answers_clean(unit);
                err = err ? err : clean_err;
        }
        return err;
}

void ed_checkpoint_abandon(const struct ed_batch_unit *unit)
{
        if (is_empty(&unit->sink.failures))
                unlink(unit->paths->errors);
        if (!unit->sink.held.had_output && is_empty(&unit->sink.answers))
                unlink(unit->paths->output);
}

int ed_checkpoint_close(struct ed_batch_unit *unit, bool sync)
{
        int err = 0;

        ed_output_close(&unit->sink.output, sync);
        if (!unit->paths->output)
                return 0;
        ed_output_close(&unit->sink.errors, sync);
        unit->sink.moved = moved_say(unit);
        if (unit->sink.moved)
                err = ED_EXIT_OUTPUT;
        else if (unit->sink.output.save_err == 0 && unit->sink.errors.save_err == 0 &&
                 !unit->sink.output.cut && !unit->sink.errors.cut)
                err = files_clean(unit);
        if (is_empty(&unit->sink.failures))
                unlink(unit->paths->errors);
        ed_answers_file_close(&unit->sink.answers);
        ed_answers_file_close(&unit->sink.failures);
        return err;
}
