/*
 * TLS to a server with a certificate of the test: verified with its name off the loopback, also for a
 * name that was looked up; a wrong name, an unknown authority and bytes before the handshake are refused;
 * the modes of libpq.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "pg_server.h"

static char cert[160], other_cert[160];

/* Switch TLS on, with a certificate for these names. */
static void serve_tls(const char *names)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        char key[160], other_key[160], sql[600];
        struct stat folder;
        int64_t is_on = 0;

        CHECK_EQ(stat(pg_folder, &folder), 0);
        snprintf(cert, sizeof(cert), "%s/cert.pem", pg_folder);
        snprintf(key, sizeof(key), "%s/key.pem", pg_folder);
        snprintf(other_cert, sizeof(other_cert), "%s/other.pem", pg_folder);
        snprintf(other_key, sizeof(other_key), "%s/other-key.pem", pg_folder);
        unlink(cert);
        unlink(key);
        unlink(other_cert);
        unlink(other_key);
        CHECK_EQ(eddy_tls_make_certificate(names, EDDY_SEC(86400), cert, key), 0);
        CHECK_EQ(eddy_tls_make_certificate(names, EDDY_SEC(86400), other_cert, other_key), 0);
        CHECK_EQ(chown(key, folder.st_uid, folder.st_gid), 0);
        snprintf(sql, sizeof(sql), "alter system set ssl_cert_file = '%s'", cert);
        CHECK_EQ(eddy_pg_exec(pg, sql), 0);
        snprintf(sql, sizeof(sql), "alter system set ssl_key_file = '%s'", key);
        CHECK_EQ(eddy_pg_exec(pg, sql), 0);
        CHECK_EQ(eddy_pg_exec(pg, "alter system set ssl = on"), 0);
        CHECK_EQ(eddy_pg_exec(pg, "select pg_reload_conf()"), 0);
        /* The postmaster reads its new settings before it takes a connection that comes later. */
        for (int i = 0; i < 1000 && !is_on; i++) {
                EDDY_AUTO(eddy_pg) eddy_pg *next = NULL;

                CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
                next = pg_open();
                is_on = pg_int(next, "select (current_setting('ssl') = 'on')::int");
        }
        CHECK(is_on);
}

/* 1: with TLS, 0: without, or an error, whose text has 'part'. */
static int try(const char *more, const char *part)
{
        struct eddy_pg_fault fault = { .text = "" };
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        char conninfo[500];
        struct eddy_pg_opts opts = { .conninfo = conninfo, .ret_fault = &fault };
        int err;

        snprintf(conninfo, sizeof(conninfo), "port=%d user=postgres dbname=postgres %s", pg_port,
                 more);
        err = eddy_pg_connect(&opts, &pg);
        if (err == 0)
                return (int) pg_int(
                        pg, "select ssl::int from pg_stat_ssl where pid = pg_backend_pid()");
        if (!strstr(fault.text, part))
                test_fail(__FILE__, __LINE__, "%s: \"%s\"", more, fault.text);
        return err;
}

/* The same with the certificate of the server as the authority. */
static int try_trusting(const char *more, const char *part)
{
        char text[300];

        snprintf(text, sizeof(text), "%s sslrootcert=%s", more, cert);
        return try(text, part);
}

/* The address 0.0.0.0 leads to this machine, and is none of the loopback's. */
#define REMOTE "hostaddr=0.0.0.0 "

static int modes_run(void *arg)
{
        char text[300];

        (void) arg;
        serve_tls("db.example,localhost");
        CHECK_EQ(try_trusting(REMOTE "host=db.example", ""), 1);
        CHECK_EQ(try_trusting(REMOTE "host=other.example", "does not match"), EDDY_E_PG_CONNECT);
        CHECK_EQ(try_trusting(REMOTE, ""), EDDY_E_PG_CONNECT);
        /* An authority that is not known: that of the system, or another file. */
        CHECK_EQ(try(REMOTE "host=db.example", "verify failed"), EDDY_E_PG_CONNECT);
        snprintf(text, sizeof(text), REMOTE "host=db.example sslrootcert=%s", other_cert);
        CHECK_EQ(try(text, "verify failed"), EDDY_E_PG_CONNECT);
        /* The program's choice. */
        CHECK_EQ(try(REMOTE "host=other.example sslmode=disable", ""), 0);
        CHECK_EQ(try(REMOTE "host=other.example sslmode=require", ""), 1);
        CHECK_EQ(try_trusting(REMOTE "host=other.example sslmode=verify-ca", ""), 1);
        CHECK_EQ(try(REMOTE "host=other.example sslmode=verify-ca", "verify failed"),
                 EDDY_E_PG_CONNECT);
        CHECK_EQ(try("host=127.0.0.1", ""), 1);
        CHECK_EQ(try("host=127.0.0.1 sslmode=disable", ""), 0);
        CHECK_EQ(try_trusting("host=127.0.0.1 sslmode=verify-full", "does not match"),
                 EDDY_E_PG_CONNECT);
        setenv("PGSSLMODE", "require", 1);
        CHECK_EQ(try(REMOTE "host=other.example", ""), 1);
        unsetenv("PGSSLMODE");
        return 0;
}

TEST(off_the_loopback_the_certificate_and_the_name_are_verified)
{
        pg_run(modes_run);
}

static int names_run(void *arg)
{
        (void) arg;
        serve_tls("localhost");
        /* The name is looked up by eddy, and verified by libpq. */
        CHECK_EQ(try_trusting("host=localhost sslmode=verify-full", ""), 1);
        serve_tls("db.example");
        CHECK_EQ(try_trusting("host=localhost sslmode=verify-full", "does not match"),
                 EDDY_E_PG_CONNECT);
        /* libpq does not try the next host after that. */
        CHECK_EQ(try_trusting("host=localhost,db.example hostaddr=127.0.0.1,127.0.0.1"
                              " sslmode=verify-full",
                              "does not match"),
                 EDDY_E_PG_CONNECT);
        return 0;
}

TEST(a_name_that_was_looked_up_is_verified)
{
        pg_run(names_run);
}

static int pool_run(void *arg)
{
        char conninfo[400];
        struct eddy_pg_opts opts = { .conninfo = conninfo };
        EDDY_AUTO(eddy_pool) eddy_pool *pool = NULL;
        eddy_pool_loan loan = { 0 };

        (void) arg;
        serve_tls("db.example");
        snprintf(conninfo, sizeof(conninfo),
                 "host=db.example " REMOTE "port=%d user=postgres dbname=postgres sslrootcert=%s",
                 pg_port, cert);
        CHECK_EQ(eddy_pg_pool_new(&opts, NULL, &pool), 0);
        for (int i = 0; i < 20; i++) {
                EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;

                CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
                CHECK_EQ(eddy_pg_query(loan.item, "select repeat('x', 1000000)", NULL, 0, &result),
                         0);
                CHECK_EQ(eddy_pool_release(&loan), 0);
        }
        return 0;
}

TEST(a_pool_works_over_tls)
{
        pg_run(pool_run);
}

/* --- a peer between --- */

struct relay {
        eddy_stream *from, *to;
};

static int relay_run(void *arg)
{
        struct relay *relay = arg;
        char buf[4096];
        int64_t n;

        while ((n = eddy_stream_read(relay->from, buf, sizeof(buf))) > 0)
                if (eddy_stream_write(relay->to, buf, (size_t) n) < 0)
                        break;
        return -EPIPE; /* ends the other direction */
}

/* Adds a log-in that succeeds to the server's 'S'. */
static int inject_run(void *arg)
{
        static const char plain[] = "SR\0\0\0\10\0\0\0\0Z\0\0\0\5I";
        struct relay up, down;
        eddy_stream *client, *server;
        eddy_scope scope;
        char buf[16];

        CHECK_EQ(eddy_listener_accept(arg, &client), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", (uint16_t) pg_port, NULL, &server), 0);
        CHECK_EQ(eddy_stream_read(client, buf, 8), 8);
        CHECK_EQ(eddy_stream_write(server, buf, 8), 0);
        CHECK_EQ(eddy_stream_read(server, buf, 1), 1);
        CHECK_EQ(buf[0], 'S');
        CHECK_EQ(eddy_stream_write(client, plain, sizeof(plain) - 1), 0);
        up = (struct relay){ client, server };
        down = (struct relay){ server, client };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, relay_run, &up);
        eddy_scope_start(&scope, relay_run, &down);
        CHECK_EQ(eddy_scope_end(&scope), -EPIPE);
        eddy_stream_close(client);
        eddy_stream_close(server);
        return 0;
}

static int plain_run(void *arg)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        char text[100];
        eddy_scope scope;

        (void) arg;
        serve_tls("localhost");
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, inject_run, listener), 0);
        snprintf(text, sizeof(text), "host=127.0.0.1 sslmode=require port=%u",
                 eddy_listener_port(listener));
        CHECK_EQ(try(text, "unencrypted data"), EDDY_E_PG_CONNECT);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return 0;
}

TEST(bytes_that_a_peer_adds_before_tls_are_refused)
{
        pg_run(plain_run);
}
