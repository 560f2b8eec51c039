/*
 * pg/connect.c - opening and closing a connection.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/fd.h"
#include "eddy/pg_pool.h"
#include "pg/pg.h"
#include "scope/misuse.h"
#include "scope/suspend.h"

enum { STATEMENTS_DEFAULT = 100 };

/*
 * A log-in is some hundred bytes, and the certificates of TLS, at each address. libpq keeps the
 * settings that a server sends in a list, which it walks through for each of them.
 */
enum { LOGIN_MAX = 512 << 10 };

/* Steps of libpq in a row to which the server has sent nothing: a few for each address. */
enum { STEPS_MAX = 10000 };

#define RESULT_MAX        ((uint64_t) 256 << 20)
#define CANCEL_TIMEOUT_NS ((int64_t) 1000000000)

/*
 * A notice without a state is from libpq: the server sent a message that it may not send. A fatal one
 * was sent to an idle connection, whose end follows.
 */
void ed_pg_on_notice(void *arg, const PGresult *notice)
{
        const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
        bool *is_stray = arg;

        if (!PQresultErrorField(notice, PG_DIAG_SQLSTATE) ||
            (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)))
                *is_stray = true;
}

static int poll_until_done(eddy_pg *pg)
{
        PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
        uint64_t received = 0;
        unsigned steps = 0;

        while (wants != PGRES_POLLING_OK) {
                bool is_reading = wants == PGRES_POLLING_READING;
                int ready = 0;

                if (!is_reading || !ed_pg_has_decrypted(pg))
                        ready = eddy_fd_wait(PQsocket(pg->conn),
                                             is_reading ? EDDY_FD_READABLE : EDDY_FD_WRITABLE);
                if (ready < 0)
                        return ready;
                if (!ed_pg_count(pg, LOGIN_MAX))
                        return EDDY_E_PG_CONNECT;
                steps = pg->received > received ? 0 : steps + 1;
                received = pg->received;
                if (steps > STEPS_MAX)
                        return EDDY_E_PG_CONNECT;
                wants = PQconnectPoll(pg->conn);
                if (wants == PGRES_POLLING_FAILED)
                        return EDDY_E_PG_CONNECT;
        }
        return PQsetnonblocking(pg->conn, 1) == 0 ? 0 : EDDY_E_PG_CONNECT;
}

/* Say why, without the texts of others: of the password file, libpq would warn on stderr. */
static void explain(eddy_pg *pg, const struct ed_pg_plan *plan, struct eddy_pg_fault *fault)
{
        static const char hint[] =
                "the password file is not used: others can read it, or it is not a file";

        ed_pg_fault_of_conn(fault, pg->conn);
        if (!*fault->text)
                ed_pg_fault_set(fault, "the server did not end the log-in");
        if (pg->received > LOGIN_MAX)
                ed_pg_fault_set(fault, "the server sent too many bytes during the log-in");
        if (plan->is_passfile_open)
                memcpy(fault->hint, hint, sizeof(hint));
}

static int start(eddy_pg *pg, const char *conninfo, struct eddy_pg_fault *fault)
{
        struct ed_pg_plan plan;
        int err = ed_pg_plan_make(&plan, conninfo, fault);

        if (err == 0) {
                pg->conn = PQconnectStartParams(plan.keys, plan.values, 1);
                err = pg->conn ? 0 : -ENOMEM;
        }
        if (err == 0) {
                (void) PQsetNoticeReceiver(pg->conn, ed_pg_on_notice, &pg->is_stray);
                err = PQstatus(pg->conn) == CONNECTION_BAD ? EDDY_E_PG_CONNECT
                                                           : poll_until_done(pg);
                if (err == EDDY_E_PG_CONNECT)
                        explain(pg, &plan, fault);
        }
        ed_pg_plan_fini(&plan);
        return err;
}

bool ed_pg_opts_are_valid(const struct eddy_pg_opts *opts)
{
        return !(opts->flags & ~(uint32_t) (EDDY_PG_NO_STATEMENTS | EDDY_PG_KEEP_SESSION)) &&
               opts->cancel_timeout_ns >= 0 && opts->command_timeout_ns >= 0 &&
               opts->statements_max <= EDDY_PG_STATEMENTS_MAX;
}

static int fill_in(eddy_pg *pg, const struct eddy_pg_opts *opts)
{
        uint32_t statements = opts->statements_max ? opts->statements_max : STATEMENTS_DEFAULT;

        if (!ed_pg_opts_are_valid(opts))
                return -EINVAL;
        pg->flags = opts->flags;
        pg->result_max = opts->result_max ? opts->result_max : RESULT_MAX;
        pg->command_timeout_ns = opts->command_timeout_ns;
        pg->cancel_timeout_ns =
                opts->cancel_timeout_ns ? opts->cancel_timeout_ns : CANCEL_TIMEOUT_NS;
        ed_pg_statements_init(&pg->statements,
                              opts->flags & EDDY_PG_NO_STATEMENTS ? 0 : statements);
        return 0;
}

int eddy_pg_connect(const struct eddy_pg_opts *opts, eddy_pg **ret_pg)
{
        static const struct eddy_pg_opts none;
        struct ed_task *task;
        eddy_pg *pg;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        opts = opts ? opts : &none;
        pg = ed_alloc_zero(sizeof(*pg));
        if (!pg)
                return -ENOMEM;
        ed_member_join(&pg->member, ed_loop_current, NULL);
        ed_pg_statements_init(&pg->statements, 0);
        err = fill_in(pg, opts);
        if (err == 0)
                err = start(pg, opts->conninfo, &pg->fault);
        if (err < 0) {
                if (opts->ret_fault)
                        *opts->ret_fault = pg->fault;
                eddy_pg_close(pg);
                return err;
        }
        *ret_pg = pg;
        return 0;
}

void eddy_pg_close(eddy_pg *pg)
{
        if (!pg || !ed_misuse_may_close(&pg->member, "a connection to PostgreSQL"))
                return;
        if (pg->owes)
                ed_pg_cancel_begin(pg);
        ed_pg_cancel_drop(pg);
        ed_pg_statements_fini(&pg->statements);
        ed_fd_watch_end(&pg->watch);
        PQfinish(pg->conn);
        ed_member_leave(&pg->member);
        ed_free(pg);
}

const struct eddy_pg_fault *eddy_pg_fault(const eddy_pg *pg)
{
        static const struct eddy_pg_fault none;

        return pg ? &pg->fault : &none;
}
