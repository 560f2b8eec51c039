/*
 * pg/notify.c - notifications, which libpq keeps until eddy asks for them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/fd.h"
#include "eddy/pg_stream.h"
#include "pg/pg.h"

static int store(const PGnotify *from, struct eddy_pg_notification *ret_notification)
{
        size_t bytes = strlen(from->extra) + 1;
        char *payload = ed_alloc(bytes);

        if (!payload)
                return -ENOMEM;
        memcpy(payload, from->extra, bytes);
        *ret_notification =
                (struct eddy_pg_notification){ .payload = payload, .pid = from->be_pid };
        snprintf(ret_notification->channel, sizeof(ret_notification->channel), "%s", from->relname);
        return 0;
}

int eddy_pg_notified(eddy_pg *pg, struct eddy_pg_notification *ret_notification)
{
        PGnotify *notify;
        int err = ed_pg_enter(pg);

        if (err < 0)
                return err;
        while ((notify = PQnotifies(pg->conn)) == NULL && err == 0) {
                pg->received = 0;
                err = ed_pg_turn(pg, EDDY_FD_READABLE);
        }
        if (notify) {
                err = store(notify, ret_notification);
                PQfreemem(notify);
        }
        return ed_pg_leave(pg, err);
}

void eddy_pg_notification_fini(struct eddy_pg_notification *notification)
{
        ed_free(notification->payload);
        notification->payload = NULL;
}
