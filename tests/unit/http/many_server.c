/*
 * many_server.c - see many_server.h.
 */
#include "many_server.h"

#include "http_test.h"
#include "tls/config.h"

struct arrival {
        struct many_server *server;
        eddy_stream *stream;
};

struct owed {
        struct many_server *server;
        eddy_stream *stream;
        struct many_frame frame;
};

static int answer_run(void *arg)
{
        const struct owed *owed = arg;

        if (owed->server->refuses > 0) {
                owed->server->refuses--;
                (void) many_write(owed->stream, MANY_REFUSED, owed->frame.number, 0);
                return 0;
        }
        if (eddy_sleep(owed->server->answer_ns / (int64_t) (1 + owed->frame.number % 4)) == 0)
                (void) many_write(owed->stream, MANY_ANSWER, owed->frame.number,
                                  owed->frame.topic + MANY_ANSWERED);
        return 0;
}

static void serve_many(struct many_server *server, eddy_stream *stream)
{
        struct owed owed = { .server = server, .stream = stream };
        eddy_scope scope;

        server->many++;
        eddy_scope_begin(&scope, NULL);
        while (many_read(stream, &owed.frame))
                if (owed.frame.kind == MANY_ASK)
                        CHECK_EQ(eddy_scope_start_copy(&scope, answer_run, &owed, sizeof(owed)), 0);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
}

static void serve_http(eddy_stream *stream)
{
        char head[1024];

        while (read_until(stream, head, sizeof(head), "\r\n\r\n"))
                if (eddy_stream_write(stream, OK_2, strlen(OK_2)) < 0)
                        return;
}

static int arrival_run(void *arg)
{
        const struct arrival *arrival = arg;
        eddy_stream *stream = arrival->stream;
        int err = 0;

        if (arrival->server->tls)
                err = eddy_tls_server(stream, arrival->server->tls, NULL, &stream);
        if (err == 0 && arrival->server->tls && !ed_tls_speaks(stream, "many"))
                serve_http(stream);
        else if (err == 0)
                serve_many(arrival->server, stream);
        eddy_stream_close(stream);
        return 0;
}

static int accept_run(void *arg)
{
        struct many_server *server = arg;
        struct arrival arrival = { .server = server };

        while (eddy_listener_accept(server->listener, &arrival.stream) == 0) {
                server->accepted++;
                CHECK_EQ(eddy_scope_start_copy(server->scope, arrival_run, &arrival,
                                               sizeof(arrival)),
                         0);
        }
        return 0;
}

void many_server_start(struct many_server *server, eddy_scope *scope)
{
        server->scope = scope;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &server->listener), 0);
        CHECK_EQ(eddy_scope_start(scope, accept_run, server), 0);
}

void many_server_stop(struct many_server *server)
{
        eddy_listener_close(server->listener);
}
