/*
 * pgbouncer in transaction mode: without prepared statements, commands, transactions, cancels, errors
 * and pools work as on a server of its own.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pg_server.h"

enum { SERVER_CONNECTIONS = 2 };

static char conninfo[200];
static pid_t bouncer;

static const char *find_program(void)
{
        static const char *const places[] = { "/usr/sbin/pgbouncer", "/usr/bin/pgbouncer",
                                              "/usr/local/bin/pgbouncer" };

        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
                if (access(places[i], X_OK) == 0)
                        return places[i];
        test_skip("no pgbouncer here (tools/install-deps interop)");
}

static void start_bouncer(void)
{
        const char *program = find_program();
        char path[100];
        struct stat folder;
        FILE *file;
        int port = test_server_port();

        CHECK_EQ(stat(pg_folder, &folder), 0);
        snprintf(path, sizeof(path), "%s/pgbouncer.ini", pg_folder);
        file = fopen(path, "we");
        CHECK(file);
        fprintf(file,
                "[databases]\npostgres = host=%s port=%d dbname=postgres user=postgres\n"
                "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"
                "auth_type = any\npool_mode = transaction\ndefault_pool_size = %d\n"
                "ignore_startup_parameters = extra_float_digits\n",
                pg_folder, pg_port, port, SERVER_CONNECTIONS);
        fclose(file);
        bouncer = fork();
        CHECK(bouncer >= 0);
        if (bouncer == 0) {
                int null = open("/dev/null", O_RDWR);

                dup2(null, 0);
                dup2(null, 1);
                dup2(null, 2);
                if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(folder.st_gid) != 0 ||
                                       setuid(folder.st_uid) != 0))
                        _exit(127);
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                execl(program, program, path, (char *) NULL);
                _exit(127);
        }
        snprintf(conninfo, sizeof(conninfo), "host=127.0.0.1 port=%d user=postgres dbname=postgres",
                 port);
}

static void stop_bouncer(void)
{
        kill(bouncer, SIGKILL);
        waitpid(bouncer, NULL, 0);
}

static eddy_pg *connect_through(void)
{
        struct eddy_pg_opts opts = { .conninfo = conninfo,
                                     .flags = EDDY_PG_NO_STATEMENTS,
                                     .cancel_timeout_ns = EDDY_SEC(30) };
        eddy_pg *pg = NULL;

        /* Until pgbouncer listens. */
        for (int i = 0; i < 1000 && eddy_pg_connect(&opts, &pg) < 0; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK(pg);
        return pg;
}

static int sleep_query(void *arg)
{
        return eddy_pg_exec(arg, "select pg_sleep(30)");
}

static int one_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        eddy_pg_transaction outer, inner;

        (void) arg;
        start_bouncer();
        pg = connect_through();
        CHECK_EQ(eddy_pg_exec(pg, "create table t (n int)"), 0);
        for (int i = 0; i < 20; i++)
                CHECK_EQ(eddy_pg_query(pg, "insert into t values ($1)",
                                       EDDY_PG_PARAMS(eddy_pg_int(i)), NULL),
                         0);
        CHECK_EQ(pg_int(pg, "select sum(n) from t"), 190);
        /* A transaction has a server of its own until its end. */
        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(eddy_pg_exec(pg, "delete from t"), 0);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &inner), 0);
        CHECK_EQ(eddy_pg_exec(pg, "select 1/0"), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "22012");
        CHECK_EQ(eddy_pg_end(&inner, -1), -1);
        CHECK_EQ(pg_int(pg, "select count(*) from t"), 0);
        CHECK_EQ(eddy_pg_end(&outer, -1), -1);
        CHECK_EQ(pg_int(pg, "select count(*) from t"), 20);
        /* A request to cancel goes through pgbouncer to the server. */
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_call_timeout(sleep_query, pg, EDDY_MS(100)), -ETIMEDOUT);
                CHECK_EQ(pg_int(pg, "select 7"), 7);
        }
        CHECK_EQ(pg_int(pg, "select count(*) from pg_stat_activity where query like"
                            " '%pg_sleep(30)' and state = 'active'"),
                 0);
        CHECK_EQ(eddy_pg_query(pg, "select nonsense", NULL, 0, NULL), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "42703");
        CHECK_EQ(eddy_pg_exec(pg, "drop table t"), 0);
        stop_bouncer();
        CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_CLOSED);
        return 0;
}

TEST(commands_transactions_cancels_and_errors_pass_through_pgbouncer)
{
        pg_run(one_run);
}

struct load {
        eddy_pool *pool;
        int number, done;
};

static int transfer(eddy_pg *pg, int64_t own)
{
        eddy_pg_transaction transaction;
        int err = eddy_pg_begin(pg, NULL, &transaction);
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        int64_t got;

        if (err < 0)
                return err;
        err = eddy_pg_query(pg, "select set_config('eddy.own', $1, true)",
                            EDDY_PG_PARAMS(eddy_pg_int(own)), NULL);
        if (err == 0)
                err = eddy_pg_query(pg, "select current_setting('eddy.own')::int8, pg_sleep(0.001)",
                                    NULL, 0, &result);
        if (err == 0) {
                CHECK_EQ(eddy_pg_get_int(result, 0, 0, &got), 0);
                CHECK_EQ(got, own);
        }
        return eddy_pg_end(&transaction, err);
}

static int transfer_run(void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct load *load = arg;
        int err = eddy_pool_acquire(load->pool, &loan);

        if (err == 0)
                err = transfer(loan.item, ++load->number);
        load->done += err == 0;
        return err;
}

static int client_run(void *arg)
{
        struct load *load = arg;
        int err;

        for (int i = 0; i < 30; i++) {
                /* Each third one is too short for most. */
                err = eddy_call_timeout(transfer_run, load, i % 3 == 0 ? EDDY_MS(1) : EDDY_SEC(60));
                CHECK(err == 0 || err == -ETIMEDOUT);
        }
        return 0;
}

static int pool_run(void *arg)
{
        struct eddy_pg_opts opts = { .conninfo = conninfo,
                                     .flags = EDDY_PG_NO_STATEMENTS,
                                     .cancel_timeout_ns = EDDY_SEC(30) };
        struct eddy_pool_opts pool_opts = { .size = 6, .reset_timeout_ns = EDDY_SEC(60) };
        struct load load = { .pool = NULL };
        struct eddy_pool_stats stats;
        eddy_scope scope;

        (void) arg;
        start_bouncer();
        eddy_pg_close(connect_through());
        CHECK_EQ(eddy_pg_pool_new(&opts, &pool_opts, &load.pool), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 10; i++)
                CHECK_EQ(eddy_scope_start(&scope, client_run, &load), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(load.done >= 200);
        eddy_pool_stats(load.pool, &stats);
        CHECK_EQ(stats.lent, 0);
        CHECK(stats.open <= 6);
        eddy_pool_close(load.pool);
        stop_bouncer();
        return 0;
}

/* D33: six connections share two of the server. */
TEST(transactions_of_many_tasks_share_the_connections_of_pgbouncer)
{
        pg_run(pool_run);
}
