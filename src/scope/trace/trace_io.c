/*
 * scope/trace/trace_io.c - the calls on descriptors: a traced run's tables of sockets are copies
 * whose calls record themselves, so the tables of other runs have no check.  Calls that must wait
 * are recorded when they are repeated and succeed.
 */
#include <errno.h>

#include "scope/trace/trace.h"

static struct ed_trace *trace_of(struct ed_sys *sys)
{
        return ed_container_of(sys->socket, struct ed_trace, traced_socket);
}

static void record(struct ed_trace *trace, const char *call, int fd, int64_t result)
{
        const struct ed_fiber *fiber = trace->run->loop.current;
        struct ed_trace_record *record;

        if (result == -EAGAIN)
                return;
        call = ed_trace_keep(trace, call);
        record = ed_trace_add(trace, ED_TRACE_IO,
                              fiber ? ed_container_of(fiber, struct ed_task, fiber)->number : 0);
        record->text = call;
        record->number = fd;
        record->bytes = result;
}

void ed_trace_io(struct ed_loop *loop, const char *call, int fd, int64_t result)
{
        record(ed_container_of(loop->trace, struct ed_trace, hooks), call, fd, result);
}

static int traced_connect(struct ed_sys *sys, int fd, const struct eddy_endpoint *to)
{
        struct ed_trace *trace = trace_of(sys);
        int err = trace->socket->connect(sys, fd, to);

        record(trace, "connect", fd, err == -EINPROGRESS ? 0 : err);
        return err;
}

static int traced_accept(struct ed_sys *sys, int fd)
{
        struct ed_trace *trace = trace_of(sys);
        int accepted = trace->socket->accept(sys, fd);

        record(trace, "accept", accepted < 0 ? fd : accepted, accepted < 0 ? accepted : 0);
        return accepted;
}

static int64_t traced_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        struct ed_trace *trace = trace_of(sys);
        int64_t n = trace->socket->recv(sys, fd, buf, bytes);

        record(trace, "recv", fd, n);
        return n;
}

static int64_t traced_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        struct ed_trace *trace = trace_of(sys);
        int64_t sent = trace->socket->send(sys, fd, slices, n);

        record(trace, "send", fd, sent);
        return sent;
}

static int64_t traced_send_file(struct ed_sys *sys, int fd, int file, int64_t offset, size_t bytes)
{
        struct ed_trace *trace = trace_of(sys);
        int64_t sent = trace->socket->send_file(sys, fd, file, offset, bytes);

        record(trace, "sendfile", fd, sent);
        return sent;
}

static int64_t traced_read(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        struct ed_trace *trace = trace_of(sys);
        int64_t n = trace->socket->read(sys, fd, buf, bytes);

        record(trace, "read", fd, n);
        return n;
}

static int traced_shutdown(struct ed_sys *sys, int fd)
{
        struct ed_trace *trace = trace_of(sys);
        int err = trace->socket->shutdown(sys, fd);

        record(trace, "shutdown", fd, err);
        return err;
}

static void traced_close(struct ed_sys *sys, int fd)
{
        struct ed_trace *trace = trace_of(sys);

        trace->socket->close(sys, fd);
        record(trace, "close", fd, 0);
}

/* Bytes of the datagrams that a call has transferred. */
static int64_t sum(const struct eddy_udp_message *messages, int n, bool received)
{
        int64_t bytes = n < 0 ? n : 0;

        for (int i = 0; i < n; i++)
                bytes += (int64_t) (received ? messages[i].length : messages[i].bytes);
        return bytes;
}

static int traced_send_datagrams(struct ed_sys *sys, int fd,
                                 const struct eddy_udp_message *messages, size_t n)
{
        struct ed_trace *trace = trace_of(sys);
        int sent = trace->datagram->send(sys, fd, messages, n);

        record(trace, "sendmmsg", fd, sum(messages, sent, false));
        return sent;
}

static int traced_recv_datagrams(struct ed_sys *sys, int fd, struct eddy_udp_message *messages,
                                 size_t n)
{
        struct ed_trace *trace = trace_of(sys);
        int received = trace->datagram->recv(sys, fd, messages, n);

        record(trace, "recvmmsg", fd, sum(messages, received, true));
        return received;
}

void ed_trace_table_begin(struct ed_trace *trace)
{
        struct ed_sys *sys = trace->run->loop.sys;

        trace->socket = sys->socket;
        trace->traced_socket = *sys->socket;
        trace->traced_socket.connect = traced_connect;
        trace->traced_socket.accept = traced_accept;
        trace->traced_socket.recv = traced_recv;
        trace->traced_socket.send = traced_send;
        trace->traced_socket.send_file = traced_send_file;
        trace->traced_socket.read = traced_read;
        trace->traced_socket.shutdown = traced_shutdown;
        trace->traced_socket.close = traced_close;
        sys->socket = &trace->traced_socket;
        trace->datagram = sys->datagram;
        trace->traced_datagram = *sys->datagram;
        trace->traced_datagram.send = traced_send_datagrams;
        trace->traced_datagram.recv = traced_recv_datagrams;
        sys->datagram = &trace->traced_datagram;
}
