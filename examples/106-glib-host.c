/*
 * 106-glib-host - eddy inside a GLib main loop: a request, while GLib's timeouts and sources continue.
 *
 * The descriptor of eddy's loop is a source of GLib, and each dispatch of this source is a step. It
 * works the same in GTK. GLib handles the signals; reports of eddy go to GLib's log. The result
 * of the task is passed to a function that GLib calls.
 *
 * Run: echo hello | 106-glib-host $MOCK/delay/1
 * Time: wall 1 s
 * Output:
 *     line: hello
 *     status 200
 *     the timeouts went on: yes
 * Run: timeout --foreground --preserve-status -s INT 1 106-glib-host $MOCK/delay/9 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     106-glib-host: $MOCK/delay/9: stopped by Ctrl-C
 *     the timeouts went on: yes
 */
#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <stdio.h>
#include <unistd.h>

#include "eddy/eddy.h"

struct app {
        GMainLoop *main;
        eddy_loop *loop;
        eddy_remote *task;
        const char *url;
        int status, result, ticks;
        bool has_ended;
};

/* --- a task of eddy's --- */

static int fetch_url(void *arg)
{
        struct eddy_http_client_opts opts = { .timeouts = { .total_ns = EDDY_SEC(20) } };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct app *app = arg;
        struct eddy_http_request request = { .url = app->url };
        int err = eddy_http_client_new(&opts, &client);

        if (err == 0)
                err = eddy_http_client_send(client, &request, &response);
        if (err == 0)
                app->status = eddy_http_response_status(response);
        return err;
}

/* --- sources of GLib --- */

/* Called once, on GLib's own stack. */
static void on_result(struct app *app)
{
        app->has_ended = true;
        if (eddy_remote_wait(app->task, &app->result) < 0)
                app->result = -EINVAL;
        if (app->result == 0)
                printf("status %d\n", app->status);
        else
                fprintf(stderr, "106-glib-host: %s: %s\n", app->url,
                        app->result == -ECANCELED ? "stopped by Ctrl-C"
                                                  : eddy_error_text(app->result));
}

static gboolean on_eddy(gint fd, GIOCondition condition, gpointer data)
{
        struct app *app = data;

        (void) fd;
        (void) condition;
        if (eddy_loop_step(app->loop) < 0)
                return G_SOURCE_REMOVE;
        if (!eddy_remote_is_done(app->task))
                return G_SOURCE_CONTINUE;
        if (!app->has_ended)
                on_result(app);
        if (eddy_loop_try_close(app->loop) == -EAGAIN)
                return G_SOURCE_CONTINUE;
        app->loop = NULL;
        g_main_loop_quit(app->main);
        return G_SOURCE_REMOVE;
}

static gboolean on_tick(gpointer data)
{
        struct app *app = data;

        app->ticks++;
        return G_SOURCE_CONTINUE;
}

static gboolean on_lines(gint fd, GIOCondition condition, gpointer data)
{
        char text[256];
        ssize_t n = read(fd, text, sizeof(text));

        (void) condition;
        (void) data;
        if (n <= 0)
                return G_SOURCE_REMOVE;
        printf("line: %.*s", (int) n, text);
        return G_SOURCE_CONTINUE;
}

static gboolean on_signal(gpointer data)
{
        struct app *app = data;

        eddy_remote_cancel(app->task);
        return G_SOURCE_CONTINUE;
}

static void log_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        g_warning("eddy: %s: %s", report->task ? report->task : "loop", report->text);
}

static int app_begin(struct app *app)
{
        struct eddy_run_opts opts = { .report = log_report };
        int err = eddy_loop_new(&opts, &app->loop), fd;

        if (err < 0)
                return err;
        fd = eddy_loop_fd(app->loop);
        if (fd < 0)
                return fd;
        g_unix_fd_add(fd, G_IO_IN, on_eddy, app);
        g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP, on_lines, app);
        g_unix_signal_add(SIGINT, on_signal, app);
        g_unix_signal_add(SIGTERM, on_signal, app);
        g_timeout_add(50, on_tick, app);
        return eddy_loop_start_threadsafe(app->loop, fetch_url, app, &app->task);
}

int main(int argc, char **argv)
{
        struct app app = { .url = argc == 2 ? argv[1] : NULL };
        int err;

        if (!app.url) {
                fputs("usage: 106-glib-host URL\n", stderr);
                return 1;
        }
        setlinebuf(stdout);
        app.main = g_main_loop_new(NULL, FALSE);
        err = app_begin(&app);
        if (err == 0)
                g_main_loop_run(app.main);
        else
                fprintf(stderr, "106-glib-host: %s\n", eddy_error_text(err));
        eddy_loop_close(app.loop); /* NULL if the steps have closed it */
        eddy_remote_release(app.task);
        g_main_loop_unref(app.main);
        if (err < 0)
                return 1;
        printf("the timeouts went on: %s\n", app.ticks > 0 ? "yes" : "no");
        return app.result == -ECANCELED ? 130 : app.result < 0;
}
