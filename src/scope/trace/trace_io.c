/*
 * scope/trace/trace_io.c - the calls on descriptors: a traced run's table is a copy whose calls
 * record themselves, so the table of other runs has no check.  Calls that must wait are recorded
 * when they are repeated and succeed.
 */
#include <errno.h>

#include "scope/trace/trace.h"

static struct ed_trace *trace_of(struct ed_sys *sys)
{
        return ed_container_of(sys->ops, struct ed_trace, traced);
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
        int err = trace->ops->connect(sys, fd, to);

        record(trace, "connect", fd, err == -EINPROGRESS ? 0 : err);
        return err;
}

static int traced_accept(struct ed_sys *sys, int fd)
{
        struct ed_trace *trace = trace_of(sys);
        int accepted = trace->ops->accept(sys, fd);

        record(trace, "accept", accepted < 0 ? fd : accepted, accepted < 0 ? accepted : 0);
        return accepted;
}

static int64_t traced_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        struct ed_trace *trace = trace_of(sys);
        int64_t n = trace->ops->recv(sys, fd, buf, bytes);

        record(trace, "recv", fd, n);
        return n;
}

static int64_t traced_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        struct ed_trace *trace = trace_of(sys);
        int64_t sent = trace->ops->send(sys, fd, slices, n);

        record(trace, "send", fd, sent);
        return sent;
}

static int64_t traced_read(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        struct ed_trace *trace = trace_of(sys);
        int64_t n = trace->ops->read(sys, fd, buf, bytes);

        record(trace, "read", fd, n);
        return n;
}

static int traced_shutdown(struct ed_sys *sys, int fd)
{
        struct ed_trace *trace = trace_of(sys);
        int err = trace->ops->shutdown(sys, fd);

        record(trace, "shutdown", fd, err);
        return err;
}

static void traced_close(struct ed_sys *sys, int fd)
{
        struct ed_trace *trace = trace_of(sys);

        trace->ops->close(sys, fd);
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
        int sent = trace->ops->send_datagrams(sys, fd, messages, n);

        record(trace, "sendmmsg", fd, sum(messages, sent, false));
        return sent;
}

static int traced_recv_datagrams(struct ed_sys *sys, int fd, struct eddy_udp_message *messages,
                                 size_t n)
{
        struct ed_trace *trace = trace_of(sys);
        int received = trace->ops->recv_datagrams(sys, fd, messages, n);

        record(trace, "recvmmsg", fd, sum(messages, received, true));
        return received;
}

void ed_trace_table_begin(struct ed_trace *trace)
{
        struct ed_sys *sys = trace->run->loop.sys;

        trace->ops = sys->ops;
        trace->traced = *sys->ops;
        trace->traced.connect = traced_connect;
        trace->traced.accept = traced_accept;
        trace->traced.recv = traced_recv;
        trace->traced.send = traced_send;
        trace->traced.read = traced_read;
        trace->traced.shutdown = traced_shutdown;
        trace->traced.close = traced_close;
        trace->traced.send_datagrams = traced_send_datagrams;
        trace->traced.recv_datagrams = traced_recv_datagrams;
        sys->ops = &trace->traced;
}
