/*
 * main.c - the program `eddy`: finds the command, and fills closed standard descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "batch/batch.h"
#include "batch/check.h"
#include "batch/sort/sort_command.h"
#include "collect/collect.h"
#include "common/console.h"
#include "common/nearest.h"
#include "common/url_shown.h"
#include "draw/draw.h"
#include "eddy/version.h"
#include "explore/explore.h"
#include "fetch/fetch.h"
#include "mock/mock.h"
#include "report/report.h"
#include "select/select.h"
#include "serve/serve.h"

static const char help[] =
        "Usage: eddy COMMAND [options]\n"
        "\n"
        "  batch    send a file of API requests, and write a file of answers\n"
        "  check    examine a file of API requests, and send nothing\n"
        "  retry    send those requests of batch again that failed\n"
        "  sort     put answers into the order of their requests\n"
        "  collect  join the answers of several runs, and check that none is missing\n"
        "  select   a table (CSV) with values of the answers, for each request\n"
        "  fetch    fetch many URLs at a time, one line of JSON for each\n"
        "  serve    a web server for the files in a folder\n"
        "  mock     a web server that answers slowly, limits and fails on demand\n"
        "  report   a page with plots about an output of batch\n"
        "  draw     a timeline of a traced run: tasks, scopes, waits and cancels\n"
        "  explore  run a program in many orders of its tasks, and print each outcome\n"
        "  help     what a command does: eddy help fetch\n"
        "\n"
        "`eddy COMMAND --help` says more.  Results are on standard output, all else on stderr.\n"
        "  -h, --help, --version\n";

typedef int command_fn(int argc, char **argv);

static const struct {
        const char *name;
        command_fn *main;
} commands[] = {
        { "batch", ed_batch_main },     { "check", ed_check_main },
        { "collect", ed_collect_main }, { "draw", ed_draw_main },
        { "explore", ed_explore_main }, { "fetch", ed_fetch_main },
        { "mock", ed_mock_main },       { "report", ed_report_main },
        { "retry", ed_batch_main },     { "select", ed_select_main },
        { "serve", ed_serve_main },     { "sort", ed_sort_main },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/*
 * A closed standard descriptor would become the next opened file or socket, and results would be
 * written there. Fill it with a descriptor that fails instead: standard output is then not open for
 * writing.
 */
static void descriptors_fill(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
                if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
                    open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0)
                        return;
        }
}

/*
 * glibc gives free memory above 128 KiB back to the kernel at once: each answer of 20 KiB then costs
 * five page faults, a quarter of its time. Keep as much as glibc itself keeps for programs with large
 * blocks.
 */
static void memory_keep(void)
{
#if defined(M_TRIM_THRESHOLD) && defined(M_MMAP_THRESHOLD)
        enum { BLOCK_BYTES = 4 << 20, KEPT_BYTES = 64 << 20 };

        (void) mallopt(M_MMAP_THRESHOLD, BLOCK_BYTES);
        (void) mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

/* Returns the main function of a command, or NULL. */
static command_fn *command_find(const char *word)
{
        for (size_t i = 0; i < COMMANDS; i++)
                if (strcmp(word, commands[i].name) == 0)
                        return commands[i].main;
        return NULL;
}

/* Report a first word that is neither a command nor an option of the program. */
static int word_refuse(const char *word)
{
        static const char *const words[] = { "batch", "check", "collect", "draw",   "explore",
                                             "fetch", "mock",  "report",  "retry",  "select",
                                             "serve", "sort",  "help",    "--help", "--version" };
        const char *meant = ed_nearest(word, words, sizeof(words) / sizeof(words[0]));
        bool is_url = strstr(word, "://") != NULL;
        char shown[ED_URL_SHOWN_BYTES];

        word = ed_url_shown(shown, word, strlen(word));
        if (meant)
                return ed_console_usage(NULL, "unknown command %s; did you mean %s?", word, meant);
        if (*word == '-')
                return ed_console_usage(NULL,
                                        "unknown option %s; name a command first: batch, check, "
                                        "collect, draw, explore, fetch, mock, report, retry, "
                                        "select, serve or sort",
                                        word);
        if (is_url)
                return ed_console_usage(NULL, "%s: not a command; did you mean eddy fetch %s?",
                                        word, word);
        return ed_console_usage(
                NULL,
                "unknown command %s; there are batch, check, collect, draw, explore, "
                "fetch, mock, report, retry, select, serve, sort and help",
                word);
}

/* `eddy help`, `eddy help COMMAND`. */
static int help_print(char *word)
{
        static char help_option[] = "--help";
        command_fn *command;

        if (!word || strcmp(word, "help") == 0 || *word == '-')
                return ed_console_print(NULL, help);
        command = command_find(word);
        if (!command)
                return word_refuse(word);
        return command(2, (char *[]){ word, help_option, NULL });
}

int main(int argc, char **argv)
{
        const char *word = argc > 1 ? argv[1] : NULL;
        command_fn *command;

        descriptors_fill();
        memory_keep();
        if (!word)
                return ed_console_usage(NULL, "name a command: batch, check, collect, draw, "
                                              "explore, fetch, mock, report, "
                                              "retry, select or sort");
        command = command_find(word);
        /* Make a closed reader and the limit on file size errors of write(). */
        if (command != ed_explore_main) {
                signal(SIGPIPE, SIG_IGN);
                signal(SIGXFSZ, SIG_IGN);
        }
        if (command)
                return command(argc - 1, argv + 1);
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
                return help_print(argv[2]);
        if (strcmp(word, "--version") == 0)
                return ed_console_print(NULL, "eddy " EDDY_VERSION "\n");
        return word_refuse(word);
}
