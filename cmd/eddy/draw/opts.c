/*
 * draw/opts.c - options, and the format that follows from the name of the output.
 */
#include "draw/opts.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/console.h"
#include "common/option.h"
#include "draw/svg.h"
#include "draw/text.h"
#include "eddy/version.h"

static const char help[] =
        "Usage: eddy draw FILE [FILE2] [-o OUT] [--format F] [--axis A] [--width N]\n"
        "\n"
        "Draws the timeline of a run: tasks and scopes as rows, with what each task waits for, "
        "and\n"
        "cancels and deadlines with what they stop.  A program that uses eddy writes a trace if\n"
        "EDDY_TRACE=FILE is in its environment.  Two traces are drawn one above the other, with "
        "the\n"
        "first event that differs.\n"
        "\n"
        "  FILE                     a trace; - is standard input\n"
        "  -o, --output OUT|-       write to OUT; - is standard output (-)\n"
        "  --format text|svg|html   a timeline for the terminal, a picture, or a page with tables\n"
        "                           (svg or html if OUT ends in .svg or .html, else text)\n"
        "  --axis time|order        the spacing of events: by time, or one step each\n"
        "                           (order if the run took no time, or if two\n"
        "                           simulated runs took the same time; else time)\n"
        "  --width N                columns of text (the terminal's, or 100), or pixels of a\n"
        "                           picture (1200)\n"
        "  -h, --help, --version\n"
        "\n"
        "If the tasks do not fit, tasks of one name in one scope share a row, which shows how "
        "many\n"
        "are active.\n"
        "\n"
        "Exit: 0 the timeline was written, 1 out of memory, 2 the command line is wrong, 3 a file "
        "cannot be read "
        "or\n"
        "is not a trace, 4 the output could not be written.\n";

enum { OPT_FORMAT = 256, OPT_AXIS, OPT_WIDTH, OPT_VERSION };

static const struct option options[] = {
        { "output", required_argument, NULL, 'o' },
        { "format", required_argument, NULL, OPT_FORMAT },
        { "axis", required_argument, NULL, OPT_AXIS },
        { "width", required_argument, NULL, OPT_WIDTH },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },
        { NULL, 0, NULL, 0 },
};

static const struct ed_option_hint hints[] = {
        { "input", "FILE, without an option" },
        { "svg", "--format svg" },
        { "html", "--format html" },
        { NULL, NULL },
};

static const struct ed_option_set option_set_of_draw = { "draw", ":ho:", options, hints };

/* The words that were given; NULL: none. */
struct words {
        const char *format, *axis, *width;
};

static int draw_option_set(struct ed_draw_opts *opts, struct words *words, int option,
                           const char *value)
{
        switch (option) {
        case 'o':
                return ed_option_file("draw", "-o", value, &opts->output);
        case OPT_FORMAT:
                return ed_option_once("draw", "--format", value, &words->format);
        case OPT_AXIS:
                return ed_option_once("draw", "--axis", value, &words->axis);
        default:
                return ed_option_once("draw", "--width", value, &words->width);
        }
}

static bool ends_in(const char *name, const char *tail)
{
        size_t bytes = strlen(name), tail_bytes = strlen(tail);

        return bytes > tail_bytes && strcasecmp(name + bytes - tail_bytes, tail) == 0;
}

static int words_read(struct ed_draw_opts *opts, const struct words *words)
{
        static const char *const formats[] = { "text", "svg", "html" };
        static const char *const axes[] = { "auto", "time", "order" };
        int choice = 0;

        if (words->format)
                choice = ed_option_word("draw", "--format", words->format, formats, 3,
                                        "text, svg or html");
        else if (opts->output && ends_in(opts->output, ".svg"))
                choice = ED_DRAW_SVG;
        else if (opts->output && (ends_in(opts->output, ".html") || ends_in(opts->output, ".htm")))
                choice = ED_DRAW_HTML;
        if (choice < 0)
                return choice;
        opts->format = (enum ed_draw_format) choice;
        if (words->axis) {
                choice =
                        ed_option_word("draw", "--axis", words->axis, axes + 1, 2, "time or order");
                if (choice < 0)
                        return choice;
                opts->axis = (enum ed_draw_axis)(choice + 1);
        }
        if (!words->width)
                return 0;
        if (opts->format == ED_DRAW_TEXT)
                return ed_option_count("draw", "--width", words->width, ED_DRAW_TEXT_WIDTH_MIN,
                                       ED_DRAW_TEXT_WIDTH_MAX, &opts->width);
        return ed_option_count("draw", "--width", words->width, ED_DRAW_SVG_WIDTH_MIN,
                               ED_DRAW_SVG_WIDTH_MAX, &opts->width);
}

static int line_finish(struct ed_draw_opts *opts, const struct words *words, int argc, char **argv)
{
        if (optind == argc)
                return ed_console_usage("draw", "name a trace: eddy draw FILE");
        if (argc - optind > ED_DRAW_PICTURES_MAX)
                return ed_console_usage("draw", "%s: give one or two traces",
                                        argv[optind + ED_DRAW_PICTURES_MAX]);
        while (optind < argc)
                opts->files[opts->files_count++] = argv[optind++];
        if (opts->files_count == 2 && strcmp(opts->files[0], "-") == 0 &&
            strcmp(opts->files[1], "-") == 0)
                return ed_console_usage("draw", "-: standard input can be read once");
        if (words_read(opts, words) < 0)
                return ED_EXIT_USAGE;
        if (!opts->output)
                opts->output = "-";
        return 0;
}

int ed_draw_opts_parse(struct ed_draw_opts *opts, int argc, char **argv, int *ret_exit)
{
        struct words words = { 0 };
        int option;

        memset(opts, 0, sizeof(*opts));
        optind = 1;
        while ((option = ed_option_next(&option_set_of_draw, argc, argv)) != -1) {
                if (option == 'h')
                        *ret_exit = ed_console_print("draw", help);
                else if (option == OPT_VERSION)
                        *ret_exit = ed_console_print("draw", "eddy " EDDY_VERSION "\n");
                else if (option == 0 || draw_option_set(opts, &words, option, optarg) < 0)
                        *ret_exit = ED_EXIT_USAGE;
                else
                        continue;
                return 1;
        }
        *ret_exit = line_finish(opts, &words, argc, argv);
        return *ret_exit ? 1 : 0;
}
