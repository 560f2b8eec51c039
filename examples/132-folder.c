/*
 * 132-folder - an HTTP server that sends the files of a folder.
 *
 * No path, symbolic link or rename can lead outside the folder, and names that begin with a dot are
 * hidden.  Clients can resume a download, and do not get a file again that has not changed.
 * `eddy serve FOLDER` does the same without a program.
 *
 *     132-folder FOLDER [ADDRESS:PORT]
 *
 * Run: d=$(mktemp -d); mkdir $d/www; seq 100000 >$d/www/numbers; echo secret | tee $d/secret >$d/www/.env; ln -s ../secret $d/www/link; touch -d 2020-01-01 $d/www/numbers; sh -c 'echo $$; exec 132-folder $0 127.0.0.1:0' $d/www | { read P; read U; get() { curl -so $d/got -w '%{http_code} %{size_download}\n' "$@"; }; get $U/files/numbers; get -r 0-9 $U/files/numbers; get -C - $U/files/numbers; cmp $d/got $d/www/numbers; get -z $d/www/numbers $U/files/numbers; get $U/files/link | cut -c-3; get $U/files/.env | cut -c-3; kill $P; }; rm -r $d
 * Time: wall 0 s
 * Output:
 *     200 588895
 *     206 10
 *     206 588885
 *     304 0
 *     404
 *     404
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int serve(eddy_http_router *router, void *path)
{
        EDDY_AUTO(eddy_http_folder) eddy_http_folder *folder = NULL;
        int err = eddy_http_folder_new(path, NULL, &folder);

        if (err < 0)
                return err;
        eddy_http_router_add(router, "GET /files/{path...}", eddy_http_folder_handle, folder, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 2 ? argv[2] : "127.0.0.1:8080" };

        return argc < 2 || eddy_http_run(&opts, serve, argv[1]) < 0;
}
