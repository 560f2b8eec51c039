/*
 * common/reading.c - the progress of reading a file.
 */
#include "common/reading.h"

#include <string.h>

#include "common/console.h"
#include "common/draft.h"
#include "eddy/time.h"

#define FIRST_NS EDDY_SEC(2)

static const char *reader; /* the command; NULL: nothing is shown */
static enum ed_show_mode reader_mode;

void ed_reading_show(const char *command, enum ed_show_mode mode)
{
        reader = mode == ED_SHOW_OFF ? NULL : command;
        reader_mode = mode;
}

void ed_reading_begin(struct ed_reading *reading, const char *path, uint64_t total)
{
        *reading = (struct ed_reading){ .path = path, .total = total };
        if (reader)
                reading->next_ns = eddy_now() + FIRST_NS;
}

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

static void line_show(struct ed_reading *reading, uint64_t bytes)
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
        reading->has_bar = reader_mode == ED_SHOW_BAR;
done:
        ed_draft_fini(&text);
}

void ed_reading_at(struct ed_reading *reading, uint64_t bytes)
{
        int64_t now_ns;

        if (!reader)
                return;
        now_ns = eddy_now();
        if (now_ns < reading->next_ns)
                return;
        line_show(reading, bytes);
        reading->next_ns = now_ns + ed_show_interval(reader_mode);
}

void ed_reading_end(struct ed_reading *reading)
{
        if (reading->has_bar)
                ed_show_clear();
        reading->has_bar = false;
}
