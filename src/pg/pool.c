/*
 * pg/pool.c - connections as items of a pool.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/pg_pool.h"
#include "pg/pg.h"

/* The options that the connections of a pool share. */
struct source {
        struct eddy_pg_opts opts;
        struct eddy_pg_fault *ret_fault; /* the program's, or NULL */
        struct eddy_pg_fault fault;      /* of the last opening */
        char conninfo[];
};

static int item_open(void *arg, void **ret_item)
{
        struct source *source = arg;
        eddy_pg *pg;
        int err;

        ed_pg_fault_set(&source->fault, NULL);
        err = eddy_pg_connect(&source->opts, &pg);
        if (err == 0)
                *ret_item = pg;
        else if (source->ret_fault)
                *source->ret_fault = source->fault;
        return err;
}

static void item_fault(void *arg, struct eddy_pool_fault *ret_fault)
{
        const struct eddy_pg_fault *fault = &((struct source *) arg)->fault;

        _Static_assert(sizeof(ret_fault->text) >= sizeof(fault->text), "it is not cut");
        memcpy(ret_fault->code, fault->sqlstate, sizeof(fault->sqlstate));
        memcpy(ret_fault->text, fault->text, sizeof(fault->text));
}

static void item_close(void *arg, void *item)
{
        (void) arg;
        eddy_pg_close(item);
}

/*
 * As asyncpg does, in one round trip; RESET ALL does not reset roles. A transaction that is open is
 * rolled back before.
 */
static int item_reset(void *arg, void *item)
{
        static const char sql[] =
                "SET SESSION AUTHORIZATION DEFAULT; RESET ROLE;"
                "SELECT pg_advisory_unlock_all(); CLOSE ALL; UNLISTEN *; RESET ALL";
        eddy_pg *pg = item;
        int err;

        (void) arg;
        pg->depth = 0;
        pg->must_roll_back = true;
        err = eddy_pg_exec(pg, sql);
        if (err == 0) {
                pg->is_used = false;
                pg->is_touched = false;
        }
        return err;
}

static int item_ping(void *arg, void *item)
{
        eddy_pg *pg = item;
        int err;

        (void) arg;
        err = eddy_pg_exec(pg, "");
        if (err == 0)
                pg->is_used = false;
        return err;
}

static int item_check(void *arg, void *item)
{
        eddy_pg *pg = item;
        PGnotify *notify;

        (void) arg;
        if (pg->is_busy || ed_pg_is_broken(pg))
                return EDDY_POOL_BROKEN;
        /* Those of the last loan. libpq keeps them for ever. */
        while ((notify = PQnotifies(pg->conn)) != NULL)
                PQfreemem(notify);
        if (pg->owes || pg->must_roll_back || pg->is_touched ||
            PQtransactionStatus(pg->conn) != PQTRANS_IDLE ||
            (pg->is_used && !(pg->flags & EDDY_PG_KEEP_SESSION)))
                return EDDY_POOL_USED;
        return EDDY_POOL_READY;
}

static void source_free(void *arg)
{
        struct source *source = arg;

        explicit_bzero(source->conninfo, strlen(source->conninfo));
        ed_free(source);
}

int eddy_pg_pool_new(const struct eddy_pg_opts *opts, const struct eddy_pool_opts *pool_opts,
                     eddy_pool **ret_pool)
{
        static const struct eddy_pool_ops ops = { item_open,  item_close,  item_reset, item_ping,
                                                  item_check, source_free, item_fault };
        struct eddy_pool_opts own = { .size = 0 };
        const char *conninfo = opts && opts->conninfo ? opts->conninfo : "";
        struct source *source;
        int err;

        if (opts && !ed_pg_opts_are_valid(opts))
                return -EINVAL;
        source = ed_alloc_zero(sizeof(*source) + strlen(conninfo) + 1);
        if (!source)
                return -ENOMEM;
        if (opts)
                source->opts = *opts;
        memcpy(source->conninfo, conninfo, strlen(conninfo) + 1);
        source->opts.conninfo = source->conninfo;
        source->ret_fault = source->opts.ret_fault;
        source->opts.ret_fault = &source->fault;
        if (pool_opts)
                own = *pool_opts;
        own.ops = &ops;
        own.arg = source;
        err = eddy_pool_new(&own, ret_pool);
        if (err < 0)
                source_free(source);
        return err;
}
