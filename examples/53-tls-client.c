/*
 * 53-tls-client - connects to a server by TLS and prints the server's certificate.
 *
 * eddy_tls_client() verifies the certificate and the name.  Each kind of failure has
 * its own error code, and the fault describes the cause in words.  Without a third
 * argument the program trusts the system's certificates, as in
 * `53-tls-client example.org 443`.
 *
 * Run: 53-tls-client localhost $TLS_PORT $TLS_CERT
 * Time: wall 0 s
 * Output:
 *     TLS 1.3, TLS_AES_256_GCM_SHA384
 *     subject O=eddy test certificate
 *     issuer  O=eddy test certificate
 *     names   DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1
 *     valid for another <n> days
 *
 * Run: 53-tls-client localhost $TLS_PORT 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     the certificate is self-signed and not trusted: the peer's certificate was refused: self-signed certificate
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

static int connect_to(char **args, struct eddy_tls_fault *fault, eddy_stream **ret_stream)
{
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *config = NULL;
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        struct eddy_tls_opts opts = { .ca_file = args[2] };
        struct eddy_tls_conn_opts conn_opts = { .ret_fault = fault };
        unsigned long port = strtoul(args[1], NULL, 10);
        int err = port > 0 && port < 65536 ? eddy_tls_config_new(&opts, fault, &config) : -EINVAL;

        if (err == 0)
                err = eddy_tcp_connect(args[0], (uint16_t) port, NULL, &stream);
        if (err == 0)
                err = eddy_tls_client(stream, config, args[0], &conn_opts, ret_stream);
        if (err == 0)
                stream = NULL; /* now the TLS stream's */
        return err;
}

static void print(const struct eddy_tls_info *info)
{
        int64_t left_ns = info->valid_until_ns - eddy_time_of_day();

        printf("TLS %s, %s\n", info->version == EDDY_TLS_1_3 ? "1.3" : "1.2", info->cipher);
        printf("subject %s\nissuer  %s\nnames   %s\n", info->subject, info->issuer, info->names);
        printf("valid for another %d days\n", (int) (left_ns / EDDY_SEC(86400)));
}

static int show(void *args)
{
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        struct eddy_tls_fault fault = { "" };
        static struct eddy_tls_info info; /* large for a stack */
        eddy_scope scope;
        int err, end;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(10) });
        err = connect_to(args, &fault, &stream);
        end = eddy_scope_end_with(&scope, err);
        if (end < 0) {
                fprintf(stderr, "%s%s%s\n", eddy_error_text(end), *fault.text ? ": " : "",
                        fault.text);
                return end;
        }
        err = eddy_tls_info(stream, &info);
        if (err == 0)
                print(&info);
        return err;
}

int main(int argc, char **argv)
{
        if (argc < 3 || argc > 4) {
                fprintf(stderr, "usage: %s HOST PORT [FILE OF TRUSTED CERTIFICATES]\n", argv[0]);
                return 2;
        }
        return eddy_run(show, argv + 1, NULL) == 0 ? 0 : 1;
}
