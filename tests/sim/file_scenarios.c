/*
 * file_scenarios.c - programs that use files, folders and their names, and send files over HTTP.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { TEXT_BYTES = 40000 };

/* --- files and names --- */

static int fill(eddy_file *file)
{
        char text[1000];
        int err = 0;

        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = i % 50 == 49 ? '\n' : (char) ('a' + i % 26);
        for (size_t at = 0; at < TEXT_BYTES && err == 0; at += sizeof(text))
                err = eddy_file_write_at(file, text, sizeof(text), (int64_t) at);
        return err < 0 ? err : eddy_file_sync(file, 0);
}

static int count_lines(eddy_file *file)
{
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        eddy_reader reader;
        char buf[256], *line;
        size_t bytes;
        int64_t n;
        int lines = 0, err = eddy_file_stream(file, 0, &stream);

        if (err < 0)
                return err;
        eddy_reader_init(&reader, stream, buf, sizeof(buf));
        while ((n = eddy_reader_line(&reader, &line, &bytes)) > 0)
                lines++;
        CHECK(n < 0 || lines == TEXT_BYTES / 50);
        return (int) n;
}

static int list(const char *path, int want)
{
        EDDY_AUTO(eddy_folder) eddy_folder *folder = NULL;
        struct eddy_folder_entry entry;
        int n, found = 0, err = eddy_folder_open(path, &folder);

        if (err < 0)
                return err;
        while ((n = eddy_folder_next(folder, &entry)) > 0)
                found++;
        CHECK(n < 0 || found == want);
        return n;
}

/* No size is known in advance, as with files of /proc. */
static int read_empty(const char *path)
{
        char *data;
        size_t bytes;
        int err = eddy_file_write_whole(path, "", 0, 0);

        if (err == 0)
                err = eddy_file_read_whole(path, 100, &data, &bytes);
        if (err < 0)
                return err;
        CHECK_EQ(bytes, 0);
        eddy_free(data);
        return 0;
}

static int use_names(void)
{
        char *data;
        size_t bytes;
        int err = eddy_folder_make("/folder", 0700);

        if (err == 0)
                err = read_empty("/folder/a");
        if (err == 0)
                err = eddy_file_replace("/folder/a", "replaced", 8, 0);
        if (err == 0)
                err = eddy_path_rename("/folder/a", "/folder/b", 0);
        if (err == 0)
                err = list("/folder", 1);
        if (err == 0)
                err = eddy_file_read_whole("/folder/b", 100, &data, &bytes);
        if (err < 0)
                return err;
        CHECK(bytes == 8 && strcmp(data, "replaced") == 0);
        eddy_free(data);
        err = eddy_path_remove("/folder/b");
        return err < 0 ? err : eddy_folder_remove("/folder");
}

/* --- a file as a body, in both directions --- */

static int answer(eddy_http_exchange *exchange, void *arg)
{
        const void *body;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &body, &bytes);

        tasks_begun++;
        CHECK(err < 0 || bytes == TEXT_BYTES);
        if (err == 0)
                err = eddy_http_exchange_respond_file(exchange, 200, NULL, 0, arg, 10,
                                                      EDDY_HTTP_FILE_REST);
        tasks_ended++;
        return err;
}

struct serving {
        eddy_listener *listener;
        eddy_file *file;
};

static int serve(void *arg)
{
        struct serving *serving = arg;

        return eddy_http_serve(serving->listener, NULL, answer, serving->file);
}

static int send_file(eddy_http_client *client, const char *url, eddy_file *file)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_file_body source;
        const void *body;
        size_t bytes;
        int err = eddy_http_file_body_init(&source, file, 0, EDDY_HTTP_FILE_REST);

        if (err == 0)
                err = eddy_http_client_send(client,
                                            &(struct eddy_http_request){
                                                    .url = url,
                                                    .method = "POST",
                                                    .body_source = &source.source,
                                            },
                                            &response);
        if (err == 0 && eddy_http_response_status(response) != 200)
                err = -EBADMSG;
        if (err == 0)
                err = eddy_http_response_body(response, &body, &bytes);
        CHECK(err < 0 || bytes == TEXT_BYTES - 10);
        return err;
}

static int ask(uint16_t port, eddy_file *file)
{
        eddy_http_client *client;
        char url[64];
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", port);
        err = send_file(client, url, file);
        eddy_http_client_close(client);
        return err;
}

static int use_bodies(eddy_file *file)
{
        struct serving serving = { .file = file };
        eddy_scope scope;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &serving.listener), end_err;

        if (err < 0)
                return err;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MIN(5) });
        err = eddy_scope_start(&scope, serve, &serving);
        if (err == 0)
                err = ask(eddy_listener_port(serving.listener), file);
        eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        eddy_listener_close(serving.listener);
        return err == 0 || (err == -ECANCELED && end_err < 0) ? end_err : err;
}

/* --- all --- */

int scenario_files(void *arg)
{
        const unsigned flags = EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_CREATE;
        EDDY_AUTO(eddy_file) eddy_file *file = NULL;
        int err = eddy_file_open("/text", flags, 0, &file);

        (void) arg;
        if (err == 0)
                err = fill(file);
        if (err == 0)
                err = count_lines(file);
        if (err == 0)
                err = use_names();
        return err < 0 ? err : use_bodies(file);
}
