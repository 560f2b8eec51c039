/*
 * 87-udp-ping - a UDP ping: numbered datagrams to an echo server, and the time until each comes back.
 *
 * The server drops one datagram in three, as a network may.  A datagram without an answer
 * within 50 ms counts as lost: the deadline belongs to a scope around the receive, and the socket
 * remains usable.  At the end the server is closed: the system refuses the last datagram (ICMP),
 * and the receive returns an error at once.
 *
 * Run: 87-udp-ping
 * Time: wall 0.1 s
 * Output:
 *     ping 1: <n> us
 *     ping 2: <n> us
 *     ping 3: lost
 *     ping 4: <n> us
 *     ping 5: <n> us
 *     ping 6: lost
 *     ping 7: connection refused
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { PINGS = 6, LOST_EACH = 3 };

struct ping {
        eddy_udp *udp;
        uint32_t number;
};

/* Each datagram but the third goes back to its sender. */
static int echo(void *arg)
{
        struct eddy_endpoint from;
        char buf[1500];
        int64_t n;
        int err = 0;

        for (int i = 1; err == 0; i++) {
                n = eddy_udp_receive_from(arg, buf, sizeof(buf), &from);
                if (n < 0)
                        return (int) n;
                if (i % LOST_EACH != 0)
                        err = eddy_udp_send_to(arg, buf, (size_t) n, &from);
        }
        return err;
}

/* Receive until the answer has this ping's number: earlier answers may be late. */
static int receive_answer(void *arg)
{
        struct ping *ping = arg;
        uint32_t found = 0;

        while (found != ping->number) {
                int64_t n = eddy_udp_receive(ping->udp, &found, sizeof(found));

                if (n < 0)
                        return (int) n;
        }
        return 0;
}

static int ping_once(struct ping *ping)
{
        int64_t begun_ns = eddy_now();
        int err = eddy_udp_send(ping->udp, &ping->number, sizeof(ping->number));

        if (err == 0)
                err = eddy_call_timeout(receive_answer, ping, EDDY_MS(50));
        if (err == 0)
                printf("ping %" PRIu32 ": %" PRId64 " us\n", ping->number,
                       (eddy_now() - begun_ns) / 1000);
        else if (err == -ETIMEDOUT)
                printf("ping %" PRIu32 ": lost\n", ping->number);
        else if (err == -ECONNREFUSED)
                printf("ping %" PRIu32 ": connection refused\n", ping->number);
        return err == -ETIMEDOUT || err == -ECONNREFUSED ? 0 : err;
}

static int ping_all(void *arg)
{
        EDDY_AUTO(eddy_udp) eddy_udp *server = NULL;
        struct ping ping = { .number = 1 };
        struct eddy_endpoint at;
        eddy_scope scope;
        int err = eddy_udp_bind("127.0.0.1", 0, NULL, &server);

        (void) arg;
        if (err == 0)
                err = eddy_udp_local(server, &at);
        if (err == 0)
                err = eddy_udp_connect("127.0.0.1", at.port, NULL, &ping.udp);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, echo, server);
        for (; ping.number <= PINGS && err == 0; ping.number++)
                err = ping_once(&ping);
        eddy_scope_cancel(&scope);
        err = eddy_scope_end_with(&scope, err);
        eddy_udp_close(server);
        server = NULL;
        if (err == 0)
                err = ping_once(&ping);
        eddy_udp_close(ping.udp);
        return err;
}

int main(void)
{
        return eddy_run(ping_all, NULL, NULL) == 0 ? 0 : 1;
}
