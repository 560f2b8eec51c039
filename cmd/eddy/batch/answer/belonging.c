/*
 * batch/answer/belonging.c - see belonging.h.
 */
#include "batch/answer/belonging.h"

#include <stdio.h>

#include "common/console.h"

int ed_belonging_check(const char *command, const struct ed_belonging *belonging)
{
        char shard[40] = "";

        if (belonging->placed > 0 || belonging->odd + belonging->strange == 0)
                return 0;
        if (belonging->shard.count > 0)
                snprintf(shard, sizeof(shard), "shard %u/%u of ", belonging->shard.index,
                         belonging->shard.count);
        if (belonging->strange == 0)
                ed_console_say(command,
                               "%s: none of its lines is an answer; name the file of -o of eddy "
                               "batch",
                               belonging->answers);
        else
                ed_console_say(command, "%s: none of the ids is in %s%s%s", belonging->answers,
                               shard, belonging->requests,
                               belonging->lacks_column
                                       ? "; give --id-column NAME, as for eddy batch"
                                       : "");
        return ED_EXIT_INPUT;
}
