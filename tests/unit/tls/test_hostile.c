/*
 * test_hostile.c - peers that break off in the middle, and uses at the wrong moment.
 */
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "eddy/stream_ops.h"
#include "tls/connection.h"
#include "tls_test.h"

/* -- half of a message ------------------------------------------------------------ */

enum { SECRET_BYTES = 32, KEY_BYTES = 16, IV_BYTES = 12, TAG_BYTES = 16, HANDSHAKE = 22 };

static unsigned char secret[SECRET_BYTES]; /* of the client's records, TLS_AES_128_GCM_SHA256 */

static void on_key(const SSL *ssl, const char *line)
{
        static const char label[] = "CLIENT_TRAFFIC_SECRET_0 ";

        if (strncmp(line, label, sizeof(label) - 1) != 0)
                return;
        line = strrchr(line, ' ') + 1;
        for (int i = 0; i < SECRET_BYTES; i++)
                CHECK_EQ(sscanf(line + (size_t) i * 2, "%2hhx", &secret[i]), 1);
}

/* HKDF-Expand-Label (RFC 8446, 7.1). */
static void expand(const char *label, unsigned char *out, size_t bytes)
{
        EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, NULL);
        char info[32];
        int n = snprintf(info + 2, sizeof(info) - 2, "%ctls13 %s", (int) strlen(label) + 6, label);

        info[0] = 0;
        info[1] = (char) bytes;
        info[n + 2] = 0;
        CHECK_EQ(EVP_PKEY_derive_init(context), 1);
        CHECK_EQ(EVP_PKEY_CTX_set_hkdf_mode(context, EVP_PKEY_HKDEF_MODE_EXPAND_ONLY), 1);
        CHECK_EQ(EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()), 1);
        CHECK_EQ(EVP_PKEY_CTX_set1_hkdf_key(context, secret, SECRET_BYTES), 1);
        CHECK_EQ(EVP_PKEY_CTX_add1_hkdf_info(context, (unsigned char *) info, n + 3), 1);
        CHECK_EQ(EVP_PKEY_derive(context, out, &bytes), 1);
        EVP_PKEY_CTX_free(context);
}

/* Send a record of handshake bytes as the client. */
static void send_record(eddy_stream *lower, unsigned char sequence, const char *data, size_t bytes)
{
        EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
        unsigned char key[KEY_BYTES], iv[IV_BYTES], plain[16], record[64];
        size_t sealed = bytes + 1 + TAG_BYTES;
        int n;

        expand("key", key, sizeof(key));
        expand("iv", iv, sizeof(iv));
        iv[IV_BYTES - 1] ^= sequence;
        memcpy(plain, data, bytes);
        plain[bytes] = HANDSHAKE;
        memcpy(record, "\x17\x03\x03", 4);
        record[4] = (unsigned char) sealed;
        CHECK_EQ(EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), NULL, key, iv), 1);
        CHECK_EQ(EVP_EncryptUpdate(cipher, NULL, &n, record, 5), 1);
        CHECK_EQ(EVP_EncryptUpdate(cipher, record + 5, &n, plain, (int) bytes + 1), 1);
        CHECK_EQ(EVP_EncryptFinal_ex(cipher, record + 5 + n, &n), 1);
        CHECK_EQ(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, TAG_BYTES,
                                     record + 5 + bytes + 1),
                 1);
        EVP_CIPHER_CTX_free(cipher);
        CHECK_EQ(eddy_stream_write(lower, record, 5 + sealed), 0);
}

static int reads_a_byte(void *arg)
{
        char byte;

        return (int) eddy_stream_read(arg, &byte, 1);
}

static int writes_answer(void *arg)
{
        return eddy_stream_write(arg, "answer", 6);
}

static int half_message(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_stream *lower;
        eddy_scope scope;
        char buf[6];

        tls_rig_open(&rig);
        CHECK_EQ(SSL_CTX_set_ciphersuites(rig.client_config->contexts->list[0],
                                          "TLS_AES_128_GCM_SHA256"),
                 1);
        SSL_CTX_set_keylog_callback(rig.client_config->contexts->list[0], on_key);
        io_pair_open(&rig.lower);
        lower = rig.lower.b;
        tls_rig_shake(&rig);
        CHECK_EQ(rig.client_err, 0);

        send_record(lower, 0, "\x18\x00\x00\x01", 4);
        CHECK_EQ(eddy_call_timeout(reads_a_byte, rig.server, EDDY_MS(20)), -ETIMEDOUT);
        CHECK_EQ(eddy_call_timeout(writes_answer, rig.server, EDDY_MS(20)), -ETIMEDOUT);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, reads_a_byte, rig.server); /* both need the last byte */
        eddy_scope_start(&scope, writes_answer, rig.server);
        CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
        send_record(lower, 1, "\x00", 1);
        io_read_all(rig.client, buf, sizeof(buf));
        CHECK(memcmp(buf, "answer", sizeof(buf)) == 0);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_write_waits_for_the_rest_of_a_key_update_and_other_tasks_run)
{
        io_run(half_message);
}

/* -- a stream that has failed ------------------------------------------------------- */

static int failed(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct ed_tls *tls;
        char byte;

        (void) arg;
        tls_rig_open(&rig);
        io_pair_open(&rig.lower);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_try_read(rig.server, &byte, 1), -EAGAIN);
        tls = ed_container_of(rig.server, struct ed_tls, stream);
        tls->error = -ENOMEM; /* as after a write for which OpenSSL has no memory */
        CHECK_EQ(eddy_stream_wait(rig.server, EDDY_STREAM_READING), 0);
        CHECK_EQ(eddy_stream_read(rig.server, &byte, 1), -ENOMEM);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_wait_for_bytes_ends_at_once_if_the_stream_has_failed)
{
        io_run(failed);
}

/* -- resets ------------------------------------------------------------------------- */

static int reset(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char buf[4];
        int err;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_shutdown(rig.client), 0);
        CHECK_EQ(eddy_stream_read(rig.server, buf, sizeof(buf)), 0);
        eddy_stream_abort(rig.client);
        rig.client = NULL;
        io_settle();
        err = eddy_stream_write(rig.server, "answer", 6);
        CHECK(err == -ECONNRESET || err == -EPIPE);
        CHECK(eddy_stream_write(rig.server, "answer", 6) < 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_write_after_a_close_and_a_reset_fails)
{
        io_run(reset);
}

static int early_answer(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char buf[100];
        int err = 0;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_write(rig.server, "early answer", 12), 0);
        eddy_stream_close(rig.server);
        rig.server = NULL;
        for (int i = 0; i < 10 && err == 0; i++) {
                err = eddy_stream_write(rig.client, "more", 4);
                io_settle();
        }
        CHECK(err == -ECONNRESET || err == -EPIPE);
        CHECK_EQ(eddy_stream_read(rig.client, buf, sizeof(buf)), 12);
        CHECK(memcmp(buf, "early answer", 12) == 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(an_early_answer_can_be_read_after_a_write_that_failed)
{
        io_run(early_answer);
}

enum { MUCH = 8 << 20 };

static int fails_by_write(eddy_stream *stream)
{
        return eddy_stream_write(stream, "more", 4);
}

static int fails_by_shutdown(eddy_stream *stream)
{
        return eddy_stream_shutdown(stream);
}

/* The stream holds bytes already. */
static int fails_by_flush(eddy_stream *stream)
{
        return (int) eddy_stream_try_writev(stream, NULL, 0);
}

static void fill(eddy_stream *stream)
{
        char *data = calloc(1, MUCH);
        struct eddy_slice slice = { data, MUCH };

        while (eddy_stream_try_writev(stream, &slice, 1) > 0)
                continue;
        free(data);
}

static int write_faults(void *arg)
{
        static int (*const calls[])(eddy_stream *) = { fails_by_write, fails_by_shutdown,
                                                       fails_by_flush };

        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
                struct tls_rig rig = { .host = NULL };
                char want[100];
                int err;

                tls_rig_open(&rig);
                tls_rig_shake(&rig);
                if (calls[i] == fails_by_flush)
                        fill(rig.client);
                CHECK_STR(eddy_tls_fault_text(rig.client), "");
                eddy_stream_abort(rig.server);
                rig.server = NULL;
                io_settle();
                err = calls[i](rig.client);
                CHECK(err == -ECONNRESET || err == -EPIPE);
                snprintf(want, sizeof(want), "the connection failed: %s", eddy_error_text(err));
                CHECK_STR(eddy_tls_fault_text(rig.client), want);
                tls_rig_close(&rig);
        }
        return 0;
}

TEST(a_write_shutdown_or_flush_that_failed_leaves_its_reason)
{
        io_run(write_faults);
}

/* -- a reader and a writer at once ------------------------------------------------- */

static int writes_much(void *arg)
{
        char *data = calloc(1, MUCH);

        CHECK_EQ(eddy_stream_write(arg, data, MUCH), 0);
        free(data);
        return 0;
}

static int reads_hello(void *arg)
{
        char buf[5];

        io_read_all(arg, buf, sizeof(buf));
        CHECK(memcmp(buf, "hello", sizeof(buf)) == 0);
        return 0;
}

static int both_at_once(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char *buf = malloc(MUCH);

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        for (int asks_for_keys = 0; asks_for_keys < 2; asks_for_keys++) {
                SSL *ssl = ed_container_of(rig.server, struct ed_tls, stream)->ssl;
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, writes_much, rig.client);
                eddy_scope_start(&scope, reads_hello, rig.client);
                CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0); /* the writer waits */
                /* The client's answer to a key update must wait as well. */
                if (asks_for_keys)
                        CHECK_EQ(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED), 1);
                CHECK_EQ(eddy_stream_write(rig.server, "hello", 5), 0);
                CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
                io_read_all(rig.server, buf, MUCH);
                CHECK_EQ(eddy_scope_end(&scope), 0);
        }
        CHECK_STR(eddy_tls_fault_text(rig.client), "");
        tls_rig_close(&rig);
        free(buf);
        return 0;
}

TEST(a_read_during_a_write_that_waits_keeps_the_connection)
{
        io_run(both_at_once);
}

static int asked_during_a_read(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_scope scope;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, reads_hello, rig.client);
        io_settle();
        CHECK_EQ(eddy_stream_is_readable(rig.client), 0);
        CHECK_EQ(eddy_stream_write(rig.server, "hello", 5), 0);
        CHECK_EQ(eddy_stream_is_readable(rig.client), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(asking_whether_a_stream_is_readable_takes_nothing_from_its_reader)
{
        io_run(asked_during_a_read);
}

/* -- sessions ----------------------------------------------------------------------- */

static int64_t (*real_time)(struct ed_sys *sys);

static int64_t in_two_days(struct ed_sys *sys)
{
        return real_time(sys) + EDDY_SEC(2 * 86400);
}

/* Let the client keep the server's tickets. */
static void take_tickets(struct tls_rig *rig)
{
        char byte;

        CHECK_EQ(eddy_stream_write(rig->server, "x", 1), 0);
        CHECK_EQ(eddy_stream_read(rig->client, &byte, 1), 1);
}

static int expires(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct eddy_tls_info info;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        take_tickets(&rig);
        tls_rig_hang_up(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
        CHECK(info.is_resumed);
        take_tickets(&rig);
        tls_rig_hang_up(&rig);

        real_time = io_tables()->poll.time_of_day;
        io_tables()->poll.time_of_day = in_two_days;
        for (int i = 0; i < 3; i++) {
                tls_rig_shake(&rig);
                CHECK_STR(eddy_error_name(rig.client_err), "EDDY_E_TLS_EXPIRED");
                tls_rig_hang_up(&rig);
        }
        tls_rig_close(&rig);
        return 0;
}

TEST(a_certificate_that_has_expired_is_not_accepted_by_resumption)
{
        io_run(expires);
}

static int reloads(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct tls_files other;
        char trusted[256];

        tls_files_make(&rig.files, NULL);
        tls_files_make(&other, NULL);
        snprintf(trusted, sizeof(trusted), "%s/trusted.pem", tls_folder());
        rig.client_opts.ca_file = trusted;
        tls_shell("cp %s %s", rig.files.cert, trusted);
        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(rig.client_err, 0);
        tls_shell("cp %s %s", other.cert, trusted);
        CHECK_EQ(eddy_tls_config_reload(rig.client_config, NULL), 0);
        take_tickets(&rig);
        tls_rig_hang_up(&rig);
        tls_rig_shake(&rig);
        CHECK_STR(eddy_error_name(rig.client_err), "EDDY_E_TLS_SELF_SIGNED");
        tls_rig_close(&rig);
        return 0;
}

TEST(a_connection_from_before_a_reload_leaves_no_session)
{
        io_run(reloads);
}

/* -- configurations ----------------------------------------------------------------- */

struct change {
        struct tls_rig *rig;
        bool is_reload;
};

static int changes(void *arg)
{
        struct change *change = arg;
        struct tls_rig *rig = change->rig;

        CHECK_EQ(change->is_reload ? eddy_tls_config_reload(rig->server_config, NULL)
                                   : eddy_tls_config_add(rig->server_config, rig->files.cert,
                                                         rig->files.key, NULL),
                 0);
        return 0;
}

static int closed_during_a_change(void *arg)
{
        for (int i = 0; i < 2; i++) {
                struct tls_rig rig = { .host = NULL };
                struct change change = { &rig, i == 1 };
                eddy_scope scope;

                tls_rig_open(&rig);
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, changes, &change);
                CHECK_EQ(eddy_sleep(1), 0);
                eddy_tls_config_close(rig.server_config);
                rig.server_config = NULL;
                CHECK_EQ(eddy_scope_end(&scope), 0);
                tls_rig_close(&rig);
        }
        return 0;
}

TEST(a_configuration_may_be_closed_while_it_loads_files)
{
        io_run(closed_during_a_change);
}

static int leading_dot(void *arg)
{
        struct tls_rig rig = { .host = ".example.com" };

        tls_files_make(&rig.files, "evil.example.com");
        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(rig.client_err, -EINVAL);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_host_with_a_leading_dot_is_not_valid)
{
        io_run(leading_dot);
}

static int encrypted_key(void *arg)
{
        struct tls_files files;
        char key[256];
        struct eddy_tls_opts opts = { .flags = EDDY_TLS_SERVER, .key_file = key };
        struct eddy_tls_fault fault;
        eddy_tls_config *config = NULL;

        tls_files_make(&files, NULL);
        snprintf(key, sizeof(key), "%s/encrypted.pem", tls_folder());
        tls_shell("openssl pkey -in %s -aes256 -passout pass:secret -out %s", files.key, key);
        opts.cert_file = files.cert;
        CHECK_EQ(eddy_tls_config_new(&opts, &fault, &config), EDDY_E_TLS_BAD_FILE);
        CHECK(strstr(fault.text, "cannot use the private key of") != NULL);
        return 0;
}

/* OpenSSL would ask on the terminal or, without one, on the standard input. */
TEST(a_key_with_a_passphrase_is_refused_without_a_prompt)
{
        int ends[2];

        (void) setsid();
        CHECK_EQ(pipe(ends), 0);
        CHECK_EQ(write(ends[1], "secret\n", 7), 7);
        CHECK_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        io_run(encrypted_key);
}

/* -- the end ------------------------------------------------------------------------ */

static int closes(void *arg)
{
        eddy_stream_close(arg);
        return 0;
}

static int read_during_a_close(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char *data = calloc(1, 1 << 16);
        struct eddy_slice slice = { data, 1 << 16 };
        eddy_scope scope;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        for (int i = 0; i < 10; i++) { /* until the system takes no more */
                while (eddy_stream_try_writev(rig.client, &slice, 1) > 0)
                        continue;
                io_settle();
        }
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, closes, rig.client);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK_EQ(eddy_stream_read(rig.client, data, 1), -ECANCELED);
        CHECK_EQ(eddy_stream_write(rig.client, data, 1), -ECANCELED);
        while (eddy_stream_read(rig.server, data, 1 << 16) > 0)
                continue;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        rig.client = NULL;
        tls_rig_close(&rig);
        free(data);
        return 0;
}

TEST(a_read_during_a_close_that_waits_is_cancelled)
{
        io_run(read_during_a_close);
}

static void on_idle(void *arg)
{
        ++*(int *) arg;
}

static int watched_after_the_end(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        int woken = 0;
        char byte;

        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(eddy_stream_shutdown(rig.client), 0);
        CHECK_EQ(eddy_stream_read(rig.server, &byte, 1), 0);
        CHECK_EQ(eddy_stream_watch_idle(rig.server, on_idle, &woken), -EALREADY);
        io_settle();
        CHECK_EQ(woken, 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_stream_that_has_ended_is_not_watched)
{
        io_run(watched_after_the_end);
}
