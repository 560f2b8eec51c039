/*
 * mongo_test.c - see mongo_test.h.
 */
#include "mongo_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct mongo_server mongo_server;

void mongo_server_start(void)
{
        int in[2], out[2], status;
        char line[16];
        ssize_t n;

        if (getenv("EDDY_TEST_QEMU"))
                test_skip("the server is not for this processor");
        CHECK_EQ(pipe2(in, O_CLOEXEC), 0);
        CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
        mongo_server.pid = fork();
        CHECK(mongo_server.pid >= 0);
        if (mongo_server.pid == 0) {
                /* Also a server that a failed case has left stopped, so that it reads no end. */
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) dup2(in[0], STDIN_FILENO);
                (void) dup2(out[1], STDOUT_FILENO);
                if (freopen("/dev/null", "w", stderr))
                        execl(MONGO_SERVER, MONGO_SERVER, (char *) NULL);
                _exit(77);
        }
        mongo_server.stdin_fd = in[1];
        (void) close(in[0]);
        (void) close(out[1]);
        n = read(out[0], line, sizeof(line) - 1);
        (void) close(out[0]);
        if (n <= 0) {
                CHECK_EQ(waitpid(mongo_server.pid, &status, 0), mongo_server.pid);
                CHECK_EQ(WEXITSTATUS(status), 77);
                test_skip("needs a JDK, and once: tests/unit/mongo/server fetch");
        }
        line[n] = '\0';
        mongo_server.port = (int) strtol(line, NULL, 10);
}

void mongo_server_stop(void)
{
        CHECK_EQ(close(mongo_server.stdin_fd), 0);
        CHECK_EQ(waitpid(mongo_server.pid, NULL, 0), mongo_server.pid);
}

void mongo_server_freeze(void)
{
        CHECK_EQ(kill(mongo_server.pid, SIGSTOP), 0);
        /* All of its threads. */
        CHECK_EQ(waitpid(mongo_server.pid, NULL, WUNTRACED), mongo_server.pid);
}

eddy_mongo *mongo_open_limited(int port, uint32_t clients, int64_t limit_ns)
{
        char uri[64];
        struct eddy_mongo_opts opts = {
                .uri = uri, .clients_max = clients, .select_ns = limit_ns, .answer_ns = limit_ns
        };
        eddy_mongo *mongo = NULL;

        snprintf(uri, sizeof(uri), "mongodb://127.0.0.1:%d/test", port);
        CHECK_EQ(eddy_mongo_new(&opts, &mongo, NULL), 0);
        return mongo;
}

eddy_mongo *mongo_open(int port, uint32_t clients)
{
        return mongo_open_limited(port, clients, EDDY_SEC(30));
}
