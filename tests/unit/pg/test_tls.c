/*
 * TLS to a server with a certificate of the test: verified with its name off the loopback, also for a
 * name that was looked up; a wrong name, an unknown authority and bytes before the handshake are refused;
 * the modes of libpq.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "pg_fake.h"
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

/* --- long records --- */

enum {
        RECORD_BYTES = 16384
}; /* the longest: libpq's buffer has no room for it if it is not empty */

static struct pg_bytes greeting, answer;

/* Two records. The first one ends in the middle of a message, which remains in libpq's buffer. */
static int write_long(eddy_stream *stream, const struct pg_bytes *out)
{
        size_t head = out->bytes - RECORD_BYTES;
        int err = eddy_stream_write(stream, out->data, head);

        if (err == 0)
                err = eddy_sleep(EDDY_MS(20));
        return err < 0 ? err : eddy_stream_write(stream, out->data + head, RECORD_BYTES);
}

static int serve_long(eddy_stream *stream)
{
        char buf[8192];
        int64_t n = eddy_stream_read(stream, buf, sizeof(buf));
        int err = n < 0 ? (int) n : write_long(stream, &greeting);

        while (err == 0 && (n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                err = write_long(stream, &answer);
        return err < 0 ? err : 0;
}

struct long_server {
        eddy_tls_config *config;
        eddy_listener *listener;
};

static int long_server_run(void *arg)
{
        const struct long_server *server = arg;
        eddy_stream *lower, *stream;
        char request[8];

        while (eddy_listener_accept(server->listener, &lower) == 0) {
                CHECK_EQ(eddy_stream_read(lower, request, sizeof(request)), 8);
                CHECK_EQ(eddy_stream_write(lower, "S", 1), 0);
                CHECK_EQ(eddy_tls_server(lower, server->config, NULL, &stream), 0);
                (void) serve_long(stream);
                eddy_stream_close(stream);
        }
        return 0;
}

/* Messages that fit libpq's first buffer, which would grow otherwise. */
static void put_long_messages(void)
{
        static char setting[1000], value[1001];

        memset(setting, 'x', sizeof(setting) - 1);
        memcpy(setting, "application_name", 17);
        greeting.bytes = 0;
        pg_put(&greeting, 'R', "\0\0\0", 4);
        pg_put(&greeting, 'S', "client_encoding\0UTF8", 21);
        for (int i = 0; i < 18; i++)
                pg_put(&greeting, 'S', setting, sizeof(setting));
        pg_put(&greeting, 'K', "\0\0\0\1\0\0\0\2", 8);
        pg_put_ready(&greeting, 'I');
        answer.bytes = 0;
        pg_put(&answer, '1', NULL, 0);
        pg_put(&answer, '2', NULL, 0);
        pg_put_columns(&answer, 1);
        memset(value, 'x', sizeof(value) - 1);
        for (int i = 0; i < 18; i++)
                pg_put_row(&answer, 1, value);
        pg_put(&answer, 'C', "SELECT 18", 10);
        pg_put_ready(&answer, 'I');
}

static int query_long(void *arg)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        struct eddy_pg_opts opts = { .conninfo = arg, .flags = EDDY_PG_NO_STATEMENTS };
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        int err = eddy_pg_connect(&opts, &pg);

        if (err == 0)
                err = eddy_pg_query(pg, "select 1", NULL, 0, &result);
        return err < 0 ? err : eddy_pg_rows(result);
}

static int pipeline_long(void *arg)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        struct eddy_pg_opts opts = { .conninfo = arg, .flags = EDDY_PG_NO_STATEMENTS };
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = NULL;
        int err = eddy_pg_pipeline_new(&opts, NULL, &pipeline);

        if (err == 0)
                err = eddy_pg_pipeline_read(pipeline, "select 1", NULL, 0, &result);
        return err < 0 ? err : eddy_pg_rows(result);
}

static int long_run(void *arg)
{
        char folder[] = "/tmp/eddy-pg-tls-XXXXXX", own_cert[64], key[64], conninfo[100];
        struct eddy_tls_opts opts = { .flags = EDDY_TLS_SERVER,
                                      .cert_file = own_cert,
                                      .key_file = key };
        struct long_server server;
        eddy_scope scope;

        (void) arg;
        CHECK(mkdtemp(folder));
        snprintf(own_cert, sizeof(own_cert), "%s/cert.pem", folder);
        snprintf(key, sizeof(key), "%s/key.pem", folder);
        CHECK_EQ(eddy_tls_make_certificate("localhost", EDDY_SEC(86400), own_cert, key), 0);
        CHECK_EQ(eddy_tls_config_new(&opts, NULL, &server.config), 0);
        put_long_messages();
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &server.listener), 0);
        snprintf(conninfo, sizeof(conninfo),
                 "host=127.0.0.1 user=u dbname=d sslmode=require port=%u",
                 eddy_listener_port(server.listener));
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, long_server_run, &server), 0);
        CHECK_EQ(eddy_call_timeout(query_long, conninfo, EDDY_SEC(60)), 18);
        CHECK_EQ(eddy_call_timeout(pipeline_long, conninfo, EDDY_SEC(60)), 18);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(server.listener);
        eddy_tls_config_close(server.config);
        CHECK(unlink(own_cert) == 0 && unlink(key) == 0 && rmdir(folder) == 0);
        return 0;
}

TEST(a_long_record_of_tls_is_read_to_its_end)
{
        io_run_and_wait(long_run);
}
