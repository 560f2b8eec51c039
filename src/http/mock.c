/*
 * http/mock.c - see mock.h.
 */
#include "http/mock.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/list.h"
#include "eddy/error.h"
#include "eddy/event.h"
#include "eddy/scope.h"
#include "http/client.h"
#include "http/pool_origin.h"
#include "scope/run.h"
#include "scope/scope.h"

struct ed_http_mock {
        eddy_http_handler_fn *handler;
        void *arg;
        struct ed_list served; /* connections whose tasks have not ended */
        uint32_t refs;         /* of the client and of each connection */
        uint32_t calls;        /* calls of the handler in progress */
        eddy_event over;       /* the last of them has returned */
        bool is_closed;        /* the handler is not called again */
};

/* A connection, from the start of its task to the task's end. */
struct served {
        struct ed_list link;
        struct ed_http_mock *mock;
        eddy_stream *stream; /* the server's end */
        eddy_scope scope;    /* around the handler's calls, if 'is_begun' */
        bool is_begun;
};

int ed_http_mock_new(eddy_http_handler_fn *handler, void *arg, struct ed_http_mock **ret_mock)
{
        struct ed_http_mock *mock = ed_alloc_zero(sizeof(*mock));

        if (!mock)
                return -ENOMEM;
        mock->handler = handler;
        mock->arg = arg;
        ed_list_init(&mock->served);
        mock->refs = 1;
        *ret_mock = mock;
        return 0;
}

static void mock_unref(struct ed_http_mock *mock)
{
        if (--mock->refs == 0)
                ed_free(mock);
}

/* The handler of a connection. A closed client's handler is not called: its argument may be gone. */
static int call_handler(eddy_http_exchange *exchange, void *arg)
{
        struct ed_http_mock *mock = arg;
        int result;

        if (mock->is_closed)
                return -ECANCELED;
        if (mock->calls++ == 0)
                eddy_event_clear(&mock->over);
        result = mock->handler(exchange, mock->arg);
        if (--mock->calls == 0)
                (void) eddy_event_set(&mock->over);
        return result;
}

/* The task of a connection. */
static int served_run(void *arg)
{
        /* A test's virtual clock jumps, so no speed is too slow; a real server would end such peers. */
        struct eddy_http_server_opts opts = { .upload_rate_min = -1,
                                              .download_rate_min = -1,
                                              .body_bytes_max = UINT64_MAX };
        struct served *served = arg;
        struct ed_http_mock *mock = served->mock;

        eddy_scope_begin(&served->scope, NULL);
        served->is_begun = true;
        if (mock->is_closed)
                eddy_scope_cancel(&served->scope);
        (void) eddy_http_serve_stream(served->stream, &opts, call_handler, mock);
        (void) eddy_scope_end(&served->scope);
        ed_list_remove(&served->link);
        ed_free(served);
        mock_unref(mock);
        return 0;
}

/* Start the task that serves a stream. The stream stays the caller's after an error. */
static int served_start(struct ed_http_mock *mock, struct ed_loop *loop, eddy_stream *stream)
{
        struct served *served = ed_alloc_zero(sizeof(*served));
        struct ed_task *task;
        int err;

        if (!served)
                return -ENOMEM;
        served->mock = mock;
        served->stream = stream;
        err = ed_background_start(loop, served_run, served, "http_mock", NULL, &task);
        if (err < 0) {
                ed_free(served);
                return err == -ECANCELED ? EDDY_E_HTTP_CLIENT_CLOSED : err;
        }
        ed_list_push_back(&mock->served, &served->link);
        mock->refs++;
        return 0;
}

int ed_http_mock_connect(struct ed_http_conn *conn, struct eddy_http_fault *fault,
                         eddy_stream **ret_stream)
{
        const eddy_http_client *client = ed_container_of(conn->pool, eddy_http_client, pool);
        eddy_stream *ours, *theirs;
        int err;

        (void) fault;
        if (conn->unwanted)
                return -ECANCELED;
        err = eddy_stream_pair(NULL, &ours, &theirs);
        if (err < 0)
                return err;
        err = served_start(client->mock, conn->pool->member.loop, theirs);
        if (err < 0) {
                eddy_stream_close_now(ours);
                eddy_stream_close_now(theirs);
                return err;
        }
        conn->protocol = client->protocols.prior && !conn->origin->key.only_http1
                                 ? client->protocols.prior
                                 : client->protocols.plain;
        *ret_stream = ours;
        return 0;
}

/* Returns true if the running task is in a handler's call. */
static bool is_in_handler(const struct ed_http_mock *mock)
{
        struct ed_task *task = ed_task_running();

        ed_list_each (link, &mock->served) {
                struct served *served = ed_container_of(link, struct served, link);
                const struct ed_node *node = task ? task->inner : NULL;

                while (node && node != &ed_scope_of(&served->scope)->node)
                        node = node->parent;
                if (node && served->is_begun)
                        return true;
        }
        return false;
}

/* Cancel the tasks of all connections. */
static void stop(struct ed_http_mock *mock)
{
        mock->is_closed = true;
        ed_list_each (link, &mock->served) {
                struct served *served = ed_container_of(link, struct served, link);

                if (served->is_begun)
                        eddy_scope_cancel(&served->scope);
        }
}

void ed_http_mock_close(struct ed_http_mock *mock)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD, .deadline_ns = INT64_MAX };
        eddy_scope scope;

        if (!mock)
                return;
        stop(mock);
        if (mock->calls > 0 && !is_in_handler(mock)) {
                eddy_scope_begin(&scope, &opts);
                while (mock->calls > 0 && eddy_event_wait(&mock->over) >= 0)
                        ;
                (void) eddy_scope_end(&scope); /* an enclosing shield may have ended the wait */
        }
        mock_unref(mock);
}
