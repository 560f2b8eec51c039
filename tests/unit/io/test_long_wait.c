/*
 * test_long_wait.c - a task that waits for a descriptor for more than a second keeps only the pages
 * of its stack that it uses.
 */
#include "../scope/sim_run.h"
#include "io_test.h"
#include "loop/long_wait.h"
#include "resident.h"

enum { PORT = 80, DEEP_BYTES = 24 * 1024, LOCAL_BYTES = 1500, TASKS = 200 };

static struct site {
        eddy_listener *listener;
        eddy_stream *stream; /* the connection */
        const void *sp;      /* the end of the frame that waits */
        int served;
        int64_t result; /* of its last read */
} site;

/* Touches the pages below the caller's frame. */
static __attribute__((noinline)) void go_deep(void)
{
        volatile char array[DEEP_BYTES];

        for (size_t i = 0; i < sizeof(array); i += 64)
                array[i] = (char) i;
}

/* The pages between the frame that waits, and the calls in it, and the end of the deep one. */
static size_t deep_pages(const struct site *of)
{
        const char *end = (const char *) of->sp;

        return resident_pages(end - DEEP_BYTES, end - DEEP_BYTES / 2);
}

static bool is_deep(const struct site *of)
{
        return deep_pages(of) >= DEEP_BYTES / 2 / ed_sys_page_bytes() - 1;
}

/* Echoes bytes; goes deep before each wait. Its own variables must outlast the waits. */
static int64_t echo(struct site *of)
{
        volatile char local[LOCAL_BYTES];
        char byte = 0;
        int64_t n;

        for (size_t i = 0; i < sizeof(local); i++)
                local[i] = (char) (i * 7);
        of->sp = (const char *) __builtin_frame_address(0) - LOCAL_BYTES;
        do {
                go_deep();
                n = eddy_stream_read(of->stream, &byte, 1);
                for (size_t i = 0; i < sizeof(local); i++)
                        CHECK_EQ(local[i], (char) (i * 7));
                if (n > 0)
                        CHECK_EQ(eddy_stream_write(of->stream, &byte, 1), 0);
        } while (n > 0);
        return n;
}

static int serve_one(eddy_stream *stream, void *arg)
{
        struct site *of = arg;

        of->stream = stream;
        of->served++;
        of->result = echo(of);
        eddy_stream_close(stream);
        return 0;
}

static int serve(void *arg)
{
        return eddy_serve(site.listener, NULL, serve_one, arg) == -ECANCELED ? 0 : -EIO;
}

/* A server in 'scope', and a connection to it. */
static eddy_stream *site_begin(eddy_scope *scope, uint16_t port)
{
        eddy_stream *stream;

        site = (struct site){ .result = 1 };
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", port, NULL, &site.listener), 0);
        eddy_scope_begin(scope, NULL);
        eddy_scope_start(scope, serve, &site);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(site.listener), NULL, &stream),
                 0);
        return stream;
}

static void site_end(eddy_scope *scope)
{
        eddy_scope_cancel(scope);
        CHECK_EQ(eddy_scope_end(scope), 0);
        eddy_listener_close(site.listener);
}

static void exchange(eddy_stream *stream, char byte)
{
        char back = 0;

        CHECK_EQ(eddy_stream_write(stream, &byte, 1), 0);
        CHECK_EQ(eddy_stream_read(stream, &back, 1), 1);
        CHECK_EQ(back, byte);
}

SIM_TEST_NO_DEBUG(a_connection_that_is_idle_for_a_second_releases_its_stack)
{
        eddy_scope scope;
        eddy_stream *stream = site_begin(&scope, PORT);

        for (char byte = 'a'; byte < 'd'; byte++) {
                exchange(stream, byte);
                CHECK_EQ(eddy_sleep(EDDY_MS(900)), 0);
                CHECK(is_deep(&site));
                CHECK_EQ(eddy_sleep(EDDY_MS(200)), 0);
                CHECK_EQ(deep_pages(&site), 0);
        }
        eddy_stream_close(stream);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(site.result, 0);
        CHECK_EQ(site.served, 1);
        site_end(&scope);
}

/* A busy connection never pays for it. */
SIM_TEST_NO_DEBUG(a_connection_that_is_never_idle_for_a_second_keeps_its_stack)
{
        eddy_scope scope;
        eddy_stream *stream = site_begin(&scope, PORT);

        for (int i = 0; i < 10; i++) {
                exchange(stream, 'x');
                CHECK_EQ(eddy_sleep(EDDY_MS(700)), 0);
                CHECK(is_deep(&site));
        }
        eddy_stream_close(stream);
        site_end(&scope);
}

SIM_TEST_NO_DEBUG(a_cancel_reaches_a_connection_whose_stack_was_released)
{
        eddy_scope scope;
        eddy_stream *stream = site_begin(&scope, PORT);

        CHECK_EQ(eddy_sleep(EDDY_SEC(3)), 0);
        CHECK_EQ(deep_pages(&site), 0);
        site_end(&scope);
        CHECK_EQ(site.result, -ECANCELED);
        eddy_stream_close(stream);
}

static int echo_one(void *arg)
{
        struct site *of = arg;

        of->result = echo(of);
        return 0;
}

/* More than are handled at once; each by the time it has waited itself. */
SIM_TEST_NO_DEBUG(many_idle_tasks_release_their_stacks_in_turn)
{
        static struct site sites[TASKS];
        static eddy_stream *ends[TASKS];
        eddy_listener *listener;
        eddy_scope scope;

        memset(sites, 0, sizeof(sites));
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", PORT, NULL, &listener), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++) {
                CHECK_EQ(eddy_tcp_connect("127.0.0.1", PORT, NULL, &ends[i]), 0);
                CHECK_EQ(eddy_listener_accept(listener, &sites[i].stream), 0);
                eddy_scope_start(&scope, echo_one, &sites[i]);
                if (i == TASKS / 2)
                        CHECK_EQ(eddy_sleep(EDDY_MS(500)), 0);
        }
        CHECK_EQ(eddy_sleep(EDDY_MS(750)), 0);
        for (int i = 0; i < TASKS; i++)
                CHECK_EQ(is_deep(&sites[i]), i > TASKS / 2);
        CHECK_EQ(eddy_sleep(EDDY_MS(500)), 0);
        for (int i = 0; i < TASKS; i++)
                CHECK_EQ(deep_pages(&sites[i]), 0);
        for (int i = 0; i < TASKS; i++)
                eddy_stream_close(ends[i]);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < TASKS; i++) {
                CHECK_EQ(sites[i].result, 0);
                eddy_stream_close(sites[i].stream);
        }
        eddy_listener_close(listener);
}

static int idle_on_the_system(void *arg)
{
        eddy_scope scope;
        eddy_stream *stream = site_begin(&scope, 0);
        int64_t began_ns;

        (void) arg;
        for (char byte = 'a'; byte < 'c'; byte++) {
                exchange(stream, byte);
                began_ns = eddy_now();
                while (deep_pages(&site) > 0)
                        CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
                CHECK(eddy_now() - began_ns >= EDDY_MS(800));
        }
        exchange(stream, 'c');
        eddy_stream_close(stream);
        site_end(&scope);
        return 0;
}

TEST(stacks_are_released_on_the_system_too)
{
        CHECK_EQ(setenv("EDDY_DEBUG", "", 1), 0);
        io_run(idle_on_the_system);
}

/* Debug mode finds in the unused part of a stack how deep it was used. */
SIM_TEST_AS(debug_mode_keeps_stacks, EDDY_RUN_DEBUG)
{
        eddy_scope scope;
        eddy_stream *stream = site_begin(&scope, PORT);

        exchange(stream, 'a');
        CHECK_EQ(eddy_sleep(EDDY_SEC(3)), 0);
        CHECK(is_deep(&site));
        eddy_stream_close(stream);
        site_end(&scope);
}

static int deadlock_after_a_wait(void *arg)
{
        eddy_event never = { 0 };
        eddy_scope scope;
        eddy_stream *stream = site_begin(&scope, PORT);
        int64_t began_ns;

        exchange(stream, 'a');
        eddy_stream_close(stream);
        site_end(&scope);
        began_ns = eddy_now();
        CHECK(ed_loop_current->long_timer.armed);
        CHECK_EQ(eddy_event_wait(&never), -ECANCELED);
        *(int64_t *) arg = eddy_now() - began_ns;
        return 0;
}

/* The loop's timer wakes no task. */
TEST(the_timer_of_long_waits_hides_no_deadlock)
{
        int64_t waited_ns = -1;
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(deadlock_after_a_wait, &waited_ns, 0, opts), -EDEADLK);
        CHECK_NS(waited_ns, 0);
}
