/*
 * sim_pair.h - a simulated table, polled by hand, and two ends of a connection
 * on it.
 */
#ifndef SIM_PAIR_H
#define SIM_PAIR_H

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "at.h"
#include "sim/sim.h"
#include "test.h"

#define MS ((int64_t) 1000000)
#define S  (1000 * MS)

struct seen {
        struct ed_target target;
        unsigned events;
        int times;
};

struct pair {
        struct ed_sys *sys;
        int listener, client, server;
        uint16_t port;
        struct seen seen_client, seen_server;
};

static const struct eddy_address loopback = { .family = AF_INET, .bytes = { 127, 0, 0, 1 } };

static inline void on_events(struct ed_target *target, unsigned events)
{
        struct seen *seen = (struct seen *) target;

        seen->events |= events;
        seen->times++;
}

static inline struct ed_sys *sim_new(struct ed_sim_opts opts)
{
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&opts, &sys), 0);
        return sys;
}

/* Poll at most 'timeout_ns' and hand out the events; returns what poll did. */
static inline int turn(struct ed_sys *sys, int64_t timeout_ns)
{
        struct ed_event events[ED_EVENTS_MAX];
        int n = sys->poll->poll(sys, timeout_ns, events, ED_EVENTS_MAX);

        for (int i = 0; i < n; i++)
                events[i].target->on_events(events[i].target, events[i].events);
        return n;
}

static inline void watch(struct pair *p, int fd, struct seen *seen)
{
        *seen = (struct seen){ .target = { on_events } };
        CHECK_EQ(p->sys->poll->watch(p->sys, fd, &seen->target), 0);
}

static inline void listen_somewhere(struct pair *p)
{
        p->listener = p->sys->socket->open(p->sys, AF_INET, ED_SOCKET_LISTENER);
        CHECK_EQ(listen_at(p->sys, p->listener, AT(&loopback, 0)), 0);
        p->port = (uint16_t) port_of(p->sys, p->listener);
}

static inline void connect_client(struct pair *p)
{
        p->client = p->sys->socket->open(p->sys, AF_INET, ED_SOCKET_STREAM);
        CHECK_EQ(p->sys->socket->connect(p->sys, p->client, AT(&loopback, p->port)), -EINPROGRESS);
        watch(p, p->client, &p->seen_client);
}

static inline void connect_pair(struct pair *p, struct ed_sys *sys)
{
        *p = (struct pair){ .sys = sys };
        listen_somewhere(p);
        connect_client(p);
        while (p->sys->socket->connect_result(sys, p->client) == -EINPROGRESS)
                CHECK(turn(sys, -1) >= 0);
        CHECK_EQ(p->sys->socket->connect_result(sys, p->client), 0);
        p->server = p->sys->socket->accept(sys, p->listener);
        CHECK(p->server >= 0);
        watch(p, p->server, &p->seen_server);
        (void) turn(sys, 0);
        p->seen_client = p->seen_server = (struct seen){ .target = { on_events } };
}

static inline int64_t send_text(struct pair *p, int fd, const char *text)
{
        struct eddy_slice slice = { text, strlen(text) };

        return p->sys->socket->send(p->sys, fd, &slice, 1);
}

static inline int64_t recv_some(struct pair *p, int fd)
{
        char buf[1024];

        return p->sys->socket->recv(p->sys, fd, buf, sizeof(buf));
}

#endif
