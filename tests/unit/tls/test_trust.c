/*
 * test_trust.c - which certificates a client trusts: those of its options, of the environment, or of
 * the system. tests/packaging/dist.py has the places of several distributions.
 */
#include <stdlib.h>

#include "tls_test.h"

/* Make the client's configuration again, with that environment, and shake hands. */
static void shake_with(struct tls_rig *rig, const struct eddy_tls_opts *opts, const char *file,
                       const char *folders)
{
        CHECK_EQ(setenv("SSL_CERT_FILE", file, 1), 0);
        CHECK_EQ(setenv("SSL_CERT_DIR", folders, 1), 0);
        eddy_tls_config_close(rig->client_config);
        rig->client_config = NULL;
        rig->client_err = eddy_tls_config_new(opts, &rig->client_fault, &rig->client_config);
        if (rig->client_err < 0)
                return;
        tls_rig_shake(rig);
        tls_rig_hang_up(rig);
}

static int environment(void *arg)
{
        struct tls_rig rig = { .host = NULL };
        struct tls_files other;
        struct eddy_tls_opts opts = { .flags = 0 };
        char folders[256];

        (void) arg;
        tls_rig_open(&rig);
        tls_files_make(&other, NULL);
        tls_shell("mkdir by-hash && cp '%s' by-hash/server.pem && openssl rehash by-hash",
                  rig.files.cert);
        snprintf(folders, sizeof(folders), "/nonexistent:%s/by-hash", tls_folder());

        shake_with(&rig, NULL, rig.files.cert, "");
        CHECK_EQ(rig.client_err, 0);
        shake_with(&rig, NULL, "", folders);
        CHECK_EQ(rig.client_err, 0);
        shake_with(&rig, NULL, other.cert, "");
        CHECK_EQ(rig.client_err, EDDY_E_TLS_SELF_SIGNED);
        opts.ca_file = other.cert;
        shake_with(&rig, &opts, rig.files.cert, folders);
        CHECK_EQ(rig.client_err, EDDY_E_TLS_SELF_SIGNED);
        tls_rig_close(&rig);
        return 0;
}

TEST(the_environment_replaces_the_systems_certificates_and_options_replace_both)
{
        io_run(environment);
}

static int bad_file(void *arg)
{
        struct tls_rig rig = { .host = NULL };

        (void) arg;
        tls_rig_open(&rig);
        shake_with(&rig, NULL, "/nonexistent/file.pem", "");
        CHECK_EQ(rig.client_err, EDDY_E_TLS_BAD_FILE);
        CHECK_STR(rig.client_fault.text, "cannot read trusted certificates from SSL_CERT_FILE "
                                         "/nonexistent/file.pem: No such file or directory");
        shake_with(&rig, NULL, rig.files.key, "");
        CHECK_EQ(rig.client_err, EDDY_E_TLS_BAD_FILE);
        CHECK(strstr(rig.client_fault.text, "the file holds no certificate (PEM)") != NULL);
        tls_rig_close(&rig);
        return 0;
}

TEST(a_file_of_the_environment_that_cannot_be_read_is_an_error)
{
        io_run(bad_file);
}
