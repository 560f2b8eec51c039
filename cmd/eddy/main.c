/*
 * main.c - the program `eddy`: finds the command, and makes sure of the
 * standard descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "console.h"
#include "eddy/version.h"
#include "fetch.h"
#include "mock.h"

static const char help[] =
        "Usage: eddy COMMAND [options]\n"
        "\n"
        "  fetch    fetch many URLs at a time, one line of JSON for each\n"
        "  mock     a web server that answers slowly, limits and fails on demand\n"
        "\n"
        "`eddy COMMAND --help` says more.  Results are on standard output, all else on stderr.\n"
        "  --help, --version\n";

static const struct {
        const char *name;
        int (*main)(int argc, char **argv);
} commands[] = {
        { "fetch", ed_fetch_main },
        { "mock", ed_mock_main },
};

/*
 * A standard descriptor that is closed would become the next file or socket
 * opened, and results would go there.  Fill it with one that fails instead:
 * standard output is not open for writing then.
 */
static void descriptors_fill(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
                if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
                    open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0)
                        return;
        }
}

int main(int argc, char **argv)
{
        const char *word = argc > 1 ? argv[1] : NULL;

        descriptors_fill();
        /* A reader that goes away, and a limit of the size of files, are errors of write(). */
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
        if (!word)
                return ed_console_usage(NULL, "name a command: fetch or mock");
        for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
                if (strcmp(word, commands[i].name) == 0)
                        return commands[i].main(argc - 1, argv + 1);
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
                return ed_console_print(NULL, help);
        if (strcmp(word, "--version") == 0)
                return ed_console_print(NULL, "eddy " EDDY_VERSION "\n");
        return ed_console_usage(NULL, "%s: no such command; there are fetch and mock", word);
}
