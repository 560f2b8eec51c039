/*
 * http_test.c - see http_test.h.
 */
#include "http_test.h"

#include <sys/socket.h>

#include "base/alloc.h"
#include "eddy/test.h"
#include "loop/loop.h"
#include "sim/sim.h"

/* ---- running --------------------------------------------------------------- */

struct main_call {
        eddy_task_fn *fn;
        void *arg;
};

static int main_task(void *arg)
{
        struct main_call *call = arg;
        int err = eddy_call_timeout(call->fn, call->arg, EDDY_MIN(10));

        CHECK_EQ(ed_loop_current->waits, 0);
        CHECK_EQ(ed_loop_current->timers.count, ed_loop_current->quiet_timers);
        return err;
}

static const struct eddy_run_opts run_opts = { .flags =
                                                       EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };

static uint64_t sim_seed;

void http_set_seed(uint64_t seed)
{
        sim_seed = seed;
}

void http_run(eddy_task_fn *fn, void *arg)
{
        struct main_call call = { fn, arg };
        struct eddy_test_opts opts = { .name = "http", .seed = sim_seed };
        struct eddy_test_result result;

        (void) eddy_test_run(main_task, &call, &opts, &result);
        CHECK_STR(result.result ? eddy_error_name(result.result) : "0", "0");
        CHECK_STR(result.problem, "");
}

void http_run_real(eddy_task_fn *fn, void *arg)
{
        struct main_call call = { fn, arg };
        int result = eddy_run(main_task, &call, &run_opts);

        CHECK_STR(result ? eddy_error_name(result) : "0", "0");
}

void http_pause(int64_t ns)
{
        CHECK_EQ(eddy_sleep(ns), 0);
}

void http_let_die(void)
{
        struct eddy_address dead = { .family = AF_INET, .bytes = { 10, 9, 9, 9 } };

        CHECK_EQ(ed_sim_address_dead(ed_loop_current->sys, &dead), 0);
}

/* ---- a server that follows a script ---------------------------------------- */

bool read_until(eddy_stream *stream, char *buf, size_t room, const char *end)
{
        size_t held = 0;

        buf[0] = '\0';
        while (!strstr(buf, end)) {
                int64_t n;

                CHECK(held + 1 < room);
                n = eddy_stream_read(stream, buf + held, room - held - 1);
                if (n <= 0)
                        return false;
                held += (size_t) n;
                buf[held] = '\0';
        }
        return true;
}

struct peer_conn {
        struct peer *peer;
        eddy_stream *stream;
        eddy_stream *lower; /* of TLS, else the same */
        uint32_t number;
};

static bool next_request(struct peer_conn *conn)
{
        size_t room = sizeof(conn->peer->last);
        char *buf = calloc(1, room);
        bool whole;

        CHECK(buf);
        whole = read_until(conn->stream, buf, room, "\r\n\r\n");
        if (whole) {
                memcpy(conn->peer->last, buf, room);
                conn->peer->requests++;
        }
        free(buf);
        return whole;
}

static int put(struct peer_conn *conn, const char *text)
{
        return eddy_stream_write(conn->stream, text, strlen(text));
}

/* One step; below 0 ends the connection. */
static int take_step(struct peer_conn *conn, const char *step)
{
        switch (*step) {
        case '+':
                return eddy_sleep(EDDY_MS(10)) < 0 ? -1 : put(conn, step + 1);
        case '<':
                return put(conn, step + 1);
        case '?':
                return next_request(conn) ? 0 : -1;
        case '.':
                return eddy_sleep(EDDY_SEC(1));
        case '~':
                return -1;
        case '-':
                CHECK_EQ(eddy_stream_shutdown(conn->lower), 0);
                return 0;
        case '!':
                eddy_stream_abort(conn->stream);
                conn->stream = NULL;
                return -1;
        default:
                return next_request(conn) ? put(conn, step) : -1;
        }
}

static int peer_serve(void *arg)
{
        struct peer_conn *conn = arg;
        struct peer *peer = conn->peer;
        const struct script *script =
                &peer->scripts[conn->number < peer->scripts_count ? conn->number
                                                                  : peer->scripts_count - 1];
        char dropped[512];
        int err = 0;

        conn->lower = conn->stream;
        if (peer->tls)
                err = eddy_tls_server(conn->lower, peer->tls, NULL, &conn->stream);
        peer->latest = conn->stream;
        peer->latest_lower = conn->lower;
        for (size_t i = 0; i < SCRIPT_STEPS_MAX && script->steps[i] && err >= 0; i++)
                err = take_step(conn, script->steps[i]);
        while (err >= 0 && eddy_stream_read(conn->stream, dropped, sizeof(dropped)) > 0)
                continue;
        eddy_stream_close(conn->stream);
        peer->open--;
        return 0;
}

static int peer_run(void *arg)
{
        struct peer *peer = arg;
        struct peer_conn conn = { .peer = peer };

        while (eddy_listener_accept(peer->listener, &conn.stream) == 0) {
                conn.number = peer->accepted++;
                peer->open++;
                CHECK_EQ(eddy_scope_start_copy(peer->scope, peer_serve, &conn, sizeof(conn)), 0);
        }
        return 0;
}

void peer_start(struct peer *peer, eddy_scope *scope, const struct script *scripts, size_t n)
{
        *peer = (struct peer){ .scripts = scripts, .scripts_count = n, .scope = scope };
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &peer->listener), 0);
        CHECK_EQ(eddy_scope_start(scope, peer_run, peer), 0);
}

void peer_stop(struct peer *peer)
{
        eddy_listener_close(peer->listener);
}

/* ---- a client against it --------------------------------------------------- */

struct rig_call {
        const struct script *scripts;
        size_t n;
        const struct eddy_http_client_opts *opts;
        rig_fn *fn;
};

static int rig_main(void *arg)
{
        struct rig_call *call = arg;
        static struct rig rig;
        eddy_scope peers;

        rig = (struct rig){ .status = 0 };
        eddy_scope_begin(&peers, NULL);
        peer_start(&rig.peer, &peers, call->scripts, call->n);
        snprintf(rig.url, sizeof(rig.url), "http://127.0.0.1:%u",
                 eddy_listener_port(rig.peer.listener));
        CHECK_EQ(eddy_http_client_new(call->opts, &rig.client), 0);
        call->fn(&rig);
        eddy_http_client_close(rig.client);
        eddy_scope_cancel(&peers);
        CHECK_EQ(eddy_scope_end(&peers), 0);
        peer_stop(&rig.peer);
        CHECK_EQ(rig.peer.open, 0);
        return 0;
}

void rig_run(const struct script *scripts, size_t n, const struct eddy_http_client_opts *opts,
             bool real, rig_fn *fn)
{
        struct rig_call call = { scripts, n, opts, fn };

        (real ? http_run_real : http_run)(rig_main, &call);
}

int rig_send(struct rig *rig, const struct eddy_http_request *request,
             eddy_http_response **ret_response)
{
        struct eddy_http_request whole = *request;
        char url[200];

        snprintf(url, sizeof(url), "%s%s", rig->url, request->url);
        whole.url = url;
        return eddy_http_client_send(rig->client, &whole, ret_response);
}

int rig_fetch(struct rig *rig, const struct eddy_http_request *request)
{
        eddy_http_response *response;
        const void *body = "";
        size_t bytes = 0;
        int err = rig_send(rig, request, &response);

        if (err < 0)
                return err;
        rig->status = eddy_http_response_status(response);
        err = eddy_http_response_body(response, &body, &bytes);
        if (err == 0)
                snprintf(rig->body, sizeof(rig->body), "%s", (const char *) body);
        rig->body_bytes = bytes;
        eddy_http_response_close(response);
        return err;
}

int rig_get(struct rig *rig, const char *path)
{
        return rig_fetch(rig, &(struct eddy_http_request){ .url = path });
}

void check_stats(const eddy_http_client *client, uint64_t open, uint64_t idle, uint64_t waiting,
                 const char *file, int line)
{
        struct eddy_http_client_stats stats;

        eddy_http_client_stats(client, &stats);
        if (stats.open != open || stats.idle != idle || stats.waiting != waiting)
                test_fail(file, line, "%d open, %d idle, %d waiting; expected %d, %d, %d",
                          (int) stats.open, (int) stats.idle, (int) stats.waiting, (int) open,
                          (int) idle, (int) waiting);
}

int http_echo(eddy_http_exchange *exchange, void *arg)
{
        static char piece[30000];
        int64_t n;
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        (void) arg;
        if (err < 0)
                return err;
        while ((n = eddy_http_exchange_read(exchange, piece, sizeof(piece))) > 0) {
                err = eddy_http_exchange_write(exchange, piece, (size_t) n);
                if (err < 0)
                        return err;
        }
        return n < 0 ? (int) n : eddy_http_exchange_end(exchange);
}

/* ---- failing memory --------------------------------------------------------- */

/* The kit's allocator, of which one allocation fails. */
static struct {
        eddy_realloc_fn *fn;
        void *ctx;
        int left;
} memory;

static void *failing(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (!ptr && memory.left-- == 0)
                return NULL;
        return memory.fn(memory.ctx, ptr, bytes);
}

void http_memory_fails(int number)
{
        ed_alloc_hook(&memory.fn, &memory.ctx);
        memory.left = number;
        eddy_alloc_set(failing, NULL);
}

bool http_memory_is_back(void)
{
        eddy_alloc_set(memory.fn, memory.ctx);
        return memory.left < 0;
}
