/*
 * test_server.c - an HTTP server whose process runs out of memory at each
 * allocation and at each mapping of stacks, for one of them, for a few, or
 * until it is lifted: the server goes on and answers what comes later.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/eddy.h"
#include "scope/run.h"
#include "sim/sim.h"
#include "test.h"

enum { CLIENTS = 40, STACKS_FIRST = 16 };

/* ---- what is refused ------------------------------------------------------- */

enum { ALLOCATIONS, MAPPINGS, KINDS };

static struct {
        int kind;
        bool counts;   /* the server is up */
        int64_t asked; /* since then */
        int64_t from;  /* 1: the first */
        int64_t count; /* so many; INT64_MAX: until it is lifted */
        int64_t refused;
} want;

static bool is_refused(int kind)
{
        if (!want.counts || kind != want.kind)
                return false;
        want.asked++;
        if (want.asked < want.from || want.asked - want.from >= want.count)
                return false;
        want.refused++;
        return true;
}

static void *allocate(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return is_refused(ALLOCATIONS) ? NULL : realloc(ptr, bytes);
}

/* The linker has the library ask here for the memory of stacks. */
int __real_ed_sys_map(size_t bytes, void **ret_memory);
int __wrap_ed_sys_map(size_t bytes, void **ret_memory);
int __real_ed_sys_map_above(size_t closed_bytes, size_t bytes, void **ret_memory);
int __wrap_ed_sys_map_above(size_t closed_bytes, size_t bytes, void **ret_memory);

int __wrap_ed_sys_map(size_t bytes, void **ret_memory)
{
        return is_refused(MAPPINGS) ? -ENOMEM : __real_ed_sys_map(bytes, ret_memory);
}

int __wrap_ed_sys_map_above(size_t closed_bytes, size_t bytes, void **ret_memory)
{
        return is_refused(MAPPINGS) ? -ENOMEM
                                    : __real_ed_sys_map_above(closed_bytes, bytes, ret_memory);
}

/* ---- the server ------------------------------------------------------------ */

static struct {
        eddy_listener *listener;
        int result; /* 1: it serves */
        int reports;
        int answered; /* of the clients */
} site;

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const void *body;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &body, &bytes);

        (void) arg;
        if (err == 0)
                err = eddy_sleep(EDDY_MS(100));
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, body, bytes);
}

static int serve(void *arg)
{
        (void) arg;
        site.result = eddy_http_serve(site.listener, NULL, handle, NULL);
        return 0;
}

/* ---- its clients, all of one task ------------------------------------------ */

static const char head[] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
                           "Connection: close\r\n\r\n";

static eddy_stream *ask(void)
{
        eddy_stream *stream = NULL;
        int err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(site.listener), NULL, &stream);

        if (err == 0)
                err = eddy_stream_write(stream, head, sizeof(head) - 1);
        if (err == 0)
                return stream;
        eddy_stream_close(stream);
        return NULL;
}

/* Whether it was answered. */
static bool hear(eddy_stream *stream)
{
        char buf[1000];
        size_t held = 0;
        int64_t n;

        if (!stream)
                return false;
        n = eddy_stream_write(stream, "hello", 5);
        while (n >= 0 && held < sizeof(buf) - 1 &&
               (n = eddy_stream_read(stream, buf + held, sizeof(buf) - 1 - held)) > 0)
                held += (size_t) n;
        buf[held] = '\0';
        eddy_stream_close(stream);
        return strncmp(buf, "HTTP/1.1 200 ", 13) == 0 && strstr(buf, "\r\n\r\nhello");
}

static void ask_many(void)
{
        eddy_stream *streams[CLIENTS];

        for (int i = 0; i < CLIENTS; i++)
                streams[i] = ask();
        for (int i = 0; i < CLIENTS; i++)
                site.answered += hear(streams[i]);
}

static int lift_later(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_MS(3500));
        want.counts = false;
        return 0;
}

static int main_task(void *arg)
{
        struct eddy_scope_opts minute = { .timeout_ns = EDDY_MIN(1) };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &site.listener), 0);
        eddy_scope_begin(&scope, &minute);
        CHECK_EQ(eddy_scope_start(&scope, serve, NULL), 0);
        CHECK_EQ(eddy_scope_start(&scope, lift_later, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(site.result, 1);
        want.counts = true;
        ask_many();
        CHECK_EQ(eddy_sleep(EDDY_SEC(5)), 0);
        CHECK(!want.counts);
        CHECK_EQ(site.result, 1);
        CHECK(hear(ask()));
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(site.result, -ECANCELED);
        eddy_listener_close(site.listener);
        return 0;
}

static void on_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind != EDDY_REPORT_ACCEPT)
                return;
        CHECK_EQ(report->error, -ENOMEM);
        CHECK(strstr(report->task, "serve"));
        site.reports++;
}

/* Returns whether there was something to refuse. */
static bool run(int kind, int64_t from, int64_t count)
{
        struct eddy_run_opts opts = { .report = on_report,
                                      .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };
        struct ed_sys *sys;

        memset(&site, 0, sizeof(site));
        memset(&want, 0, sizeof(want));
        site.result = 1;
        want.kind = kind;
        want.from = from;
        want.count = count;
        CHECK_EQ(ed_sim_new(&(struct ed_sim_opts){ 0 }, &sys), 0);
        CHECK_EQ(ed_run_on(sys, main_task, NULL, &opts, NULL), 0);
        CHECK(site.reports <= 1);
        return want.refused > 0;
}

static void sweep(const char *what, int kind)
{
        static const int64_t counts[] = { 1, 5, INT64_MAX };
        int64_t runs = 0, reported = 0;

        eddy_alloc_set(allocate, NULL);
        for (size_t i = 0; i < 3; i++) {
                for (int64_t from = 1; run(kind, from, counts[i]); from++) {
                        runs++;
                        reported += site.reports;
                        /* All that came were answered, in the end. */
                        if (kind == MAPPINGS)
                                CHECK_EQ(site.answered, CLIENTS);
                }
        }
        CHECK(reported > 0);
        printf("# %s: %d runs, in %d of them accepting paused; the server answered in all\n", what,
               (int) runs, (int) reported);
}

TEST(server_outlives_each_allocation_that_fails)
{
        sweep("allocations", ALLOCATIONS);
}

TEST(server_outlives_each_mapping_of_stacks_that_fails)
{
        sweep("mappings", MAPPINGS);
}

/* A134: without any further stack those that there are serve all, a few at a time. */
TEST(server_without_further_stacks_serves_with_those_that_it_has)
{
        eddy_alloc_set(allocate, NULL);
        CHECK(run(MAPPINGS, 1, INT64_MAX));
        CHECK_EQ(site.answered, CLIENTS);
        CHECK_EQ(site.reports, 1);
        CHECK(CLIENTS > 2 * STACKS_FIRST);
}
