/*
 * common/connect.c - the options for connections, and the client.
 */
#include "common/connect.h"

#include <errno.h>
#include <stdlib.h>

#include "common/console.h"
#include "common/inputs.h"
#include "common/option.h"
#include "eddy/error.h"

/* Returns the variable's value, or NULL if it is empty or not set in small or capital letters. */
static const char *variable(const char *small, const char *capital)
{
        const char *value = getenv(small);

        if ((!value || !*value) && capital)
                value = getenv(capital);
        return value && *value ? value : NULL;
}

/* HTTP_PROXY is ignored: in a CGI program, the client's header "Proxy" sets it. */
void ed_connect_init(struct ed_connect *connect)
{
        const char *all = variable("all_proxy", "ALL_PROXY");

        *connect = (struct ed_connect){
                .http_proxy = variable("http_proxy", NULL),
                .https_proxy = variable("https_proxy", "HTTPS_PROXY"),
                .no_proxy = variable("no_proxy", "NO_PROXY"),
                .proxy_origin = "http_proxy, https_proxy or all_proxy in the environment",
        };
        if (!connect->http_proxy)
                connect->http_proxy = all;
        if (!connect->https_proxy)
                connect->https_proxy = all;
}

static int resolve_add(struct ed_connect *connect, const char *command, const char *value)
{
        if (connect->resolve_count == ED_CONNECT_RESOLVE_MAX) {
                ed_console_usage(command, "--resolve: at most %d are possible",
                                 (int) ED_CONNECT_RESOLVE_MAX);
                return -EINVAL;
        }
        connect->resolve[connect->resolve_count++] = value;
        return 0;
}

/* Set an option that is given once, and whose value is a file to read. */
static int input_set(const char *command, const char *option, const char *value,
                     const char **ret_path)
{
        int err = ed_option_once(command, option, value, ret_path);

        return err < 0 ? err : ed_inputs_add(option, value);
}

int ed_connect_set(struct ed_connect *connect, const char *command, int option, const char *value)
{
        switch (option) {
        case ED_CONNECT_INSECURE:
                connect->insecure = true;
                return 0;
        case ED_CONNECT_HTTP1:
                connect->http1 = true;
                return 0;
        case ED_CONNECT_CACERT:
                return input_set(command, "--cacert", value, &connect->ca_file);
        case ED_CONNECT_CERT:
                return input_set(command, "--cert", value, &connect->cert_file);
        case ED_CONNECT_KEY:
                return input_set(command, "--key", value, &connect->key_file);
        case ED_CONNECT_PROXY:
                connect->http_proxy = connect->https_proxy = value;
                connect->proxy_origin = "--proxy";
                return 0;
        case ED_CONNECT_UNIX_SOCKET:
                return ed_option_once(command, "--unix-socket", value, &connect->unix_path);
        case ED_CONNECT_RESOLVE:
                return resolve_add(connect, command, value);
        default:
                return -EINVAL;
        }
}

int ed_connect_check(const struct ed_connect *connect, const char *command)
{
        if (connect->key_file && !connect->cert_file)
                return ed_console_usage(command,
                                        "--key %s: needs --cert, the certificate of the key",
                                        connect->key_file);
        if (connect->insecure && connect->ca_file)
                return ed_console_usage(command, "--insecure and --cacert exclude each other");
        if (connect->insecure)
                ed_console_say(command,
                               "--insecure: certificates are not checked, so anyone on the "
                               "way can read and change what is sent");
        return 0;
}

/* Read the files for TLS, if an option names any. Otherwise the client uses the system's. */
static int tls_open(const struct ed_connect *connect, const char *command,
                    eddy_tls_config **ret_tls)
{
        struct eddy_tls_opts tls_opts = {
                .flags = connect->insecure ? EDDY_TLS_INSECURE : 0,
                .ca_file = connect->ca_file,
                .cert_file = connect->cert_file,
                .key_file = connect->key_file,
        };
        struct eddy_tls_fault fault;
        int err;

        if (!connect->ca_file && !connect->cert_file && !connect->insecure)
                return 0;
        err = eddy_tls_config_new(&tls_opts, &fault, ret_tls);
        if (err != EDDY_E_TLS_BAD_FILE)
                return err;
        ed_console_usage(command, "%s: %s", ed_option_of_fault(&fault), fault.text);
        return ED_CONNECT_REFUSED;
}

/* Report the first value of --resolve that a client refuses. */
static void resolve_blame(const struct ed_connect *connect, const char *command)
{
        for (size_t i = 0; i < connect->resolve_count; i++) {
                struct eddy_http_client_opts one = { .resolve = &connect->resolve[i],
                                                     .resolve_count = 1 };
                eddy_http_client *client = NULL;

                if (eddy_http_client_new(&one, &client) == -EINVAL) {
                        ed_console_usage(command,
                                         "--resolve '%s': write it as "
                                         "HOST:PORT:ADDRESS[,ADDRESS]...",
                                         connect->resolve[i]);
                        return;
                }
                eddy_http_client_close(client);
        }
}

/* Report why a client cannot be made. Messages do not show a proxy, which may have a password. */
static int client_blame(const struct ed_connect *connect, const char *command, int err)
{
        if (err == EDDY_E_URL_INVALID || err == EDDY_E_URL_SCHEME || err == EDDY_E_URL_CREDENTIALS)
                ed_console_usage(command,
                                 "%s: write a proxy as "
                                 "[http://|socks5://][USER:PASSWORD@]HOST[:PORT]",
                                 connect->proxy_origin);
        else if (err == EDDY_E_ENDPOINT_PATH || err == -ENAMETOOLONG)
                ed_console_usage(command, "--unix-socket '%s': %s", connect->unix_path,
                                 err == -ENAMETOOLONG ? "the path is longer than 107 bytes"
                                                      : "the path is empty");
        else if (err == -EINVAL)
                resolve_blame(connect, command);
        else
                return err;
        return ED_CONNECT_REFUSED;
}

int ed_connect_open(const struct ed_connect *connect, const char *command,
                    struct eddy_http_client_opts *opts, eddy_tls_config **ret_tls,
                    eddy_http_client **ret_client)
{
        eddy_tls_config *tls = NULL;
        int err = tls_open(connect, command, &tls);

        if (err < 0)
                return err;
        opts->tls = tls;
        if (connect->http1)
                opts->flags |= EDDY_HTTP_CLIENT_HTTP1_ONLY;
        opts->http_proxy = connect->http_proxy;
        opts->https_proxy = connect->https_proxy;
        opts->no_proxy = connect->no_proxy;
        opts->unix_path = connect->unix_path;
        opts->resolve = connect->resolve;
        opts->resolve_count = connect->resolve_count;
        err = eddy_http_client_new(opts, ret_client);
        if (err < 0) {
                eddy_tls_config_close(tls);
                return client_blame(connect, command, err);
        }
        *ret_tls = tls;
        return 0;
}
