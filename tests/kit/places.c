/*
 * places.c - four programs with a mistake each, in functions that are
 * exported: the kit tells by name where it struck.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"
#include "eddy/http_client.h"
#include "eddy/test.h"
#include "eddy/test_net.h"

/* For the leak checker, which need not find what the kit does. */
static void *volatile lost[64];
static int lost_count;

struct note {
        char *text;
};

int notes(void *arg);
struct note *note_new(const char *text);

/* The note is forgotten when there is no memory for its text. */
struct note *note_new(const char *text)
{
        struct note *note = eddy_malloc(sizeof(*note));

        lost[lost_count++ % 64] = note;
        if (!note)
                return NULL;
        note->text = eddy_malloc(strlen(text) + 1);
        return note->text ? note : NULL;
}

int notes(void *arg)
{
        struct note *note = note_new(arg);

        if (!note)
                return -ENOMEM;
        eddy_free(note->text);
        eddy_free(note);
        return 0;
}

int greets(void *arg);
int read_name(eddy_stream *stream, char name[4]);

/* Who has sent a part is taken for one who has sent all. */
int read_name(eddy_stream *stream, char name[4])
{
        int64_t n = eddy_stream_read(stream, name, 4);

        return n < 0 ? (int) n : n == 4 ? 0 : -EBADMSG;
}

int greets(void *arg)
{
        eddy_stream *server, *client;
        char name[4];
        int err = eddy_test_stream_pair(NULL, &server, &client);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_stream_write(server, "anna", 4);
        if (err == 0)
                err = read_name(client, name);
        eddy_stream_close(server);
        eddy_stream_close(client);
        return err;
}

int waits(void *arg);
int naps(void *arg);
int nap(void);

/* A cancel becomes another error. */
int nap(void)
{
        int err = eddy_sleep(EDDY_MS(1));

        return err < 0 ? -EIO : 0;
}

int naps(void *arg)
{
        int err = eddy_sleep(EDDY_MS(1));

        (void) arg;
        return err < 0 ? err : nap();
}

int waits(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, naps, arg);
        return eddy_scope_end(&scope);
}

int asks(void *arg);

/* Nobody listens there, and that is all that is expected. */
int asks(void *arg)
{
        struct eddy_http_request request = { .url = arg };
        eddy_http_response *response;
        eddy_http_client *client;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        err = eddy_http_client_send(client, &request, &response);
        EDDY_TEST_CHECK(err == -ECONNREFUSED);
        eddy_http_client_close(client);
        return 0;
}

int main(void)
{
        char text[] = "remember", url[] = "http://127.0.0.1:1/";
        int found = 0;

        found += eddy_test_sweep(EDDY_TEST_ALLOC, notes, text,
                                 &(struct eddy_test_opts){ .name = "notes" }, NULL) < 0;
        found += eddy_test_sweep(EDDY_TEST_CALLS, greets, NULL,
                                 &(struct eddy_test_opts){ .name = "greets" }, NULL) < 0;
        found += eddy_test_sweep(EDDY_TEST_CANCEL, waits, NULL,
                                 &(struct eddy_test_opts){ .name = "waits" }, NULL) < 0;
        found += eddy_test_sweep(EDDY_TEST_ALLOC, asks, url,
                                 &(struct eddy_test_opts){ .name = "asks" }, NULL) < 0;
        return found;
}
