/*
 * batch/paths.c - see paths.h.
 */
#include "batch/paths.h"

#include <string.h>
#include <sys/stat.h>

#include "common/console.h"
#include "common/draft.h"
#include "common/inputs.h"

enum { OUTPUT, ERRORS, LOG, SUMMARY, WRITTEN_COUNT };

static const char *const options[WRITTEN_COUNT] = { "-o", "--errors", "--log", "--summary-file" };

static const char *path_of(const struct ed_batch_command *command, int which)
{
        const char *const paths[WRITTEN_COUNT] = { command->unit.paths->output,
                                                   command->unit.paths->errors, command->opts.log,
                                                   command->opts.summary_file };

        return paths[which];
}

/* Returns true if a file is the input, which may be known by its name only. */
static bool is_input(const struct ed_batch_unit *unit, const char *path)
{
        const char *input = unit->paths->input;
        struct stat in, other;

        if (input && strcmp(input, "-") != 0 && ed_inputs_is_same(path, input))
                return true;
        return fstat(unit->input.fd, &in) == 0 && stat(path, &other) == 0 &&
               in.st_dev == other.st_dev && in.st_ino == other.st_ino;
}

/* Refuse to write one file that is the input, one that an option reads, or one before it. */
static int written_check(const struct ed_batch_command *command, int which)
{
        const char *path = path_of(command, which);

        if (!path)
                return 0;
        if (is_input(&command->unit, path))
                return ed_console_usage("batch", "%s %s: this is the input; name another file",
                                        options[which], path);
        for (int i = 0; i < which; i++)
                if (path_of(command, i) && ed_inputs_is_same(path_of(command, i), path))
                        return ed_console_usage("batch", "%s and %s are the same file; name two",
                                                options[i], options[which]);
        return ed_inputs_check("batch", options[which], path);
}

/* Refuse the name of the file to which lines of a file that are not answers would be moved. */
static int rejected_check(const struct ed_batch_command *command, const char *name)
{
        const char *summary = command->opts.summary_file;

        if (is_input(&command->unit, name))
                return ed_console_usage("batch",
                                        "%s: lines that are not answers are moved to this "
                                        "file; give the input another name",
                                        name);
        if (summary && ed_inputs_is_same(summary, name))
                return ed_console_usage("batch",
                                        "--summary-file %s: lines that are not answers are moved "
                                        "to this file; name another file",
                                        summary);
        return ed_inputs_check("batch", "the file of lines that are not answers,", name);
}

static int rejected_check_all(const struct ed_batch_command *command)
{
        int exit_code = 0;

        for (int i = OUTPUT; i <= ERRORS && exit_code == 0; i++) {
                const char *path = path_of(command, i);
                struct ed_draft name = { 0 };

                ed_draft_add_printf(&name, "%s.rejected", path ? path : "");
                ed_draft_add(&name, "", 1);
                if (path && ed_draft_is_whole(&name))
                        exit_code = rejected_check(command, name.data);
                ed_draft_fini(&name);
        }
        return exit_code;
}

int ed_paths_check(const struct ed_batch_command *command)
{
        int exit_code = 0;

        for (int i = 0; i < WRITTEN_COUNT && exit_code == 0; i++)
                exit_code = written_check(command, i);
        return exit_code ? exit_code : rejected_check_all(command);
}

int ed_paths_check_summary(const struct ed_batch_command *command)
{
        int exit_code = written_check(command, SUMMARY);

        return exit_code ? exit_code : rejected_check_all(command);
}
