/*
 * test_options.c - versions, protocols, times and the log of keys; and keys that are used on
 * threads while a configuration changes.
 */
#include <errno.h>
#include <openssl/ssl.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tls/connection.h"
#include "tls_test.h"

static SSL_CTX *context_of(const eddy_tls_config *config)
{
        return config->contexts->list[0];
}

static void check_errors(const struct tls_rig *rig, int client_err, int server_err)
{
        CHECK_STR(eddy_error_name(rig->client_err), eddy_error_name(client_err));
        CHECK_STR(eddy_error_name(rig->server_err), eddy_error_name(server_err));
}

/* -- versions ------------------------------------------------------------------- */

/* Either side has the option; the server finds that there is no common version. */
static int version_min(void *arg)
{
        for (int is_server = 0; is_server < 2; is_server++) {
                struct tls_rig rig = { .host = NULL };

                if (is_server)
                        rig.server_opts.version_min = EDDY_TLS_1_3;
                else
                        rig.client_opts.version_min = EDDY_TLS_1_3;
                tls_rig_open(&rig);
                tls_rig_shake(&rig);
                check_errors(&rig, 0, 0);
                tls_rig_hang_up(&rig);
                SSL_CTX_set_max_proto_version(
                        context_of(is_server ? rig.client_config : rig.server_config),
                        TLS1_2_VERSION);
                tls_rig_shake(&rig);
                check_errors(&rig, EDDY_E_TLS_ALERT, EDDY_E_TLS_PROTOCOL);
                tls_rig_close(&rig);
        }
        return 0;
}

TEST(a_version_below_the_least_one_is_refused)
{
        io_run(version_min);
}

static int old_version(void *arg)
{
        struct tls_rig rig = { .host = NULL };

        tls_rig_open(&rig);
        /* OpenSSL offers TLS 1.1 only with weaker security; eddy's side has its default. */
        SSL_CTX_set_min_proto_version(context_of(rig.client_config), TLS1_VERSION);
        SSL_CTX_set_max_proto_version(context_of(rig.client_config), TLS1_1_VERSION);
        SSL_CTX_set_security_level(context_of(rig.client_config), 0);
        tls_rig_shake(&rig);
        check_errors(&rig, EDDY_E_TLS_ALERT, EDDY_E_TLS_PROTOCOL);
        tls_rig_close(&rig);
        return 0;
}

TEST(tls_1_1_is_refused)
{
        io_run(old_version);
}

static int version_1_2(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct eddy_tls_info info;
        char buf[8];

        tls_rig_open(&rig);
        SSL_CTX_set_max_proto_version(context_of(rig.client_config), TLS1_2_VERSION);
        for (int i = 0; i < 4; i++) {
                tls_rig_shake(&rig);
                check_errors(&rig, 0, 0);
                CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
                CHECK_EQ(info.version, EDDY_TLS_1_2);
                CHECK_EQ(info.is_resumed, i > 0);
                CHECK_STR(info.names, "DNS:localhost, IP Address:127.0.0.1");
                CHECK_EQ(eddy_stream_write(rig.client, "question", 8), 0);
                io_read_all(rig.server, buf, 8);
                CHECK_EQ(eddy_stream_write(rig.server, "answer", 6), 0);
                io_read_all(rig.client, buf, 6);
                CHECK_EQ(eddy_stream_shutdown(rig.client), 0);
                CHECK_EQ(eddy_stream_read(rig.server, buf, 8), 0);
                tls_rig_hang_up(&rig);
        }
        rig.host = "127.0.0.1";
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
        CHECK(!info.is_resumed); /* another host */
        tls_rig_close(&rig);
        return 0;
}

TEST(tls_1_2_carries_bytes_and_resumes_sessions)
{
        io_run(version_1_2);
}

/* -- protocols ------------------------------------------------------------------- */

static int no_common_alpn(void *arg)
{
        struct tls_rig rig = { .client_opts = { .alpn = "h2" },
                               .server_opts = { .alpn = "http/1.1" } };
        struct eddy_tls_info info;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        check_errors(&rig, EDDY_E_TLS_ALERT, EDDY_E_TLS_PROTOCOL);
        tls_rig_close(&rig);

        /* A side without the option takes any. */
        rig.server_opts.alpn = NULL;
        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        check_errors(&rig, 0, 0);
        CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
        CHECK_STR(info.alpn, "");
        tls_rig_close(&rig);
        return 0;
}

/* RFC 7301, 3.2. */
TEST(without_a_common_protocol_the_handshake_fails)
{
        io_run(no_common_alpn);
}

/* -- time ------------------------------------------------------------------------- */

static int64_t (*real_time)(struct ed_sys *sys);

static int64_t two_days_ago(struct ed_sys *sys)
{
        return real_time(sys) - EDDY_SEC(2 * 86400);
}

static int not_yet_valid(void *arg)
{
        struct tls_rig rig = { .host = NULL };

        tls_rig_open(&rig);
        real_time = io_tables()->poll.time_of_day;
        io_tables()->poll.time_of_day = two_days_ago;
        tls_rig_shake(&rig);
        check_errors(&rig, EDDY_E_TLS_NOT_YET_VALID, EDDY_E_TLS_ALERT);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_certificate_of_the_future_is_refused)
{
        io_run(not_yet_valid);
}

/* -- keys in a log ------------------------------------------------------------------ */

static int key_log(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char path[128], line[512];
        struct stat status;
        int client_secrets = 0, lines = 0;
        FILE *log;

        snprintf(path, sizeof(path), "%s/keys", tls_folder());
        CHECK_EQ(setenv("SSLKEYLOGFILE", path, 1), 0);
        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        check_errors(&rig, 0, 0);
        tls_rig_close(&rig);
        CHECK_EQ(stat(path, &status), 0);
        CHECK_EQ(status.st_mode & 0777, 0600);
        log = fopen(path, "r");
        CHECK(log != NULL);
        while (fgets(line, sizeof(line), log)) {
                char label[64], random[65], secret[129];

                CHECK_EQ(sscanf(line, "%63[A-Z_0-9] %64[0-9a-f] %128[0-9a-f]", label, random,
                                secret),
                         3);
                CHECK_EQ(strlen(random), 64);
                CHECK(strlen(secret) == 64 || strlen(secret) == 96);
                client_secrets += strcmp(label, "CLIENT_TRAFFIC_SECRET_0") == 0;
                lines++;
        }
        fclose(log);
        CHECK_EQ(client_secrets, 2); /* of both sides */
        CHECK(lines >= 8);

        /* A file that cannot be opened harms nothing. */
        CHECK_EQ(setenv("SSLKEYLOGFILE", "/nonexistent/keys", 1), 0);
        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        check_errors(&rig, 0, 0);
        tls_rig_close(&rig);
        unsetenv("SSLKEYLOGFILE");
        return 0;
}

TEST(secrets_are_appended_to_the_file_that_the_environment_names)
{
        io_run(key_log);
}

/* -- long keys, on threads ------------------------------------------------------------ */

static void long_key_make(struct tls_rig *rig, const char *name)
{
        tls_shell("openssl req -x509 -newkey rsa:3072 -nodes -keyout %s.key -out %s.pem -days 30 "
                  "-subj /CN=%s -addext subjectAltName=DNS:%s",
                  name, name, name, name);
        snprintf(rig->files.cert, sizeof(rig->files.cert), "%s/%s.pem", tls_folder(), name);
        snprintf(rig->files.key, sizeof(rig->files.key), "%s/%s.key", tls_folder(), name);
}

static int no_worker(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker)
{
        (void) sys;
        (void) name;
        (void) ret_worker;
        return -EAGAIN;
}

static int without_threads(void *arg)
{
        struct tls_rig rig = { .host = NULL };

        long_key_make(&rig, "localhost");
        tls_rig_open(&rig);
        /* The thread that read the files ends after 10 idle seconds. */
        io_clock_advance(EDDY_SEC(11));
        io_settle();
        io_tables()->worker.start = no_worker;
        tls_rig_shake(&rig);
        CHECK_EQ(rig.server_err, -EAGAIN);
        CHECK(rig.client_err < 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_handshake_fails_without_a_thread_for_it)
{
        io_run(without_threads);
}

/* The handshake's thread waits at its first message, until the configuration was reloaded. */
struct gate {
        eddy_tls_config *config;
        sem_t reached, reloaded;
};

static int on_hello(SSL *ssl, int *alert, void *arg)
{
        struct gate *gate = arg;

        (void) ssl;
        (void) alert;
        CHECK_EQ(sem_post(&gate->reached), 0);
        CHECK_EQ(sem_wait(&gate->reloaded), 0);
        return SSL_CLIENT_HELLO_SUCCESS;
}

static int wait_at_gate(void *arg)
{
        return sem_wait(&((struct gate *) arg)->reached);
}

static int reloads(void *arg)
{
        struct gate *gate = arg;

        CHECK_EQ(eddy_to_thread(wait_at_gate, gate), 0);
        CHECK_EQ(eddy_tls_config_reload(gate->config, NULL), 0);
        CHECK_EQ(sem_post(&gate->reloaded), 0);
        return 0;
}

static int reload_during_handshake(void *arg)
{
        struct tls_rig rig = { .client_opts = { .flags = EDDY_TLS_INSECURE },
                               .host = "second.example" };
        struct eddy_tls_info info;
        struct tls_files second;
        struct gate gate;
        eddy_scope scope;

        long_key_make(&rig, "localhost");
        tls_files_make(&second, "second.example");
        tls_rig_open(&rig);
        CHECK_EQ(eddy_tls_config_add(rig.server_config, second.cert, second.key, NULL), 0);
        gate.config = rig.server_config;
        CHECK_EQ(sem_init(&gate.reached, 0, 0), 0);
        CHECK_EQ(sem_init(&gate.reloaded, 0, 0), 0);
        SSL_CTX_set_client_hello_cb(context_of(rig.server_config), on_hello, &gate);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, reloads, &gate);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        check_errors(&rig, 0, 0);
        CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
        CHECK_STR(info.names, "DNS:second.example");
        tls_rig_close(&rig);
        return 0;
}

TEST(a_handshake_on_a_thread_keeps_the_certificates_from_before_a_reload)
{
        io_run(reload_during_handshake);
}

/* The client's first bytes arrive with the end of its handshake. */
static int shakes_and_writes(void *arg)
{
        struct tls_rig *rig = arg;

        CHECK_EQ(tls_rig_client(rig), 0);
        return eddy_stream_write(rig->client, "hello", 5);
}

static int waits_to_read(void *arg)
{
        return eddy_stream_wait(arg, EDDY_STREAM_READING);
}

static int early_data(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_scope scope;
        char buf[5];

        long_key_make(&rig, "localhost");
        tls_rig_open(&rig);
        io_pair_open(&rig.lower);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, shakes_and_writes, &rig);
        CHECK_EQ(eddy_tls_server(rig.lower.a, rig.server_config, NULL, &rig.server), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_call_timeout(waits_to_read, rig.server, EDDY_SEC(60)), 0);
        CHECK_EQ(eddy_stream_is_readable(rig.server), 1);
        io_read_all(rig.server, buf, 5);
        CHECK(memcmp(buf, "hello", 5) == 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(bytes_that_came_with_the_end_of_a_handshake_end_a_wait)
{
        io_run(early_data);
}

/* -- a close at the wrong moment ------------------------------------------------------ */

static int misuses;

static void on_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        misuses += report->kind == EDDY_REPORT_MISUSE;
}

static int closes_below(void *arg)
{
        struct tls_rig *rig = arg;

        CHECK_EQ(eddy_sleep(0), 0); /* both handshakes have begun */
        eddy_stream_close(rig->lower.a);
        eddy_stream_abort(rig->lower.b);
        return 0;
}

static int closed_below(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_scope scope;

        tls_rig_open(&rig);
        io_pair_open(&rig.lower);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, closes_below, &rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        check_errors(&rig, 0, 0);
        CHECK_EQ(misuses, 2);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_close_of_the_stream_below_during_a_handshake_is_refused_and_reported)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG,
                                      .report = on_report };

        CHECK_EQ(eddy_run(closed_below, NULL, &opts), 0);
}
