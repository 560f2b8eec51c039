/*
 * A connection is made by strings, URIs, services and names; its errors name the reason and have no
 * password; nothing is printed.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pg_server.h"

static int connect_by(const char *conninfo, eddy_pg **ret_pg, struct eddy_pg_fault *fault)
{
        return eddy_pg_connect(&(struct eddy_pg_opts){ .conninfo = conninfo, .ret_fault = fault },
                               ret_pg);
}

static void works(const char *conninfo)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        struct eddy_pg_fault fault = { .text = "" };
        int err = connect_by(conninfo, &pg, &fault);

        if (err < 0)
                test_fail(__FILE__, __LINE__, "%s: %s: %s", conninfo, eddy_error_name(err),
                          fault.text);
        CHECK_EQ(pg_int(pg, "select 41 + 1"), 42);
}

static int forms_run(void *arg)
{
        char text[600];

        works(pg_unix);
        works(pg_tcp);
        snprintf(text, sizeof(text), "postgresql://postgres@127.0.0.1:%d/postgres", pg_port);
        works(text);
        snprintf(text, sizeof(text), "host=localhost port=%d user=postgres dbname=postgres",
                 pg_port);
        works(text);
        /* The first does not answer, the second one does; ports for each. */
        snprintf(text, sizeof(text),
                 "host=/nowhere,127.0.0.1 port=1,%d user=postgres dbname=postgres", pg_port);
        works(text);
        snprintf(text, sizeof(text),
                 "host=db.example hostaddr=127.0.0.1 port=%d user=postgres dbname=postgres",
                 pg_port);
        works(text);
        return 0;
}

TEST(connects_by_strings_uris_names_and_lists)
{
        pg_run(forms_run);
}

static int service_run(void *arg)
{
        char path[100];
        FILE *file;

        snprintf(path, sizeof(path), "%s/services", pg_folder);
        file = fopen(path, "w");
        CHECK(file);
        fprintf(file, "[shop]\nhost=127.0.0.1\nport=%d\nuser=postgres\ndbname=postgres\n", pg_port);
        fclose(file);
        setenv("PGSERVICEFILE", path, 1);
        works("service=shop");
        return 0;
}

TEST(reads_services)
{
        pg_run(service_run);
}

static void fails(const char *conninfo, int error, const char *part)
{
        struct eddy_pg_fault fault = { .text = "" };
        eddy_pg *pg = NULL;

        CHECK_EQ(connect_by(conninfo, &pg, &fault), error);
        if (!strstr(fault.text, part) || strstr(fault.text, "sesame"))
                test_fail(__FILE__, __LINE__, "%s: \"%s\"", conninfo, fault.text);
        CHECK(!pg);
}

static int failures_run(void *arg)
{
        char text[300];

        fails("password=open sesame", -EINVAL, "not valid");
        fails("postgresql://u:sesame%zz@host/db", -EINVAL, "not valid");
        fails("host=127.0.0.1 port=1 password=sesame", EDDY_E_PG_CONNECT, "refused");
        fails("host=no-such-host.invalid password=sesame", EDDY_E_DNS_NOT_FOUND, "does not exist");
        fails("service=no_such_service password=sesame", EDDY_E_PG_CONNECT, "no_such_service");
        fails("host=a,b hostaddr=127.0.0.1 password=sesame", EDDY_E_PG_CONNECT, "match");
        snprintf(text, sizeof(text), "%s dbname=missing password=sesame", pg_unix);
        fails(text, EDDY_E_PG_CONNECT, "missing");
        /* Nothing but TLS that is verified, to other hosts. */
        snprintf(text, sizeof(text), "%s sslmode=verify-full sslrootcert=/nowhere", pg_tcp);
        fails(text, EDDY_E_PG_CONNECT, "");
        return 0;
}

TEST(errors_name_the_reason_and_no_password)
{
        pg_run(failures_run);
}

static int ports_run(void *arg)
{
        char text[300];

        (void) arg;
        snprintf(text, sizeof(text), "host=%s,/nowhere port=,%d user=postgres dbname=postgres",
                 pg_folder, pg_port);
        fails(text, EDDY_E_PG_CONNECT, ".s.PGSQL.5432");
        snprintf(text, sizeof(text), "host=/nowhere,%s port=%d, user=postgres dbname=postgres",
                 pg_folder, pg_port);
        fails(text, EDDY_E_PG_CONNECT, ".s.PGSQL.5432");
        snprintf(text, sizeof(text),
                 "host=/nowhere,/nowhere,%s port=,,%d user=postgres"
                 " dbname=postgres",
                 pg_folder, pg_port);
        works(text);
        snprintf(text, sizeof(text), "host=/nowhere,%s port=%d user=postgres dbname=postgres",
                 pg_folder, pg_port);
        works(text);
        return 0;
}

TEST(an_empty_entry_of_a_list_of_ports_is_the_default_port)
{
        pg_run(ports_run);
}

static int quiet_run(void *arg)
{
        char path[100], text[400], printed[8] = { 0 };
        int fds[2], stderr_fd = dup(2);
        eddy_pg *pg = NULL;

        snprintf(path, sizeof(path), "%s/open-passfile", pg_folder);
        close(open(path, O_CREAT | O_WRONLY, 0644));
        snprintf(text, sizeof(text), "%s passfile=%s", pg_tcp, path);
        CHECK_EQ(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
        dup2(fds[1], 2);
        CHECK_EQ(connect_by(text, &pg, NULL), 0);
        CHECK_EQ(eddy_pg_exec(pg, "do $$ begin raise warning 'noise'; end $$"), 0);
        CHECK_EQ(eddy_pg_exec(pg, "rollback"), 0);
        eddy_pg_close(pg);
        dup2(stderr_fd, 2);
        CHECK_EQ(read(fds[0], printed, sizeof(printed)), -1);
        close(fds[0]);
        close(fds[1]);
        close(stderr_fd);
        return 0;
}

TEST(prints_nothing)
{
        pg_run(quiet_run);
}

static int black_hole_run(void *arg)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        char text[100];
        eddy_pg *pg = NULL;
        int err;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        snprintf(text, sizeof(text), "host=127.0.0.1 port=%d user=x", eddy_listener_port(listener));
        EDDY_SCOPE (limit, &err, .timeout_ns = EDDY_MS(50)) {
                err = connect_by(text, &pg, NULL);
        }
        CHECK_EQ(err, -ETIMEDOUT);
        CHECK(!pg);
        return 0;
}

TEST(a_deadline_ends_a_connect)
{
        pg_run(black_hole_run);
}

static int cancelled_run(void *arg)
{
        eddy_scope scope;
        eddy_pg *pg = NULL;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(connect_by(pg_unix, &pg, NULL), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_pg_close(NULL);
        CHECK_EQ(connect_by("port=70000", &pg, NULL), EDDY_E_PG_CONNECT);
        CHECK_EQ(eddy_pg_connect(&(struct eddy_pg_opts){ .flags = 1u << 31 }, &pg), -EINVAL);
        return 0;
}

TEST(a_cancelled_scope_connects_nothing)
{
        pg_run(cancelled_run);
}
