/*
 * descriptor_left.c - a server that is cancelled while it waits for a client
 * forgets its listener.  Debug mode says where it was made.
 *
 * Environment: EDDY_DEBUG=1
 * Says: a listener, made at service\S*
 * Says: eddy_test: service: cancel=\d+: 1 descriptor of the simulated network left
 * Says: eddy_test: service: cancel=\d+: 1 allocation left, of \d+ bytes: the first is number \d+
 * Says: eddy_test: again with EDDY_TEST_REPLAY='service:cancel=\d+'
 */
#include "planted.h"

static int call(void *arg)
{
        const eddy_listener *listener = arg;
        eddy_stream *stream;
        int err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &stream);

        if (err == 0)
                eddy_stream_close(stream);
        return err;
}

int service(void *arg);
int service(void *arg)
{
        eddy_listener *listener;
        eddy_stream *stream;
        eddy_scope scope;
        int err;

        (void) arg;
        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        start(&scope, "caller", call, listener);
        err = eddy_listener_accept(listener, &stream);
        if (err == 0)
                eddy_stream_close(stream);
        (void) eddy_scope_end(&scope);
        if (FAULT && err < 0)
                return err;
        eddy_listener_close(listener);
        return err;
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "service" };

        return end(eddy_test_sweep(EDDY_TEST_CANCEL, service, NULL, &opts, NULL));
}
