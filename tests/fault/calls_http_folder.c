/*
 * calls_http_folder.c - the worlds of the calls that answer with a file of a folder; see every_call.h.
 *
 * Each client gets the file that it asked for, its part, or the list of the folder, or an error after a
 * cancel of the handler's call.
 */
#include "every_call.h"

enum { ASKING = 3 };

static struct {
        eddy_http_client *client;
        eddy_http_folder *folder;
        eddy_task_fn *answer; /* the handler's call */
        int asked;
} world;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return victim_call(world.answer, exchange);
}

static int answer_by_path(void *arg)
{
        return eddy_http_folder_handle(arg, world.folder);
}

static int answer_by_name(void *arg)
{
        return eddy_http_folder_respond(arg, world.folder, eddy_http_exchange_path(arg) + 1);
}

static int ask(void *arg)
{
        static const struct {
                const char *url, *range, *body;
        } asks[ASKING] = {
                { "http://a/a.txt", "bytes=0-", "0123456789" },
                { "http://a/a.txt", "bytes=2-4", "234" },
                { "http://a/list/", "bytes=0-", "./b.txt" },
        };
        int i = world.asked++;
        struct eddy_http_header range = { "Range", asks[i].range };
        eddy_http_response *response = NULL;
        const void *data;
        size_t bytes;
        int err;

        (void) arg;
        world_pause();
        err = eddy_http_client_send(world.client,
                                    &(struct eddy_http_request){ .url = asks[i].url,
                                                                 .headers = &range,
                                                                 .headers_count = 1 },
                                    &response);
        if (err == 0)
                err = eddy_http_response_body(response, &data, &bytes);
        if (err == 0 && eddy_http_response_status(response) >= 500)
                err = -ECANCELED;
        if (err == 0)
                CHECK(strstr(data, asks[i].body));
        CHECK(err == 0 || world_is_cancelled());
        eddy_http_response_close(response);
        return 0;
}

static int make_files(void)
{
        int err = eddy_folder_make("/www", 0);

        if (err == 0)
                err = eddy_folder_make("/www/list", 0);
        if (err == 0)
                err = eddy_file_write_whole("/www/list/b.txt", "b", 1, 0);
        return err < 0 ? err : eddy_file_write_whole("/www/a.txt", "0123456789", 10, 0);
}

static int run(eddy_task_fn *answer)
{
        static const struct eddy_http_folder_opts opts = { .flags = EDDY_HTTP_FOLDER_LISTING };
        eddy_scope asking;

        world.answer = answer;
        world.asked = 0;
        CHECK_EQ(make_files(), 0);
        CHECK_EQ(eddy_http_folder_new("/www", &opts, &world.folder), 0);
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .handler = handle, .connections_max = 2 },
                         &world.client),
                 0);
        world_begin(ASKING);
        eddy_scope_begin(&asking, NULL);
        world_start(&asking, ask, NULL, ASKING);
        CHECK_EQ(eddy_scope_end(&asking), 0);
        CHECK_EQ(world.asked, ASKING);
        world_close_client(world.client);
        eddy_http_folder_free(world.folder);
        return 0;
}

static int world_folder_handle(void *arg)
{
        (void) arg;
        return run(answer_by_path);
}
EVERY_POINT_WEB(folder_handle, eddy_http_folder_handle)

static int world_folder_respond(void *arg)
{
        (void) arg;
        return run(answer_by_name);
}
EVERY_POINT_WEB(folder_respond, eddy_http_folder_respond)
