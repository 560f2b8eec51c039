/*
 * folder_server.c - a server of a folder, for tests with other programs.
 *
 *     folder_server FOLDER [CERT KEY]
 *
 * With CERT and KEY it speaks https. The first line of output has the URL. It runs until a signal.
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int serve_by(const struct eddy_http_server_opts *opts, eddy_http_folder *folder)
{
        eddy_listener *listener;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        if (err < 0)
                return err;
        printf("listening on http%s://127.0.0.1:%d\n", opts->tls ? "s" : "",
               eddy_listener_port(listener));
        fflush(stdout);
        err = eddy_http_serve(listener, opts, eddy_http_folder_handle, folder);
        eddy_listener_close(listener);
        return err;
}

static int serve(void *arg)
{
        static const struct eddy_http_folder_opts folder_opts = {
                .flags = EDDY_HTTP_FOLDER_LISTING | EDDY_HTTP_FOLDER_PRECOMPRESSED,
        };
        struct eddy_http_server_opts opts = { .tls = NULL };
        char **args = arg;
        struct eddy_tls_opts tls = { .flags = EDDY_TLS_SERVER,
                                     .cert_file = args[1],
                                     .key_file = args[1] ? args[2] : NULL };
        eddy_http_folder *folder;
        int err = eddy_http_folder_new(args[0], &folder_opts, &folder);

        if (err < 0)
                return err;
        if (args[1])
                err = eddy_tls_config_new(&tls, NULL, &opts.tls);
        if (err == 0)
                err = serve_by(&opts, folder);
        eddy_tls_config_close(opts.tls);
        eddy_http_folder_free(folder);
        return err;
}

int main(int argc, char **argv)
{
        return argc < 2 || eddy_run(serve, argv + 1, NULL) < 0;
}
