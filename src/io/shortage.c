/*
 * io/shortage.c - the report of a shortage; the pauses are in listener.c and serve.c.
 */
#include "io/shortage.h"

#include <stdio.h>

#include "scope/report.h"

static const char *remedy(int error)
{
        switch (error) {
        case -EMFILE:
                return "raise `ulimit -n`, or accept fewer connections at once";
        case -ENFILE:
                return "raise the system's fs.file-max, or accept fewer connections at once";
        case -ENOSPC:
                return "raise the system's fs.epoll.max_user_watches, or accept fewer connections "
                       "at once";
        default:
                return "give the process more memory, or accept fewer connections at once";
        }
}

void ed_shortage_met(struct ed_shortage *shortage, const struct ed_task *task, int error)
{
        int64_t now_ns = ed_loop_now(task->loop);
        bool goes_on = shortage->met && now_ns - shortage->last_ns < ED_SHORTAGE_EPISODE_NS;
        char message[256];

        shortage->met = true;
        shortage->last_ns = now_ns;
        if (goes_on)
                return;
        snprintf(message, sizeof(message),
                 "cannot accept the next connection and retries every second (%s)", remedy(error));
        ed_report_task(task->loop, EDDY_REPORT_ACCEPT, error, task, message);
}
