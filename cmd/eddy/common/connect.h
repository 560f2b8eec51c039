/*
 * common/connect.h - the options for connections to servers (certificates, proxies, addresses), and
 * the client that they configure.
 */
#ifndef ED_CMD_COMMON_CONNECT_H
#define ED_CMD_COMMON_CONNECT_H

#include <stdbool.h>
#include <stddef.h>

#include "eddy/def.h"
#include "eddy/http_client.h"

enum { ED_CONNECT_RESOLVE_MAX = 64 };

/* Texts are borrowed from argv and the environment. */
struct ed_connect {
        const char *ca_file;   /* NULL: the system's trusted certificates */
        const char *cert_file; /* NULL: none */
        const char *key_file;  /* NULL: in cert_file */
        bool insecure;
        bool http1;             /* HTTP/2 is not offered to https servers */
        const char *http_proxy; /* of the environment or --proxy; NULL: none */
        const char *https_proxy;
        const char *no_proxy;
        const char *unix_path; /* NULL: TCP */
        const char *resolve[ED_CONNECT_RESOLVE_MAX];
        size_t resolve_count;
        const char *proxy_origin; /* where the proxies come from, for messages */
};

/* Numbers of the long options, for getopt_long(). */
enum {
        ED_CONNECT_CACERT = 512,
        ED_CONNECT_CERT,
        ED_CONNECT_KEY,
        ED_CONNECT_PROXY,
        ED_CONNECT_UNIX_SOCKET,
        ED_CONNECT_RESOLVE,
        ED_CONNECT_HTTP1,
        ED_CONNECT_INSECURE = 'k',
};

/* The entries of a table for getopt_long(); the short option is "k". */
#define ED_CONNECT_LONGS                                                                           \
        { "cacert", required_argument, NULL, ED_CONNECT_CACERT },                                  \
                { "cert", required_argument, NULL, ED_CONNECT_CERT },                              \
                { "key", required_argument, NULL, ED_CONNECT_KEY },                                \
                { "insecure", no_argument, NULL, ED_CONNECT_INSECURE },                            \
                { "proxy", required_argument, NULL, ED_CONNECT_PROXY },                            \
                { "unix-socket", required_argument, NULL, ED_CONNECT_UNIX_SOCKET },                \
                { "http1", no_argument, NULL, ED_CONNECT_HTTP1 },                                  \
        {                                                                                          \
                "resolve", required_argument, NULL, ED_CONNECT_RESOLVE                             \
        }

/* The part of --help about these options. */
#define ED_CONNECT_HELP                                                                            \
        "  --cacert FILE            trust the certificates in FILE (PEM), not the system's\n"      \
        "  --cert FILE, --key FILE  this program's own certificate and its key (PEM)\n"            \
        "  -k, --insecure           accept any certificate: anyone can then read and change\n"     \
        "                           what is sent\n"                                                \
        "  --proxy URL              use this proxy, "                                              \
        "[http://|socks5://][USER:PASSWORD@]HOST[:PORT],\n"                                        \
        "                           in place of those of the environment; '' is none\n"            \
        "  --unix-socket PATH       connect to this Unix socket for every URL, without a proxy\n"  \
        "  --resolve HOST:PORT:ADDRESS[,ADDRESS]...\n"                                             \
        "                           connect to ADDRESS for this host and port; HOST * is any;\n"   \
        "                           may be repeated\n"                                             \
        "  --http1                  do not offer HTTP/2 to https servers; with HTTP/2, up to\n"    \
        "                           100 requests share a connection\n"

/* Set the proxies of the environment. */
void ed_connect_init(struct ed_connect *connect);

/*
 * Set one of the options above. Errors are reported on stderr.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_connect_set(struct ed_connect *connect, const char *command, int option,
                                 const char *value);

/* Check combinations of options, and warn of --insecure. Returns 0 or the exit code. */
EDDY_MUST_USE int ed_connect_check(const struct ed_connect *connect, const char *command);

/*
 * Make the client from these options and 'opts', and its TLS configuration, which is NULL if the
 * system's configuration is used. Call inside eddy_run().
 *
 * Errors: ED_CONNECT_REFUSED  an option cannot be used; reported on stderr;  those of
 *         eddy_http_client_new() and eddy_tls_config_new()
 */
enum { ED_CONNECT_REFUSED = -0x70100 };
EDDY_MUST_USE int ed_connect_open(const struct ed_connect *connect, const char *command,
                                  struct eddy_http_client_opts *opts, eddy_tls_config **ret_tls,
                                  eddy_http_client **ret_client);

#endif
