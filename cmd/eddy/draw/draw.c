/*
 * draw/draw.c - `eddy draw`: reads traces, chooses the axis, and writes the timeline.
 */
#include "draw/draw.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/console.h"
#include "common/draft.h"
#include "common/replace.h"
#include "common/slurp.h"
#include "draw/differ.h"
#include "draw/opts.h"
#include "draw/page.h"
#include "draw/picture.h"
#include "draw/plain.h"
#include "draw/read.h"
#include "draw/svg.h"
#include "draw/text.h"
#include "eddy/alloc.h"

enum { FILE_BYTES_MAX = 256 << 20, WIDTH_OF_TEXT = 100, WIDTH_OF_SVG = 1200 };

struct draw {
        struct ed_draw_opts opts;
        struct ed_draw_picture pictures[ED_DRAW_PICTURES_MAX];
        struct ed_draft difference; /* a sentence, if there are two pictures */
};

/* ---- reading ------------------------------------------------------------------------------- */

static int out_of_memory(void)
{
        ed_console_say("draw", "out of memory");
        return ED_EXIT_FAILED;
}

/* Read a trace. Returns the exit code. */
static int file_read(struct ed_draw_picture *picture, const char *path)
{
        char fault[ED_DRAW_FAULT_BYTES] = "";
        char *text;
        size_t bytes;
        int err = ed_slurp("draw", "FILE ", path, FILE_BYTES_MAX, &text, &bytes);

        if (err == -ENOMEM)
                return out_of_memory();
        if (err < 0)
                return ED_EXIT_INPUT;
        picture->title = strcmp(path, "-") == 0 ? "standard input" : path;
        err = ed_draw_read(&picture->run, text, bytes, fault);
        eddy_free(text);
        if (err == -ENOMEM)
                return out_of_memory();
        if (err < 0) {
                ed_console_say("draw", "%s: %s", picture->title, fault);
                return ED_EXIT_INPUT;
        }
        return 0;
}

/* ---- the pictures -------------------------------------------------------------------------- */

static bool is_simulated(const struct ed_draw_run *run)
{
        return run->clock != ED_DRAW_NAMELESS &&
               strcmp(ed_draw_text(run, run->clock), "simulated") == 0;
}

/* Returns true if most events have the same times, so that an axis of time would hide them. */
static bool has_equal_times(const struct draw *draw)
{
        const struct ed_draw_run *one = &draw->pictures[0].run, *two = &draw->pictures[1].run;

        if (draw->opts.files_count == 1)
                return one->end_ns == one->start_ns;
        /* Two orders of one simulated program often differ at one moment only. */
        return one->end_ns - one->start_ns == two->end_ns - two->start_ns &&
               (one->end_ns == one->start_ns || (is_simulated(one) && is_simulated(two)));
}

/* Choose one axis for all pictures, so that equal distances are equal times. */
static void scales_choose(struct draw *draw)
{
        struct ed_draw_scale scale = { .is_order = has_equal_times(draw), .end = 1 };
        unsigned count = draw->opts.files_count;

        if (draw->opts.axis != ED_DRAW_AXIS_AUTO)
                scale.is_order = draw->opts.axis == ED_DRAW_AXIS_ORDER;
        for (unsigned i = 0; i < count; i++) {
                const struct ed_draw_run *run = &draw->pictures[i].run;
                double start = scale.is_order ? 0 : (double) run->start_ns;
                double end = scale.is_order ? run->events_count : (double) run->end_ns;

                if (i == 0 || start < scale.start)
                        scale.start = start;
                if (i == 0 || end > scale.end)
                        scale.end = end;
        }
        if (scale.end < scale.start + 1)
                scale.end = fmax(scale.start + 1, nextafter(scale.start, INFINITY));
        for (unsigned i = 0; i < count; i++)
                draw->pictures[i].scale = scale;
}

static void differences_find(struct draw *draw)
{
        const struct ed_draw_run *one = &draw->pictures[0].run, *two = &draw->pictures[1].run;
        uint32_t alike = ed_draw_alike(one, two);

        ed_draw_difference_add(&draw->difference, one, two, alike);
        if (alike == one->events_count && alike == two->events_count)
                return;
        /* A run that has ended differs at its end. */
        draw->pictures[0].difference = alike < one->events_count ? alike : alike - 1;
        draw->pictures[1].difference = alike < two->events_count ? alike : alike - 1;
}

static int pictures_make(struct draw *draw)
{
        uint32_t lines =
                draw->opts.format == ED_DRAW_TEXT ? ED_DRAW_TEXT_LINES_MAX : ED_DRAW_SVG_LINES_MAX;

        scales_choose(draw);
        for (unsigned i = 0; i < draw->opts.files_count; i++) {
                struct ed_draw_picture *picture = &draw->pictures[i];

                picture->difference = ED_DRAW_NONE;
                if (ed_draw_fold(&picture->fold, &picture->run, lines / draw->opts.files_count) < 0)
                        return out_of_memory();
        }
        if (draw->opts.files_count == 2) {
                draw->pictures[0].other = &draw->pictures[1];
                draw->pictures[1].other = &draw->pictures[0];
                differences_find(draw);
        }
        return 0;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Returns true if the locale is not UTF-8, as its name says. */
static bool locale_is_ascii(void)
{
        static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                const char *value = getenv(names[i]);
                const char *dot = value ? strchr(value, '.') : NULL;

                if (value && *value)
                        return !dot || (strncasecmp(dot, ".UTF-8", 6) != 0 &&
                                        strncasecmp(dot, ".utf8", 5) != 0);
        }
        return true;
}

static uint32_t width_choose(const struct draw *draw)
{
        struct winsize size;

        if (draw->opts.width > 0)
                return draw->opts.width;
        if (draw->opts.format != ED_DRAW_TEXT)
                return WIDTH_OF_SVG;
        if (strcmp(draw->opts.output, "-") != 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ||
            size.ws_col == 0)
                return WIDTH_OF_TEXT;
        if (size.ws_col < ED_DRAW_TEXT_WIDTH_MIN)
                return ED_DRAW_TEXT_WIDTH_MIN;
        return size.ws_col < ED_DRAW_TEXT_WIDTH_MAX ? size.ws_col : ED_DRAW_TEXT_WIDTH_MAX;
}

static void text_make(const struct draw *draw, struct ed_draft *out)
{
        bool is_ascii = locale_is_ascii(), has_deadlock = false, has_difference = false;

        for (unsigned i = 0; i < draw->opts.files_count; i++) {
                has_deadlock |= draw->pictures[i].run.has_deadlock;
                ed_draw_text_add(out, &draw->pictures[i], width_choose(draw), is_ascii);
                ed_draft_add_str(out, "\n");
        }
        if (draw->opts.files_count == 2) {
                ed_draw_plain_add(out, draw->difference.data, draw->difference.bytes, UINT32_MAX,
                                  is_ascii);
                ed_draft_add_str(out, "\n\n");
                has_difference = draw->pictures[0].difference != ED_DRAW_NONE;
        }
        ed_draw_text_legend(out, has_deadlock, has_difference, is_ascii);
}

static int output_write(const struct draw *draw, const struct ed_draft *out)
{
        bool is_stdout = strcmp(draw->opts.output, "-") == 0;
        int err = ed_replace_whole(draw->opts.output, out->data, out->bytes);

        if (err == 0 || (err == -EPIPE && is_stdout))
                return ED_EXIT_OK;
        ed_console_say("draw", "-o %s: %s", draw->opts.output,
                       err == -ENOMEM ? "out of memory" : strerror(-err));
        return ED_EXIT_OUTPUT;
}

static bool begins_as_trace(const char *path)
{
        static const char begin[] = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"eddy\":";
        char read_here[sizeof(begin)];
        FILE *file = fopen(path, "re");
        size_t n = file ? fread(read_here, 1, sizeof(begin) - 1, file) : 0;

        if (file)
                fclose(file);
        return n == sizeof(begin) - 1 && memcmp(read_here, begin, n) == 0;
}

/* Refuse to write over a trace. */
static int output_check(const struct ed_draw_opts *opts)
{
        struct stat out, in;
        bool is_trace;

        if (strcmp(opts->output, "-") == 0 || stat(opts->output, &out) < 0)
                return 0;
        is_trace = S_ISREG(out.st_mode) && begins_as_trace(opts->output);
        for (unsigned i = 0; i < opts->files_count && !is_trace; i++)
                is_trace = stat(opts->files[i], &in) == 0 && S_ISREG(in.st_mode) &&
                           in.st_dev == out.st_dev && in.st_ino == out.st_ino;
        return is_trace ? ed_console_usage("draw", "-o %s: this is a trace; name another file",
                                           opts->output)
                        : 0;
}

static int draw_write(const struct draw *draw)
{
        const struct ed_draft *difference = draw->opts.files_count == 2 ? &draw->difference : NULL;
        struct ed_draft out = { 0 };
        int code = ED_EXIT_FAILED;

        if (draw->opts.format == ED_DRAW_TEXT)
                text_make(draw, &out);
        else if (draw->opts.format == ED_DRAW_SVG)
                ed_draw_svg_file(&out, draw->pictures, draw->opts.files_count, difference,
                                 width_choose(draw));
        else
                ed_draw_page_add(&out, draw->pictures, draw->opts.files_count, difference,
                                 width_choose(draw));
        if (!ed_draft_is_whole(&out) || !ed_draft_is_whole(&draw->difference))
                out_of_memory();
        else
                code = output_write(draw, &out);
        if (code == 0 && difference && draw->opts.format != ED_DRAW_TEXT)
                ed_console_say("draw", "%.*s", (int) difference->bytes, difference->data);
        ed_draft_fini(&out);
        return code;
}

int ed_draw_main(int argc, char **argv)
{
        struct draw *draw = eddy_malloc(sizeof(*draw));
        int code;

        if (!draw)
                return out_of_memory();
        memset(draw, 0, sizeof(*draw));
        if (ed_draw_opts_parse(&draw->opts, argc, argv, &code) == 0) {
                code = output_check(&draw->opts);
                for (unsigned i = 0; i < draw->opts.files_count && code == 0; i++)
                        code = file_read(&draw->pictures[i], draw->opts.files[i]);
                if (code == 0)
                        code = pictures_make(draw);
                if (code == 0)
                        code = draw_write(draw);
        }
        for (unsigned i = 0; i < ED_DRAW_PICTURES_MAX; i++) {
                ed_draw_fold_fini(&draw->pictures[i].fold);
                ed_draw_run_fini(&draw->pictures[i].run);
        }
        ed_draft_fini(&draw->difference);
        eddy_free(draw);
        return code;
}
