/*
 * redis_test.c - see redis_test.h.
 */
#include "redis_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 32, START_TRIES = 3000 };

static const char *find_program(void)
{
        static const char *const places[] = { "/usr/bin/redis-server",
                                              "/usr/local/bin/redis-server" };

        if (getenv("EDDY_TEST_QEMU"))
                test_skip("another program's processes are too slow under qemu");
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
                if (access(places[i], X_OK) == 0)
                        return places[i];
        test_skip("redis-server is not installed");
}

static bool can_connect(const struct redis_server *server)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        char answer[8] = "";
        bool can;

        snprintf(address.sun_path, sizeof(address.sun_path), "%s", server->path);
        can = connect(fd, (struct sockaddr *) &address, sizeof(address)) == 0 &&
              write(fd, "PING\r\n", 6) == 6 && read(fd, answer, sizeof(answer) - 1) > 0;
        close(fd);
        /* A password is wanted: the server answers all the same. */
        return can && (answer[0] == '+' || strncmp(answer, "-NOAUTH", 7) == 0);
}

static void start(struct redis_server *server)
{
        const char *program = find_program();
        char port[8];
        const char *words[WORDS_MAX] = {
                program,  "--unixsocket", server->path, "--port",       port,
                "--bind", "127.0.0.1",    "--dir",      server->folder, "--save",
                "",       "--appendonly", "no",         "--logfile",    "/dev/null"
        };
        int n = 15;

        snprintf(port, sizeof(port), "%u", (unsigned) server->port);
        for (int i = 0; server->more && server->more[i]; i++)
                words[n++] = server->more[i];
        server->pid = fork();
        CHECK(server->pid >= 0);
        if (server->pid == 0) {
                int null = open("/dev/null", O_RDWR);

                prctl(PR_SET_PDEATHSIG, SIGKILL);
                dup2(null, 0);
                dup2(null, 1);
                dup2(null, 2);
                execv(program, (char *const *) (uintptr_t) words);
                _exit(127);
        }
        for (int i = 0; i < START_TRIES; i++) {
                if (can_connect(server))
                        return;
                if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
                        break;
                poll(NULL, 0, 10);
        }
        test_fail(__FILE__, __LINE__, "redis-server did not start");
}

void redis_server_start(struct redis_server *server, const char *const *more)
{
        *server = (struct redis_server){ .folder = "/tmp/eddy-redis-XXXXXX", .more = more };
        (void) find_program();
        CHECK(mkdtemp(server->folder) != NULL);
        snprintf(server->path, sizeof(server->path), "%s/socket", server->folder);
        snprintf(server->url, sizeof(server->url), "unix://%s", server->path);
        server->port = (uint16_t) test_server_port();
        start(server);
}

void redis_server_kill(struct redis_server *server)
{
        kill(server->pid, SIGKILL);
        waitpid(server->pid, NULL, 0);
        server->pid = 0;
}

void redis_server_restart(struct redis_server *server)
{
        unlink(server->path);
        start(server);
}

void redis_server_end(struct redis_server *server)
{
        if (server->pid > 0)
                redis_server_kill(server);
        unlink(server->path);
        CHECK(rmdir(server->folder) == 0);
}

static void on_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        /* Of a slow machine, or of debug mode about the run as a whole. */
        if (report->kind == EDDY_REPORT_WATCHDOG || report->kind == EDDY_REPORT_DUMP ||
            report->kind == EDDY_REPORT_LAG || report->kind == EDDY_REPORT_STACKS)
                return;
        test_fail(__FILE__, __LINE__, "a report: %s: %s", report->task ? report->task : "-",
                  report->text);
}

void redis_run(eddy_task_fn *main_fn, void *arg)
{
        struct eddy_run_opts opts = { .report = on_report, .watchdog_ns = EDDY_SEC(60) };

        CHECK_EQ(eddy_run(main_fn, arg, &opts), 0);
}

static int script_serve(void *arg)
{
        struct redis_script *script = arg;
        char buf[4096];

        for (;;) {
                size_t piece = script->piece ? script->piece : script->bytes, at = 0;
                eddy_stream *stream;
                int64_t n = eddy_listener_accept(script->listener, &stream);

                if (n < 0)
                        return (int) n;
                script->connections++;
                n = eddy_stream_read(stream, buf, sizeof(buf));
                while (n > 0 && at < script->bytes) {
                        size_t bytes = script->bytes - at < piece ? script->bytes - at : piece;

                        n = eddy_stream_write(stream, script->answer + at, bytes) < 0 ? -1 : 1;
                        at += bytes;
                        if (n > 0 && script->piece)
                                n = eddy_sleep(EDDY_US(50)) < 0 ? -1 : 1;
                }
                while (n > 0 && script->stays)
                        n = eddy_stream_read(stream, buf, sizeof(buf));
                eddy_stream_close(stream);
        }
}

void redis_script_start(struct redis_script *script, eddy_scope *scope)
{
        struct eddy_endpoint endpoint;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &script->listener), 0);
        endpoint = eddy_listener_endpoint(script->listener);
        snprintf(script->url, sizeof(script->url), "redis://127.0.0.1:%u", endpoint.port);
        CHECK_EQ(eddy_scope_start(scope, script_serve, script), 0);
}
