/*
 * test_handshake.c - what a handshake verifies, refuses and resumes.
 */
#include <errno.h>
#include <stdio.h>

#include "tls_test.h"

/* Do a handshake with 'rig' that must end so for the client. */
static void check_shake(struct tls_rig *rig, int client_err)
{
        tls_rig_shake(rig);
        CHECK_STR(eddy_error_name(rig->client_err), eddy_error_name(client_err));
        if (client_err == 0)
                CHECK_EQ(rig->server_err, 0);
        else
                CHECK(rig->client_fault.text[0] != '\0');
}

/* -- names --------------------------------------------------------------------- */

static int names(void *arg)
{
        static const struct {
                const char *host;
                int error;
        } cases[] = {
                { "localhost", 0 },
                { "LOCALHOST", 0 },
                { "localhost.", 0 },
                { "127.0.0.1", 0 },
                { "::1", EDDY_E_TLS_WRONG_HOST },
                { "127.0.0.2", EDDY_E_TLS_WRONG_HOST },
                { "other", EDDY_E_TLS_WRONG_HOST },
                { "sub.localhost", EDDY_E_TLS_WRONG_HOST },
                { "a.wild.example", 0 },
                { "wild.example", EDDY_E_TLS_WRONG_HOST },
                { "a.b.wild.example", EDDY_E_TLS_WRONG_HOST },
        };
        struct tls_rig rig = { .host = NULL };

        tls_files_make(&rig.files, "localhost,127.0.0.1,*.wild.example");
        tls_rig_open(&rig);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                rig.host = cases[i].host;
                check_shake(&rig, cases[i].error);
                tls_rig_hang_up(&rig);
        }
        tls_rig_close(&rig);
        return 0;
}

TEST(the_host_must_be_an_alternative_name_of_the_certificate)
{
        io_run(names);
}

/* -- trust ----------------------------------------------------------------------- */

static int untrusted(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct tls_files other;

        tls_files_make(&other, NULL);
        rig.client_opts.ca_file = other.cert;
        tls_rig_open(&rig);
        check_shake(&rig, EDDY_E_TLS_SELF_SIGNED);
        CHECK_EQ(rig.server_err, EDDY_E_TLS_ALERT);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_self_signed_certificate_that_is_not_trusted_is_refused)
{
        io_run(untrusted);
}

static int insecure(void *arg)
{
        struct tls_rig rig = { .client_opts = { .flags = EDDY_TLS_INSECURE }, .host = "other" };

        tls_rig_open(&rig);
        check_shake(&rig, 0);
        tls_rig_close(&rig);
        return 0;
}

TEST(an_insecure_client_accepts_any_certificate)
{
        io_run(insecure);
}

/* A chain: root signs a certificate with 'days', 'extensions' and a key of 'kind'. */
static void chain_make(struct tls_rig *rig, const char *kind, int days, const char *extensions)
{
        static int number;

        number++;
        tls_shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "
                  "ca%d.key -out ca%d.pem -days 30 -subj /CN=root%d",
                  number, number, number);
        tls_shell("openssl req -new -newkey %s -nodes -keyout leaf%d.key -out leaf%d.csr -subj "
                  "/CN=localhost && printf '%s' > leaf%d.ext && "
                  "openssl x509 -req -in leaf%d.csr -CA ca%d.pem -CAkey ca%d.key -days %d "
                  "-extfile leaf%d.ext -out leaf%d.pem",
                  kind, number, number, extensions, number, number, number, number, days, number,
                  number);
        snprintf(rig->files.cert, sizeof(rig->files.cert), "%s/leaf%d.pem", tls_folder(), number);
        snprintf(rig->files.key, sizeof(rig->files.key), "%s/leaf%d.key", tls_folder(), number);
}

#define EC  "ec -pkeyopt ec_paramgen_curve:P-256"
#define SAN "subjectAltName=DNS:localhost\\n"

struct chain_case {
        const char *claim;
        const char *kind;
        int days;
        const char *extensions;
        bool trust; /* the client trusts the root */
        int error;
};

static int chains(void *arg)
{
        static const struct chain_case cases[] = {
                { "good", EC, 30, SAN, true, 0 },
                { "unknown root", EC, 30, SAN, false, EDDY_E_TLS_UNKNOWN_ISSUER },
                { "expired", EC, -1, SAN, true, EDDY_E_TLS_EXPIRED },
                { "common name only", EC, 30, "basicConstraints=CA:FALSE\\n", true,
                  EDDY_E_TLS_WRONG_HOST },
                { "another host", EC, 30, "subjectAltName=DNS:example.org\\n", true,
                  EDDY_E_TLS_WRONG_HOST },
                { "a client's", EC, 30, SAN "extendedKeyUsage=clientAuth\\n", true,
                  EDDY_E_TLS_BAD_CERTIFICATE },
                { "weak key", "rsa:1024", 30, SAN, true, EDDY_E_TLS_BAD_CERTIFICATE },
                { "unknown critical extension", EC, 30, SAN "1.2.3.4=critical,ASN1:UTF8String:x\\n",
                  true, EDDY_E_TLS_BAD_CERTIFICATE },
        };
        struct tls_files other;

        tls_files_make(&other, NULL);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct tls_rig rig = { .host = NULL };
                char root[128];

                chain_make(&rig, cases[i].kind, cases[i].days, cases[i].extensions);
                snprintf(root, sizeof(root), "%s/ca%zu.pem", tls_folder(), i + 1);
                rig.client_opts.ca_file = cases[i].trust ? root : other.cert;
                /* A server with a weak key is refused by its own library. */
                if (strcmp(cases[i].kind, EC) != 0) {
                        rig.server_opts = (struct eddy_tls_opts){ .flags = EDDY_TLS_SERVER,
                                                                  .cert_file = rig.files.cert,
                                                                  .key_file = rig.files.key };
                        CHECK_EQ(eddy_tls_config_new(&rig.server_opts, &rig.server_fault,
                                                     &rig.server_config),
                                 EDDY_E_TLS_BAD_FILE);
                        CHECK(rig.server_fault.text[0] != '\0');
                        continue;
                }
                tls_rig_open(&rig);
                check_shake(&rig, cases[i].error);
                tls_rig_close(&rig);
        }
        return 0;
}

TEST(chains_are_verified_and_each_refusal_has_its_name)
{
        io_run(chains);
}

static int revoked(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char root[128], crl[128];

        tls_shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "
                  "ca.key -out ca.pem -days 30 -subj /CN=root && : > index && echo 01 > crlnumber "
                  "&& printf '[ca]\\ndefault_ca=c\\n[c]\\ndatabase=index\\nserial=serial\\n"
                  "new_certs_dir=.\\ndefault_md=sha256\\npolicy=p\\ncrlnumber=crlnumber\\n"
                  "default_crl_days=30\\nx509_extensions=e\\n[p]\\ncommonName=supplied\\n[e]\\n"
                  "subjectAltName=DNS:localhost\\n' > ca.cnf && echo 01 > serial");
        tls_shell("openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "
                  "bad.key -out bad.csr -subj /CN=bad && "
                  "openssl ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in bad.csr -out "
                  "bad.pem -days 30 -notext && "
                  "openssl ca -config ca.cnf -cert ca.pem -keyfile ca.key -revoke bad.pem && "
                  "openssl ca -config ca.cnf -cert ca.pem -keyfile ca.key -gencrl -out crl.pem");
        snprintf(rig.files.cert, sizeof(rig.files.cert), "%s/bad.pem", tls_folder());
        snprintf(rig.files.key, sizeof(rig.files.key), "%s/bad.key", tls_folder());
        snprintf(root, sizeof(root), "%s/ca.pem", tls_folder());
        snprintf(crl, sizeof(crl), "%s/crl.pem", tls_folder());
        rig.client_opts.ca_file = root;
        tls_rig_open(&rig);
        check_shake(&rig, 0); /* without the list */
        tls_rig_close(&rig);
        rig.client_opts.crl_file = crl;
        tls_rig_open(&rig);
        check_shake(&rig, EDDY_E_TLS_REVOKED);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_revoked_certificate_is_refused_if_a_list_is_given)
{
        io_run(revoked);
}

/* -- clients' certificates --------------------------------------------------------- */

static int client_certificates(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct eddy_tls_info info;
        char buf[4];

        tls_files_make(&rig.files, NULL);
        rig.server_opts.flags = EDDY_TLS_VERIFY_CLIENT;
        rig.server_opts.ca_file = rig.files.cert;
        tls_rig_open(&rig);
        tls_rig_shake(&rig);
        CHECK_EQ(rig.server_err, EDDY_E_TLS_BAD_CERTIFICATE);
        /* With TLS 1.3 the client's handshake is over before the server refuses it. */
        CHECK_EQ(rig.client_err, 0);
        CHECK_EQ(eddy_stream_read(rig.client, buf, sizeof(buf)), EDDY_E_TLS_ALERT);
        tls_rig_close(&rig);

        rig.client_opts.cert_file = rig.files.cert;
        rig.client_opts.key_file = rig.files.key;
        tls_rig_open(&rig);
        check_shake(&rig, 0);
        CHECK_EQ(eddy_tls_info(rig.server, &info), 0);
        CHECK_STR(info.subject, "O=eddy test certificate");
        tls_rig_close(&rig);
        return 0;
}

TEST(a_server_can_require_a_certificate_of_the_client)
{
        io_run(client_certificates);
}

/* -- several certificates ------------------------------------------------------------ */

static int certificates_by_name(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct tls_files second;
        struct eddy_tls_info info;

        tls_files_make(&second, "second.example");
        rig.client_opts.flags = EDDY_TLS_INSECURE;
        tls_rig_open(&rig);
        CHECK_EQ(eddy_tls_config_add(rig.server_config, second.cert, second.key, NULL), 0);
        rig.host = "second.example";
        check_shake(&rig, 0);
        CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
        CHECK_STR(info.names, "DNS:second.example");
        tls_rig_hang_up(&rig);
        rig.host = "unknown.example";
        check_shake(&rig, 0);
        CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
        CHECK_STR(info.names, "DNS:localhost, IP Address:127.0.0.1");
        tls_rig_close(&rig);
        return 0;
}

TEST(a_server_chooses_its_certificate_by_the_name_that_the_client_asks_for)
{
        io_run(certificates_by_name);
}

static int reloads(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct tls_files next;
        struct eddy_tls_info info;
        char buf[4];

        rig.client_opts.flags = EDDY_TLS_INSECURE;
        tls_rig_open(&rig);
        tls_files_make(&next, "next.example");
        check_shake(&rig, 0);
        CHECK_EQ(rename(next.cert, rig.files.cert), 0);
        CHECK_EQ(eddy_tls_config_reload(rig.server_config, &rig.server_fault),
                 EDDY_E_TLS_BAD_FILE); /* the key is still the old one's */
        CHECK(rig.server_fault.text[0] != '\0');
        CHECK_EQ(rename(next.key, rig.files.key), 0);
        CHECK_EQ(eddy_tls_config_reload(rig.server_config, &rig.server_fault), 0);
        CHECK_EQ(eddy_stream_write(rig.client, "old", 3), 0);
        io_read_all(rig.server, buf, 3);
        tls_rig_hang_up(&rig);
        check_shake(&rig, 0);
        CHECK_EQ(eddy_tls_info(rig.client, &info), 0);
        CHECK_STR(info.names, "DNS:next.example");
        tls_rig_close(&rig);
        return 0;
}

TEST(a_reload_serves_the_new_certificate_and_keeps_connections)
{
        io_run(reloads);
}

/* -- resumption ------------------------------------------------------------------------ */

static bool shake_is_resumed(struct tls_rig *rig)
{
        struct eddy_tls_info info;
        char buf[4];

        check_shake(rig, 0);
        CHECK_EQ(eddy_stream_write(rig->server, "x", 1), 0);
        io_read_all(rig->client, buf, 1); /* and the session tickets before it */
        CHECK_EQ(eddy_tls_info(rig->client, &info), 0);
        tls_rig_hang_up(rig);
        return info.is_resumed;
}

static int resumes(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        eddy_tls_config *first;

        tls_rig_open(&rig);
        CHECK(!shake_is_resumed(&rig));
        CHECK(shake_is_resumed(&rig));
        CHECK(shake_is_resumed(&rig));
        rig.host = "127.0.0.1";
        CHECK(!shake_is_resumed(&rig)); /* another host */
        rig.host = NULL;
        first = rig.client_config;
        CHECK_EQ(eddy_tls_config_new(&rig.client_opts, NULL, &rig.client_config), 0);
        CHECK(!shake_is_resumed(&rig)); /* another configuration */
        eddy_tls_config_close(first);
        tls_rig_close(&rig);

        rig.client_opts.flags = EDDY_TLS_NO_RESUMPTION;
        tls_rig_open(&rig);
        CHECK(!shake_is_resumed(&rig));
        CHECK(!shake_is_resumed(&rig));
        tls_rig_close(&rig);
        return 0;
}

TEST(sessions_are_resumed_with_the_same_host_and_configuration_only)
{
        io_run(resumes);
}

/* -- peers that are not TLS ------------------------------------------------------------- */

struct talk {
        struct tls_rig *rig;
        const char *text; /* that the peer sends; NULL: it closes */
};

static int talks(void *arg)
{
        struct talk *talk = arg;
        char buf[64];

        if (talk->text) {
                CHECK_EQ(eddy_stream_write(talk->rig->lower.b, talk->text, strlen(talk->text)), 0);
                CHECK(eddy_stream_read(talk->rig->lower.b, buf, sizeof(buf)) >= 0);
        }
        eddy_stream_close(talk->rig->lower.b);
        return 0;
}

static int strangers(void *arg)
{
        static const struct {
                const char *text;
                int error;
        } cases[] = {
                { "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", EDDY_E_TLS_PROTOCOL },
                { "SSH-2.0-OpenSSH_9.2\r\n", EDDY_E_TLS_PROTOCOL },
                { NULL, EDDY_E_TLS_TRUNCATED },
        };
        struct tls_rig rig = { .host = NULL };
        struct eddy_tls_conn_opts opts = { .ret_fault = &rig.server_fault };

        tls_rig_open(&rig);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct talk talk = { &rig, cases[i].text };
                eddy_scope scope;

                io_pair_open(&rig.lower);
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, talks, &talk);
                CHECK_STR(eddy_error_name(eddy_tls_server(rig.lower.a, rig.server_config, &opts,
                                                          &rig.server)),
                          eddy_error_name(cases[i].error));
                CHECK(rig.server_fault.text[0] != '\0');
                eddy_stream_close(rig.lower.a);
                CHECK_EQ(eddy_scope_end(&scope), 0);
        }
        rig.server = NULL;
        tls_rig_close(&rig);
        return 0;
}

TEST(a_peer_that_does_not_speak_tls_is_a_protocol_error)
{
        io_run(strangers);
}

/* -- STARTTLS ------------------------------------------------------------------------------ */

/* The server has read the beginning of the handshake with the line before it. */
static int early_bytes(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct eddy_tls_conn_opts opts = { .ret_fault = &rig.server_fault };
        eddy_scope scope;
        char early[64];
        int64_t n;

        tls_rig_open(&rig);
        io_pair_open(&rig.lower);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, tls_rig_client, &rig);
        n = eddy_stream_read(rig.lower.a, early, sizeof(early));
        CHECK(n > 0);
        opts.received = early;
        opts.received_bytes = (size_t) n;
        CHECK_EQ(eddy_tls_server(rig.lower.a, rig.server_config, &opts, &rig.server), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(rig.client_err, 0);
        tls_rig_close(&rig);
        return 0;
}

/* A132: what was read before the upgrade belongs to the handshake. */
TEST(bytes_of_the_handshake_that_were_read_before_are_not_lost)
{
        io_run(early_bytes);
}

/* -- long keys -------------------------------------------------------------------------------- */

static int long_key(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        char root[128];

        tls_shell("openssl req -x509 -newkey rsa:3072 -nodes -keyout rsa.key -out rsa.pem -days 30 "
                  "-subj /CN=localhost -addext subjectAltName=DNS:localhost");
        snprintf(rig.files.cert, sizeof(rig.files.cert), "%s/rsa.pem", tls_folder());
        snprintf(rig.files.key, sizeof(rig.files.key), "%s/rsa.key", tls_folder());
        snprintf(root, sizeof(root), "%s/rsa.pem", tls_folder());
        rig.client_opts.ca_file = root;
        tls_rig_open(&rig);
        for (int i = 0; i < 3; i++) {
                char buf[4];

                check_shake(&rig, 0);
                CHECK_EQ(eddy_stream_write(rig.client, "long", 4), 0);
                io_read_all(rig.server, buf, 4);
                tls_rig_hang_up(&rig);
        }
        tls_rig_close(&rig);
        return 0;
}

TEST(a_private_key_that_is_long_is_used_on_a_thread)
{
        io_run(long_key);
}

/* -- options ------------------------------------------------------------------------------------- */

static int bad_options(void *arg)
{
        static const char missing[] = "/nonexistent/file.pem";
        struct tls_files files;
        struct eddy_tls_fault fault;
        eddy_tls_config *config = NULL;
        struct {
                struct eddy_tls_opts opts;
                int error;
        } cases[] = {
                { { .flags = EDDY_TLS_SERVER }, -EINVAL },
                { { .key_file = "x" }, -EINVAL },
                { { .version_min = 0x0301 }, -EINVAL },
                { { .alpn = "" }, -EINVAL },
                { { .alpn = "a,,b" }, -EINVAL },
                { { .alpn = ",a" }, -EINVAL },
                { { .ca_file = missing }, EDDY_E_TLS_BAD_FILE },
                { { .crl_file = missing }, EDDY_E_TLS_BAD_FILE },
                { { .cert_file = missing }, EDDY_E_TLS_BAD_FILE },
        };

        tls_files_make(&files, NULL);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                fault.text[0] = '\0';
                CHECK_EQ(eddy_tls_config_new(&cases[i].opts, &fault, &config), cases[i].error);
                if (cases[i].error == EDDY_E_TLS_BAD_FILE)
                        CHECK(strstr(fault.text, missing) != NULL);
        }
        CHECK(config == NULL);
        CHECK_EQ(eddy_tls_make_certificate("a b", EDDY_SEC(1), "x", "y"), -EINVAL);
        CHECK_EQ(eddy_tls_make_certificate("", EDDY_SEC(1), "x", "y"), -EINVAL);
        CHECK_EQ(eddy_tls_make_certificate("a", 0, "x", "y"), -EINVAL);
        CHECK_EQ(eddy_tls_make_certificate("a", EDDY_SEC(1), files.cert, files.key), -EEXIST);
        eddy_tls_config_close(NULL);
        return 0;
}

TEST(wrong_options_and_files_are_refused_with_the_files_name)
{
        io_run(bad_options);
}
