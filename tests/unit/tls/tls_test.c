/*
 * tls_test.c - see tls_test.h.
 */
#include "tls_test.h"

#include <openssl/pem.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chain.h"

static char folder[64];
static pid_t owner;

static int run_shell(const char *command)
{
        pid_t pid = fork();
        int status = -1;

        if (pid == 0) {
                execl("/bin/sh", "sh", "-c", command, (char *) NULL);
                _exit(127);
        }
        CHECK(pid > 0);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        return status;
}

static void folder_remove(void)
{
        char command[128];

        if (getpid() != owner)
                return;
        snprintf(command, sizeof(command), "rm -rf '%s'", folder);
        if (run_shell(command) != 0)
                perror(folder);
}

const char *tls_folder(void)
{
        const char *parent = getenv("TMPDIR");

        if (folder[0] && getpid() == owner)
                return folder;
        owner = getpid();
        snprintf(folder, sizeof(folder), "%s/eddy-tls-XXXXXX", parent ? parent : "/tmp");
        CHECK(mkdtemp(folder) != NULL);
        atexit(folder_remove);
        return folder;
}

void tls_shell(const char *format, ...)
{
        char command[2048];
        va_list args;
        int at = snprintf(command, sizeof(command), "cd '%s' && { ", tls_folder());

        va_start(args, format);
        at += vsnprintf(command + at, sizeof(command) - (size_t) at, format, args);
        va_end(args);
        CHECK(at < (int) sizeof(command));
        at += snprintf(command + at, sizeof(command) - (size_t) at, "; } >/dev/null 2>&1");
        CHECK(at < (int) sizeof(command));
        CHECK_EQ(run_shell(command), 0);
}

void tls_files_make(struct tls_files *files, const char *names)
{
        static int number;

        number++;
        snprintf(files->cert, sizeof(files->cert), "%s/cert%d.pem", tls_folder(), number);
        snprintf(files->key, sizeof(files->key), "%s/key%d.pem", tls_folder(), number);
        CHECK_EQ(eddy_tls_make_certificate(names ? names : "localhost,127.0.0.1", EDDY_SEC(86400),
                                           files->cert, files->key),
                 0);
}

void tls_files_make_fixed(struct tls_files *files)
{
        /* Valid on the simulated clock too. */
        struct chain_spec spec = { .name = "localhost",
                                   .names = "DNS:localhost,IP:127.0.0.1",
                                   .from_days = -7300,
                                   .until_days = 7300,
                                   .key = "ED25519" };
        struct chain_part part = chain_part_make(&spec, NULL);
        FILE *file;

        snprintf(files->cert, sizeof(files->cert), "%s/fixed.pem", tls_folder());
        snprintf(files->key, sizeof(files->key), "%s/fixed.key", tls_folder());
        file = fopen(files->cert, "w");
        CHECK(file != NULL);
        CHECK_EQ(PEM_write_X509(file, part.certificate), 1);
        CHECK_EQ(fclose(file), 0);
        file = fopen(files->key, "w");
        CHECK(file != NULL);
        CHECK_EQ(PEM_write_PrivateKey(file, part.key, NULL, NULL, 0, NULL, NULL), 1);
        CHECK_EQ(fclose(file), 0);
}

void tls_rig_open(struct tls_rig *rig)
{
        if (!rig->files.cert[0])
                tls_files_make(&rig->files, NULL);
        rig->server_opts.flags |= EDDY_TLS_SERVER;
        if (!rig->server_opts.cert_file) {
                rig->server_opts.cert_file = rig->files.cert;
                rig->server_opts.key_file = rig->files.key;
        }
        if (!rig->client_opts.ca_file)
                rig->client_opts.ca_file = rig->files.cert;
        CHECK_EQ(eddy_tls_config_new(&rig->server_opts, &rig->server_fault, &rig->server_config),
                 0);
        CHECK_EQ(eddy_tls_config_new(&rig->client_opts, &rig->client_fault, &rig->client_config),
                 0);
}

static int shake_server(void *arg)
{
        struct tls_rig *rig = arg;
        struct eddy_tls_conn_opts opts = { .ret_fault = &rig->server_fault };

        rig->server_err = eddy_tls_server(rig->lower.a, rig->server_config, &opts, &rig->server);
        if (rig->server_err < 0)
                eddy_stream_close(rig->lower.a);
        return 0;
}

int tls_rig_client(void *arg)
{
        struct tls_rig *rig = arg;
        struct eddy_tls_conn_opts opts = { .ret_fault = &rig->client_fault, .route = rig->route };

        rig->client_err = eddy_tls_client(rig->lower.b, rig->client_config,
                                          rig->host ? rig->host : "localhost", &opts, &rig->client);
        if (rig->client_err < 0)
                eddy_stream_close(rig->lower.b);
        return 0;
}

void tls_rig_shake(struct tls_rig *rig)
{
        eddy_scope scope;

        if (!rig->lower.a)
                io_pair_open(&rig->lower);
        rig->server = rig->client = NULL;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, shake_server, rig);
        eddy_scope_start(&scope, tls_rig_client, rig);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        rig->lower.a = rig->lower.b = NULL;
}

void tls_rig_hang_up(struct tls_rig *rig)
{
        eddy_stream_close(rig->client);
        eddy_stream_close(rig->server);
        rig->client = rig->server = NULL;
}

void tls_rig_close(struct tls_rig *rig)
{
        tls_rig_hang_up(rig);
        eddy_tls_config_close(rig->client_config);
        eddy_tls_config_close(rig->server_config);
}
