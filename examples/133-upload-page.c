/*
 * 133-upload-page - an HTTP server with a page that uploads files and shows the progress.
 *
 * The server reads a form part by part, so its memory does not grow with the files.  A file gets
 * its name when it is complete.  Names are made safe, and uploads do not replace existing files.
 *
 * Run: D=$(mktemp -d); printf 12345 >$D/a; head -c 3000000 /dev/zero >$D/b; mkdir $D/up; sh -c 'echo $$; exec 133-upload-page $0 0 2000000' $D/up | { read P; read U; up() { curl -s "$@" $U/files; }; up -F note=Hello -F 'f=@'$D/a';filename=../../a'; up -F f=@$D/a | grep -o 'there[^"]*'; up -F f=@$D/b | grep -o 'the body[^"]*'; up -d a=b | grep -o '"status":...'; up -H 'Sec-Fetch-Site: cross-site' -F f=@$D/a | grep -o 'use[^"]*'; kill $P; }; ls $D/up; rm -r $D
 * Time: wall 0 s
 * Output:
 *     note: Hello
 *     a: 5 bytes, SHA-256 5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5
 *     there is a file of this name
 *     the body is too large
 *     "status":415
 *     use the page of this server
 *     a
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

static char page[] =
        "<!doctype html><meta charset=utf-8><title>Upload</title><form>\n"
        "<input name=note> <input type=file name=file multiple required> <button>Send</button>\n"
        "</form><progress value=0></progress><pre></pre><script>\n"
        "const form = document.querySelector('form'), bar = document.querySelector('progress');\n"
        "const show = text => document.querySelector('pre').textContent = text;\n"
        "form.onsubmit = () => {\n"
        "  const request = new XMLHttpRequest(); /* fetch() does not report the progress */\n"
        "  request.upload.onprogress = event => bar.value = event.loaded / event.total;\n"
        "  request.onload = () => show(request.status === 200 ? request.responseText\n"
        "    : 'Not saved: ' + JSON.parse(request.responseText).detail);\n"
        "  request.onerror = () => show('The connection broke.');\n"
        "  request.open('POST', 'files');\n"
        "  request.send(new FormData(form)); return false;\n"
        "};</script>\n";

static int show_page(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header type = { "Content-Type", "text/html" };

        return eddy_http_exchange_respond(exchange, 200, &type, 1, arg, strlen(arg));
}

/* Read a part, and add a line to the answer. */
static int take(eddy_http_multipart_reader *form, const struct eddy_http_multipart_part *part,
                const char *folder, FILE *answer)
{
        const struct eddy_http_multipart_save_opts opts = { .flags = EDDY_HTTP_MULTIPART_HASH };
        char name[EDDY_HTTP_MULTIPART_NAME_BYTES], path[1024];
        struct eddy_http_multipart_saved saved;
        const char *text;
        size_t bytes;
        int err;

        if (!part->filename) {
                err = eddy_http_multipart_whole(form, 0, &text, &bytes);
                return err < 0 ? err : fprintf(answer, "%s: %s\n", part->name, text);
        }
        eddy_http_multipart_file_name(part->filename, name);
        snprintf(path, sizeof(path), "%s/%s", folder, *name ? name : "unnamed");
        err = eddy_http_multipart_save(form, path, &opts, &saved);
        if (err == 0)
                fprintf(answer, "%s: %llu bytes, SHA-256 %s\n", name,
                        (unsigned long long) saved.bytes, saved.hash);
        return err;
}

static int upload(eddy_http_exchange *exchange, void *folder)
{
        const char *site = eddy_http_exchange_header(exchange, "Sec-Fetch-Site");
        EDDY_AUTO(eddy_http_multipart_reader) eddy_http_multipart_reader *form = NULL;
        struct eddy_http_multipart_part part;
        char *text = NULL;
        size_t bytes;
        FILE *answer;
        int err;

        if (site && strcmp(site, "same-origin") != 0) /* a form on a page of another site */
                return eddy_http_exchange_fail(exchange, 403, "use the page of this server");
        err = eddy_http_exchange_multipart(exchange, NULL, &form);
        if (err < 0 || !(answer = open_memstream(&text, &bytes)))
                return err < 0 ? err : -ENOMEM;
        while (err >= 0 && (err = eddy_http_multipart_next(form, &part)) > 0)
                err = take(form, &part, folder, answer);
        fclose(answer);
        if (err == -EEXIST)
                err = eddy_http_exchange_fail(exchange, 409, "there is a file of this name");
        else if (err == -ENOSPC || err == -EDQUOT)
                err = eddy_http_exchange_fail(exchange, 507, "the disk is full");
        else if (*eddy_http_multipart_rule(form)) /* the rule that the form violates */
                err = eddy_http_exchange_fail(exchange, eddy_http_error_status(exchange, err), "%s",
                                              eddy_http_multipart_rule(form));
        else if (err == 0)
                err = eddy_http_exchange_respond_text(exchange, 200, text);
        free(text);
        return err;
}

static int serve(void *arg)
{
        char **args = arg;
        struct eddy_http_server_opts opts = { .body_bytes_max = strtoull(args[3], NULL, 10) };
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_tcp_listen("127.0.0.1", (uint16_t) strtoul(args[2], NULL, 10), NULL,
                                  &listener);

        if (err < 0 || (err = eddy_http_router_new(&router)) < 0)
                return err;
        eddy_http_router_add(router, "GET /", show_page, page, NULL);
        eddy_http_router_add(router, "POST /files", upload, args[1], NULL);
        printf("http://127.0.0.1:%u\n", eddy_listener_port(listener));
        fflush(stdout);
        return eddy_http_serve(listener, &opts, eddy_http_router_handle, router);
}

int main(int argc, char **argv)
{
        if (argc != 4)
                return fprintf(stderr, "133-upload-page FOLDER PORT BYTES_OF_A_BODY_AT_MOST\n");
        return eddy_run(serve, argv, NULL) < 0 && !eddy_run_signal();
}
