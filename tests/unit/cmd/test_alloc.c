/*
 * test_alloc.c - `eddy fetch` with each of its allocations made to fail in
 * turn, once or from then on: it ends by itself, with an exit code that says
 * that not all went well, and what it wrote are whole lines.
 */
#include "test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/console.h"
#include "eddy/alloc.h"
#include "fetch/fetch.h"

/* Far more than a run of three URLs needs; the sweep ends before. */
enum { ALLOCATIONS_MAX = 5000, OUTPUT_BYTES_MAX = 65536 };

struct faults {
        long countdown; /* allocations that succeed before the one that fails */
        bool lasting;   /* all behind it fail too */
        bool failed;
};

static void *allocate(void *ctx, void *ptr, size_t bytes)
{
        struct faults *faults = ctx;

        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        if (faults->countdown-- == 0 || (faults->lasting && faults->countdown < 0)) {
                faults->failed = true;
                return NULL;
        }
        return realloc(ptr, bytes);
}

/* Answers requests, one connection after the other, until killed. */
static void serve(int listener)
{
        static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n"
                                     "Connection: close\r\n\r\nhello\n";
        static char buf[4096];

        for (;;) {
                int fd = accept(listener, NULL, NULL);

                if (fd < 0)
                        _exit(1);
                if (recv(fd, buf, sizeof(buf), 0) > 0)
                        send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL);
                shutdown(fd, SHUT_WR);
                while (recv(fd, buf, sizeof(buf), 0) > 0)
                        continue;
                close(fd);
        }
}

static pid_t server_start(uint16_t *ret_port)
{
        struct sockaddr_in address = { .sin_family = AF_INET };
        socklen_t bytes = sizeof(address);
        int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        pid_t pid;

        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK(bind(listener, (struct sockaddr *) &address, sizeof(address)) == 0);
        CHECK(listen(listener, 64) == 0);
        CHECK(getsockname(listener, (struct sockaddr *) &address, &bytes) == 0);
        *ret_port = ntohs(address.sin_port);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* with a test that fails too */
                serve(listener);
        }
        close(listener);
        return pid;
}

/* Runs fetch with the faults, its results in 'out'.  Returns the wait status. */
static int fetch_with(const struct faults *plan, char *url, const char *out, bool *ret_failed)
{
        int failed[2], status = 0;
        char result = 0;
        pid_t pid;

        CHECK(pipe(failed) == 0);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                char header[] = "A: b"; /* its value is overwritten */
                const char *argv[] = { "fetch",  "--body",     "--attempts", "2",    "--backoff",
                                       "1us",    "--progress", "off",        "-c",   "2",
                                       "--data", "data",       "--header",   header, "-o",
                                       out,      "--force",    url,          url,    "ftp://x/",
                                       NULL };
                struct faults faults = *plan;
                int null = open("/dev/null", O_WRONLY), code;

                dup2(null, STDERR_FILENO);
                alarm(100);
                eddy_alloc_set(allocate, &faults);
                code = ed_fetch_main((int) (sizeof(argv) / sizeof(argv[0])) - 1, (char **) argv);
                result = faults.failed;
                CHECK(write(failed[1], &result, 1) == 1);
                exit(code);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        close(failed[1]);
        CHECK(read(failed[0], &result, 1) >= 0);
        close(failed[0]);
        *ret_failed = result;
        return status;
}

/* How many lines there are; each is whole. */
static int lines_of(const char *out)
{
        static char data[OUTPUT_BYTES_MAX];
        int fd = open(out, O_RDONLY), lines = 0;
        ssize_t n;

        if (fd < 0)
                return 0;
        n = read(fd, data, sizeof(data) - 1);
        CHECK(n >= 0);
        close(fd);
        data[n] = '\0';
        CHECK(n == 0 || data[n - 1] == '\n');
        for (char *line = data; *line; lines++) {
                char *end = strchr(line, '\n');

                CHECK(strncmp(line, "{\"index\":", 9) == 0);
                CHECK(end[-1] == '}');
                line = end + 1;
        }
        return lines;
}

static void sweep(bool lasting)
{
        char folder[] = "/tmp/eddy-alloc-XXXXXX", out[64], url[64];
        uint16_t port;
        pid_t server = server_start(&port);
        bool failed = true;
        int n;

        CHECK(mkdtemp(folder));
        snprintf(out, sizeof(out), "%s/out", folder);
        snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
        for (n = 0; failed && n < ALLOCATIONS_MAX; n++) {
                struct faults plan = { .countdown = n, .lasting = lasting };
                int status = fetch_with(&plan, url, out, &failed);

                if (!WIFEXITED(status))
                        test_fail(__FILE__, __LINE__, "allocation %d: signal %d", n,
                                  WTERMSIG(status));
                /* The ftp URL fails in any case. */
                if (WEXITSTATUS(status) != ED_EXIT_FAILED && WEXITSTATUS(status) != ED_EXIT_OUTPUT)
                        test_fail(__FILE__, __LINE__, "allocation %d: exit %d", n,
                                  WEXITSTATUS(status));
                CHECK(lines_of(out) <= 3);
                if (!failed)
                        CHECK_EQ(lines_of(out), 3);
        }
        CHECK(n > 20 && n < ALLOCATIONS_MAX);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        unlink(out);
        rmdir(folder);
}

TEST(each_allocation_may_fail_once)
{
        sweep(false);
}

TEST(each_allocation_and_all_after_it_may_fail)
{
        sweep(true);
}
