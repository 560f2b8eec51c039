/*
 * io/serve.c - accepting connections and serving them, one task each.
 *
 * Connections live in a shield that a keeper task holds open. A cancel of the server therefore
 * stops accepting at once, but connections get the time set in the options. Idle calls end at once.
 */
#include "eddy/serve.h"

#include <errno.h>

#include "base/list.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/semaphore.h"
#include "eddy/time.h"
#include "io/listener.h"
#include "io/serve.h"
#include "loop/loop.h"
#include "scope/debug/debug.h"
#include "scope/scope.h"

enum { CONNECTIONS_DEFAULT = 10000 };

struct serving {
        eddy_scope connections; /* the keeper's shield */
        bool is_open;           /* the shield is */
        bool stopping;
        eddy_semaphore room;         /* units for further connections */
        eddy_semaphore over;         /* one unit: the keeper may end */
        struct ed_list idle;         /* of struct ed_serve_idle */
        struct ed_shortage shortage; /* of descriptors and of memory */
        const char *name;
        int64_t drain_ns;
        eddy_serve_fn *fn;
        void *arg;
};

struct connection {
        struct serving *serving;
        eddy_stream *stream;
};

/* ---- the connections ------------------------------------------------------- */

/* Returns the server whose connection this call belongs to, or NULL. */
static struct serving *serving_now(void)
{
        struct ed_task *task = ed_task_running();
        struct ed_node *node = task ? task->inner : NULL;

        for (; node; node = node->parent) {
                struct ed_scope *scope = ed_scope_of_node(node);

                if (!ed_node_is_task(node) && scope->flags & ED_SCOPE_SERVING)
                        return ed_container_of((eddy_scope *) scope, struct serving, connections);
        }
        return NULL;
}

int ed_serve_idle_begin(struct ed_serve_idle *idle, const struct eddy_scope_opts *opts)
{
        struct serving *serving = serving_now();

        ed_assert(serving, "an idle call was begun outside a connection");
        if (serving->stopping)
                return -ECANCELED;
        eddy_scope_begin(&idle->scope, opts);
        ed_list_push_back(&serving->idle, &idle->link);
        return 0;
}

int ed_serve_idle_end(struct ed_serve_idle *idle, int result)
{
        int err;

        ed_list_remove(&idle->link);
        err = eddy_scope_end(&idle->scope);
        return result == -ECANCELED && err < 0 ? err : result;
}

int eddy_serve_idle(eddy_task_fn *fn, void *arg)
{
        struct ed_serve_idle idle;
        int err;

        if (!serving_now())
                return fn(arg);
        err = ed_serve_idle_begin(&idle, NULL);
        return err < 0 ? err : ed_serve_idle_end(&idle, fn(arg));
}

bool eddy_serve_is_stopping(void)
{
        const struct serving *serving = serving_now();

        return serving && serving->stopping;
}

static int connection_run(void *arg)
{
        struct connection *connection = arg;
        struct serving *serving = connection->serving;

        (void) serving->fn(connection->stream, serving->arg);
        (void) eddy_semaphore_release(&serving->room);
        return 0;
}

/* ---- the server ------------------------------------------------------------ */

/* Open the scope of the connections. A shield outlives a cancel of the server. */
static void open_connections(struct serving *serving, unsigned shield)
{
        struct eddy_scope_opts opts = { .flags = shield | EDDY_SCOPE_KEEP_GOING,
                                        .deadline_ns = shield ? INT64_MAX : 0 };

        eddy_scope_begin(&serving->connections, &opts);
        ed_scope_of(&serving->connections)->flags |= ED_SCOPE_SERVING;
        serving->is_open = true;
}

/* Hold the shield around the connections open until the server ends. */
static int serve_keeper(void *arg)
{
        struct serving *serving = arg;

        open_connections(serving, EDDY_SCOPE_SHIELD);
        eddy_task_ready();
        /* A shield around the server may also end this wait; the server stops then too. */
        if (eddy_semaphore_acquire(&serving->over) < 0)
                serving->stopping = true;
        (void) eddy_scope_end(&serving->connections);
        serving->is_open = false;
        return 0;
}

/*
 * Start a connection's task. While there is no memory for its stack, accepting pauses, and later
 * connections wait in the backlog.
 */
static int connection_start(struct serving *serving, const struct connection *connection)
{
        struct ed_task *task;
        int err = 0;

        while (err >= 0 && !serving->stopping) {
                err = ed_scope_try_start(ed_scope_of(&serving->connections), connection_run,
                                         connection, sizeof(*connection), serving->name, NULL,
                                         &task);
                if (err != -ENOMEM)
                        return err;
                ed_shortage_met(&serving->shortage, ed_task_running(), err);
                err = eddy_sleep(ED_SHORTAGE_PAUSE_NS);
        }
        return err < 0 ? err : -ECANCELED;
}

/* Debug mode shows the function as the place where its stream was made. */
static void note_stream(const struct serving *serving, const eddy_stream *stream)
{
        if (ed_unlikely(ed_loop_current->debug))
                ed_debug_note(ed_loop_current, stream, ED_DEBUG_STREAM,
                              (const char *) serving->fn + 1); /* as an address inside it */
}

/* Accept connections until that fails; a cancel makes it fail. */
static int accept_all(struct serving *serving, eddy_listener *listener)
{
        struct connection connection = { .serving = serving };
        int err;

        for (;;) {
                err = eddy_semaphore_acquire(&serving->room);
                if (err < 0)
                        return err;
                err = ed_listener_accept(listener, &serving->shortage, &connection.stream);
                if (err < 0)
                        return err;
                note_stream(serving, connection.stream);
                err = connection_start(serving, &connection);
                if (err < 0) {
                        eddy_stream_close(connection.stream);
                        return err;
                }
        }
}

/* End idle calls; other connections get the time of 'drain_ns'. */
static void stop(struct serving *serving)
{
        serving->stopping = true;
        if (serving->is_open) {
                ed_list_each (link, &serving->idle)
                        eddy_scope_cancel(
                                &ed_container_of(link, struct ed_serve_idle, link)->scope);
                if (serving->drain_ns > 0)
                        (void) eddy_scope_set_deadline(
                                &serving->connections,
                                ed_time_after(eddy_now(), serving->drain_ns));
                else
                        eddy_scope_cancel(&serving->connections);
        }
        (void) eddy_semaphore_release(&serving->over);
}

int eddy_serve(eddy_listener *listener, const struct eddy_serve_opts *opts, eddy_serve_fn *fn,
               void *arg)
{
        struct serving serving = { .name = "connection", .fn = fn, .arg = arg };
        uint32_t connections_max = CONNECTIONS_DEFAULT;
        eddy_scope scope;
        int err;

        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!listener || (opts && opts->drain_ns < 0))
                return -EINVAL;
        if (opts) {
                serving.drain_ns = opts->drain_ns;
                if (opts->name)
                        serving.name = opts->name;
                if (opts->connections_max)
                        connections_max = opts->connections_max;
        }
        ed_list_init(&serving.idle);
        eddy_semaphore_init(&serving.room, connections_max, 0);
        eddy_semaphore_init(&serving.over, 0, 0);
        ed_listener_ref(listener);
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_ready(&scope, serve_keeper, &serving);
        if (err >= 0)
                err = accept_all(&serving, listener);
        stop(&serving);
        (void) eddy_scope_end(&scope); /* the keeper does not fail */
        ed_listener_unref(listener);
        return err;
}

/* ---- one stream -------------------------------------------------------------- */

/* Wait outside the shield for a cancel of the server, which is the stop. */
static int wait_for_stop(void *arg)
{
        struct serving *serving = arg;

        if (eddy_semaphore_acquire(&serving->over) < 0 && serving->is_open)
                stop(serving);
        return 0;
}

int ed_serve_stream(eddy_stream *stream, int64_t drain_ns, eddy_serve_fn *fn, void *arg)
{
        struct serving serving = { .drain_ns = drain_ns };
        eddy_scope scope;
        int err = 0, result, stopped;

        ed_list_init(&serving.idle);
        eddy_semaphore_init(&serving.over, 0, 0);
        eddy_scope_begin(&scope, NULL);
        /* Without time to drain, the cancel itself ends the connection. */
        if (drain_ns > 0)
                err = eddy_scope_start_named(&scope, wait_for_stop, &serving, "serve_stop");
        if (err < 0) {
                (void) eddy_scope_end(&scope);
                eddy_stream_close(stream);
                return err;
        }
        open_connections(&serving, drain_ns > 0 ? EDDY_SCOPE_SHIELD : 0);
        result = fn(stream, arg);
        stopped = eddy_scope_end(&serving.connections);
        serving.is_open = false;
        if (serving.stopping)
                stopped = -ECANCELED;
        (void) eddy_semaphore_release(&serving.over);
        err = eddy_scope_end(&scope);
        if (result >= 0 && stopped < 0)
                result = stopped;
        return result >= 0 && err < 0 ? err : result;
}
