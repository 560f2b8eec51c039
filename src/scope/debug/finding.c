/*
 * scope/debug/finding.c - what the reports of debug mode share: their limit, and parts of their text.
 */
#include "scope/debug/debug.h"

bool ed_debug_may_report(struct ed_debug *debug, enum ed_debug_found what)
{
        return debug->found[what]++ < ED_DEBUG_REPORTS_MAX;
}

void ed_debug_failure_add(int error, struct ed_text *text)
{
        ed_text_add(text, ", which failed: %s", eddy_error_text(error));
}

void ed_debug_more_add(uint64_t count, const char *what, struct ed_text *text)
{
        if (count > ED_DEBUG_REPORTS_MAX)
                ed_text_add(text, "\n  and %llu more%s",
                            (unsigned long long) (count - ED_DEBUG_REPORTS_MAX), what);
}

void ed_debug_unseen(struct ed_run *run, int error, const char *task, const void *place)
{
        char message[192];
        struct ed_text text = { message, sizeof(message) };

        if (!ed_debug_may_report(run->debug, ED_DEBUG_UNSEEN))
                return;
        ed_text_add(&text, "failed, and its result was never read");
        ed_report_symbol_add("; it was started at ", place, &text);
        ed_report_run(run, EDDY_REPORT_UNHANDLED, error, task, message);
}
