/*
 * 51-chat - a chat server by lines, with three clients.
 *
 * Each client has a task that reads lines with an eddy_reader.  The buffer's size
 * limits the length of a line: a client that sends a longer one is disconnected, and no
 * client can make the server's memory grow.  Several tasks write to a client; a lock
 * per client keeps their lines whole.
 *
 * Run: 51-chat
 * Time: wall 0 s
 * Output:
 *     ali hears: sara: hello
 *     omid hears: sara: hello
 *     sara hears: omid: hello sara
 *     ali hears: omid: hello sara
 *     omid sent a line that is too long
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { CLIENTS = 3, LINE_BYTES = 64 };

/* --- the server --- */

struct client {
        eddy_stream *stream; /* NULL: free */
        eddy_lock writing;
        char name[LINE_BYTES];
};

static struct client clients[CLIENTS];

static int say(struct client *to, const char *name, const char *text)
{
        struct eddy_slice line[4] = {
                { name, strlen(name) }, { ": ", 2 }, { text, strlen(text) }, { "\n", 1 }
        };
        int err = eddy_lock_acquire(&to->writing);

        if (err < 0)
                return err;
        err = to->stream ? eddy_stream_writev(to->stream, line, 4) : 0;
        eddy_lock_release(&to->writing);
        return err;
}

/* The first line is the client's name; each other line goes to all others. */
static int serve(void *arg)
{
        struct client *client = arg;
        char buf[LINE_BYTES], *line;
        size_t bytes;
        int64_t n;
        eddy_reader reader;

        eddy_reader_init(&reader, client->stream, buf, sizeof(buf));
        n = eddy_reader_line(&reader, &line, &bytes);
        if (n > 0)
                snprintf(client->name, sizeof(client->name), "%s", line);
        if (n > 0 && say(client, "server", "welcome") < 0)
                n = 0;
        while (n > 0 && (n = eddy_reader_line(&reader, &line, &bytes)) > 0)
                for (int i = 0; i < CLIENTS; i++)
                        if (clients[i].stream && &clients[i] != client)
                                (void) say(&clients[i], client->name, line);
        if (n == EDDY_E_STREAM_LIMIT)
                printf("%s sent a line that is too long\n", client->name);
        eddy_stream_close(client->stream);
        client->stream = NULL;
        return 0;
}

static int serve_all(void *listener)
{
        eddy_scope scope;
        int err = 0;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        for (int i = 0; i < CLIENTS && err == 0; i++) {
                err = eddy_listener_accept(listener, &clients[i].stream);
                if (err == 0)
                        err = eddy_scope_start(&scope, serve, &clients[i]);
        }
        return eddy_scope_end_with(&scope, err);
}

/* --- the clients --- */

struct guest {
        const char *name;
        eddy_stream *stream;
        eddy_reader reader;
        char buf[2 * LINE_BYTES];
};

static int write_line(struct guest *guest, const char *text)
{
        struct eddy_slice line[2] = { { text, strlen(text) }, { "\r\n", 2 } };

        return eddy_stream_writev(guest->stream, line, 2);
}

static int hear(struct guest *guest, char **ret_line)
{
        size_t bytes;
        int64_t n = eddy_reader_line(&guest->reader, ret_line, &bytes);

        return n < 0 ? (int) n : n == 0 ? EDDY_E_STREAM_ENDED : 0;
}

static int print_heard(struct guest *guest)
{
        char *line;
        int err = hear(guest, &line);

        if (err == 0)
                printf("%s hears: %s\n", guest->name, line);
        return err;
}

/* Returns when the server knows the guest. */
static int join(struct guest *guest, uint16_t port)
{
        char *line;
        int err = eddy_tcp_connect("127.0.0.1", port, NULL, &guest->stream);

        if (err < 0)
                return err;
        eddy_reader_init(&guest->reader, guest->stream, guest->buf, sizeof(guest->buf));
        err = write_line(guest, guest->name);
        return err < 0 ? err : hear(guest, &line);
}

static int talk(struct guest *sara, struct guest *ali, struct guest *omid)
{
        static char long_line[2 * LINE_BYTES];
        char *line;
        int err = write_line(sara, "hello");

        if (err < 0 || (err = print_heard(ali)) < 0 || (err = print_heard(omid)) < 0 ||
            (err = write_line(omid, "hello sara")) < 0 || (err = print_heard(sara)) < 0 ||
            (err = print_heard(ali)) < 0)
                return err;
        memset(long_line, 'x', sizeof(long_line) - 1);
        err = write_line(omid, long_line);
        if (err == 0)
                (void) hear(omid, &line); /* until the server has closed */
        return err;
}

static int visit(uint16_t port)
{
        struct guest guests[CLIENTS] = { { .name = "sara" },
                                         { .name = "ali" },
                                         { .name = "omid" } };
        int err = 0;

        for (int i = 0; i < CLIENTS && err == 0; i++)
                err = join(&guests[i], port);
        if (err == 0)
                err = talk(&guests[0], &guests[1], &guests[2]);
        for (int i = 0; i < CLIENTS; i++)
                eddy_stream_close(guests[i].stream);
        return err;
}

static int app(void *arg)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        eddy_scope scope;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        (void) arg;
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_all, listener);
        err = visit(eddy_listener_port(listener));
        return eddy_scope_end_with(&scope, err);
}

int main(void)
{
        int err = eddy_run(app, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "%s\n", eddy_error_text(err));
        return err < 0;
}
