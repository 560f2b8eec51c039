/*
 * explore/explore.c - `eddy explore`: loads the library that explores into a program, and becomes
 * that program.
 */
#include "explore/explore.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/console.h"
#include "common/option.h"
#include "eddy/version.h"
#include "explore/program.h"

static const char help[] =
        "Usage: eddy explore [options] PROGRAM [ARGUMENT...]\n"
        "\n"
        "Runs a program in many orders of its tasks, and prints each outcome once: what the "
        "program\n"
        "printed, how it ended, what was found, and a command that repeats it.  The program needs\n"
        "no change, but must be linked with libeddy.so.  Its first eddy_run() is explored, in "
        "copies\n"
        "of the process.  Time and the network are simulated; files are real.\n"
        "\n"
        "Options come before PROGRAM:\n"
        "  --deviations N           try all orders with at most N deviations, 1 to 32; a "
        "deviation\n"
        "                           is a moment at which another ready task runs than usual (3)\n"
        "  --runs N                 stop after N of these orders (10000)\n"
        "  --seeds N                then try N random orders (0)\n"
        "  --timeout T              the time for one order, in whole seconds, such as 10s (60s)\n"
        "  -h, --help, --version\n"
        "\n"
        "With EDDY_TRACE=FILE, the command that repeats an outcome also writes a timeline for\n"
        "`eddy draw`.\n"
        "\n"
        "Exit: 0 there is one outcome, and nothing was found; 1 there are several outcomes, or\n"
        "something was found, such as a deadlock or an exit status; 2 the command line is wrong;\n"
        "3 the program cannot be explored; with EDDY_TEST_REPLAY, that of the program.\n";

static const char library[] = "libeddy-explore.so." ED_EXPLORE_VERSION;

enum { OPT_DEVIATIONS = 256, OPT_RUNS, OPT_SEEDS, OPT_TIMEOUT, OPT_VERSION };
enum { DEVIATIONS_MAX = 32, RUNS_MAX = 1000000000, SECONDS_MAX = 86400 };

static const struct option options[] = {
        { "deviations", required_argument, NULL, OPT_DEVIATIONS },
        { "runs", required_argument, NULL, OPT_RUNS },
        { "seeds", required_argument, NULL, OPT_SEEDS },
        { "timeout", required_argument, NULL, OPT_TIMEOUT },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint hints[] = { { NULL, NULL } };

/* Options of the program are left to it. */
static const struct ed_option_set option_set_of_explore = { "explore", "+:h", options, hints };

/* Hand a number to the library. */
static int number_set(const char *variable, uint32_t number)
{
        char text[16];

        snprintf(text, sizeof(text), "%u", number);
        return setenv(variable, text, 1) < 0 ? -errno : 0;
}

static int count_set(const char *option, const char *value, uint32_t min, uint32_t max,
                     const char *variable)
{
        uint32_t count;
        int err = ed_option_count("explore", option, value, min, max, &count);

        return err < 0 ? err : number_set(variable, count);
}

static int timeout_set(const char *value)
{
        const int64_t second_ns = 1000000000;
        int64_t ns;
        int err = ed_option_duration("explore", "--timeout", value, 1, &ns);

        if (err < 0)
                return err;
        if (ns > SECONDS_MAX * second_ns) {
                ed_console_usage("explore", "--timeout %s: the maximum is one day", value);
                return -EINVAL;
        }
        return number_set("EDDY_EXPLORE_SECONDS", (uint32_t) ((ns + second_ns - 1) / second_ns));
}

static int explore_option_set(int option, const char *value)
{
        switch (option) {
        case OPT_DEVIATIONS:
                return count_set("--deviations", value, 1, DEVIATIONS_MAX,
                                 "EDDY_EXPLORE_DEVIATIONS");
        case OPT_RUNS:
                return count_set("--runs", value, 1, RUNS_MAX, "EDDY_EXPLORE_RUNS");
        case OPT_SEEDS:
                return count_set("--seeds", value, 0, RUNS_MAX, "EDDY_EXPLORE_SEEDS");
        default:
                return timeout_set(value);
        }
}

/* Returns only if it fails. */
static int become(const char *path, char **argv)
{
        /* AddressSanitizer would refuse a library before its own. */
        if (ed_explore_variable_add("ASAN_OPTIONS", "verify_asan_link_order=0") < 0) {
                ed_console_say("explore", "out of memory");
                return ED_EXIT_FAILED;
        }
        (void) execv(path, argv);
        ed_console_say("explore", "%s: %s", path, strerror(errno));
        return ED_EXIT_INPUT;
}

int ed_explore_main(int argc, char **argv)
{
        static char path[PATH_MAX];
        void (*children)(int);
        int option, code;

        optind = 1;
        while ((option = ed_option_next(&option_set_of_explore, argc, argv)) != -1) {
                if (option == 'h')
                        return ed_console_print("explore", help);
                if (option == OPT_VERSION)
                        return ed_console_print("explore", "eddy " EDDY_VERSION "\n");
                if (option == 0 || explore_option_set(option, optarg) < 0)
                        return ED_EXIT_USAGE;
        }
        if (optind == argc)
                return ed_console_usage("explore", "name a program: eddy explore ./program");
        /* The loader's end must be seen. */
        children = signal(SIGCHLD, SIG_DFL);
        code = ed_explore_program(argv[optind], library, path);
        (void) signal(SIGCHLD, children);
        return code ? code : become(path, argv + optind);
}
