/*
 * batch/run/shard.c - see shard.h.
 */
#include "batch/run/shard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch/answer/shard_mark.h"
#include "batch/request/shard_range.h"
#include "common/exit.h"
#include "eddy/error.h"
#include "eddy/thread.h"

enum { ID_SHOWN_BYTES = 80 };

/* ---- opening ------------------------------------------------------------------------------- */

int ed_unit_shard_open(struct ed_batch_unit *unit, const struct stat *st)
{
        struct ed_shard shard = unit->run->settings->shard;
        struct ed_batch_input *input = &unit->input;
        int exit_code;

        if (shard.count == 0)
                return 0;
        exit_code = ed_shard_range_find(&unit->run->say, unit->paths->input, input->fd, st, shard,
                                        &input->range);
        if (exit_code)
                return exit_code;
        input->size = (uint64_t) st->st_size;
        input->lacks_lines = input->range.at > 0;
        ed_shard_mark_print(shard, input->size, input->shard);
        return 0;
}

/* ---- numbers of lines ---------------------------------------------------------------------- */

uint64_t ed_unit_line_number(const struct ed_batch_unit *unit, const struct ed_line *line)
{
        return unit->input.lacks_lines ? 0 : line->number + unit->input.lines_before;
}

/* Also called on a thread of the pool. */
static int lines_count(void *arg)
{
        struct ed_batch_input *input = arg;

        return ed_shard_lines_before(input->fd, input->range.at, &input->lines_before);
}

int ed_unit_lines_count(struct ed_batch_unit *unit)
{
        int err;

        if (!unit->input.lacks_lines)
                return 0;
        err = unit->work ? eddy_to_thread(lines_count, &unit->input) : lines_count(&unit->input);
        if (err == 0)
                unit->input.lacks_lines = false;
        return err;
}

/* ---- answers of other borders -------------------------------------------------------------- */

bool ed_unit_answer_is_foreign(struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        enum ed_shard_mark mark;

        if (!*unit->input.shard)
                return false;
        mark = ed_shard_mark_compare(seen, unit->input.shard);
        unit->sink.held.unmarked += mark == ED_SHARD_MARK_NONE;
        return mark == ED_SHARD_MARK_OTHER;
}

/* Whether two marks, such as "3/64 of 1000 bytes", are of inputs of the same size. */
static bool marks_have_one_size(const char *one, const char *other)
{
        one = strchr(one, ' ');
        other = strchr(other, ' ');
        return one && other && strcmp(one, other) == 0;
}

int ed_unit_shard_refuse(const struct ed_batch_unit *unit, const struct ed_answer_seen *seen)
{
        const char *output = unit->paths->output, *shard = unit->input.shard;
        char other[ED_SHARD_MARK_BYTES];

        ed_shard_mark_read(seen, other);
        ed_say(&unit->run->say,
               "%s has answers of shard %s, and this is shard %s: it could send requests that "
               "another shard has answered",
               output, other, shard);
        if (marks_have_one_size(other, shard))
                ed_say(&unit->run->say,
                       "nothing was sent: give --shard %.*s for this output, and the same number "
                       "of shards as before for the others; or name another output",
                       (int) strcspn(other, " "), other);
        else
                ed_say(&unit->run->say,
                       "nothing was sent: put %s back as it was, give the same --shard, and put "
                       "new and corrected lines into another file; or name another output",
                       unit->paths->input);
        return ED_EXIT_INPUT;
}

/* Looks for an answer to an id that the shard does not have. */
struct hunt {
        const struct ed_batch_unit *unit;
        uint64_t count;
        char first[ID_SHOWN_BYTES];
        char id[ED_ANSWER_ID_ROOM];
};

static int answer_hunt(void *arg, const char *line, size_t bytes)
{
        struct hunt *hunt = arg;
        struct ed_answer_seen seen;

        if (ed_answer_read(line, bytes, hunt->id, &seen) < 0 || !seen.is_ok ||
            ed_ids_flags(hunt->unit->sink.ids, seen.id, seen.id_bytes) & ED_IDS_READ ||
            ed_shard_mark_compare(&seen, "") != ED_SHARD_MARK_NONE)
                return 0;
        if (hunt->count++ == 0)
                snprintf(hunt->first, sizeof(hunt->first), "%.*s", ID_SHOWN_BYTES - 1, seen.id);
        return 0;
}

int ed_unit_shard_judge(const struct ed_batch_unit *unit)
{
        const struct ed_shard *shard = &unit->run->settings->shard;
        struct hunt hunt = { .unit = unit };
        int err;

        if (shard->count == 0 || unit->sink.held.unmarked == 0)
                return 0;
        err = ed_answers_file_each(&unit->sink.answers, answer_hunt, &hunt);
        if (err < 0) {
                ed_say(&unit->run->say, "%s: %s", unit->paths->output, eddy_error_text(err));
                return err == -ENOMEM ? ED_EXIT_FAILED : ED_EXIT_OUTPUT;
        }
        if (hunt.count == 0)
                return 0;
        ed_say(&unit->run->say,
               "%s has %llu answer%s to ids that shard %u/%u of %s does not have, the first to "
               "\"%s\": the output is of another input or shard, or the size of the input has "
               "changed; name another output, or put the input back as it was",
               unit->paths->output, (unsigned long long) hunt.count, hunt.count == 1 ? "" : "s",
               shard->index, shard->count, unit->paths->input, hunt.first);
        ed_say(&unit->run->say, "nothing was sent");
        return ED_EXIT_INPUT;
}
