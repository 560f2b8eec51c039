/*
 * common/show.c - prints the progress line repeatedly.
 */
#include "common/show.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "common/console.h"
#include "common/progress.h"
#include "eddy/time.h"

#define PLAIN_NS EDDY_SEC(10)
#define BAR_NS   EDDY_MS(200)

enum { COLUMNS_USUAL = 80, COLUMNS_MAX = 512 };

enum ed_show_mode ed_show_choose(enum ed_show_mode mode, const char *output)
{
        if (mode != ED_SHOW_AUTO)
                return mode;
        /* A bar and results on one terminal would overwrite each other. */
        return isatty(STDERR_FILENO) && (output || !isatty(STDOUT_FILENO)) ? ED_SHOW_BAR
                                                                           : ED_SHOW_PLAIN;
}

static unsigned terminal_columns(void)
{
        struct winsize size;

        if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
                return COLUMNS_USUAL;
        return size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
}

int64_t ed_show_interval(enum ed_show_mode mode)
{
        return mode == ED_SHOW_BAR ? BAR_NS : PLAIN_NS;
}

void ed_show_over(struct ed_draft *line)
{
        struct ed_draft over = { 0 };
        size_t columns = terminal_columns();

        ed_draft_add_str(&over, "\r");
        ed_draft_add(&over, line->data, line->bytes < columns ? line->bytes : columns - 1);
        ed_draft_add_str(&over, "\033[K");
        ed_draft_fini(line);
        *line = over;
}

void ed_show_clear(void)
{
        ed_console_write("\r\033[K", 4, 0);
}

/* Show a line. If stderr has no room, drop the line, so that the run does not wait. */
static void line_show(const struct ed_show *show, struct ed_progress *progress,
                      struct ed_draft *line)
{
        struct ed_draft more = { 0 };
        uint64_t total = show->total(show->arg);

        ed_draft_reset(line, SIZE_MAX);
        if (show->more)
                show->more(show->arg, show->mode == ED_SHOW_JSON, &more);
        ed_draft_add(&more, "", 1);
        if (!ed_draft_is_whole(&more))
                goto done;
        progress->more = more.data;
        progress->resume_ns = show->resume ? show->resume(show->arg) : 0;
        if (show->mode == ED_SHOW_BAR) {
                ed_progress_print_bar(progress, show->stats, total, eddy_now(), terminal_columns(),
                                      line);
        } else if (show->mode == ED_SHOW_JSON) {
                ed_progress_print_json(progress, show->stats, total, eddy_now(), line);
        } else {
                ed_progress_print(progress, show->stats, total, eddy_now(), line);
                ed_draft_add_str(line, "\n");
        }
        progress->more = NULL;
        if (ed_draft_is_whole(line))
                ed_console_write(line->data, line->bytes, 0);
done:
        ed_draft_fini(&more);
}

static int show_task(void *arg)
{
        struct ed_show *show = arg;
        bool bar = show->mode == ED_SHOW_BAR;
        struct ed_progress progress = { 0 };
        struct ed_draft line = { 0 };

        while (eddy_sleep(ed_show_interval(show->mode)) == 0)
                line_show(show, &progress, &line);
        if (bar)
                ed_show_clear();
        ed_draft_fini(&line);
        return 0;
}

void ed_show_start(struct ed_show *show, eddy_scope *scope)
{
        if (show->mode != ED_SHOW_OFF)
                eddy_scope_start(scope, show_task, show);
}

void ed_show_now(const struct ed_show *show)
{
        struct ed_show once = *show;
        struct ed_progress progress = { 0 };
        struct ed_draft line = { 0 };

        if (once.mode != ED_SHOW_JSON)
                once.mode = ED_SHOW_PLAIN;
        line_show(&once, &progress, &line);
        ed_draft_fini(&line);
}
