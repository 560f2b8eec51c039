/*
 * http/linger.c - see linger.h.
 */
#include "http/linger.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/scope.h"
#include "loop/loop.h"
#include "scope/suspend.h"

/* Large reads: a client that sends at full speed finishes its request sooner. */
enum { READ_BYTES = 64 << 10 };

/* The memory is not kept while the connection waits, so one such buffer is in use at a time. */
static int64_t try_drop(eddy_stream *stream)
{
        char *dropped = ed_alloc(READ_BYTES);
        int64_t n;

        if (!dropped)
                return -ENOMEM;
        n = eddy_stream_try_read(stream, dropped, READ_BYTES);
        ed_free(dropped);
        return n;
}

/* Drop some bytes. Returns their number, or 0 at the end. */
static int64_t drop_some(eddy_stream *stream)
{
        struct ed_task *task;
        int64_t n;
        int err = ed_suspend_enter(&task);

        while (err == 0) {
                n = try_drop(stream);
                if (n != -EAGAIN) {
                        ed_suspend_passed(task);
                        return n;
                }
                err = eddy_stream_wait(stream, EDDY_STREAM_READING);
        }
        return err;
}

void ed_http_linger(eddy_stream *stream)
{
        int64_t end_ns = ed_time_after(eddy_now(), ED_HTTP_LINGER_NS), silent_ns;
        eddy_scope scope;

        eddy_scope_begin(&scope,
                         &(struct eddy_scope_opts){ .timeout_ns = ED_HTTP_LINGER_SILENCE_NS });
        if (eddy_stream_shutdown(stream) == 0) {
                while (drop_some(stream) > 0) {
                        silent_ns = ed_time_after(eddy_now(), ED_HTTP_LINGER_SILENCE_NS);
                        (void) eddy_scope_set_deadline(&scope,
                                                       silent_ns < end_ns ? silent_ns : end_ns);
                }
        }
        (void) eddy_scope_end(&scope);
}
