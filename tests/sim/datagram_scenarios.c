/*
 * datagram_scenarios.c - programs that send datagrams.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { QUESTIONS = 6, TRIES = 5, BATCH = 4, ROOM = 16 };

struct ask {
        eddy_udp *udp;
        uint32_t wanted;
};

/* Each datagram goes back to its sender, until the task is cancelled. */
static int answer(void *arg)
{
        struct eddy_udp_message messages[BATCH];
        char room[BATCH][ROOM];
        int n = 0, done;

        tasks_begun++;
        while (n >= 0) {
                for (int i = 0; i < BATCH; i++)
                        messages[i] = (struct eddy_udp_message){ .data = room[i], .bytes = ROOM };
                n = eddy_udp_receive_batch(arg, messages, BATCH);
                for (int i = 0; i < n; i++) {
                        CHECK_EQ(messages[i].length, sizeof(uint32_t));
                        messages[i].bytes = messages[i].length;
                }
                for (int sent = 0; sent < n; sent += done) {
                        done = eddy_udp_send_batch(arg, messages + sent, (size_t) (n - sent));
                        if (done < 0)
                                n = done;
                }
        }
        tasks_ended++;
        return n;
}

/* Receive the answer, and drop answers to earlier tries. */
static int receive_answer(void *arg)
{
        struct ask *ask = arg;
        uint32_t found = UINT32_MAX;

        while (found != ask->wanted) {
                int64_t n = eddy_udp_receive(ask->udp, &found, sizeof(found));

                if (n < 0)
                        return (int) n;
                CHECK_EQ(n, sizeof(found));
                CHECK(found <= ask->wanted);
        }
        return 0;
}

static int ask_again(struct ask *ask)
{
        int err = -ETIMEDOUT;

        for (int i = 0; i < TRIES && err == -ETIMEDOUT; i++) {
                err = eddy_udp_send(ask->udp, &ask->wanted, sizeof(ask->wanted));
                if (err == 0)
                        err = eddy_call_timeout(receive_answer, ask, EDDY_SEC(2));
        }
        return err;
}

static int ask_all(uint16_t port)
{
        struct ask ask;
        int err = eddy_udp_connect("127.0.0.1", port, NULL, &ask.udp);

        if (err < 0)
                return err;
        for (ask.wanted = 0; ask.wanted < QUESTIONS && err == 0; ask.wanted++)
                err = ask_again(&ask);
        eddy_udp_close(ask.udp);
        return err;
}

/* A server and a client that repeats what is lost. */
int scenario_datagrams(void *arg)
{
        struct eddy_udp_opts opts = { .reuse_port = true, .receive_bytes = 1 << 16 };
        struct eddy_endpoint at;
        eddy_udp *server;
        eddy_scope scope;
        int err = eddy_udp_bind("127.0.0.1", 0, &opts, &server);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_udp_local(server, &at);
        eddy_scope_begin(&scope, NULL);
        if (err == 0)
                err = eddy_scope_start(&scope, answer, server);
        if (err == 0)
                err = ask_all(at.port);
        eddy_scope_cancel(&scope);
        err = eddy_scope_end_with(&scope, err);
        eddy_udp_close(server);
        return err;
}
