/*
 * test/program.c - exploring a whole program: what its main() prints, returns, and breaks.
 */
#include "test/program.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "eddy/error.h"
#include "sys/kit/process_copies.h"
#include "sys/output.h"
#include "test/copy.h"
#include "test/outcome.h"
#include "test/replay.h"

enum { EXIT_ONE = 0, EXIT_SEVERAL = 1, EXIT_IMPOSSIBLE = 3 };
enum { COMMAND_BYTES = 65536 };

static bool has_run;
static int process;    /* its number */
static int output = 1; /* descriptor for the outcomes */

static void say(const char *what, const char *more)
{
        char line[512];
        struct ed_text text = { line, sizeof(line) };

        ed_text_add(&text, "eddy explore: %s%s\n", what, more);
        ed_sys_write_error(line, strlen(line));
}

void ed_test_program_refuse(const char *what)
{
        say(what, "");
        (void) fflush(NULL);
        _exit(EXIT_IMPOSSIBLE);
}

/* --- the command that started the program --- */

/* An argument for a shell. */
static void argument_add(struct ed_text *text, const char *argument)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "%+,-./:=@_";

        if (*argument && argument[strspn(argument, plain)] == '\0') {
                ed_text_add(text, " %s", argument);
                return;
        }
        ed_text_add(text, " '");
        for (; *argument; argument++)
                ed_text_add(text, *argument == '\'' ? "'\\''" : "%c", *argument);
        ed_text_add(text, "'");
}

/* "eddy explore ./program argument" */
static void command_write(char *buf, size_t bytes)
{
        static char
                words[COMMAND_BYTES / 4]; /* in quotes an argument is up to four times as long */
        struct ed_text text = { buf, bytes };
        size_t n = ed_sys_command_line(words, sizeof(words));

        ed_text_add(&text, "eddy explore");
        for (const char *word = words; word < words + n; word += strlen(word) + 1)
                argument_add(&text, word);
        if (n == 0)
                ed_text_add(&text, " ...");
}

/* The name of the function in the text of the call, or "main". */
static void name_write(const char *text, char *buf, size_t bytes)
{
        const char *begin = NULL;
        size_t found = text ? ed_text_function(text, &begin) : 0;

        snprintf(buf, bytes, "%.*s", found > 0 ? (int) found : 4, found > 0 ? begin : "main");
}

/* Make a single run in this process. Returns the result of main_fn. */
static int run_alone(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts)
{
        struct eddy_test_result result = { 0 };
        int err = ed_test_run_with(main_fn, arg, opts, NULL, &result, NULL);

        if (err < 0 && err != EDDY_E_TEST_FOUND)
                return err;
        if (ed_test_copy_is_here())
                ed_test_copy_found(result.problem);
        else
                ed_test_print_lines(opts->name, opts, result.problem);
        return result.result;
}

/* A file for the timeline of each run: FILE, FILE.2, FILE.3 ... */
static void trace_number(struct eddy_run_opts *run, char *path, size_t bytes)
{
        static unsigned runs;

        if (++runs == 1)
                return;
        snprintf(path, bytes, "%s.%u", run->trace_file, runs);
        run->trace_file = path;
}

/* The replay string names the first run. Further ones have the usual order, as in a copy. */
static int run_replayed(eddy_task_fn *main_fn, void *arg, struct eddy_test_opts *opts,
                        bool is_first)
{
        static char path[PATH_MAX];
        struct eddy_run_opts run;
        int err = is_first ? ed_test_replay(opts->name, opts) : 1;

        if (err == -EINVAL)
                _exit(EXIT_IMPOSSIBLE);
        if (err == 0) {
                say("EDDY_TEST_REPLAY does not name the first run of the program, which is ",
                    opts->name);
                _exit(EXIT_IMPOSSIBLE);
        }
        ed_test_replay_trace(opts, &run);
        if (opts->run == &run)
                trace_number(&run, path, sizeof(path));
        return run_alone(main_fn, arg, opts);
}

/* Returns the exit status. */
static int outcomes_write(const struct eddy_test_explored *all,
                          const struct eddy_test_explore_opts *how, bool is_whole)
{
        static char command[COMMAND_BYTES + 64];
        int err;

        command_write(command, sizeof(command));
        err = ed_test_outcomes_write(all, how, is_whole, command, ed_sys_stdout_kept(output));
        if (err < 0) {
                say("cannot write to standard output: ", eddy_error_text(err));
                return EXIT_IMPOSSIBLE;
        }
        for (size_t i = 0; i < all->outcomes_count; i++)
                if (all->outcomes[i].problem[0])
                        return EXIT_SEVERAL;
        return all->outcomes_count > 1 ? EXIT_SEVERAL : EXIT_ONE;
}

static int explore(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts)
{
        struct eddy_test_explore_opts how = {
                .deviations_max =
                        (uint32_t) ed_test_number("EDDY_EXPLORE_DEVIATIONS", ED_TEST_DEVIATIONS),
                .runs_max = ed_test_number("EDDY_EXPLORE_RUNS", ED_TEST_RUNS),
                .seeds = ed_test_number("EDDY_EXPLORE_SEEDS", 0),
                .quiet = true,
        };
        struct eddy_test_explored all = { 0 };
        int err = ed_test_explore_with(ed_test_copy_run, main_fn, arg, opts, &how, &all), status;

        if (ed_test_copy_is_here()) {
                eddy_test_explored_fini(&all);
                return ed_test_copy_result();
        }
        status = outcomes_write(&all, &how, err == 0);
        if (err == 0)
                _exit(status);
        if (err == -ECANCELED)
                say("stopped by a signal; not all orders were tried", "");
        else if (err == EDDY_E_TEST_FOUND)
                say("the program did something else in the same order: files that it changes, the "
                    "time "
                    "of day, process IDs and addresses differ from copy to copy",
                    "");
        else
                say("the program cannot be explored: ", eddy_error_text(err));
        _exit(EXIT_IMPOSSIBLE);
}

int ed_test_program_run(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *run_opts,
                        const char *text)
{
        char name[ED_TEST_NAME_BYTES];
        struct eddy_test_opts opts = { .run = run_opts, .name = name };
        const char *replay = getenv("EDDY_TEST_REPLAY"), *trace = getenv("EDDY_TRACE");
        bool is_first = !has_run;

        has_run = true;
        name_write(text, name, sizeof(name));
        if (replay && *replay)
                return run_replayed(main_fn, arg, &opts, is_first);
        if (ed_test_copy_is_here())
                return run_alone(main_fn, arg, &opts);
        if (!ed_sys_copies_can_run())
                ed_test_program_refuse("eddy_run() was called on another thread than the main "
                                       "thread; its run cannot be explored");
        if (process != ed_sys_process_number())
                ed_test_program_refuse(
                        "eddy_run() was called in a child of fork(), which cannot be "
                        "explored");
        if (ed_sys_copies_threads() > 1)
                say("the program has other threads; copies of the process do not have them", "");
        if (trace && *trace)
                say("EDDY_TRACE has an effect only with EDDY_TEST_REPLAY", "");
        return explore(main_fn, arg, &opts);
}

void ed_test_program_begin(void)
{
        process = ed_sys_process_number();
        output = ed_sys_stdout_keep();
}

void ed_test_program_end(void)
{
        if (!has_run && process == ed_sys_process_number())
                ed_test_program_refuse(
                        "the program ended without a call of eddy_run(), so there is "
                        "nothing to explore");
}
