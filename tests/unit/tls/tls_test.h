/*
 * tls_test.h - what the tests of TLS share: certificates, configurations, and pairs of TLS streams
 * over the loopback.
 */
#ifndef ED_TLS_TEST_H
#define ED_TLS_TEST_H

#include "../io/io_test.h"

/* A certificate for 'names' and its key, in files of the test's folder; NULL: "localhost". */
struct tls_files {
        char cert[128];
        char key[128];
};

/* Make the test's folder; it is removed when the program ends. */
const char *tls_folder(void);

/* Make a certificate that signs itself. In a task. */
void tls_files_make(struct tls_files *files, const char *names);

/*
 * The same with a key of Ed25519, for 40 years: records have the same lengths in all handshakes. It
 * may be called outside of tasks.
 */
void tls_files_make_fixed(struct tls_files *files);

/* Run a command of the shell in the test's folder; it must succeed. */
void tls_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Both ends of a connection. */
struct tls_rig {
        struct tls_files files;
        struct eddy_tls_opts server_opts, client_opts;
        eddy_tls_config *server_config, *client_config;
        struct io_pair lower;
        const char *host; /* NULL: "localhost" */
        const char *route;
        eddy_stream *server, *client;
        int server_err, client_err;
        struct eddy_tls_fault server_fault, client_fault;
};

/* Make the configurations: the client trusts the server's certificate. Options may be set before. */
void tls_rig_open(struct tls_rig *rig);

/*
 * Do the handshake over a new pair, or over the streams that are in 'lower' already. The results
 * are in 'server_err' and 'client_err'; a stream below that failed is closed.
 */
void tls_rig_shake(struct tls_rig *rig);

/* A task: the client's handshake over lower.b. */
eddy_task_fn tls_rig_client;

/* Close both streams. */
void tls_rig_hang_up(struct tls_rig *rig);
void tls_rig_close(struct tls_rig *rig);

#endif
