/*
 * common/reading_show.c - see reading_show.h.
 */
#include "common/reading_show.h"

#include <string.h>

#include "common/console.h"
#include "common/draft.h"
#include "common/reading.h"

static const char *reader; /* the command */
static enum ed_show_mode reader_mode;
static bool has_bar; /* a line is on the terminal */

/* Append "reading o.jsonl: 37% of 5.3 GB". */
static void text_add(struct ed_draft *text, const struct ed_reading *reading, uint64_t bytes)
{
        double total = (double) (reading->total ? reading->total : bytes);

        ed_draft_add_printf(text, "reading %s: ",
                            strcmp(reading->path, "-") == 0 ? "standard input" : reading->path);
        if (reading->total > 0)
                ed_draft_add_printf(text, "%.0f%% of ", 100.0 * (double) bytes / total);
        if (total < 1e9)
                ed_draft_add_printf(text, "%.1f MB", total / 1e6);
        else
                ed_draft_add_printf(text, "%.1f GB", total / 1e9);
}

static void json_add(struct ed_draft *text, const struct ed_reading *reading, uint64_t bytes)
{
        ed_draft_add_str(text, "{\"reading\":");
        ed_draft_add_json_str(text, reading->path);
        ed_draft_add_str(text, ",\"read_bytes\":");
        ed_draft_add_u64(text, bytes);
        ed_draft_add_str(text, ",\"total_bytes\":");
        if (reading->total > 0)
                ed_draft_add_u64(text, reading->total);
        else
                ed_draft_add_str(text, "null");
        ed_draft_add_str(text, "}\n");
}

static void line_show(const struct ed_reading *reading, uint64_t bytes)
{
        struct ed_draft text = { 0 };

        if (reader_mode == ED_SHOW_JSON)
                json_add(&text, reading, bytes);
        else
                text_add(&text, reading, bytes);
        if (!ed_draft_is_whole(&text))
                goto done;
        ed_console_mask(text.data, text.bytes, "\n");
        if (reader_mode == ED_SHOW_BAR)
                ed_show_over(&text);
        ed_draft_add(&text, "", 1);
        if (!ed_draft_is_whole(&text))
                goto done;
        if (reader_mode == ED_SHOW_PLAIN)
                ed_console_say(reader, "%s", text.data);
        else
                ed_console_write(text.data, text.bytes - 1, 0);
        has_bar = reader_mode == ED_SHOW_BAR;
done:
        ed_draft_fini(&text);
}

static void line_clear(void)
{
        if (has_bar)
                ed_show_clear();
        has_bar = false;
}

void ed_reading_show(const char *command, enum ed_show_mode mode)
{
        static struct ed_reading_watch watch = { .show = line_show, .end = line_clear };

        reader = command;
        reader_mode = mode;
        watch.interval_ns = ed_show_interval(mode);
        ed_reading_watch(mode == ED_SHOW_OFF ? NULL : &watch);
}
