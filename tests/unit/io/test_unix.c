/*
 * test_unix.c - Unix sockets: bytes and ends, the socket file from its making to
 * its removal, a full backlog; and where the ends of TCP connections are.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scope/sim_run.h"
#include "io_test.h"

static char folder[64], path[EDDY_ENDPOINT_PATH_MAX + 2], name[66];

/* Run with a folder of its own, which must be empty in the end. */
static void run_in_folder(eddy_task_fn *fn)
{
        snprintf(folder, sizeof(folder), "/tmp/eddy-unix-XXXXXX");
        CHECK(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/s", folder);
        snprintf(name, sizeof(name), "@%s", folder);
        io_run(fn);
        CHECK_EQ(rmdir(folder), 0);
}

static bool exists(const char *file)
{
        struct stat found;

        return lstat(file, &found) == 0;
}

static eddy_listener *listen_at(const char *at)
{
        eddy_listener *listener;

        CHECK_EQ(eddy_unix_listen(at, NULL, &listener), 0);
        return listener;
}

static void check_text(const struct eddy_endpoint *endpoint, const char *expected)
{
        char text[EDDY_ENDPOINT_TEXT_BYTES];

        eddy_endpoint_format(endpoint, text);
        CHECK_STR(text, expected);
}

/* -- connections ------------------------------------------------------------- */

static void talk_at(const char *at)
{
        eddy_listener *listener = listen_at(at);
        struct eddy_endpoint endpoint = eddy_listener_endpoint(listener);
        eddy_stream *client, *server;
        struct eddy_stream_sent sent;
        char text[EDDY_ENDPOINT_TEXT_BYTES], buf[10];

        snprintf(text, sizeof(text), "unix:%s", at);
        check_text(&endpoint, text);
        CHECK_EQ(eddy_listener_port(listener), 0);
        CHECK_EQ(eddy_unix_connect(at, NULL, &client), 0);
        CHECK_EQ(eddy_listener_accept(listener, &server), 0);
        CHECK_STR(eddy_stream_kind(client), "unix");
        CHECK_STR(eddy_stream_kind(server), "unix");

        CHECK_EQ(eddy_stream_local(server, &endpoint), 0);
        check_text(&endpoint, text);
        CHECK_EQ(eddy_stream_peer(client, &endpoint), 0);
        check_text(&endpoint, text);
        CHECK_EQ(eddy_stream_local(client, &endpoint), 0);
        check_text(&endpoint, "unix:");
        CHECK_EQ(eddy_stream_peer(server, &endpoint), 0);
        check_text(&endpoint, "unix:");

        CHECK_EQ(eddy_stream_write(client, "hello", 5), 0);
        eddy_stream_sent(client, &sent);
        CHECK_EQ(sent.acknowledged, 5); /* the peer's socket has them */
        CHECK(sent.pending >= 5);       /* unread */
        io_read_all(server, buf, 5);
        eddy_stream_sent(client, &sent);
        CHECK_EQ(sent.pending, 0);
        CHECK_EQ(memcmp(buf, "hello", 5), 0);
        CHECK_EQ(eddy_stream_write(server, "x", 1), 0);
        CHECK_EQ(eddy_stream_shutdown(server), 0);
        io_read_all(client, buf, 1);
        CHECK_EQ(eddy_stream_read(client, buf, 1), 0);
        eddy_stream_close(client);
        CHECK_EQ(eddy_stream_read(server, buf, 1), 0);
        eddy_stream_close(server);
        eddy_listener_close(listener);
        CHECK_EQ(eddy_unix_connect(at, NULL, &client), at[0] == '@' ? -ECONNREFUSED : -ENOENT);
}

static int talk(void *arg)
{
        (void) arg;
        talk_at(path);
        talk_at(name);
        return 0;
}

TEST(a_unix_socket_carries_bytes_and_knows_its_ends)
{
        run_in_folder(talk);
}

/* The same calls find the same in memory. */
SIM_TEST(a_unix_socket_works_in_memory)
{
        eddy_listener *listener = listen_at("/run/x"), *other;

        CHECK_EQ(eddy_unix_listen("/run/x", NULL, &other), -EADDRINUSE);
        other = listen_at("@/run/x");
        eddy_listener_close(listener);
        eddy_listener_close(other);
        talk_at("/run/x");
        talk_at("@x");
}

static int long_paths(void *arg)
{
        eddy_listener *listener;
        eddy_stream *stream;
        char longest[EDDY_ENDPOINT_PATH_MAX + 2];

        (void) arg;
        snprintf(longest, EDDY_ENDPOINT_PATH_MAX + 1, "%s/%0*d", folder,
                 (int) (EDDY_ENDPOINT_PATH_MAX - strlen(folder) - 1), 0);
        CHECK_EQ(strlen(longest), EDDY_ENDPOINT_PATH_MAX);
        talk_at(longest);
        CHECK(!exists(longest));
        longest[0] = '@';
        talk_at(longest);
        longest[EDDY_ENDPOINT_PATH_MAX] = '0';
        longest[EDDY_ENDPOINT_PATH_MAX + 1] = '\0';
        CHECK_EQ(eddy_unix_listen(longest, NULL, &listener), -ENAMETOOLONG);
        CHECK_EQ(eddy_unix_connect(longest, NULL, &stream), -ENAMETOOLONG);
        CHECK_EQ(eddy_unix_listen("", NULL, &listener), EDDY_E_ENDPOINT_PATH);
        CHECK_EQ(eddy_unix_connect("@", NULL, &stream), EDDY_E_ENDPOINT_PATH);
        return 0;
}

TEST(a_path_may_have_107_bytes_and_no_more)
{
        run_in_folder(long_paths);
}

static int connect_call(void *arg)
{
        return eddy_unix_connect(path, NULL, arg);
}

static int accept_later(void *arg)
{
        eddy_stream *stream;

        CHECK_EQ(eddy_sleep(EDDY_MS(30)), 0);
        CHECK_EQ(eddy_listener_accept(arg, &stream), 0);
        eddy_stream_close(stream);
        return 0;
}

static int full(void *arg)
{
        struct eddy_unix_listen_opts opts = { .backlog = 1 };
        eddy_stream *waiting[10];
        eddy_listener *listener;
        eddy_scope scope;
        int n = 0, err;

        (void) arg;
        CHECK_EQ(eddy_unix_listen(path, &opts, &listener), 0);
        while ((err = eddy_call_timeout(connect_call, &waiting[n], EDDY_MS(50))) == 0)
                CHECK(++n < 10);
        CHECK_EQ(err, -ETIMEDOUT);
        CHECK(n >= 1);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accept_later, listener);
        CHECK_EQ(connect_call(&waiting[n]), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i <= n; i++)
                eddy_stream_close(waiting[i]);
        eddy_listener_close(listener);
        return 0;
}

TEST(a_connect_waits_while_the_backlog_is_full)
{
        run_in_folder(full);
}

static int connect_and_note(void *arg)
{
        eddy_stream *stream = NULL;

        *(int *) arg = eddy_unix_connect("@full", NULL, &stream);
        eddy_stream_close(stream);
        return 0;
}

/* There is room, and a cancel, between the end of the pause and the turn of the task. */
SIM_TEST(a_connect_that_was_cancelled_at_the_end_of_its_pause_does_not_connect)
{
        struct eddy_unix_listen_opts opts = { .backlog = 1 };
        eddy_listener *listener;
        eddy_stream *first, *accepted;
        eddy_scope scope;
        int result = 1;

        CHECK_EQ(eddy_unix_listen("@full", &opts, &listener), 0);
        CHECK_EQ(eddy_unix_connect("@full", NULL, &first), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, connect_and_note, &result);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0); /* armed before the pause: this task runs first */
        CHECK_EQ(result, 1);
        CHECK_EQ(eddy_listener_accept(listener, &accepted), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(result, -ECANCELED);
        eddy_stream_close(first);
        eddy_stream_close(accepted);
        eddy_listener_close(listener);
}

/* -- the socket file ---------------------------------------------------------- */

static void check_mode(uint32_t mode, mode_t mask, mode_t expected)
{
        struct eddy_unix_listen_opts opts = { .mode = mode };
        mode_t former = umask(mask);
        eddy_listener *listener;
        struct stat found;

        CHECK_EQ(eddy_unix_listen(path, &opts, &listener), 0);
        umask(former);
        CHECK_EQ(lstat(path, &found), 0);
        CHECK(S_ISSOCK(found.st_mode));
        CHECK_EQ(found.st_mode & 0777, expected);
        eddy_listener_close(listener);
        CHECK(!exists(path));
}

static int modes(void *arg)
{
        eddy_listener *listener;

        (void) arg;
        check_mode(0600, 0, 0600);
        check_mode(0666, 077, 0666);
        check_mode(0, 0027, 0750);
        CHECK_EQ(
                eddy_unix_listen(path, &(struct eddy_unix_listen_opts){ .mode = 01777 }, &listener),
                -EINVAL);
        return 0;
}

TEST(a_socket_file_has_the_mode_of_the_options)
{
        run_in_folder(modes);
}

/* Leave a socket file without a listener. */
static void leave_stale(void)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        memcpy(address.sun_path, path, strlen(path) + 1);
        CHECK_EQ(bind(fd, (struct sockaddr *) &address, sizeof(address)), 0);
        close(fd);
}

static int stale(void *arg)
{
        struct eddy_unix_listen_opts replace = { .replace_stale = true };
        eddy_listener *listener, *other;
        eddy_stream *stream;
        int fd;

        (void) arg;
        leave_stale();
        CHECK_EQ(eddy_unix_connect(path, NULL, &stream), -ECONNREFUSED);
        CHECK_EQ(eddy_unix_listen(path, NULL, &other), -EADDRINUSE);
        CHECK_EQ(eddy_unix_listen(path, &replace, &listener), 0);
        /* Now it has a listener, which stays. */
        CHECK_EQ(eddy_unix_listen(path, &replace, &other), -EADDRINUSE);
        CHECK_EQ(eddy_unix_connect(path, NULL, &stream), 0);
        eddy_stream_close(stream);
        eddy_listener_close(listener);
        CHECK(!exists(path));
        /* Neither a file of another kind nor a link is a stale socket. */
        fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        CHECK(fd >= 0);
        close(fd);
        CHECK_EQ(eddy_unix_listen(path, &replace, &other), -EADDRINUSE);
        CHECK_EQ(unlink(path), 0);
        CHECK_EQ(symlink("/nowhere/else", path), 0);
        CHECK_EQ(eddy_unix_listen(path, &replace, &other), -EADDRINUSE);
        CHECK_EQ(unlink(path), 0);
        /* Without a file there is nothing to replace. */
        CHECK_EQ(eddy_unix_listen(path, &replace, &listener), 0);
        eddy_listener_close(listener);
        return 0;
}

TEST(only_a_socket_file_without_a_listener_is_replaced)
{
        run_in_folder(stale);
}

/* -- processes that replace a stale file at the same time -------------------------- */

enum { RIVALS = 6, RACES = 500 };

/* Shared by all processes. */
static struct arena {
        atomic_int race;   /* the number of the race that has begun */
        atomic_int judged; /* and that has been judged */
        atomic_int tried, left;
        atomic_int results[RIVALS];
} * arena;

static void await(atomic_int *number, int wanted)
{
        while (atomic_load(number) < wanted)
                sched_yield();
}

static int rival(void *arg)
{
        struct eddy_unix_listen_opts replace = { .replace_stale = true };
        atomic_int *result = arg;

        for (int i = 1; i <= RACES; i++) {
                eddy_listener *listener = NULL;

                await(&arena->race, i);
                atomic_store(result, eddy_unix_listen(path, &replace, &listener));
                atomic_fetch_add(&arena->tried, 1);
                await(&arena->judged, i);
                eddy_listener_close(listener);
                atomic_fetch_add(&arena->left, 1);
        }
        return 0;
}

/* Exactly one process listens, and the path is that of its listener. */
static void judge(void)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), winners = 0;

        for (int i = 0; i < RIVALS; i++) {
                int result = atomic_load(&arena->results[i]);

                CHECK(result == 0 || result == -EADDRINUSE);
                winners += result == 0;
        }
        CHECK_EQ(winners, 1);
        memcpy(address.sun_path, path, strlen(path) + 1);
        CHECK_EQ(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
        close(fd);
}

static void fork_rivals(pid_t *pids)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };

        for (int i = 0; i < RIVALS; i++) {
                pids[i] = fork();
                CHECK(pids[i] >= 0);
                if (pids[i] == 0) {
                        prctl(PR_SET_PDEATHSIG, SIGKILL);
                        _exit(eddy_run(rival, &arena->results[i], &opts) != 0);
                }
        }
}

TEST(of_processes_that_replace_a_stale_file_at_the_same_time_one_succeeds)
{
        pid_t pids[RIVALS];
        int status;

        snprintf(folder, sizeof(folder), "/tmp/eddy-unix-XXXXXX");
        CHECK(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/s", folder);
        arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                     0);
        CHECK(arena != MAP_FAILED);
        fork_rivals(pids);
        for (int i = 1; i <= RACES; i++) {
                leave_stale();
                atomic_store(&arena->race, i);
                await(&arena->tried, i * RIVALS);
                judge();
                atomic_store(&arena->judged, i);
                await(&arena->left, i * RIVALS);
                CHECK(!exists(path));
        }
        for (int i = 0; i < RIVALS; i++) {
                CHECK_EQ(waitpid(pids[i], &status, 0), pids[i]);
                CHECK_EQ(status, 0);
        }
        munmap(arena, sizeof(*arena));
        CHECK_EQ(rmdir(folder), 0);
}

static int locked(void *arg)
{
        struct eddy_unix_listen_opts replace = { .replace_stale = true };
        eddy_listener *listener;
        char lock[sizeof(path) + 16];
        int fd;

        (void) arg;
        leave_stale();
        snprintf(lock, sizeof(lock), "%s.eddy-lock", path);
        fd = open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        CHECK(fd >= 0);
        CHECK_EQ(flock(fd, LOCK_EX), 0);
        CHECK_EQ(eddy_unix_listen(path, &replace, &listener), -EADDRINUSE);
        CHECK(exists(path));
        /* The file of a process that was killed is not locked. */
        close(fd);
        CHECK_EQ(eddy_unix_listen(path, &replace, &listener), 0);
        CHECK(!exists(lock));
        eddy_listener_close(listener);
        /* A link is not followed. */
        CHECK_EQ(symlink("/nowhere/else", lock), 0);
        CHECK_EQ(eddy_unix_listen(path, &replace, &listener), -ELOOP);
        CHECK_EQ(unlink(lock), 0);
        return 0;
}

TEST(a_path_that_another_process_is_replacing_is_in_use)
{
        run_in_folder(locked);
}

static int locked_by_program(void *arg)
{
        struct eddy_unix_listen_opts replace = { .replace_stale = true };
        eddy_listener *listener;
        char lock[sizeof(path) + 8];
        int fd;

        (void) arg;
        leave_stale();
        snprintf(lock, sizeof(lock), "%s.lock", path);
        fd = open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        CHECK(fd >= 0);
        CHECK_EQ(flock(fd, LOCK_EX), 0);
        CHECK_EQ(eddy_unix_listen(path, &replace, &listener), 0);
        CHECK(exists(lock));
        eddy_listener_close(listener);
        close(fd);
        CHECK_EQ(unlink(lock), 0);
        return 0;
}

/* As of a program that runs only once. */
TEST(a_lock_of_the_programs_own_beside_the_path_is_left_alone)
{
        run_in_folder(locked_by_program);
}

static int taken_over(void *arg)
{
        eddy_listener *first = listen_at(path), *second;
        eddy_stream *stream;

        (void) arg;
        CHECK_EQ(unlink(path), 0);
        second = listen_at(path);
        eddy_listener_close(first);
        CHECK(exists(path));
        CHECK_EQ(eddy_unix_connect(path, NULL, &stream), 0);
        eddy_stream_close(stream);
        eddy_listener_close(second);
        CHECK(!exists(path));
        return 0;
}

TEST(close_leaves_a_file_that_has_become_anothers)
{
        run_in_folder(taken_over);
}

static int forked(void *arg)
{
        eddy_listener *listener = listen_at(path);
        int status;
        pid_t pid;

        (void) arg;
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                eddy_listener_close(listener);
                _exit(0);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
        CHECK(exists(path));
        eddy_listener_close(listener);
        CHECK(!exists(path));
        return 0;
}

TEST(a_child_process_leaves_the_file_to_its_parent)
{
        run_in_folder(forked);
}

static int unusable(void *arg)
{
        eddy_listener *listener;
        char deep[EDDY_ENDPOINT_PATH_MAX];

        (void) arg;
        snprintf(deep, sizeof(deep), "%s/no/such", folder);
        CHECK_EQ(eddy_unix_listen(deep, NULL, &listener), -ENOENT);
        CHECK_EQ(eddy_unix_listen(folder, &(struct eddy_unix_listen_opts){ .replace_stale = true },
                                  &listener),
                 -EADDRINUSE);
        return 0;
}

TEST(a_path_that_cannot_be_made_says_why)
{
        run_in_folder(unusable);
}

/* -- TCP: ends and options ----------------------------------------------------- */

static int tcp_ends(void *arg)
{
        struct eddy_endpoint local = { .kind = EDDY_ENDPOINT_IP,
                                       .address = { .family = AF_INET,
                                                    .bytes = { 127, 0, 0, 2 } } };
        struct eddy_tcp_connect_opts opts = { .local = &local };
        struct eddy_endpoint here, there, at;
        eddy_stream *client, *server;
        eddy_listener *listener;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        at = eddy_listener_endpoint(listener);
        CHECK_EQ(at.port, eddy_listener_port(listener));
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", at.port, &opts, &client), 0);
        CHECK_EQ(eddy_listener_accept(listener, &server), 0);
        CHECK_EQ(eddy_stream_local(client, &here), 0);
        CHECK_EQ(eddy_stream_peer(server, &there), 0);
        CHECK(eddy_endpoint_is_equal(&here, &there));
        CHECK_EQ(memcmp(here.address.bytes, local.address.bytes, 4), 0);
        CHECK(here.port != 0);
        CHECK_EQ(eddy_stream_peer(client, &here), 0);
        CHECK_EQ(eddy_stream_local(server, &there), 0);
        CHECK(eddy_endpoint_is_equal(&here, &there));
        CHECK(eddy_endpoint_is_equal(&here, &at));
        /* A reset connection has no peer. */
        eddy_stream_abort(client);
        CHECK(eddy_stream_read(server, &opts, 1) < 0);
        CHECK_EQ(eddy_stream_peer(server, &there), -ENOTCONN);
        eddy_stream_close(server);

        /* With a port: the one that was just free. */
        local.address.bytes[3] = 1;
        local.port = at.port;
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", at.port, &opts, &client), -EADDRINUSE);
        local.address.bytes[0] = 192;
        local.port = 0;
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", at.port, &opts, &client), -EADDRNOTAVAIL);
        local.address.family = AF_INET6;
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", at.port, &opts, &client), EDDY_E_DNS_NO_ADDRESS);
        local.address.family = 0;
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", at.port, &opts, &client), -EINVAL);
        local.kind = EDDY_ENDPOINT_UNIX;
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", at.port, &opts, &client), -EINVAL);
        eddy_listener_close(listener);
        return 0;
}

TEST(ends_of_a_tcp_connection_are_known_and_one_may_be_chosen)
{
        io_run(tcp_ends);
}

SIM_TEST(ends_of_a_connection_in_memory_are_known)
{
        struct eddy_endpoint here, there;
        eddy_stream *client, *server;
        eddy_listener *listener;

        CHECK_EQ(eddy_tcp_listen("::", 80, NULL, &listener), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", 80, NULL, &client), 0);
        CHECK_EQ(eddy_listener_accept(listener, &server), 0);
        CHECK_EQ(eddy_stream_local(client, &here), 0);
        CHECK_EQ(eddy_stream_peer(server, &there), 0);
        CHECK(eddy_endpoint_is_equal(&here, &there));
        CHECK_EQ(eddy_stream_peer(client, &here), 0);
        CHECK_EQ(eddy_stream_local(server, &there), 0);
        CHECK(eddy_endpoint_is_equal(&here, &there));
        check_text(&here, "127.0.0.1:80");
        eddy_stream_abort(client);
        CHECK(eddy_stream_read(server, &here, 1) < 0);
        CHECK_EQ(eddy_stream_peer(server, &there), -ENOTCONN);
        eddy_stream_close(server);
        eddy_listener_close(listener);
}

static int option(int fd, int level, int which)
{
        int value = -1;
        socklen_t bytes = sizeof(value);

        CHECK_EQ(getsockopt(fd, level, which, &value, &bytes), 0);
        return value;
}

static int kept_alive(void *arg)
{
        struct eddy_tcp_connect_opts opts = { .keepalive_ns = EDDY_MS(1500) };
        eddy_listener *listener;
        eddy_stream *stream;
        uint16_t port;
        int fd;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        port = eddy_listener_port(listener);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, &opts, &stream), 0);
        fd = eddy_stream_fd(stream);
        CHECK_EQ(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
        CHECK_EQ(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 2);
        CHECK_EQ(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 2);
        CHECK_EQ(option(fd, IPPROTO_TCP, TCP_KEEPCNT), 9);
        eddy_stream_close(stream);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        CHECK_EQ(option(eddy_stream_fd(stream), SOL_SOCKET, SO_KEEPALIVE), 0);
        eddy_stream_close(stream);
        opts.keepalive_ns = EDDY_SEC(32767);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, &opts, &stream), 0);
        eddy_stream_close(stream);
        opts.keepalive_ns = EDDY_SEC(32767) + 1;
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, &opts, &stream), -EINVAL);
        opts.keepalive_ns = -1;
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, &opts, &stream), -EINVAL);
        eddy_listener_close(listener);
        return 0;
}

TEST(keepalive_is_set_in_whole_seconds)
{
        io_run(kept_alive);
}

static int shared_port(void *arg)
{
        struct eddy_tcp_listen_opts share = { .reuse_port = true };
        eddy_listener *first, *second, *third;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, &share, &first), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", eddy_listener_port(first), &share, &second), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", eddy_listener_port(first), NULL, &third),
                 -EADDRINUSE);
        eddy_listener_close(first);
        eddy_listener_close(second);
        return 0;
}

TEST(listeners_share_a_port_if_all_of_them_ask_for_it)
{
        io_run(shared_port);
}

SIM_TEST(listeners_share_a_port_in_memory_too)
{
        CHECK_EQ(shared_port(NULL), 0);
}

static int both_families(void *arg)
{
        struct eddy_tcp_listen_opts only = { .v6_only = true };
        eddy_listener *six, *four;
        eddy_stream *stream;
        uint16_t port;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("::", 0, NULL, &six), 0);
        port = eddy_listener_port(six);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), 0);
        eddy_stream_close(stream);
        CHECK_EQ(eddy_tcp_listen("0.0.0.0", port, NULL, &four), -EADDRINUSE);
        eddy_listener_close(six);

        CHECK_EQ(eddy_tcp_listen("::", 0, &only, &six), 0);
        port = eddy_listener_port(six);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &stream), -ECONNREFUSED);
        CHECK_EQ(eddy_tcp_connect("::1", port, NULL, &stream), 0);
        eddy_stream_close(stream);
        eddy_listener_close(six);
        return 0;
}

TEST(a_listener_for_ipv6_accepts_ipv4_too_without_v6_only)
{
        if (!io_has_ipv6())
                test_skip("there is no IPv6 here");
        io_run(both_families);
}

SIM_TEST(a_listener_for_ipv6_in_memory_has_the_same_option)
{
        CHECK_EQ(both_families(NULL), 0);
}

static int without_ends(void *arg)
{
        struct eddy_endpoint endpoint;
        eddy_stream *stream;
        int fds[2];

        (void) arg;
        CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[0], EDDY_STREAM_OWN_FD, &stream), 0);
        CHECK_EQ(eddy_stream_local(stream, &endpoint), -ENOTSUP);
        CHECK_EQ(eddy_stream_peer(stream, &endpoint), -ENOTSUP);
        CHECK_EQ(eddy_stream_peer(NULL, &endpoint), -EINVAL);
        eddy_stream_close(stream);
        close(fds[1]);
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[0], EDDY_STREAM_OWN_FD, &stream), 0);
        CHECK_EQ(eddy_stream_local(stream, &endpoint), 0);
        check_text(&endpoint, "unix:");
        CHECK_EQ(eddy_stream_peer(stream, &endpoint), 0);
        check_text(&endpoint, "unix:");
        eddy_stream_close(stream);
        close(fds[1]);
        return 0;
}

TEST(a_pipe_has_no_endpoints_and_a_socket_pair_has_unnamed_ones)
{
        io_run(without_ends);
}
